//! Results in the layouts of the field's publications: wake-up latency, and the round trip by network.
//!
//! - VMware, *ESXi real-time guide*: samples, minimum, average, maximum, overflows over 120 us, one row per measured CPU.
//! - ABB and University of Torino, *Virtualised protection with containers*, table 2: scheduling jitter, maximum (average) in
//!   us, one row per environment, one column per system.
//! - Sienda, *Linux real-time kernel performance requirements for AVB devices*: under 10 us excellent, over 50 us
//!   unsuitable.

pub(crate) mod networks;
mod vpc;

use crate::text::count;
use model::fact::{CONTAINER, CPU_MODEL, HYPERVISOR, KERNEL_RELEASE};
use model::{FactOf, RunView, SeriesView, kind};
use std::fmt::Write;
use units::foreign::Show;

/// A published layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// VMware's.
    Vm,
    /// ABB's and University of Torino's.
    Jitter,
    /// Sienda's.
    Avb,
    /// The round trip by network.
    Networks,
    /// ABB's and University of Torino's, of a virtual relay.
    Vpc,
}

/// VMware's limit, and the end of their histogram.
const VM_LIMIT_NS: u64 = 120_000;

/// Sienda: maxima below are excellent.
const AVB_EXCELLENT_NS: i64 = 10_000;

/// Sienda: maxima above are unsuitable.
const AVB_UNSUITABLE_NS: i64 = 50_000;

/// Prints runs in a published layout. Runs without the series that it shows give an empty table.
pub fn print(layout: Layout, runs: &[RunView]) -> String {
    let runs: &[RunView] = &runs.iter().map(Show::shown).collect::<Vec<_>>();
    match layout {
        Layout::Vm => vm(runs),
        Layout::Jitter => jitter(runs),
        Layout::Avb => avb(runs),
        Layout::Networks => networks::print(runs),
        Layout::Vpc => vpc::print(runs),
    }
}

fn wakeups(run: &RunView) -> impl Iterator<Item = &SeriesView> {
    run.series.iter().filter(|series| series.is(&kind::WAKEUP))
}

/// Whole microseconds, as cyclictest truncates them.
fn us(ns: Option<i64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| (ns / 1_000).to_string())
}

