//! Further statistics of a series: certainty of its quantiles, steadiness, the expected size of a rare value, and the
//! claims that a run of this length supports.

use crate::bound::{Bound, CONFIDENCE};
use crate::limits::Quantity;
use crate::verdict::Judgement;
use model::{RunView, SCHEDULED, SeriesView, WindowRow};
use stats::claims::{Claim, YEAR_NS, claim};
use stats::extreme::{NoLevel, ReturnLevel, return_level_of_maxima};
use stats::stationarity::{Stationarity, check};
use std::collections::BTreeMap;
use units::{Ns, format_ns};

/// Maximum number of series per run: fitting tails takes some time for each.
const MOST_SERIES: usize = 16;

/// Window maxima are combined into at most this many blocks before a tail is fitted.
const MOST_BLOCKS: usize = 400;

/// Period of the rare value, in lengths of the run: literature considers such a fit valid up to this factor.
const RUNS_AHEAD: f64 = 10.0;

/// The quantiles for which an interval is computed.
const QUANTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p99", 0.99),
    ("p999", 0.999),
    ("p9999", 0.9999),
    ("p99999", 0.99999),
];

/// The statistics of one series.
#[derive(Debug, Clone)]
pub struct Insight {
    /// Its name.
    pub series: String,
    /// The activations that the quantiles refer to: [`model::SCHEDULED`] if periods were skipped, otherwise measured
    /// samples.
    pub view: &'static str,
    /// Quantiles with their intervals, which are valid for independent samples.
    pub quantiles: Vec<QuantileInterval>,
    /// The claim that the run supports about its limit on the maximum, or about its threshold.
    pub claim: Option<Claim>,
    /// The steadiness of the window maxima.
    pub steadiness: Stationarity,
    /// The value that is exceeded once in this time, or the reason why none is given.
    pub rare: Result<Rare, NoLevel>,
    /// For a series of gaps: the time that they took.
    pub stolen: Option<Stolen>,
}

/// A quantile and its certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileInterval {
    /// Its name, as in the JSON: `p99`.
    pub name: &'static str,
    /// The quantile in ns.
    pub ns: u64,
    /// Lower end of its interval, in ns.
    pub low_ns: u64,
    /// Upper end of its interval, in ns.
    pub high_ns: u64,
}

/// A value that is exceeded once in `span_ns`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rare {
    /// Length of the time in ns.
    pub span_ns: f64,
    /// The value and its interval.
    pub level: ReturnLevel,
}

/// Time during which a spinning thread did not run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stolen {
    /// Time during which it was observed, in ns.
    pub watched_ns: u64,
    /// Number of gaps.
    pub gaps: u64,
    /// Their sum, in ns.
    pub stolen_ns: u64,
}

impl Stolen {
    /// Lost time per second, in ns.
    pub fn per_second_ns(&self) -> f64 {
        self.stolen_ns as f64 / self.watched_ns as f64 * 1e9
    }

    fn of(series: &SeriesView) -> Option<Self> {
        let watched_ns = series.counters.watched_ns;
        (watched_ns > 0).then(|| Self {
            watched_ns,
            gaps: series.counters.received,
            stolen_ns: u64::try_from(series.sum_ns).unwrap_or(0),
        })
    }

    /// Text for people.
    pub fn text(&self) -> String {
        let each_second = 1e9 * self.gaps as f64 / self.watched_ns as f64;
        format!(
            "{} taken each second ({:.4} % of the CPU) in {each_second:.1} gaps a second, watched for {}",
            format_ns(self.per_second_ns()),
            self.per_second_ns() / 1e7,
            Ns(self.watched_ns)
        )
    }
}

/// The statistics of all series in a run that have enough samples.
pub(crate) fn of_run(run: &RunView, judgement: &Judgement) -> Vec<Insight> {
    let looked_at = run
        .series
        .iter()
        .filter(|series| series.kind().is_some_and(|kind| kind.is_repeated));
    looked_at
        .filter(|series| series.histogram.count() > 0)
        .take(MOST_SERIES)
        .map(|series| Insight::of(series, limit(judgement, series)))
        .collect()
}

