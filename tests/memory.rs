//! Memory of a run, all of which is locked.

use std::process::Command;
use support::memory::{MOST_KIB, run_with_peak};
use support::{json, root_or_skip, stderr};
use testing::Running;

/// The streams and the relay of the plan `substation` without its loads, in short windows, so that growth with the number of windows would be
/// visible.
const PLAN: &str = r#"
name = "memory"
what = "Twenty traced streams and a relay of twenty bays in short windows, for tests"
limits = "substation"
window = "200ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "noise"
duration = "1s"
gaps_above = "1us"
policy = "other"

[[step]]
probe = "sampled-values"
duration = "8s"
streams = 20
rate = 4800
asdus = 2
policy = "other"
trace = true

[[step]]
probe = "trip"
duration = "8s"
relay = "bays20"
streams = 20
scenario = ["overcurrent", "load"]
policy = "other"
"#;

#[test]
fn twenty_traced_streams_and_a_relay_in_forty_windows_each_take_what_is_promised() {
    if !root_or_skip("twenty_traced_streams_and_a_relay_in_forty_windows_each_take_what_is_promised") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (plan, out) = (path("memory.toml"), path("run.triptime"));
    std::fs::write(&plan, PLAN).expect("writable");
    // A busy machine: some thousand late samples a second are explained and stored.
    let mut busy = Command::new("chrt");
    busy.args(["--idle", "0", "sh", "-c", "while :; do :; done"]);
    let busy: Vec<Running> = (0..4).map(|_| Running::start(&mut busy)).collect();
    let (output, most) = run_with_peak(&["qualify", &plan, "--json", "--out", &out]);
    drop(busy);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    let all = json(&output)["series"].as_array().expect("series").len();
    assert!(all > 160, "{all} series: the hops or the relay are missing");
    assert!((40 << 10..=MOST_KIB).contains(&most), "{most} KiB for {all} series");
}