fn vm(runs: &[RunView]) -> String {
    let mut rows = vec![
        [
            "VM description",
            "Number of Latency Samples",
            "Minimum (µs)",
            "Average (µs)",
            "Max (µs)",
            "Overflows* (over 120 µs)",
        ]
        .map(str::to_owned),
    ];
    for run in runs {
        for series in wakeups(run) {
            rows.push([
                format!("{}, {}", fact(run, &HYPERVISOR), series.spec.name),
                commas(series.counters.received),
                us(series.min_ns),
                us(series.mean_ns().map(|ns| ns as i64)),
                us(series.max_ns),
                over(series, VM_LIMIT_NS),
            ]);
        }
    }
    let note = "* Samples over 120 µs. After \"+\": all periods that the thread skipped, however long, which \
                cyclictest does not count.\n";
    columns(&rows) + note
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

fn jitter(runs: &[RunView]) -> String {
    let mut out = String::from("Scheduling jitter, max (avg) µs\n");
    for run in runs {
        let system = format!("{} {}", fact(run, &CPU_MODEL), fact(run, &KERNEL_RELEASE));
        let _ = writeln!(out, "  system: {system}");
    }
    let mut rows = vec![["Environment", "Load", "CPUs", "max (avg)"].map(str::to_owned)];
    for run in runs {
        for label in labels(run) {
            let of_label: Vec<&SeriesView> = wakeups(run).filter(|series| self::label(series) == label).collect();
            let max = of_label.iter().filter_map(|series| series.max_ns).max();
            let samples: u64 = of_label.iter().map(|series| series.counters.received).sum();
            let sum: i128 = of_label.iter().map(|series| series.sum_ns).sum();
            let mean = (samples > 0).then(|| (sum / i128::from(samples)) as i64);
            rows.push([
                environment(run),
                label.to_owned(),
                of_label.len().to_string(),
                format!("{} ({})", us(max), us(mean)),
            ]);
        }
    }
    out + &columns(&rows)
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

/// Native, or the container or virtual machine the run was made in.
fn environment(run: &RunView) -> String {
    let [container, hypervisor] = [&CONTAINER, &HYPERVISOR].map(|of| fact(run, of));
    match (container.as_str(), hypervisor.as_str()) {
        ("none", "none") => "Native".to_owned(),
        ("none", "unknown") => "unknown".to_owned(),
        ("none", _) => format!("virtual machine ({hypervisor})"),
        (_, "none" | "unknown") => container,
        _ => format!("{container} in a virtual machine ({hypervisor})"),
    }
}

fn avb(runs: &[RunView]) -> String {
    let mut rows = vec![["CPU", "max (µs)", "samples", "class"].map(str::to_owned)];
    for run in runs {
        for series in wakeups(run) {
            rows.push([
                series.spec.name.clone(),
                us(series.max_ns),
                count(series.counters.received),
                class(series.max_ns).to_owned(),
            ]);
        }
    }
    columns(&rows)
}

fn class(max_ns: Option<i64>) -> &'static str {
    match max_ns {
        None => "not measured",
        Some(ns) if ns < AVB_EXCELLENT_NS => "excellent (under 10 µs)",
        Some(ns) if ns <= AVB_UNSUITABLE_NS => "between (10 to 50 µs)",
        Some(_) => "likely not suitable (over 50 µs)",
    }
}

/// A fact of the inventory in short.
fn fact(run: &RunView, of: &FactOf<String>) -> String {
    of.word_of(&run.facts).unwrap_or_else(|| "unknown".to_owned())
}

/// A count as the guide writes it: `2,160,000,000`.
fn commas(n: u64) -> String {
    count(n).replace(' ', ",")
}

/// Rows in columns; the first row is the head.
fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(out, "| {line} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Layout, class, print};
    use model::Fact;
    use model::RunView;
    use testing::synthetic;

    fn run() -> RunView {
        let mut run = synthetic::run(vec![
            synthetic::series("wakeup/no-load/cpu0", 1_000_000, 16_900, 60),
            synthetic::series("wakeup/hackbench/cpu0", 1_000_000, 37_400, 60),
            synthetic::series("wakeup/hackbench/cpu1", 1_000_000, 12_000, 60),
        ]);
        run.facts = synthetic::facts();
        run
    }

    #[test]
    fn the_guides_columns() {
        let text = print(Layout::Vm, &[run()]);
        for part in [
            "Number of Latency Samples",
            "1,000,000",
            "Overflows* (over 120 µs)",
            "| 37 ",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn jitter_is_max_and_average_over_all_cpus_of_a_load() {
        let text = print(Layout::Jitter, &[run()]);
        let row = text.lines().find(|line| line.contains("hackbench")).expect("a row");
        assert!(row.contains("| 2 ") && row.contains("37 ("), "{row}");
        let row = text.lines().find(|line| line.contains("no-load")).expect("a row");
        assert!(row.contains("16 ("), "{row}");
    }

    #[test]
    fn the_environment_is_a_virtual_machine_where_it_runs_in_one() {
        let named = |container: &str, hypervisor: &str| {
            let mut run = run();
            let fact = |name: &str, value: &str| Fact {
                group: "virtualisation".into(),
                name: name.into(),
                value: Ok(value.into()),
                source: String::new(),
            };
            run.facts = vec![fact("container", container), fact("hypervisor", hypervisor)];
            super::environment(&run)
        };
        assert_eq!(named("none", "none"), "Native");
        assert_eq!(named("none", "kvm (KVM in /sys/class/dmi/id)"), "virtual machine (kvm)");
        assert_eq!(named("docker", "none"), "docker");
        assert_eq!(named("docker", "kvm"), "docker in a virtual machine (kvm)");
    }

    #[test]
    fn skipped_periods_are_shown_whatever_skipped_them() {
        let mut run = run();
        run.series[0].counters.missed = 4;
        let text = print(Layout::Vm, &[run]);
        assert!(text.contains("| 0 + 4 "), "{text}");
        assert!(
            text.contains("all periods that the thread skipped, however long"),
            "{text}"
        );
    }

    #[test]
    fn siendas_classes() {
        assert_eq!(class(Some(9_999)), "excellent (under 10 µs)");
        assert_eq!(class(Some(10_000)), "between (10 to 50 µs)");
        assert_eq!(class(Some(50_001)), "likely not suitable (over 50 µs)");
        assert_eq!(class(None), "not measured");
        assert!(print(Layout::Avb, &[run()]).contains("wakeup/hackbench/cpu1"));
    }
}
