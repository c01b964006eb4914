//! Neighbours of the process bus and of the judged relay, with and without a place: a management network, a second relay, a tenant.

use crate::{ROUND_TRIP, can, setting};
use serde_json::Value;
use std::path::Path;
use support::left::Before;
use support::places::plan;
use support::{json, run, run_in, series, stderr};

/// Load over a second interface during the measurement.
pub(crate) const MANAGEMENT: &str = r#"
[management]
rate = 200
bytes = 300
"#;

/// Numbers of frames answered and sent over the management network, as reported by the run.
pub(crate) fn answered(texts: &[String]) -> (u64, u64) {
    let stopped = texts
        .iter()
        .find(|text| text.starts_with("management load: ") && text.contains(" frames sent in "));
    let counts = stopped
        .and_then(|text| text.rsplit_once(": "))
        .unwrap_or_else(|| panic!("no counts in {texts:?}"));
    let numbers: Vec<u64> = counts.1.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

fn texts_of(document: &Value) -> Vec<String> {
    let events = document["events"].as_array().expect("events");
    events
        .iter()
        .filter_map(|event| event["text"].as_str())
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_management_network_is_answered_by_a_native_device_and_by_a_container() {
    let Some(_alone) = can("a_management_network_is_answered_by_a_native_device_and_by_a_container") else {
        return;
    };
    let before = Before::look();
    for place in ["native", "container"] {
        let directory = tempfile::tempdir().expect("a directory");
        let steps = [MANAGEMENT, &ROUND_TRIP.replace("3s", "1s")].concat();
        let plan = plan(directory.path(), &steps);
        let out = directory.path().join("run.triptime").display().to_string();
        let words = [
            "qualify",
            &plan,
            "--place",
            place,
            "--out",
            &out,
            "--json",
            "--quiet",
            "--disturb",
        ];
        let output = run(&words);
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{place}: {}",
            stderr(&output)
        );
        let document = json(&output);
        let (answers, sent) = answered(&texts_of(&document));
        // At least as long as the step lasts, and longer on a machine that stands still now and then.
        assert!(sent >= 100 && answers * 10 >= sent * 9, "{place}: {answers} of {sent}");
        let beside = setting(series(&document, "rtt/reflect"), "load").unwrap_or_default();
        assert!(
            beside.contains("200 frames/s of 300 octets to mgmt0 beside dut0"),
            "{place}: {beside}"
        );
    }
    before.nothing_is_left();
}

/// A relay that is not judged, together with the judged one, and its streams on the process bus, which the judged one does not expect.
const TENANTS: &str = r#"
[[step]]
probe = "trip"
duration = "2s"
relay = "bays2"
streams = 2
scenario = ["overcurrent"]
settle = "300ms"
policy = "fifo:60"

[[step.load]]
kind = "command"
line = "triptime relay bays1 {interface} --number 2 --policy fifo:50 --quiet"
there = true

[[step.load]]
kind = "command"
line = "triptime publish {interface} --streams 1 --policy other --quiet"
at = "test-set"
"#;

#[test]
fn a_second_relay_and_a_noisy_neighbour_are_loads_natively_and_in_a_container() {
    let Some(_alone) = can("a_second_relay_and_a_noisy_neighbour_are_loads_natively_and_in_a_container") else {
        return;
    };
    for place in ["native", "container"] {
        let directory = tempfile::tempdir().expect("a directory");
        let out = directory.path().join("run.triptime").display().to_string();
        let plan = plan(directory.path(), TENANTS);
        let words = [
            "qualify",
            &plan,
            "--place",
            place,
            "--out",
            &out,
            "--json",
            "--quiet",
            "--disturb",
        ];
        let output = run_in(directory.path(), &words);
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{place}: {}",
            stderr(&output)
        );
        let texts = texts_of(&json(&output));
        // It was on the process bus: the judged relay received unexpected samples.
        let foreign = texts
            .iter()
            .find(|text| text.contains("had svIDs that this relay does not expect"));
        assert!(foreign.is_some(), "{place}: {texts:?}");
        for load in ["triptime relay bays1 dut0", "triptime publish ts0"] {
            let ended = texts
                .iter()
                .find(|text| text.contains(load) && text.contains(" ms of CPU time in "));
            assert!(
                ended.is_some_and(|text| !text.contains(": 0 ms")),
                "{place}, {load}: {texts:?}"
            );
        }
        let second = texts.iter().find(|text| text.contains("another triptime"));
        assert_eq!(
            second, None,
            "{place}: a tenant that was asked for is no second measurement"
        );
        let contradicted = texts.iter().find(|text| text.contains("contradict others"));
        assert_eq!(contradicted, None, "{place}: the tenant's GOOSE has a name of its own");
        // A tenant writes its measurements into a separate run; in a container this run is removed with the container.
        match (place, tenant(directory.path())) {
            ("native", Some(samples)) => assert!(samples > 1_000, "{samples} samples of its stream"),
            ("container", None) => {}
            (place, found) => panic!("{place}: {found:?}"),
        }
    }
}

/// Number of samples of its stream that a tenant received, if its run exists.
fn tenant(directory: &Path) -> Option<u64> {
    let runs = std::fs::read_dir(directory.join("runs")).ok()?.flatten();
    let mut paths = runs.map(|run| run.path());
    let path = paths.find(|path| path.to_string_lossy().ends_with("-relay.triptime"))?;
    let run = store::RunFile::open(&path).expect("a run");
    let series = run.series().expect("series");
    let (id, _) = series
        .iter()
        .find(|(_, spec)| spec.name == "spacing/MU01")
        .expect("its stream");
    Some(run.totals(*id).expect("totals").counters.received)
}
