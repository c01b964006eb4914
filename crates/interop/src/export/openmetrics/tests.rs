//! The expected text, and its meaning to Prometheus' own Python readers.

use super::super::tests::a_run;
use super::openmetrics;
use model::{Counter, Event, EventKind, RunView};
use report::Report;
use report::limits::Profile;
use std::collections::BTreeMap;
use testing::synthetic;

fn exposed() -> String {
    let directory = tempfile::tempdir().expect("a directory");
    written(&a_run(&directory).view().expect("a run"))
}

#[test]
fn names_units_and_values() {
    let text = exposed();
    for line in [
        "# TYPE triptime_lost counter",
        "triptime_missed_total{command=\"wakeup\",series=\"wakeup/cpu1\"} 0",
        "triptime_received_total{command=\"wakeup\",series=\"wakeup/cpu1\"} 80",
        "triptime_clipped_total{command=\"wakeup\",series=\"wakeup/cpu1\"} 0",
        "triptime_run{run=\"test\",command=\"wakeup\",host=\"\",version=\"0.1.0\"} 1",
        "triptime_run_complete{command=\"wakeup\"} 1",
        "triptime_run_start_timestamp_seconds{command=\"wakeup\"} 1795226400.5",
        "triptime_run_duration_seconds{command=\"wakeup\"} 3.0",
        "triptime_exposure_seconds{command=\"wakeup\",series=\"wakeup/cpu1\"} 3.0",
        "# UNIT triptime_sample_max_seconds seconds",
        "triptime_sample_max_seconds{command=\"wakeup\",series=\"age/\\\"MU, one\\\"\"} 0.00009",
        "triptime_sample_mean_seconds{command=\"wakeup\",series=\"wakeup/cpu1\"} 0.00004525",
        "triptime_sample_quantile_seconds{command=\"wakeup\",series=\"wakeup/cpu1\",quantile=\"0.5\"} 5e-7",
        "triptime_sample_seconds_bucket{le=\"0.000001\",command=\"wakeup\",series=\"wakeup/cpu1\"} 40",
        "triptime_sample_seconds_bucket{le=\"0.00005\",command=\"wakeup\",series=\"wakeup/cpu1\"} 40",
        "triptime_sample_seconds_bucket{le=\"0.0001\",command=\"wakeup\",series=\"wakeup/cpu1\"} 80",
        "triptime_sample_seconds_bucket{le=\"+Inf\",command=\"wakeup\",series=\"wakeup/cpu1\"} 80",
        "triptime_sample_seconds_count{command=\"wakeup\",series=\"wakeup/cpu1\"} 80",
        "triptime_sample_seconds_sum{command=\"wakeup\",series=\"wakeup/cpu1\"} 0.00362",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
    assert!(
        !text.contains("quantile=\"0.99\""),
        "80 samples support no such quantile"
    );
}

#[test]
fn a_counter_that_nobody_counted_is_left_out() {
    let text = |threshold_ns: Option<u64>, overflow: u64, lacks: &[Counter]| {
        let mut spacing = synthetic::series("spacing/MU01", 1_000, 60_000, 10);
        spacing.spec.threshold_ns = threshold_ns;
        spacing.counters.overflow = overflow;
        let mut run = synthetic::run(vec![spacing]);
        run.lacks = lacks.to_vec();
        written(&run)
    };
    let plain = text(None, 0, &[]);
    assert!(!plain.contains("triptime_overflow_total{"), "{plain}");
    assert!(plain.contains("triptime_conflicting_total{"), "{plain}");
    assert!(
        text(Some(1_000), 0, &[]).contains("triptime_overflow_total{"),
        "none is over the threshold"
    );
    assert!(
        text(None, 3, &[]).contains("triptime_overflow_total{"),
        "a count is shown"
    );
    let older = text(None, 0, &[Counter::Conflicting]);
    assert!(!older.contains("triptime_conflicting_total{"), "{older}");
}

/// The OpenMetrics reader checks names, units, suffixes and buckets; the older one reads the format of the textfile collector.
const READ: &str = "
import json, sys
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics
text = sys.stdin.read()
families = list(openmetrics.text_string_to_metric_families(text))
samples = {json.dumps([s.name, s.labels], sort_keys=True): s.value for f in families for s in f.samples}
older = {json.dumps([s.name, s.labels], sort_keys=True): s.value for f in parser.text_string_to_metric_families(text) for s in f.samples}
assert older == samples, 'the two readers disagree'
by_name = {}
for f in families:
    for s in f.samples:
        by_name.setdefault(s.name, []).append(s.value)
print(json.dumps({'units': sorted({f.unit for f in families}), 'types': sorted({f.type for f in families}), 'values': by_name}))
";

#[derive(serde::Deserialize)]
struct Understood {
    units: Vec<String>,
    types: Vec<String>,
    values: BTreeMap<String, Vec<f64>>,
}

#[test]
fn prometheus_own_readers_understand_it() {
    let Some(understood) = understood(&exposed()) else {
        return;
    };
    assert_eq!(understood.units, ["", "seconds"]);
    assert_eq!(understood.types, ["counter", "gauge", "histogram"]);
    assert_eq!(understood.values["triptime_received_total"], [80.0, 80.0]);
    assert_eq!(understood.values["triptime_sample_max_seconds"], [9e-5, 9e-5]);
    assert_eq!(understood.values["triptime_sample_seconds_count"], [80.0, 80.0]);
    assert_eq!(understood.values["triptime_overrun_total"].len(), 2);
}

/// A run with three series: all samples below zero, some below zero, and no samples.
fn of_all_signs() -> RunView {
    let mut below = synthetic::series("age/MU01", 1_000, 60_000, 10);
    below.histogram = stats::Histogram::new();
    below.histogram.record_n(0, 1_000);
    (below.min_ns, below.max_ns, below.sum_ns) = (Some(-40_000), Some(-2_000), -20_000_000);
    let mut partly = below.clone();
    partly.spec.name = "age/MU02".into();
    partly.histogram.record_n(60_000, 200);
    (partly.max_ns, partly.sum_ns) = (Some(60_000), 5_000_000);
    let mut empty = synthetic::series("age/MU03", 0, 60_000, 0);
    empty.counters.expected = 10;
    synthetic::run(vec![below, partly, empty])
}

fn written(run: &RunView) -> String {
    judged(run, Vec::new())
}

fn judged(run: &RunView, profiles: Vec<Profile>) -> String {
    let mut out = Vec::new();
    openmetrics(&Report::new(run.clone(), profiles), &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// Runs within, over and in doubt of `wakeup.max`; their other limits are not measured.
#[test]
fn a_verdict_is_a_number_for_each_limit_that_was_measured() {
    let profile = || vec![Profile::find("substation").expect("embedded")];
    let limits = profile()[0].limits.len();
    let within = synthetic::run(vec![synthetic::series("wakeup/cpu1", 1_000, 60_000, 10)]);
    let mut doubted = within.clone();
    doubted.events.push(Event {
        at_ns: 1,
        since_ns: None,
        kind: EventKind::RtThrottled,
        text: String::new(),
        series: None,
    });
    let over = synthetic::run(vec![synthetic::series("wakeup/cpu1", 1_000, 130_000, 10)]);
    for (run, number) in [(within, 0), (over, 1), (doubted, 2)] {
        let text = judged(&run, profile());
        let labels = "{command=\"qualify\",profile=\"substation\",limit=\"wakeup.max\",series=\"wakeup/cpu1\"}";
        for line in [
            format!("triptime_verdict{labels} {number}"),
            format!("triptime_limit_seconds{labels} 0.00012"),
            format!("triptime_run_verdict{{command=\"qualify\"}} {number}"),
            format!("triptime_run_limits{{command=\"qualify\"}} {limits}"),
            "triptime_run_limits_measured{command=\"qualify\"} 1".to_owned(),
            "triptime_run_end_timestamp_seconds{command=\"qualify\"} 1795226410.0".to_owned(),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let verdicts = text.lines().filter(|line| line.starts_with("triptime_verdict{"));
        assert_eq!(verdicts.count(), 1, "what was not measured has no number: {text}");
        let Some(understood) = understood(&text) else {
            return;
        };
        assert_eq!(understood.values["triptime_verdict"], [f64::from(number)]);
    }
}

#[test]
fn without_limits_there_is_no_verdict() {
    assert!(!exposed().contains("verdict"));
}

#[test]
fn no_quantile_is_above_a_negative_maximum_and_no_sum_can_fall() {
    let text = written(&of_all_signs());
    for series in ["age/MU01", "age/MU02"] {
        let of = |name: &str| text.lines().any(|line| line.starts_with(name) && line.contains(series));
        assert!(
            !of("triptime_sample_seconds_sum") && !of("triptime_sample_seconds_count"),
            "{text}"
        );
        assert!(
            of("triptime_sample_seconds_bucket") && of("triptime_sample_mean_seconds"),
            "{text}"
        );
    }
    let quantile = |line: &str| line.starts_with("triptime_sample_quantile_seconds") && line.contains("age/MU01");
    assert!(!text.lines().any(quantile), "{text}");
}

#[test]
fn what_was_imported_has_no_exact_mean() {
    let mut run = synthetic::run(vec![synthetic::series("wakeup/cpu1", 1_000, 60_000, 10)]);
    assert!(written(&run).contains("triptime_sample_mean_seconds{"));
    run.info.command = "import".into();
    let text = written(&run);
    assert!(
        !text.contains("triptime_sample_mean_seconds{") && !text.contains("triptime_sample_seconds_sum{"),
        "{text}"
    );
}

#[test]
fn prometheus_own_readers_understand_negative_and_empty_series() {
    let Some(understood) = understood(&written(&of_all_signs())) else {
        return;
    };
    assert_eq!(understood.values["triptime_sample_max_seconds"], [-2e-6, 6e-5]);
    assert_eq!(understood.values["triptime_sample_seconds_count"], [0.0]);
    let nothing = synthetic::run(Vec::new());
    let Some(understood) = self::understood(&written(&nothing)) else {
        return;
    };
    assert_eq!(understood.values["triptime_run_complete"], [1.0]);
}

/// Content of a text as the readers understand it; `None` if the test is skipped.
fn understood(text: &str) -> Option<Understood> {
    let said = testing::read_by_python("openmetrics", READ, text)?;
    Some(serde_json::from_str(&said).expect("JSON"))
}
