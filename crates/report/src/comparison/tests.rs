//! Runs with known differences.

use super::Comparison;
use model::{Fact, RunView};
use serde_json::Value;
use testing::synthetic;

/// A run of one series, with its own kernel fact and idle policy.
fn run(name: &str, max_ns: i64, kernel: &str, idle: &str) -> RunView {
    let mut series = synthetic::series(name, 600_000, max_ns, 600);
    series.spec.settings = vec![("idle states".into(), idle.into())];
    let mut run = synthetic::run(vec![series]);
    run.facts = vec![Fact {
        group: "kernel".into(),
        name: "release".into(),
        value: Ok(kernel.into()),
        source: "/proc/version".into(),
    }];
    run
}

fn shifted(mut run: RunView, by_ns: i64) -> RunView {
    for window in run.series[0].windows.iter_mut() {
        window.max_ns = window.max_ns.map(|ns| ns + by_ns);
        window.p50_ns = window.p50_ns.map(|ns| ns + by_ns.unsigned_abs());
    }
    run
}

#[test]
fn a_planted_difference_is_found_with_its_size_and_what_may_explain_it() {
    let a = run("wakeup/cpu1", 40_000, "6.1.0-rt", "held off");
    let b = shifted(run("wakeup/cpu1", 40_000, "6.12.0", "as the system has them"), 50_000);
    let comparison = Comparison::of(vec![("A".into(), a), ("B".into(), b)]);
    let text = comparison.text();
    for part in ["higher", "6.1.0-rt", "6.12.0", "CONDITIONS DIFFER", "idle states", "50"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json: Value = serde_json::from_str(&comparison.json().expect("a document")).expect("JSON");
    assert_eq!(json["schema"], "triptime.compare/1");
    let differences = json["series"][0]["differences"].as_array().expect("differences");
    let median = differences
        .iter()
        .find(|entry| entry["figure"] == "p50")
        .expect("the median");
    assert_eq!(median["outcome"], "higher");
    assert!(
        (median["difference"].as_f64().expect("a number") - 50_000.0).abs() < 2_000.0,
        "{median}"
    );
    assert_eq!(json["inventory"][0]["values"][1]["value"], "6.12.0");
    let html = comparison.html().expect("a page");
    assert!(html.contains("outline run1") && html.contains("class=\"boxes\"") && html.contains("Conditions differ"));
}

/// Of many series a page shows four and folds the rest: never a doubt about one of them, and each that differs comes first.
#[test]
fn a_doubt_about_a_folded_series_is_on_the_page_unfolded() {
    let many = || {
        let names = (0..7).map(|cpu| format!("wakeup/cpu{cpu}"));
        synthetic::run(names.map(|name| synthetic::series(&name, 6_000, 40_000, 60)).collect())
    };
    let mut other = many();
    for window in other.series[6].windows.iter_mut() {
        // A median above the maximum: the file contradicts itself.
        window.p50_ns = window.p50_ns.map(|ns| ns + 90_000);
    }
    let comparison = Comparison::of(vec![("A".into(), many()), ("B".into(), other)]);
    let html = comparison.html().expect("a page");
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} in {html}"));
    assert!(at("B IS IN DOUBT") < at("3 more series"), "above what is folded");
}

#[test]
fn the_same_run_twice_does_not_differ() {
    let same = || run("wakeup/cpu1", 40_000, "6.1.0-rt", "held off");
    let comparison = Comparison::of(vec![("A".into(), same()), ("B".into(), same())]);
    let text = comparison.text();
    assert!(text.contains("The inventories do not differ"), "{text}");
    let json: Value = serde_json::from_str(&comparison.json().expect("a document")).expect("JSON");
    for entry in json["series"][0]["differences"].as_array().expect("differences") {
        let outcome = entry["outcome"].as_str().expect("a word");
        assert!(outcome != "higher" && outcome != "lower", "{entry}");
    }
}

