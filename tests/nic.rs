//! Facts of the interfaces a run measures on, end to end: in the run, in the report, and in the verdict.

use serde_json::{Value, json};
use support::{json, root_or_skip, run};

const PLAN: &str = r#"
name = "nic"
what = "One round trip, for tests"
limits = "LIMITS"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "other"
"#;

const LIMITS: &str = r#"
name = "site"
what = "a round trip within the year, on the right interface"

[[limit]]
id = "rtt.received"
series = "rtt/*"
quantity = "received"
at_least = 1
source = "the test itself"

[[require]]
id = "nic.eee"
group = "nic *"
fact = "eee"
is = "off"
source = "the test itself"

[[require]]
id = "nic.driver"
group = "nic *"
fact = "driver"
is = "DRIVER"
source = "the test itself"
"#;

/// Runs the plan on its bed of veth pairs, with a requirement for this driver; returns exit status and result document.
fn measured_with(driver: &str) -> (Option<i32>, Value) {
    let directory = tempfile::tempdir().expect("a folder");
    let place = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(place("limits.toml"), LIMITS.replace("DRIVER", driver)).expect("written");
    std::fs::write(place("plan.toml"), PLAN.replace("LIMITS", &place("limits.toml"))).expect("written");
    let output = run(&[
        "qualify",
        &place("plan.toml"),
        "--json",
        "--out",
        &place("run.triptime"),
    ]);
    (output.status.code(), json(&output))
}

#[test]
fn both_ends_of_the_bed_are_known_and_judged() {
    if !root_or_skip("both_ends_of_the_bed_are_known_and_judged") {
        return;
    }
    let (status, document) = measured_with("igc");
    assert_eq!(
        (status, &document["verdict"]),
        (Some(1), &json!("fail")),
        "a veth is no igc"
    );
    let names: Vec<&Value> = document["nics"]
        .as_array()
        .expect("nics")
        .iter()
        .map(|nic| &nic["name"])
        .collect();
    assert_eq!(names, ["ts0", "dut0"]);
    for nic in document["nics"].as_array().expect("nics") {
        let facts = &nic["facts"];
        assert_eq!(
            (&facts["driver"], &facts["queueing discipline"]),
            (&json!("veth"), &json!("noqueue"))
        );
        assert_eq!(facts["MTU"], "1500", "from the files of its own namespace");
        assert_eq!(facts["eee"], "not applicable: veth has no such thing");
    }
    let failed: Vec<&Value> = document["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter(|check| check["limit"] == "nic.driver")
        .collect();
    assert_eq!(failed.len(), 2);
    assert_eq!(
        (&failed[0]["series"], &failed[0]["why"]),
        (&json!("nic ts0"), &json!("driver is veth; wanted: igc"))
    );
    let not_applicable = document["not_applicable"].as_array().expect("a list");
    assert!(not_applicable.iter().all(|one| one["limit"] == "nic.eee") && not_applicable.len() == 2);
}

#[test]
fn what_is_as_required_and_what_cannot_be_hinder_nothing() {
    if !root_or_skip("what_is_as_required_and_what_cannot_be_hinder_nothing") {
        return;
    }
    let (_, document) = measured_with("veth");
    let required: Vec<&Value> = document["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter(|check| check["quantity"] == "driver")
        .collect();
    assert!(
        required.len() == 2 && required.iter().all(|check| check["verdict"] == "pass"),
        "{required:?}"
    );
    assert_ne!(document["verdict"], "fail");
}
