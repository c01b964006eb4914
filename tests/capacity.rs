//! `triptime capacity`, end to end over its own test bed: an answer with its hold, a planted limit that is found, and refusals.

use serde_json::Value;
use std::path::Path;
use support::left::Before;
use support::{end, json, root_or_skip, run, series, start, stderr, until_thread, wait};

/// Criteria that even a machine with stalls meets: half of the samples, a tenth of a second. Losses still count.
const LENIENT: [&str; 13] = [
    "capacity",
    "--rate",
    "400",
    "--quantile",
    "0.5",
    "--within",
    "100ms",
    "--probe",
    "1s",
    "--hold",
    "2s",
    "--json",
    "--out",
];

/// Lets the bed's switch pass 2200 frames of 116 octets a second to the device, as soon as there is one, and queue 21: the others are dropped.
const THROTTLE: &str = r#"#!/bin/sh
while sleep 0.01; do
    for held in /proc/$PPID/fd/*; do
        case $(readlink "$held") in net:*) ;; *) continue ;; esac
        nsenter --net="$held" tc qdisc add dev p-dut root tbf rate 2041600bit burst 2500 limit 2500 2>/dev/null && exec sleep 600
    done
done
"#;

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn lenient<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    LENIENT
        .iter()
        .copied()
        .chain([out])
        .chain(more.iter().copied())
        .collect()
}

/// Runs the command to its end; returns the document, its answer, and the status.
fn answer(arguments: &[&str]) -> (Value, Value, Option<i32>) {
    let output = wait(start(arguments), arguments);
    let document = json(&output);
    let capacity = document["capacity"].clone();
    assert!(capacity.is_object(), "{}", stderr(&output));
    (document, capacity, output.status.code())
}

#[test]
fn an_answer_is_held_judged_and_read_back() {
    if !root_or_skip("an_answer_is_held_judged_and_read_back") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let before = Before::look();
    let out = path(directory.path(), "run.triptime");
    let (document, capacity, status) = answer(&lenient(&out, &["--max", "3", "--at-least", "2"]));
    assert_eq!(status, Some(0), "{capacity:#}");
    assert_eq!(
        (&document["verdict"], &capacity["verdict"]),
        (&"pass".into(), &"pass".into())
    );
    assert_eq!(
        (&capacity["streams"], &capacity["limited_by"]),
        (&3.into(), &"max".into())
    );
    let tried = capacity["tried"].as_array().expect("what was tried");
    let streams: Vec<&Value> = tried.iter().map(|one| &one["streams"]).collect();
    assert_eq!(streams, [1, 2, 3]);
    // The run is the hold: 2 s of 400 frames a second of three streams.
    assert_eq!(document["run"]["command"], "capacity");
    let hold = &capacity["hold"];
    let count = |name: &str| hold[name].as_u64().expect("a count");
    assert_eq!(count("frames_sent") + count("frames_left_out"), 2_400);
    assert_eq!((count("frames_lost"), count("samples")), (0, count("frames_sent")));
    assert_eq!(series(&document, "delivery/subscribe")["received"], hold["frames_sent"]);
    let files = std::fs::read_dir(directory.path()).expect("readable").count();
    assert_eq!(files, 1, "the attempts before the hold are no files");
    before.nothing_is_left();

    let again = json(&run(&["report", &out, "--json"]));
    assert_eq!(
        (&again["capacity"], &again["verdict"]),
        (&capacity, &document["verdict"])
    );
    let text = run(&["report", &out]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(
        text.starts_with("PASS  At least 3 streams of 400 samples/s, held for "),
        "{text}"
    );

    let taken = run(&lenient(&out, &[]));
    assert_eq!(taken.status.code(), Some(2));
    assert!(stderr(&taken).contains("exists already"), "{}", stderr(&taken));
}

#[test]
fn a_planted_limit_is_found_within_a_stream() {
    if !root_or_skip("a_planted_limit_is_found_within_a_stream") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (script, out) = (
        path(directory.path(), "throttle.sh"),
        path(directory.path(), "run.triptime"),
    );
    std::fs::write(&script, THROTTLE).expect("writable");
    let throttle = format!("sh {script}");
    let (document, capacity, status) = answer(&lenient(
        &out,
        &["--max", "64", "--at-least", "7", "--load-command", &throttle],
    ));
    assert_eq!(status, Some(1), "{capacity:#}");
    assert_eq!(
        (&document["verdict"], &capacity["limited_by"]),
        (&"fail".into(), &"host".into())
    );
    let streams = capacity["streams"].as_u64().expect("some are held");
    assert!(
        (4..=6).contains(&streams),
        "2200 frames a second are five streams and a half: {capacity:#}"
    );
    let what = capacity["what_gave_way"].as_str().expect("what gave way");
    assert!(what.starts_with("loss: "), "{what}");
    assert_eq!(capacity["hold"]["frames_lost"], 0);
}

#[test]
fn a_relay_holds_as_many_bays_or_its_task_says_why_not() {
    if !root_or_skip("a_relay_holds_as_many_bays_or_its_task_says_why_not") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let out = path(directory.path(), "run.triptime");
    let arguments = [
        "capacity",
        "--relay",
        "--max",
        "2",
        "--quantile",
        "0.5",
        "--within",
        "100ms",
        "--probe",
        "1s",
        "--hold",
        "2s",
        "--json",
        "--out",
        &out,
    ];
    let (document, capacity, status) = answer(&arguments);
    let bays = capacity["wanted"]["streams"].as_u64().expect("a number");
    let task = series(&document, &format!("task/bays{bays}"));
    assert!(task["received"].as_u64() > Some(1_000), "{task}");
    series(&document, &format!("use/bays{bays}-MU01"));
    let failures = task["late"].as_u64().expect("a count") + task["missed"].as_u64().expect("a count");
    assert_eq!(capacity["hold"]["task_failures"], failures);
    match capacity["streams"].as_u64() {
        Some(held) => assert_eq!((held, failures, status), (bays, 0, Some(0))),
        None => {
            let what = capacity["what_gave_way"].as_str().expect("what gave way");
            assert!(!what.is_empty() && status != Some(1), "nothing was asked for: {what}");
        }
    }
}

#[test]
fn two_of_one_second_have_an_answer_each() {
    if !root_or_skip("two_of_one_second_have_an_answer_each") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let words = &LENIENT[..LENIENT.len() - 1];
    let begin = || {
        let mut command = std::process::Command::new(support::binary());
        command.current_dir(directory.path()).args(words).args(["--max", "1"]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        testing::Running::start(&mut command)
    };
    let ends = [begin(), begin()].map(|running| running.output().expect("its end"));
    for end in &ends {
        assert!(json(end)["capacity"].is_object(), "{}", stderr(end));
    }
    let runs: Vec<_> = std::fs::read_dir(directory.path().join("runs"))
        .expect("runs")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
}

#[test]
fn one_that_is_interrupted_has_no_answer_and_leaves_nothing() {
    if !root_or_skip("one_that_is_interrupted_has_no_answer_and_leaves_nothing") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let out = path(directory.path(), "run.triptime");
    let mut child = start(&lenient(&out, &["--max", "900"]));
    until_thread(&mut child, "subscribe");
    let output = end(child, &["capacity"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("no answer before the end of the hold"),
        "{}",
        stderr(&output)
    );
    assert_eq!(std::fs::read_dir(directory.path()).expect("readable").count(), 0);
}

#[test]
fn what_cannot_be_answered_is_refused_before_anything_is_measured() {
    for (more, said) in [
        (vec!["--at-least", "9", "--max", "8"], "give --max 9"),
        (vec!["--hold", "1s"], "hold for"),
        (vec!["--quantile", "1"], "less than 1"),
        (vec!["--relay", "--rate", "4000"], "cannot be used with"),
        (vec!["--relay", "--max", "1000"], "999 bays at most"),
        (vec!["--max", "0"], "1..=1000"),
    ] {
        let output = run(&[&["capacity"], more.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains(said), "{more:?}: {}", stderr(&output));
    }
}
