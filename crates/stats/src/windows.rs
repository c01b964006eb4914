//! Figures over the windows of a run, such as the mean of the windows' maxima that relay vendors publish.

/// Mean and spread of one figure over windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverWindows {
    /// How many windows had the figure.
    pub count: u64,
    /// Its arithmetic mean, in the unit of the values.
    pub mean: f64,
    /// Its sample standard deviation (divisor `count - 1`); `None` with a single window.
    pub standard_deviation: Option<f64>,
    /// Its smallest value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
}

/// Mean and spread of `values`, one for each window that has one; `None` when there is none. Computed by Welford's
/// recurrence (Technometrics 4, 1962), which does not lose digits when values are large and close together.
pub fn over_windows(values: impl IntoIterator<Item = f64>) -> Option<OverWindows> {
    let mut count = 0u64;
    let (mut mean, mut squares) = (0.0, 0.0);
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        count += 1;
        let from_old_mean = value - mean;
        mean += from_old_mean / count as f64;
        squares += from_old_mean * (value - mean);
        min = value.min(min);
        max = value.max(max);
    }
    let standard_deviation = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
    (count > 0).then_some(OverWindows {
        count,
        mean,
        standard_deviation,
        min,
        max,
    })
}

#[cfg(test)]
mod tests {
    use super::over_windows;

    #[test]
    fn no_window_has_no_mean() {
        assert_eq!(over_windows([]), None);
    }

    #[test]
    fn one_window_has_no_spread() {
        let one = over_windows([692_000.0]).expect("one value");
        assert_eq!((one.count, one.mean, one.standard_deviation), (1, 692_000.0, None));
        assert_eq!((one.min, one.max), (692_000.0, 692_000.0));
    }

    #[test]
    fn known_mean_and_deviation() {
        let maxima = over_windows([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("eight values");
        assert_eq!((maxima.count, maxima.mean, maxima.min, maxima.max), (8, 5.0, 2.0, 9.0));
        let expected = (32.0f64 / 7.0).sqrt();
        assert!((maxima.standard_deviation.expect("several") - expected).abs() < 1e-12);
    }

    #[test]
    fn large_values_close_together_keep_their_spread() {
        let spread = over_windows([1e15, 1e15 + 1.0, 1e15 + 2.0]).expect("three values");
        assert_eq!((spread.mean, spread.standard_deviation), (1e15 + 1.0, Some(1.0)));
    }
}