#[test]
fn one_series_of_a_kind_is_compared_under_different_names_and_others_stand_alone() {
    let a = run("wakeup/cpu1", 40_000, "6.1", "held off");
    let mut b = run("wakeup/cpu3", 40_000, "6.1", "held off");
    b.series.push(synthetic::series("rtt/reflect", 1_000, 9_000, 60));
    let comparison = Comparison::of(vec![("A".into(), a), ("B".into(), b)]);
    assert_eq!(comparison.series.len(), 1);
    assert_eq!(comparison.alone, [("B".to_owned(), "rtt/reflect".to_owned())]);
}

#[test]
fn counts_of_interrupts_are_no_difference_but_the_cpu_that_serves_them_is() {
    let with = |count: &str, cpu: &str| {
        let mut run = run("rtt/reflect", 40_000, "6.12.0", "held off");
        let fact = |name: &str, value: &str| Fact {
            group: "nic eth1".into(),
            name: name.into(),
            value: Ok(value.into()),
            source: "/proc/interrupts".into(),
        };
        run.facts
            .extend([fact("interrupt 38 so far", count), fact("interrupt 38", cpu)]);
        run
    };
    let comparison = Comparison::of(vec![
        ("A".into(), with("CPU 0 1", "eth1: on CPU 0")),
        ("B".into(), with("CPU 0 2", "eth1: on CPU 1")),
    ]);
    let text = comparison.text();
    assert!(text.contains("on CPU 1") && !text.contains("so far"), "{text}");
}

fn outcome(json: &Value, list: &str, key: &str, name: &str) -> Value {
    let entries = json["series"][0][list].as_array().expect("a list");
    let entry = entries.iter().find(|entry| entry[key] == name);
    entry.unwrap_or_else(|| panic!("{name} in {json:#}"))["outcome"].clone()
}

fn compared(a: RunView, b: RunView) -> Value {
    let comparison = Comparison::of(vec![("A".into(), a), ("B".into(), b)]);
    serde_json::from_str(&comparison.json().expect("a document")).expect("JSON")
}

/// Windows with too few samples have no p99, and their median must not replace it.
#[test]
fn windows_without_a_quantile_keep_mean_and_maximum() {
    let quiet = |by: i64| {
        let mut run = shifted(run("wakeup/cpu1", 40_000, "6.1", "held off"), by);
        for window in run.series[0].windows.iter_mut() {
            window.mean_ns = window.mean_ns.map(|ns| ns + by as f64);
            (window.p50_ns, window.p99_ns, window.p999_ns) = (None, None, None);
        }
        run
    };
    let json = compared(quiet(0), quiet(50_000));
    for figure in ["p50", "p99"] {
        assert_eq!(
            outcome(&json, "differences", "figure", figure),
            "too-few-windows",
            "{figure}"
        );
    }
    for figure in ["mean", "window-max"] {
        assert_eq!(outcome(&json, "differences", "figure", figure), "higher", "{figure}");
    }
}

