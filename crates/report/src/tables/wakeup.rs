//! Wake-up latency in the forms of VMware, of ABB and the University of Torino, and of Sienda.

use super::columns::Columns;
use super::{Run, Table, us};
use crate::text::count;
use model::{RunView, SeriesView, kind};

/// VMware's limit, and the end of their histogram.
const VM_LIMIT_NS: u64 = 120_000;

/// Sienda: a maximum below this is excellent.
const AVB_EXCELLENT_NS: i64 = 10_000;

/// Sienda: a maximum above this is unsuitable.
const AVB_UNSUITABLE_NS: i64 = 50_000;

fn wakeups(run: &RunView) -> impl Iterator<Item = &SeriesView> {
    run.series.iter().filter(|series| series.is(&kind::WAKEUP))
}

/// The figures of each measured CPU.
pub(super) fn vm(runs: &[Run]) -> Table {
    let mut columns = Columns::of(runs);
    each(runs, |run, series| {
        let figures = [
            ("Number of Latency Samples", commas(series.counters.received)),
            ("Minimum (µs)", us(series.min_ns)),
            ("Average (µs)", us(series.mean_ns().map(|ns| ns as i64))),
            ("Max (µs)", us(series.max_ns)),
            ("Overflows* (over 120 µs)", over(series, VM_LIMIT_NS)),
        ];
        for (figure, value) in figures {
            columns.put(run, &[&series.spec.name, figure], value);
        }
    });
    let note = "* Samples over 120 µs. After \"+\": all periods that the thread skipped, however long, which cyclictest does not count.";
    let columns = columns.with_environments::<2>(runs);
    columns.table("Wake-up latency per CPU", ["CPU", "Figure"], vec![note.to_owned()])
}

fn each<'a>(runs: &'a [Run], mut show: impl FnMut(&'a Run, &'a SeriesView)) {
    for run in runs {
        wakeups(&run.view).for_each(|series| show(run, series));
    }
}

/// Samples over a limit, and skipped periods, whether skipped because of these samples or shorter ones.
fn over(series: &SeriesView, limit_ns: u64) -> String {
    let samples = match series.spec.threshold_ns {
        Some(threshold) if threshold == limit_ns => series.counters.overflow,
        _ => series.histogram.count_above_at_most(limit_ns),
    };
    match series.counters.missed {
        0 => samples.to_string(),
        missed => format!("{samples} + {missed}"),
    }
}

/// One row for each environment and load.
pub(super) fn jitter(runs: &[Run]) -> Table {
    let mut columns = Columns::of(runs);
    for run in runs {
        for (place, label) in conditions(run) {
            let is_of = |series: &&SeriesView| self::label(series) == label && run.system.place_of(series) == place;
            let measured: Vec<&SeriesView> = wakeups(&run.view).filter(is_of).collect();
            let cpus = measured.len().to_string();
            columns.put(run, &[&place, label, &cpus], max_and_mean(&measured));
        }
    }
    columns.table(
        "Scheduling jitter, max (avg) µs",
        ["Environment", "Load", "CPUs"],
        Vec::new(),
    )
}

fn max_and_mean(series: &[&SeriesView]) -> String {
    let max = series.iter().filter_map(|series| series.max_ns).max();
    let samples: u64 = series.iter().map(|series| series.counters.received).sum();
    let sum: i128 = series.iter().map(|series| series.sum_ns).sum();
    let mean = (samples > 0).then(|| (sum / i128::from(samples)) as i64);
    format!("{} ({})", us(max), us(mean))
}

/// The places of a run's series and the labels between `wakeup/` and the CPU in their names, in order.
fn conditions(run: &Run) -> Vec<(String, &str)> {
    let mut conditions = Vec::new();
    for series in wakeups(&run.view) {
        let condition = (run.system.place_of(series), label(series));
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    conditions
}

fn label(series: &SeriesView) -> &str {
    let mut parts = series.spec.name.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(label), Some(_)) => label,
        _ => "as set up",
    }
}

/// The class of each measured CPU.
pub(super) fn avb(runs: &[Run]) -> Table {
    let mut columns = Columns::of(runs);
    each(runs, |run, series| {
        let figures = [
            ("max (µs)", us(series.max_ns)),
            ("samples", count(series.counters.received)),
            ("class", class(series.max_ns).to_owned()),
        ];
        for (figure, value) in figures {
            columns.put(run, &[&series.spec.name, figure], value);
        }
    });
    let columns = columns.with_environments::<2>(runs);
    columns.table("Classes for AVB", ["CPU", "Figure"], Vec::new())
}

fn class(max_ns: Option<i64>) -> &'static str {
    match max_ns {
        None => "not measured",
        Some(ns) if ns < AVB_EXCELLENT_NS => "excellent (under 10 µs)",
        Some(ns) if ns <= AVB_UNSUITABLE_NS => "between (10 to 50 µs)",
        Some(_) => "likely not suitable (over 50 µs)",
    }
}

/// A count in the notation of the guide: `2,160,000,000`.
fn commas(n: u64) -> String {
    count(n).replace(' ', ",")
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn siendas_classes() {
        assert_eq!(class(Some(9_999)), "excellent (under 10 µs)");
        assert_eq!(class(Some(10_000)), "between (10 to 50 µs)");
        assert_eq!(class(Some(50_001)), "likely not suitable (over 50 µs)");
        assert_eq!(class(None), "not measured");
    }
}
