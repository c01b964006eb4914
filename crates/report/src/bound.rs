//! What a maximum over n samples proves, in words.

use crate::text::count;
use crate::view::SeriesView;
use stats::exceedance;
use units::format_ns;

/// Confidence of every bound in the report.
pub const CONFIDENCE: f64 = 0.95;

/// How rare values over a limit are, as far as a series can tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The limit in ns.
    pub limit_ns: u64,
    /// Samples over it.
    pub over: u64,
    /// Samples measured.
    pub samples: u64,
    /// How long was measured.
    pub exposure_ns: u64,
    /// Upper bound of the probability that a sample is over the limit (Clopper-Pearson, one-sided; with none over it this
    /// is the rule of three).
    pub probability: f64,
    /// Upper bound of the events per second over the limit (Poisson, one-sided). `None` without a known exposure.
    pub rate_per_s: Option<f64>,
}

impl Bound {
    /// The bound a series supports for a limit; `None` without samples.
    pub fn of(series: &SeriesView, limit_ns: u64) -> Option<Self> {
        let samples = series.histogram.count();
        if samples == 0 {
            return None;
        }
        let over = samples_over(series, limit_ns);
        let exposure_ns = series.exposure_ns();
        Some(Self {
            limit_ns,
            over,
            samples,
            exposure_ns,
            probability: exceedance::upper_bound(over, samples, CONFIDENCE),
            rate_per_s: (exposure_ns > 0).then(|| exceedance::rate_upper_bound(over, exposure_ns, CONFIDENCE)),
        })
    }

    /// For a person: `0 of 600 000 over 120 µs: at most 1 in 200 000; in 10.0 min, at most one every 3.34 min (95 %)`.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} of {} over {}: at most {}",
            count(self.over),
            count(self.samples),
            format_ns(self.limit_ns as f64),
            self.odds(),
        );
        if let Some(every_ns) = self.rate_per_s.filter(|rate| *rate > 0.0).map(|rate| 1e9 / rate) {
            let exposure = format_ns(self.exposure_ns as f64);
            text.push_str(&format!("; in {exposure}, at most one every {}", format_ns(every_ns)));
        }
        text + " (95 %)"
    }

    fn odds(&self) -> String {
        if self.probability > 0.1 {
            return format!("{:.0} %", (self.probability * 100.0).ceil());
        }
        format!("1 in {}", count(three_digits_down(1.0 / self.probability)))
    }
}

/// Samples over a limit. Exact where the series counted them itself, else to the histogram's three digits, and never none
/// when the exact maximum is over it.
fn samples_over(series: &SeriesView, limit_ns: u64) -> u64 {
    let exceeds = series
        .max_ns
        .and_then(|max| u64::try_from(max).ok())
        .is_some_and(|max| max > limit_ns);
    if !exceeds {
        return 0;
    }
    let counted = if series.spec.threshold_ns == Some(limit_ns) {
        series.counters.overflow
    } else {
        series.histogram.count_above(limit_ns)
    };
    counted.max(1)
}

/// Rounds down to three significant digits: a bound must not promise more than it has.
fn three_digits_down(value: f64) -> u64 {
    let scale = 10f64.powf((value.log10().floor() - 2.0).max(0.0));
    ((value / scale).floor() * scale) as u64
}

#[cfg(test)]
mod tests {
    use super::{Bound, three_digits_down};
    use crate::synthetic::series;

    #[test]
    fn a_clean_series_gives_the_rule_of_three() {
        let clean = series("wakeup/cpu1", 600_000, 40_000, 600);
        let bound = Bound::of(&clean, 120_000).expect("samples");
        assert_eq!((bound.over, bound.samples), (0, 600_000));
        assert!((bound.probability * 600_000.0 - 2.9957).abs() < 1e-3);
        assert_eq!(
            bound.text(),
            "0 of 600 000 over 120 µs: at most 1 in 200 000; in 2.50 min, at most one every 50.1 s (95 %)",
            "no longer than its samples were due, though the windows are 10 min"
        );
    }

    #[test]
    fn an_exceeded_limit_counts_at_least_the_maximum() {
        let over = series("wakeup/cpu1", 1000, 120_001, 10);
        let bound = Bound::of(&over, 120_000).expect("samples");
        assert_eq!(bound.over, 1);
        assert!(
            bound.text().starts_with("1 of 1 000 over 120 µs: at most 1 in 2"),
            "{}",
            bound.text()
        );
        let few = series("wakeup/cpu1", 10, 5_000, 1);
        assert!(
            Bound::of(&few, 120_000)
                .expect("samples")
                .text()
                .contains("at most 26 %")
        );
    }

    #[test]
    fn the_limit_itself_is_not_over_it() {
        let at = series("wakeup/cpu1", 1000, 120_000, 10);
        assert_eq!(Bound::of(&at, 120_000).expect("samples").over, 0);
    }

    #[test]
    fn rounding_never_promises_more() {
        assert_eq!(three_digits_down(200_287.0), 200_000);
        assert_eq!(three_digits_down(33.9), 33);
        assert_eq!(three_digits_down(1999.0), 1990);
    }
}