/// A window of ten seconds has a larger maximum than one of a second, so the shorter ones are merged.
#[test]
fn windows_of_other_lengths_are_brought_to_one_length_or_refused() {
    let a = run("wakeup/cpu1", 40_000, "6.1", "held off");
    let longer = |ns: u64| {
        let mut b = run("wakeup/cpu1", 40_000, "6.1", "held off");
        let windows = b.series[0].windows.chunks_exact(10);
        let joined = windows.map(|ten| model::WindowRow {
            end_ns: ten[0].start_ns + ns,
            max_ns: ten.iter().filter_map(|one| one.max_ns).max(),
            ..ten[0].clone()
        });
        b.series[0].windows = joined.collect();
        b
    };
    let json = compared(a.clone(), longer(10_000_000_000));
    let of_maxima = outcome(&json, "differences", "figure", "window-max");
    assert!(of_maxima != "higher" && of_maxima != "lower", "{json:#}");
    assert_eq!(
        json["series"][0]["differences"][4]["a"],
        json["series"][0]["differences"][4]["b"]
    );
    let refused = compared(a, longer(2_500_000_000));
    assert!(
        refused["series"][0]["differences"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    let why = refused["series"][0]["not_compared"][0]["why"].as_str().expect("why");
    assert!(why.contains("cannot be brought to one length"), "{why}");
}

/// A sentinel closes some windows a little later.
#[test]
fn one_window_that_was_closed_later_is_not_the_length_of_all() {
    let a = run("wakeup/cpu1", 40_000, "6.1", "held off");
    let mut b = a.clone();
    let window = &mut b.series[0].windows[7];
    window.end_ns += (window.end_ns - window.start_ns) / 20;
    let json = compared(a, b);
    assert!(json["series"][0]["not_compared"][0].is_null(), "{json:#}");
    assert!(!json["series"][0]["differences"].as_array().expect("a list").is_empty());
}

#[test]
fn the_run_maximum_and_what_was_missed_are_compared_too() {
    let a = run("wakeup/cpu1", 40_000, "6.1", "held off");
    let mut b = a.clone();
    for index in 0..15 {
        let window = &mut b.series[0].windows[17 + 35 * index];
        window.max_ns = Some(18_000_000);
        window.counters.missed = 72;
    }
    let json = compared(a, b);
    assert_eq!(outcome(&json, "rare", "what", "run-max"), "higher", "{json:#}");
    assert_eq!(outcome(&json, "rare", "what", "missed"), "higher");
}

/// Events of the last, shorter window are events of the run.
#[test]
fn a_stall_in_the_last_partial_window_is_in_the_answer() {
    let a = run("wakeup/cpu1", 40_000, "6.1", "held off");
    let mut b = a.clone();
    let one = &mut b.series[0];
    one.counters.missed += 39;
    one.max_ns = Some(39_300_000);
    let last = one.windows.last_mut().expect("windows");
    last.end_ns = last.start_ns + 800_000_000;
    last.counters.missed = 39;
    last.max_ns = Some(39_300_000);
    for windows in [600, 60] {
        // B keeps its windows; each window of A is as long as ten of B.
        let mut a = a.clone();
        let rows = a.series[0].windows.to_vec();
        let joined = rows.chunks(600 / windows).map(super::prepared::as_one);
        a.series[0].windows = joined.collect();
        let comparison = Comparison::of(vec![("A".into(), a), ("B".into(), b.clone())]);
        let json: Value = serde_json::from_str(&comparison.json().expect("a document")).expect("JSON");
        let rare = json["series"][0]["rare"].as_array().expect("a list");
        let of = |what: &str| rare.iter().find(|entry| entry["what"] == what);
        let missed = of("missed").expect("missed");
        assert_eq!(
            (&missed["a"], &missed["b"], &missed["b_windows_with"]),
            (&0.0.into(), &39.0.into(), &1.into())
        );
        assert_eq!(of("run-max").expect("maxima")["b"], 39_300_000.0);
        assert!(of("lost").is_none(), "a thread that wakes up counts no losses");
        let text = comparison.text();
        assert!(!text.contains("missed periods: none in A and none in B"), "{text}");
        assert!(text.contains("39.3 ms"), "{text}");
    }
}

/// A run with two series, and a run with one of them.
#[test]
fn all_faces_of_a_comparison() {
    let mut a = run("wakeup/cpu1", 40_000, "6.1.0-rt", "held off");
    let b = shifted(
        run("wakeup/cpu1", 40_000, "6.12.0\u{202e}", "as the system has them"),
        50_000,
    );
    a.series.push(synthetic::series("rtt/reflect", 1_000, 60_000, 10));
    let comparison = Comparison::of(vec![("A".into(), a), ("B".into(), b)]);
    let page = comparison.html().expect("a page");
    insta::assert_snapshot!("comparison_page", crate::html::tests::visible(&page));
    insta::assert_snapshot!("comparison_text", comparison.text());
    insta::assert_snapshot!("comparison_document", comparison.json().expect("a document"));
}
