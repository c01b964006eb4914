//! The bound that the maximum of n samples proves, in words.

use crate::text::count;
use model::{SeriesView, setting};
use stats::claims::period;
use stats::exceedance;
use units::Ns;

/// Confidence of every bound in the report.
pub const CONFIDENCE: f64 = 0.95;

/// Bound for the frequency of values over a limit, as far as a series can prove it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The limit in ns.
    pub limit_ns: u64,
    /// Samples over the limit; if the exact number is not known, the maximum possible.
    pub over: u64,
    /// The minimum number of samples over the limit.
    pub over_at_least: u64,
    /// True if for some samples only the largest value is known, so the number over the limit is not known.
    only_bounded: bool,
    /// Samples measured.
    pub samples: u64,
    /// Measured time in ns.
    pub exposure_ns: u64,
    /// Upper bound of the probability that a sample is over the limit (Clopper-Pearson, one-sided; with none over it this
    /// is the rule of three).
    pub probability: f64,
    /// Upper bound of the events per second over the limit (Poisson, one-sided). `None` without a known exposure.
    pub rate_per_s: Option<f64>,
}

impl Bound {
    /// The bound that a series proves for a limit; `None` without samples.
    pub fn of(series: &SeriesView, limit_ns: u64) -> Option<Self> {
        let only_maxima = series.setting(setting::ONLY_MAXIMA).is_some();
        let samples = samples_known(series);
        if samples == 0 {
            return None;
        }
        let (over_at_least, over) = match only_maxima {
            true => samples_over_in_windows(series, limit_ns),
            false => samples_over(series, limit_ns),
        };
        // Samples for which only a bound is known count as the largest value in the histogram, which one of them has.
        let bounded = series.only_bounded();
        let over_at_least = match over {
            0 => 0,
            _ => over_at_least.saturating_sub(bounded).max(1),
        };
        let exposure_ns = series.exposure_ns();
        Some(Self {
            limit_ns,
            over,
            over_at_least,
            only_bounded: (bounded > 0 || only_maxima) && over > over_at_least,
            samples,
            exposure_ns,
            probability: exceedance::upper_bound(over, samples, CONFIDENCE),
            rate_per_s: (exposure_ns > 0).then(|| exceedance::rate_upper_bound(over, exposure_ns, CONFIDENCE)),
        })
    }

    /// True if the number of samples over the limit is known, to the precision of the histogram.
    pub fn is_counted(&self) -> bool {
        !self.only_bounded
    }

    /// Text for people: `0 of 600 000 over 120 µs: at most 1 in 200 000; in 10.0 min, at most one every 3.34 min (95
    /// %)`.
    pub fn text(&self) -> String {
        if self.only_bounded {
            let (samples, limit) = (count(self.samples), Ns(self.limit_ns));
            return format!(
                "{} of {samples} over {limit}: the number is not known",
                self.count_over()
            );
        }
        let mut text = format!(
            "{} of {} over {}: at most {}",
            self.count_over(),
            count(self.samples),
            Ns(self.limit_ns),
            odds(self.probability),
        );
        if let Some(every_ns) = self.rate_per_s.filter(|rate| *rate > 0.0).map(|rate| 1e9 / rate) {
            let exposure = Ns(self.exposure_ns);
            text.push_str(&format!(
                "; in {exposure}, at most one every {}",
                period::down(every_ns)
            ));
        }
        text + " (95 %, for independent samples)"
    }

    /// Number of samples over the limit, for people: `3`, or `3 to 50` if the histogram does not show the exact number.
    pub fn count_over(&self) -> String {
        match self.over_at_least == self.over {
            _ if self.only_bounded => format!("at least {}", count(self.over_at_least)),
            true => count(self.over),
            false => format!("{} to {}", count(self.over_at_least), count(self.over)),
        }
    }
}

/// Number of samples about which a series knows if they are over a limit: those of its histogram or, if it has only the
/// largest of each window, all that were received.
pub(crate) fn samples_known(series: &SeriesView) -> u64 {
    match series.setting(setting::ONLY_MAXIMA) {
        Some(_) => series.counters.received,
        None => series.histogram.count(),
    }
}

/// A probability for people, rounded up: `1 in 200 000`.
pub(crate) fn odds(probability: f64) -> String {
    if probability > 0.1 {
        return format!("{:.0} %", (probability * 100.0).ceil());
    }
    format!("1 in {}", count(three_digits_down(1.0 / probability)))
}

/// Minimum and maximum number of samples over a limit. Exact if the series counted them itself; otherwise taken from
/// the histogram, to its three digits: a bucket that reaches beyond the limit counts as over. At least 1 if the exact
/// maximum is over the limit.
fn samples_over(series: &SeriesView, limit_ns: u64) -> (u64, u64) {
    let exceeds = series
        .max_ns
        .and_then(|max| u64::try_from(max).ok())
        .is_some_and(|max| max > limit_ns);
    if !exceeds {
        return (0, 0);
    }
    let (at_least, at_most) = if series.spec.threshold_ns == Some(limit_ns) {
        (series.counters.overflow, series.counters.overflow)
    } else {
        let histogram = &series.histogram;
        (histogram.count_above(limit_ns), histogram.count_above_at_most(limit_ns))
    };
    (at_least.max(1), at_most.max(1))
}