/// The limit on the maximum that applies to a series, or its own threshold.
fn limit(judgement: &Judgement, series: &SeriesView) -> Option<u64> {
    let checks = judgement.checks.iter().filter(|check| check.series == series.spec.name);
    let on_maximum = checks.filter(|check| check.limit.quantity == Quantity::Max);
    on_maximum
        .map(|check| check.limit.allowed)
        .min()
        .or(series.spec.threshold_ns)
}

impl Insight {
    fn of(series: &SeriesView, limit_ns: Option<u64>) -> Self {
        let blocks = blocks(series);
        let activations = series.histogram.scheduled(series.cycle_ns(), series.counters.missed);
        let interval = |(name, q)| {
            let (low_ns, high_ns) = activations.quantile_interval(q, CONFIDENCE)?;
            let ns = activations.supported_quantile(q)?;
            Some(QuantileInterval {
                name,
                ns,
                low_ns,
                high_ns,
            })
        };
        let exposure_ns = series.exposure_ns();
        let bound = limit_ns
            .and_then(|limit| Bound::of(series, limit))
            .filter(Bound::is_counted);
        Self {
            series: series.spec.name.clone(),
            view: series.judged_view(),
            quantiles: QUANTILES.into_iter().filter_map(interval).collect(),
            claim: bound.map(|bound| {
                claim(
                    (bound.over_at_least, bound.over),
                    exposure_ns,
                    bound.limit_ns,
                    CONFIDENCE,
                    YEAR_NS,
                )
            }),
            steadiness: check(&blocks),
            rare: return_level_of_maxima(&blocks, RUNS_AHEAD * blocks.len() as f64, CONFIDENCE).map(|level| Rare {
                span_ns: RUNS_AHEAD * exposure_ns as f64,
                level,
            }),
            stolen: Stolen::of(series),
        }
    }

    /// The quantiles with their intervals, as text for people.
    pub fn quantiles_text(&self) -> String {
        let one = |q: &QuantileInterval| {
            let name = crate::text::quantile_name(q.name);
            format!("{name} {} ({} to {})", Ns(q.ns), Ns(q.low_ns), Ns(q.high_ns))
        };
        let list = self.quantiles.iter().map(one).collect::<Vec<_>>().join(", ");
        match self.view {
            SCHEDULED if !list.is_empty() => format!("over scheduled activations: {list}"),
            _ => list,
        }
    }

    /// The rare value, or the reason why none is given, as text for people.
    pub fn rare_text(&self) -> String {
        match &self.rare {
            Ok(rare) => format!(
                "{} is exceeded once in {} ({} to {}: {:.0} % of the fit alone), if the tail continues as in {} blocks; \
                 {}. A cause rarer than once in {} may not have shown yet, and would make it larger",
                format_ns(rare.level.level_ns),
                format_ns(rare.span_ns),
                format_ns(rare.level.low_ns),
                format_ns(rare.level.high_ns),
                rare.level.confidence * 100.0,
                rare.level.blocks,
                rare.level.held_back.map_or_else(
                    || "too few blocks to hold some back".to_owned(),
                    |held_back| held_back.text()
                ),
                // With a confidence of 95 %, events that happen once in a third of the run were observed.
                format_ns(rare.span_ns / RUNS_AHEAD / 3.0),
            ),
            Err(refusal) => format!("none given: {refusal}"),
        }
    }
}

/// Maxima of blocks of windows; the last block is left out if it is shorter than the others.
fn blocks(series: &SeriesView) -> Vec<f64> {
    let maxima = window_maxima(series);
    let per_block = maxima.len().div_ceil(MOST_BLOCKS).max(1);
    maxima
        .chunks_exact(per_block)
        .map(|block| block.iter().copied().fold(0.0, f64::max))
        .collect()
}

/// The windows with about the most frequent length of their series; if two lengths are equally frequent, the longer
/// one. The first and the last window may be shorter, and a window is longer if the reader of the kernel's counters was
/// delayed.
pub(crate) fn whole_windows(series: &SeriesView) -> impl Iterator<Item = &WindowRow> {
    let usual = usual_length_ns(&series.windows);
    series.windows.iter().filter(move |window| {
        let length = length_ns(window);
        length * 10 >= usual * 9 && length * 9 <= usual * 10
    })
}

