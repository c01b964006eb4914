//! The task of a relay along each shot: overruns that a fault pattern triggers.

use super::plans::PLAN;
use serde_json::Value;
use support::{json, root_or_skip, stderr};

/// A relay of two bays whose task takes longer than its cycle of 1 ms.
const SLOW: &str = r#"
[relay]
name = "slow"
[load]
busy = "1200us"
[rated]
current-a = 400
voltage-v = 20_000
[[stream]]
name = "bay{01..02}"
sv = { svID = "MU{01..02}", dst = "01:0c:cd:04:00:01", profile = "F4800S1I4U4" }
[[function]]
name = "I>> {01..02}"
stream = "bay{01..02}"
settings.pioc = { pickup = 5 }
[[trip]]
name = "Q0"
functions = ["I>> {01..02}"]
[[goose]]
gocb_ref = "SLOWLD0/LLN0$GO$gcbTrip"
dat_set = "SLOWLD0/LLN0$dsTrip"
dst = "01:0c:cd:01:00:01"
appid = 0x0001
min_time = "4ms"
max_time = "1s"
member = [{ name = "trip:Q0.general", type = "boolean" }]
"#;

/// The document of the plan with this relay; `None` without root.
fn measured(name: &str, relay: &str) -> Option<(Value, Option<i32>, String)> {
    if !root_or_skip(name) {
        return None;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (plan, out, file) = (path("shots.toml"), path("shots.triptime"), path("slow.toml"));
    std::fs::write(&file, SLOW).expect("written");
    let relay = if relay == "slow" { file } else { relay.to_owned() };
    std::fs::write(&plan, PLAN.replace("bays2", &relay)).expect("written");
    let output = support::run(&["qualify", &plan, "--out", &out, "--quiet", "--json"]);
    Some((json(&output), output.status.code(), stderr(&output)))
}

/// The shots of a document, of which there is at least one.
fn shots(document: &Value) -> &Vec<Value> {
    let shots = document["shots"].as_array().expect("the shots of the run");
    assert!(!shots.is_empty(), "{document}");
    shots
}

/// Every check of the limit `trip.overruns`.
fn checks(document: &Value) -> Vec<&Value> {
    let all = document["checks"].as_array().expect("checks").iter();
    all.filter(|check| check["limit"] == "trip.overruns").collect()
}

#[test]
fn every_shot_has_the_longest_task_and_the_overruns_of_its_time() {
    let name = "every_shot_has_the_longest_task_and_the_overruns_of_its_time";
    let Some((document, _, said)) = measured(name, "bays2") else {
        return;
    };
    let longest = support::series(&document, "task/two")["max"].as_i64();
    for shot in shots(&document) {
        assert_eq!(shot["is_watched"], true, "{shot} {said}");
        assert!(
            shot["task_max"].as_i64() > Some(0) && shot["task_max"].as_i64() <= longest,
            "{shot}"
        );
        assert!(shot["overruns"].is_u64(), "{shot}");
        assert!(shot["use_max"].as_i64() > Some(0), "{shot}");
    }
    let overruns: u64 = shots(&document)
        .iter()
        .filter_map(|shot| shot["overruns"].as_u64())
        .sum();
    let measured: u64 = checks(&document)
        .iter()
        .filter_map(|check| check["measured"].as_u64())
        .sum();
    assert_eq!(overruns, measured, "the limit judges what the shots have");
}

#[test]
fn a_task_longer_than_its_cycle_fails_the_shots() {
    let Some((document, status, said)) = measured("a_task_longer_than_its_cycle_fails_the_shots", "slow") else {
        return;
    };
    for shot in shots(&document) {
        assert!(shot["overruns"].as_u64() > Some(50), "{shot} {said}");
        assert!(shot["task_max"].as_i64() > Some(1_000_000), "{shot}");
    }
    let checks = checks(&document);
    assert!(!checks.is_empty(), "{document}");
    assert!(checks.iter().all(|check| check["verdict"] == "fail"), "{checks:?}");
    assert_eq!(status, Some(1), "{said}");
}