/// Minimum and maximum number of samples over a limit, if only the number and the largest sample of each window are known:
/// one in each window whose largest is over it, or all of these windows.
fn samples_over_in_windows(series: &SeriesView, limit_ns: u64) -> (u64, u64) {
    let is_over = |max: i64| u64::try_from(max).is_ok_and(|max| max > limit_ns);
    let over = series
        .windows
        .iter()
        .filter(|window| window.max_ns.is_some_and(is_over));
    over.fold((0, 0), |(least, most), window| {
        (least + 1, most + window.counters.received)
    })
}

/// Rounds down to three significant digits: a bound must not promise more than was proved.
fn three_digits_down(value: f64) -> u64 {
    let scale = 10f64.powf((value.log10().floor() - 2.0).max(0.0));
    ((value / scale).floor() * scale) as u64
}

#[cfg(test)]
mod tests {
    use super::{Bound, three_digits_down};
    use testing::synthetic::series;

    #[test]
    fn of_windows_that_know_only_their_largest_each_over_the_limit_has_at_least_one() {
        let mut log = series("task/F1", 6_000, 700_000, 60);
        log.histogram = stats::Histogram::new();
        assert!(Bound::of(&log, 1_000_000).is_none(), "nothing is known of its samples");
        let known = (
            model::setting::ONLY_MAXIMA.to_owned(),
            "count and largest sample".to_owned(),
        );
        log.spec.settings.push(known);
        let within = Bound::of(&log, 1_000_000).expect("a bound");
        assert_eq!((within.over, within.samples, within.is_counted()), (0, 6_000, true));
        log.windows[7].max_ns = Some(1_400_000);
        log.max_ns = Some(1_400_000);
        let over = Bound::of(&log, 1_000_000).expect("a bound");
        assert_eq!((over.over_at_least, over.over), (1, log.windows[7].counters.received));
        assert_eq!(over.text(), "at least 1 of 6 000 over 1.00 ms: the number is not known");
    }

    #[test]
    fn a_clean_series_gives_the_rule_of_three() {
        let clean = series("wakeup/cpu1", 600_000, 40_000, 600);
        let bound = Bound::of(&clean, 120_000).expect("samples");
        assert_eq!((bound.over, bound.samples), (0, 600_000));
        assert!((bound.probability * 600_000.0 - 2.9957).abs() < 1e-3);
        assert_eq!(
            bound.text(),
            "0 of 600 000 over 120 µs: at most 1 in 200 000; in 2.50 min, at most one every 50 s (95 %, for independent samples)",
            "no longer than its samples were due, though the windows are 10 min"
        );
    }

    #[test]
    fn an_exceeded_limit_counts_at_least_the_maximum() {
        let over = series("wakeup/cpu1", 1000, 120_001, 10);
        let bound = Bound::of(&over, 120_000).expect("samples");
        assert_eq!((bound.over_at_least, bound.over), (1, 4), "three more share its bucket");
        assert!(
            bound.text().starts_with("1 to 4 of 1 000 over 120 µs: at most 1 in 1"),
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
        assert_eq!((bound.over_at_least, bound.over), (1, 1_000));
        assert_eq!(
            bound.text(),
            "at least 1 of 1 000 over 50.0 µs: the number is not known"
        );
        assert!(
            (bound.probability - 1.0).abs() < 1e-9,
            "none of them is known to be within"
        );
        assert_eq!(Bound::of(&imported, 60_000).expect("samples").over, 0);
    }

    #[test]
    fn the_limit_itself_is_not_over_it() {
        let at = series("wakeup/cpu1", 1000, 120_000, 10);
        assert_eq!(Bound::of(&at, 120_000).expect("samples").over, 0);
    }

    /// The bucket from 119 936 to 120 063 ns holds all of them: one sample in twenty is over, not one in two hundred.
    #[test]
    fn the_bucket_that_reaches_over_the_limit_counts_as_over() {
        let mut near = series("wakeup/cpu1", 1, 1_000, 10);
        near.histogram = stats::Histogram::new();
        near.histogram.record_n(10_000, 950);
        near.histogram.record_n(120_010, 50);
        near.max_ns = Some(120_010);
        let bound = Bound::of(&near, 120_000).expect("samples");
        assert_eq!((bound.over_at_least, bound.over, bound.samples), (1, 50, 1_000));
        assert!(
            bound.text().starts_with("1 to 50 of 1 000 over 120 µs"),
            "{}",
            bound.text()
        );
        assert!(bound.probability > 0.05, "{bound:?}");
        near.spec.threshold_ns = Some(120_000);
        near.counters.overflow = 7;
        assert_eq!(
            Bound::of(&near, 120_000).expect("samples").over,
            7,
            "counted while measuring"
        );
    }

    #[test]
    fn rounding_never_promises_more() {
        assert_eq!(three_digits_down(200_287.0), 200_000);
        assert_eq!(three_digits_down(33.9), 33);
        assert_eq!(three_digits_down(1999.0), 1990);
    }
}
