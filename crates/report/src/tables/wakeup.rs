//! Wake-up latency as VMware, ABB and the University of Torino, and Sienda report it.

use super::system::{System, fact};
use super::{Run, Table, heads, us};
use crate::text::count;
use model::fact::HYPERVISOR;
use model::{RunView, SeriesView, kind};

/// VMware's limit, and the end of their histogram.
const VM_LIMIT_NS: u64 = 120_000;

/// Sienda: maxima below are excellent.
const AVB_EXCELLENT_NS: i64 = 10_000;

/// Sienda: maxima above are unsuitable.
const AVB_UNSUITABLE_NS: i64 = 50_000;

fn wakeups(run: &RunView) -> impl Iterator<Item = &SeriesView> {
    run.series.iter().filter(|series| series.is(&kind::WAKEUP))
}

/// A row for each measured CPU of each run.
pub(super) fn vm(runs: &[Run]) -> Table {
    let row = |run: &Run, series: &SeriesView| {
        vec![
            run.system.name.clone(),
            format!("{}, {}", fact(&run.view, &HYPERVISOR), series.spec.name),
            commas(series.counters.received),
            us(series.min_ns),
            us(series.mean_ns().map(|ns| ns as i64)),
            us(series.max_ns),
            over(series, VM_LIMIT_NS),
        ]
    };
    Table {
        title: "Wake-up latency per CPU".to_owned(),
        heads: heads([
            "System",
            "VM description",
            "Number of Latency Samples",
            "Minimum (µs)",
            "Average (µs)",
            "Max (µs)",
            "Overflows* (over 120 µs)",
        ]),
        rows: each(runs, row),
        notes: vec![
            "* Samples over 120 µs. After \"+\": all periods that the thread skipped, however long, which cyclictest does not count."
                .to_owned(),
        ],
    }
}

fn each(runs: &[Run], row: impl Fn(&Run, &SeriesView) -> Vec<String>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for run in runs {
        rows.extend(wakeups(&run.view).map(|series| row(run, series)));
    }
    rows
}

/// Samples over a limit, and the periods that were skipped: by these samples and by shorter ones.
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

/// A row for each environment and load, a column for each system.
pub(super) fn jitter(runs: &[Run]) -> Table {
    let mut systems: Vec<&System> = Vec::new();
    for run in runs {
        if !systems.iter().any(|other| other.name == run.system.name) {
            systems.push(&run.system);
        }
    }
    let mut places: Vec<[String; 3]> = Vec::new();
    let mut cells: Vec<Vec<String>> = Vec::new();
    for run in runs {
        let column = systems
            .iter()
            .position(|system| system.name == run.system.name)
            .unwrap_or(0);
        for label in labels(&run.view) {
            let of_label: Vec<&SeriesView> = wakeups(&run.view)
                .filter(|series| self::label(series) == label)
                .collect();
            let place = [
                run.system.environment.clone(),
                label.to_owned(),
                of_label.len().to_string(),
            ];
            let row = places.iter().position(|other| *other == place).unwrap_or(places.len());
            if row == places.len() {
                places.push(place);
                cells.push(vec!["–".to_owned(); systems.len()]);
            }
            cells[row][column] = max_and_mean(&of_label);
        }
    }
    let rows = places.into_iter().zip(cells);
    Table {
        title: "Scheduling jitter, max (avg) µs".to_owned(),
        heads: ["Environment", "Load", "CPUs"]
            .map(str::to_owned)
            .into_iter()
            .chain(systems.iter().map(|system| system.name.clone()))
            .collect(),
        rows: rows
            .map(|(place, cells)| place.into_iter().chain(cells).collect())
            .collect(),
        notes: systems
            .iter()
            .filter(|system| system.name != system.hardware)
            .map(|system| format!("{}: {}", system.name, system.hardware))
            .collect(),
    }
}

fn max_and_mean(series: &[&SeriesView]) -> String {
    let max = series.iter().filter_map(|series| series.max_ns).max();
    let samples: u64 = series.iter().map(|series| series.counters.received).sum();
    let sum: i128 = series.iter().map(|series| series.sum_ns).sum();
    let mean = (samples > 0).then(|| (sum / i128::from(samples)) as i64);
    format!("{} ({})", us(max), us(mean))
}

/// What stands between `wakeup/` and the CPU in the names of a run's series, in order.
fn labels(run: &RunView) -> Vec<&str> {
    let mut labels = Vec::new();
    for series in wakeups(run) {
        if !labels.contains(&label(series)) {
            labels.push(label(series));
        }
    }
    labels
}

fn label(series: &SeriesView) -> &str {
    let mut parts = series.spec.name.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(label), Some(_)) => label,
        _ => "as set up",
    }
}

/// A row for each measured CPU of each run.
pub(super) fn avb(runs: &[Run]) -> Table {
    let row = |run: &Run, series: &SeriesView| {
        vec![
            run.system.name.clone(),
            run.system.environment.clone(),
            series.spec.name.clone(),
            us(series.max_ns),
            count(series.counters.received),
            class(series.max_ns).to_owned(),
        ]
    };
    Table {
        title: "Classes for AVB".to_owned(),
        heads: heads(["System", "Environment", "CPU", "max (µs)", "samples", "class"]),
        rows: each(runs, row),
        notes: Vec::new(),
    }
}

fn class(max_ns: Option<i64>) -> &'static str {
    match max_ns {
        None => "not measured",
        Some(ns) if ns < AVB_EXCELLENT_NS => "excellent (under 10 µs)",
        Some(ns) if ns <= AVB_UNSUITABLE_NS => "between (10 to 50 µs)",
        Some(_) => "likely not suitable (over 50 µs)",
    }
}

/// A count as the guide writes it: `2,160,000,000`.
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
