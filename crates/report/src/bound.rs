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
    /// Samples over it, as far as is known.
    pub over: u64,
    /// Samples that may be over it: more than `over` only where just the largest sample is known.
    pub over_at_most: u64,
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
        let over_at_most = samples_over(series, limit_ns);
        // Those of which only a bound is known stand in the histogram as the largest; one of them is it.
        let over = match over_at_most {
            0 => 0,
            most => most.saturating_sub(series.only_bounded()).max(1),
        };
        let exposure_ns = series.exposure_ns();
        Some(Self {
            limit_ns,
            over,
            over_at_most,
            samples,
            exposure_ns,
            probability: exceedance::upper_bound(over_at_most, samples, CONFIDENCE),
            rate_per_s: (exposure_ns > 0).then(|| exceedance::rate_upper_bound(over_at_most, exposure_ns, CONFIDENCE)),
        })
    }

    /// Whether every sample is known to be over the limit or not.
    pub fn is_counted(&self) -> bool {
        self.over == self.over_at_most
    }

    /// Samples over the limit, for a person: `12`, or `at least 1` where not more is known.
    pub fn over_text(&self) -> String {
        match self.is_counted() {
            true => count(self.over),
            false => format!("at least {}", count(self.over)),
        }
    }

    /// For a person: `0 of 600 000 over 120 µs: at most 1 in 200 000; in 10.0 min, at most one every 3.34 min (95 %)`.
    pub fn text(&self) -> String {
        if !self.is_counted() {
            let (samples, limit) = (count(self.samples), format_ns(self.limit_ns as f64));
            return format!("{} of {samples} over {limit}: how many is not known", self.over_text());
        }
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
    fn of_samples_that_are_only_bounded_one_is_known_to_be_over() {
        let mut imported = series("wakeup/thread0", 1_000, 60_000, 10);
        imported.spec.settings.push(("tool".into(), "cyclictest".into()));
        imported.histogram = stats::Histogram::new();
        imported.histogram.record_n(60_000, 1_000);
        imported.counters.clipped = 999;
        let bound = Bound::of(&imported, 50_000).expect("samples");
        assert_eq!((bound.over, bound.over_at_most), (1, 1_000));
        assert_eq!(bound.text(), "at least 1 of 1 000 over 50.0 µs: how many is not known");
        assert!(
            (bound.probability - 1.0).abs() < 1e-9,
            "none of them is known to be within"
        );
        assert_eq!(Bound::of(&imported, 60_000).expect("samples").over_at_most, 0);
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
