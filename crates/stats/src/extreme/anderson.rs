//! Anderson and Darling's distance between a sample and a distribution.

/// The statistic A² (Journal of the American Statistical Association 49, 1954) of a sample in ascending order, from the logarithms
/// of `F` and of `1 - F` at each value. Infinite if the distribution excludes a value.
pub(super) fn statistic(logarithms: &[(f64, f64)]) -> f64 {
    let n = logarithms.len();
    let sum: f64 = (0..n)
        .map(|i| (2 * i + 1) as f64 * (logarithms[i].0 + logarithms[n - 1 - i].1))
        .sum();
    -(n as f64) - sum / n as f64
}

#[cfg(test)]
mod tests {
    use super::statistic;

    /// `scipy.stats.anderson_ksamp` has no such form; the expected value was computed from the definition, with NumPy 2.4.6: `u =
    /// np.array([.1, .25, .6, .9]); i = np.arange(1, 5)`, `-4 - np.sum((2*i - 1) * (np.log(u) + np.log(1 - u[::-1]))) / 4`.
    #[test]
    fn a_sample_of_four() {
        let logarithms: Vec<(f64, f64)> = [0.1f64, 0.25, 0.6, 0.9]
            .iter()
            .map(|u| (u.ln(), (1.0 - u).ln()))
            .collect();
        assert!(
            (statistic(&logarithms) - 0.2451277913171639).abs() < 1e-12,
            "{}",
            statistic(&logarithms)
        );
    }
}
