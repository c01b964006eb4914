//! Ranks, medians and correlations of a series of finite values.

/// Ranks from 1; equal values share the mean of their ranks.
pub(crate) fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let middle = first as f64 + (group.len() + 1) as f64 / 2.0;
        for index in group {
            ranks[*index] = middle;
        }
        first += group.len();
    }
    ranks
}

/// The number of equal values in each group of ties, in ascending order of the values.
pub(crate) fn tie_sizes(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

/// Middle value; for an even number, the mean of the two in the middle. NaN without values. Reorders them.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let upper_index = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(upper_index, f64::total_cmp);
    let upper = *upper;
    if !even {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

/// Correlation of each value with the one `lag` places later; 0 if all are equal.
pub(crate) fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if spread == 0.0 || lag >= values.len() {
        return 0.0;
    }
    let together: f64 = values
        .iter()
        .zip(&values[lag..])
        .map(|(early, late)| (early - mean) * (late - mean))
        .sum();
    together / spread
}

/// Removes the bias towards -1 from a correlation of `n` values with their neighbours, to first order (Marriott and Pope,
/// Biometrika 41, 1954). Without this, a hundred windows that resemble their neighbours are called unsteady one and a half times as
/// often.
pub(crate) fn unbiased(correlation: f64, n: usize) -> f64 {
    (correlation + (1.0 + 4.0 * correlation) / n as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::{autocorrelation, median, mid_ranks, tie_sizes};

    #[test]
    fn equal_values_share_a_rank() {
        let values = [3.0, 1.0, 3.0, 2.0, 3.0];
        assert_eq!(mid_ranks(&values), [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(tie_sizes(&values), [1, 1, 3]);
        assert!(mid_ranks(&[]).is_empty());
    }

    #[test]
    fn medians() {
        assert!(median(&mut []).is_nan());
        assert_eq!(median(&mut [7.0]), 7.0);
        assert_eq!(median(&mut [9.0, 1.0, 4.0]), 4.0);
        assert_eq!(median(&mut [9.0, 1.0, 4.0, 5.0]), 4.5);
    }

    #[test]
    fn correlation_with_the_neighbour() {
        let alternating: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        assert!((autocorrelation(&alternating, 1) + 0.999).abs() < 1e-9);
        assert!((autocorrelation(&alternating, 2) - 0.998).abs() < 1e-9);
        assert_eq!(autocorrelation(&[5.0; 9], 1), 0.0);
        assert_eq!(autocorrelation(&[5.0, 6.0], 2), 0.0);
    }
}