fn length_ns(window: &WindowRow) -> u64 {
    window.end_ns.saturating_sub(window.start_ns)
}

/// The most frequent length of these windows, the longer one of two, in ns; 0 without a window.
pub(crate) fn usual_length_ns(windows: &[WindowRow]) -> u64 {
    let mut lengths: BTreeMap<u64, usize> = BTreeMap::new();
    for window in windows {
        *lengths.entry(length_ns(window)).or_default() += 1;
    }
    let usual = lengths.into_iter().max_by_key(|(length, times)| (*times, *length));
    usual.map_or(0, |(length, _)| length)
}

/// Largest sample of each whole window.
pub(crate) fn window_maxima(series: &SeriesView) -> Vec<f64> {
    whole_windows(series)
        .filter_map(|window| window.max_ns)
        .map(|ns| ns as f64)
        .collect()
}

/// Maxima of whole windows for drawing, with the largest sample of the run, which may be in a shorter window.
pub(crate) fn with_largest(mut maxima: Vec<f64>, series: &SeriesView) -> Vec<f64> {
    let largest = series.max_ns.map(|ns| ns as f64);
    let is_hidden = |largest: &f64| !maxima.is_empty() && maxima.iter().all(|max| max < largest);
    let hidden = largest.filter(is_hidden);
    maxima.extend(hidden);
    maxima
}

#[cfg(test)]
mod tests {
    use super::{Stolen, of_run, whole_windows};
    use crate::limits::Profile;
    use crate::verdict::Judgement;
    use model::WindowRow;
    use testing::synthetic;

    #[test]
    fn a_series_says_how_sure_it_is_and_what_it_supports() {
        let run = synthetic::run(vec![synthetic::series("wakeup/cpu1", 600_000, 40_000, 600)]);
        let profile = Profile::find("substation").expect("embedded");
        let judgement = Judgement::of(&run, &[profile]);
        let insights = of_run(&run, &judgement);
        let [insight] = &insights[..] else {
            panic!("one series");
        };
        let p99 = insight.quantiles.iter().find(|q| q.name == "p99").expect("supported");
        assert!(p99.low_ns <= p99.ns && p99.ns <= p99.high_ns, "{p99:?}");
        let claim = insight.claim.expect("a limit judges it").text();
        assert!(
            claim.contains("0 over 120") && claim.contains("at most one per"),
            "{claim}"
        );
        assert!(!insight.steadiness.text().is_empty() && !insight.rare_text().is_empty());
    }

    #[test]
    fn a_window_that_was_read_late_is_not_whole_and_makes_the_others_no_part() {
        let whole = |lengths_ms: &[u64]| -> Vec<u64> {
            let mut series = synthetic::series("hop/nic-to-app/MU01", lengths_ms.len() as u64, 1_000, 600);
            let row = series.windows[0].clone();
            series.windows = lengths_ms
                .iter()
                .map(|ms| WindowRow {
                    start_ns: 0,
                    end_ns: *ms,
                    ..row.clone()
                })
                .collect();
            whole_windows(&series).map(|window| window.end_ns).collect()
        };
        assert_eq!(whole(&[300, 1_000, 1_000, 14_000, 995, 400]), [1_000, 1_000, 995]);
        assert_eq!(whole(&[300, 1_000, 500]), [1_000]);
        assert_eq!(whole(&[300]), [300]);
    }

    #[test]
    fn stolen_time_is_per_second_watched() {
        let stolen = Stolen {
            watched_ns: 2_000_000_000,
            gaps: 500,
            stolen_ns: 1_000_000,
        };
        assert!((stolen.per_second_ns() - 500_000.0).abs() < 1e-6);
        assert!(
            stolen
                .text()
                .starts_with("500 µs taken each second (0.0500 % of the CPU)"),
            "{}",
            stolen.text()
        );
    }
}
