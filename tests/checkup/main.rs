//! A checkup reads its parameters from a ConfigMap, measures, and writes the result into it.

mod api;

use api::Api;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::{binary, generous_limits, root_or_skip, signal, stderr, wait};
use tempfile::TempDir;
use testing::Running;

/// A checkup under way, in a folder of its own.
fn start(api: &Api, folder: &TempDir) -> Running {
    let mut command = Command::new(binary());
    let command = command
        .args([
            "checkup",
            "--config-map",
            "relay/config",
            "--server",
            &api.url,
            "--account",
            api.account(),
        ])
        .env("NODE_NAME", "node-1")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Running::start(command)
}

fn checkup(api: &Api) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    wait(start(api, &folder), &["checkup"])
}

fn told<'a>(data: &'a BTreeMap<String, String>, key: &str) -> &'a str {
    data.get(&format!("status.{key}")).map_or("(nothing)", String::as_str)
}

#[test]
fn a_pass_succeeds_and_everything_else_does_not() {
    if !root_or_skip("a_pass_succeeds_and_everything_else_does_not") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let limits = generous_limits(folder.path());
    let stale = [
        ("status.succeeded", "true"),
        ("status.result.old", "1"),
        ("kept", "yes"),
    ];
    let given = [
        ("spec.timeout", "2m"),
        ("spec.param.duration", "1s"),
        ("spec.param.limits", &limits),
    ];
    let api = Api::with(&[&stale[..], &given].concat());
    api.send_rivals(2);
    let output = checkup(&api);
    let data = api.data();
    // A stall of the machine may leave a doubt; the status, the verdict and the exit status agree in any case.
    let is_pass = told(&data, "result.verdict") == "pass";
    assert_eq!(
        told(&data, "succeeded"),
        is_pass.to_string(),
        "{data:?} {}",
        stderr(&output)
    );
    assert_eq!(told(&data, "failureReason").is_empty(), is_pass, "{data:?}");
    assert_eq!(
        output.status.code(),
        Some(if is_pass { 0 } else { 3 }),
        "{}",
        stderr(&output)
    );
    assert_eq!(told(&data, "result.node"), "node-1");
    let worst = data
        .iter()
        .find(|(key, _)| key.starts_with("status.result.maxNanoseconds.wakeup.cpu"));
    assert!(
        worst.is_some_and(|(_, ns)| ns.parse::<u64>().is_ok_and(|ns| ns > 0)),
        "{data:?}"
    );
    assert!(told(&data, "startTimestamp") <= told(&data, "completionTimestamp"));
    for kept in ["kept", "spec.timeout", "rival.0", "rival.1"] {
        assert!(data.contains_key(kept), "{kept}: {data:?}");
    }
    assert!(!data.contains_key("status.result.old"), "{data:?}");
    let between = api.history().pop().expect("the state while it measured");
    assert_eq!(
        (told(&between, "succeeded"), told(&between, "startTimestamp").len()),
        ("(nothing)", 20)
    );
}

#[test]
fn a_limit_that_fails_is_named() {
    if !root_or_skip("a_limit_that_fails_is_named") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let limits = generous_limits(folder.path());
    let text = std::fs::read_to_string(&limits).expect("a profile");
    std::fs::write(&limits, text.replace("allowed = \"60s\"", "allowed = \"1ns\"")).expect("written");
    let api = Api::with(&[
        ("spec.timeout", "2m"),
        ("spec.param.duration", "1s"),
        ("spec.param.limits", &limits),
    ]);
    let output = checkup(&api);
    let data = api.data();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(
        (told(&data, "succeeded"), told(&data, "result.verdict")),
        ("false", "fail")
    );
    assert!(told(&data, "failureReason").starts_with("fail: wakeup"), "{data:?}");
}

#[test]
fn time_that_is_up_and_a_signal_end_the_measurement() {
    if !root_or_skip("time_that_is_up_and_a_signal_end_the_measurement") {
        return;
    }
    let api = Api::with(&[("spec.timeout", "2s"), ("spec.param.duration", "10m")]);
    let begin = Instant::now();
    let output = checkup(&api);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    assert_eq!(
        (told(&api.data(), "succeeded"), told(&api.data(), "failureReason")),
        ("false", "timed out after 2s")
    );

    let api = Api::with(&[("spec.timeout", "10m"), ("spec.param.duration", "10m")]);
    let folder = tempfile::tempdir().expect("a folder");
    let child = start(&api, &folder);
    support::until_file(&folder.path().join("runs"));
    signal(&child, Signal::TERM);
    let output = wait(child, &["checkup"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        told(&api.data(), "failureReason").starts_with("ended by a signal"),
        "{:?}",
        api.data()
    );
}

#[test]
fn wrong_parameters_are_told_to_the_map() {
    for (given, reason) in [
        (&[("spec.param.duration", "1s")][..], "spec.timeout is missing"),
        (
            &[("spec.timeout", "1m"), ("spec.param.oslatDuration", "1m")],
            "spec.param.oslatDuration is not known",
        ),
    ] {
        let api = Api::with(given);
        let output = checkup(&api);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let data = api.data();
        assert_eq!(told(&data, "succeeded"), "false");
        assert!(told(&data, "failureReason").starts_with(reason), "{data:?}");
    }
    // What the measurement refuses is a failure too, and not a success.
    let api = Api::with(&[("spec.timeout", "1m"), ("spec.param.plan", "no-such-plan")]);
    let output = checkup(&api);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        told(&api.data(), "failureReason").contains("gave no result"),
        "{:?}",
        api.data()
    );
}

#[test]
fn without_the_map_nothing_is_measured() {
    let api = Api::with(&[("spec.timeout", "1m")]);
    api.forbid();
    let output = checkup(&api);
    assert_eq!(output.status.code(), Some(3));
    let text = stderr(&output);
    assert!(
        text.contains("status 403: configmaps is forbidden") && text.contains("verbs get and update"),
        "{text}"
    );
    let output = Command::new(binary())
        .arg("checkup")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("CONFIGMAP_NAMESPACE"), "{}", stderr(&output));
}
