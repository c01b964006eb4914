//! The values of a run in OpenMetrics' units.

use model::fact::HOST_NAME;
use model::{Counter, Figure, IMPORTED, RunState, RunView, SeriesView};
use report::live::{Live, LiveState};
use stats::Histogram;

/// Upper ends of the histogram's buckets in ns: 1, 2 and 5 in each decade from a microsecond on. Samples clipped at 60 s are above all of them.
const BOUNDS_NS: [u64; 24] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
    20_000_000_000,
    50_000_000_000,
];

/// The exported values of a run.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Labels that distinguish the run from others.
    pub(super) identity: Vec<(String, String)>,
    /// Subcommand of the measurement.
    pub(super) command: String,
    /// True if it ran to its end.
    pub(super) complete: bool,
    /// State in a word: how it ended, or the work under way.
    pub(super) state: &'static str,
    /// How long it will still measure, if that is known.
    pub(super) left_s: Option<f64>,
    /// Start since 1970.
    pub(super) started_s: f64,
    /// Length.
    pub(super) duration_s: f64,
    /// Its series.
    pub(super) series: Vec<Series>,
}

/// The exported values of a series.
#[derive(Debug)]
pub(super) struct Series {
    /// Its name.
    pub(super) name: String,
    /// Counts of due samples by outcome. Only outcomes that were counted are listed: a 0 would mean that none occurred.
    pub(super) counted: Vec<(Counter, u64)>,
    /// Smallest sample.
    pub(super) min_s: Option<f64>,
    /// Largest sample.
    pub(super) max_s: Option<f64>,
    /// Mean.
    pub(super) mean_s: Option<f64>,
    /// Supported quantiles, by the text of their label.
    pub(super) quantiles: Vec<(String, f64)>,
    /// Measured time in seconds.
    pub(super) exposure_s: f64,
    /// Upper end and count of each bucket; the last is infinite.
    pub(super) buckets: Vec<(f64, u64)>,
    /// Samples in the buckets.
    pub(super) samples: u64,
    /// Sum of the samples; `None` if the format cannot express it or only a bound is known.
    pub(super) sum_s: Option<f64>,
}

impl Snapshot {
    /// The values of a run, which may be under way.
    pub(super) fn of(run: &RunView, live: Option<&Live>) -> Self {
        let host = HOST_NAME.of(&run.facts).unwrap_or_default();
        let identity = [
            ("run", run.info.id.clone()),
            ("command", run.info.command.clone()),
            ("host", host),
            ("version", run.info.tool_version.clone()),
        ];
        Self {
            identity: identity.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            command: run.info.command.clone(),
            complete: run.state == RunState::Complete,
            state: live.map_or(ended(run.state), |live| live.state.word()),
            left_s: live.and_then(|live| live.left_ns).map(|ns| seconds(ns as f64)),
            started_s: seconds(run.info.started.as_ns() as f64),
            duration_s: seconds(run.duration_ns as f64),
            series: run.series.iter().map(|series| Series::of(run, series)).collect(),
        }
    }
}

/// How a run ended. One that is still measured is told by its server.
fn ended(state: RunState) -> &'static str {
    match state {
        RunState::Complete => LiveState::Complete.word(),
        RunState::Interrupted => LiveState::Interrupted.word(),
        RunState::Running => LiveState::Measuring.word(),
    }
}

impl Series {
    fn of(run: &RunView, series: &SeriesView) -> Self {
        // An imported run has truncated samples: their sum and mean are only bounds.
        let is_exact = run.info.command != IMPORTED;
        // A sum that can decrease is not a counter: a histogram with samples below zero has none.
        let can_fall = series.min_ns.is_some_and(|min| min < 0);
        let figures = series.figures();
        let quantile = |figure: Figure| Some((figure.quantile()?.to_string(), seconds(figures.get(figure)?.ns())));
        Self {
            name: series.spec.name.clone(),
            counted: counted(run, series),
            min_s: figures.min.map(|ns| seconds(ns as f64)),
            max_s: figures.max.map(|ns| seconds(ns as f64)),
            mean_s: figures.mean.filter(|_| is_exact).map(seconds),
            quantiles: Figure::ALL.into_iter().filter_map(quantile).collect(),
            exposure_s: seconds(series.exposure_ns() as f64),
            buckets: buckets(&series.histogram),
            samples: series.histogram.count(),
            sum_s: (is_exact && !can_fall).then(|| seconds(series.sum_ns as f64)),
        }
    }
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// The samples by bucket. A sample whose own bucket spans a boundary counts above it: exact to three digits, and never too favourable.
fn buckets(histogram: &Histogram) -> Vec<(f64, u64)> {
    let mut counts = [0u64; BOUNDS_NS.len() + 1];
    let max = histogram.max().unwrap_or(0);
    for bucket in histogram.buckets() {
        let value = bucket.high_ns.min(max);
        let at = BOUNDS_NS.partition_point(|bound| *bound < value);
        counts[at] += bucket.count;
    }
    let ends = BOUNDS_NS
        .map(|ns| seconds(ns as f64))
        .into_iter()
        .chain([f64::INFINITY]);
    ends.zip(counts).collect()
}

fn counted(run: &RunView, series: &SeriesView) -> Vec<(Counter, u64)> {
    let all = Counter::ALL.map(|counter| (counter, series.counters.get(counter)));
    let is_counted = |(counter, value): &(Counter, u64)| *value > 0 || series.spec.knows(*counter, &run.lacks);
    all.into_iter().filter(is_counted).collect()
}
