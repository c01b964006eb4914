use super::{CheckupSpec, Outcome, Parameters, finished, manifests, timeout};
use crate::{JobSpec, PodNetwork};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

fn data(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn times_are_read_as_go_writes_them() {
    for (text, seconds) in [
        ("10m", 600.0),
        ("1h30m", 5400.0),
        ("1.5h", 5400.0),
        ("5m0s", 300.0),
        (" 90s ", 90.0),
        ("1h2m3.5s", 3723.5),
    ] {
        assert_eq!(timeout(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
    }
    for wrong in [
        "",
        "0s",
        "10",
        "m",
        "-5m",
        "5 m",
        "5x",
        "1..5s",
        "1e9h",
        "9999999999h",
        "10mm",
        "5d",
    ] {
        assert!(timeout(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn parameters_become_one_word_each() {
    let given = data(&[
        ("spec.timeout", "10m"),
        ("spec.param.duration", "5m"),
        ("spec.param.cpus", "--out=/x"),
        ("other", "1"),
        ("status.x", "y"),
    ]);
    let read = Parameters::read(&given).expect("parameters");
    assert_eq!(read.words, ["qualify", "vm-wakeup", "--cpus=--out=/x", "--duration=5m"]);
    assert_eq!(read.timeout, Duration::from_secs(600));
}

#[test]
fn what_is_not_known_is_named() {
    let of = |pairs: &[(&str, &str)]| Parameters::read(&data(pairs)).expect_err("wrong");
    assert!(of(&[]).contains("spec.timeout is missing"));
    assert!(of(&[("spec.timeout", "soon")]).contains("spec.timeout: \"soon\""));
    assert!(
        of(&[("spec.timeout", "1m"), ("spec.param.out", "/x")])
            .contains("spec.param.out is not known: this checkup takes plan")
    );
    assert!(of(&[("spec.timeout", "1m"), ("spec.param.", "/x")]).contains("is not known"));
    assert!(of(&[("spec.timeout", "1m"), ("spec.param.plan", "--list")]).contains("is no plan"));
}

fn document(verdict: &str, state: &str, checks: &Value) -> Outcome {
    let series = json!([{"name": "wakeup/cpu1", "max": 9900, "p9999": null, "received": 40000, "lost": 0}]);
    Outcome::Measured(json!({
        "verdict": verdict, "limits": 3, "measured": 1, "checks": checks, "series": series,
        "run": {"file": "/runs/a.triptime", "duration_s": 10.5, "state": state},
    }))
}

fn check(verdict: &str) -> Value {
    json!([{"limit": "wakeup.max", "series": "wakeup/cpu1", "verdict": verdict, "why": "9 over 5"}])
}

#[test]
fn only_a_pass_succeeds() {
    let told = |outcome: &Outcome| finished(outcome, "2026-11-23T18:00:00Z", Some("node-1"));
    let pass = told(&document("pass", "complete", &check("pass")));
    assert_eq!(
        (pass["status.succeeded"].as_str(), pass["status.failureReason"].as_str()),
        ("true", "")
    );
    assert_eq!(pass["status.result.maxNanoseconds.wakeup.cpu1"], "9900");
    assert_eq!(pass["status.result.node"], "node-1");
    assert!(
        !pass.contains_key("status.result.p9999Nanoseconds.wakeup.cpu1"),
        "unknown is not zero"
    );
    let others = [
        (
            document("fail", "complete", &check("fail")),
            "fail: wakeup.max of wakeup/cpu1: 9 over 5",
        ),
        (
            document("inconclusive", "complete", &check("inconclusive")),
            "inconclusive: wakeup.max of wakeup/cpu1: 9 over 5",
        ),
        (
            document("pass", "interrupted", &check("pass")),
            "interrupted before its end",
        ),
        (document("pass", "complete", &json!([])), "nothing was judged"),
        (Outcome::Measured(json!({})), "no verdict"),
        (Outcome::Failed("timed out after 10m".into()), "timed out after 10m"),
    ];
    for (outcome, reason) in others {
        let told = told(&outcome);
        assert_eq!(told["status.succeeded"], "false", "{reason}");
        assert_eq!(told["status.failureReason"], reason);
    }
}

#[test]
fn every_key_is_one_that_a_config_map_takes() {
    let mut outcome = document("pass", "complete", &check("pass"));
    if let Outcome::Measured(document) = &mut outcome {
        document["series"][0]["name"] = json!("hop/nic→tap \"A\" ".repeat(30));
    }
    for key in finished(&outcome, "now", None).keys() {
        let good = key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        assert!(good && key.len() <= 253, "{key}");
    }
}

#[test]
fn the_manifests_fit_each_other() {
    let spec = CheckupSpec {
        job: JobSpec {
            name: "triptime-checkup",
            namespace: None,
            image: "localhost/triptime:0.1.0",
            words: &[],
            cpus: 2,
            memory: "1Gi",
            huge_pages: None,
            network: PodNetwork::Host,
            runtime_class: None,
            node: None,
            runs: "/var/lib/triptime",
            account: None,
        },
        timeout: "10m",
        parameters: &[("duration".into(), "5m".into())],
    };
    insta::assert_snapshot!(crate::documents(&manifests(&spec)));
}
