//! A run file that contradicts itself gets no verdict; files that the program writes never contradict themselves.

use model::{SeriesId, Window};
use serde_json::Value;
use std::path::{Path, PathBuf};
use store::{Batch, RunFile, RunWriter};
use support::bridge::{bed, inside};
use support::{end, json, root_or_skip, run, series, until_thread};
use testing::Running;

/// The recorded series of wake-ups.
const LIMITS: &str = "name = \"site\"\nwhat = \"tests\"\n[[limit]]\nid = \"received\"\nseries = \"wakeup/*\"\nquantity = \"received\"\n\
    at_least = 1\nsource = \"tests\"\n";

fn minute() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/minute.triptime")
}

fn reported(file: &Path, limits: &[&str]) -> Value {
    let file = file.display().to_string();
    let output = run(&[&["report", &file, "--json"], limits].concat());
    json(&output)
}

fn agrees(file: &Path) {
    let document = reported(file, &[]);
    assert!(!document["series"].as_array().expect("series").is_empty());
    assert_eq!(
        document["contradictions"],
        Value::Array(Vec::new()),
        "{}",
        file.display()
    );
}

/// Copies the series of a run, with each window changed by `change`.
fn copy(from: &Path, to: &Path, change: impl Fn(SeriesId, usize, Window) -> Option<Window>) {
    let file = RunFile::open(from).expect("a run");
    let mut writer = RunWriter::create(to, file.info(), None).expect("a copy");
    let mut batch = Batch::default();
    for (id, spec) in file.series().expect("series") {
        let id_there = writer.add_series(&spec).expect("added");
        let rows = file.windows(id).expect("windows");
        let histograms = file.histograms(id).expect("histograms");
        assert_eq!(rows.len(), histograms.len(), "none is merged yet");
        for (at, (row, span)) in rows.into_iter().zip(histograms).enumerate() {
            let window = Window {
                series: id_there,
                start_ns: row.start_ns,
                end_ns: row.end_ns,
                counters: row.counters,
                sum_ns: row.sum_ns,
                min_ns: row.min_ns,
                max_ns: row.max_ns,
                histogram: span.histogram,
            };
            batch.windows.extend(change(id, at, window));
        }
    }
    writer.write(&batch).expect("written");
    writer.finish(file.state(), file.duration_ns()).expect("closed");
}

#[test]
fn a_second_that_is_gone_and_a_maximum_that_cannot_be_are_told_and_decide_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = directory.path().join("site.toml");
    std::fs::write(&limits, LIMITS).expect("written");
    let limits = limits.display().to_string();
    let limits = ["--limits", limits.as_str()];
    let whole = directory.path().join("whole.triptime");
    copy(&minute(), &whole, |_, _, window| Some(window));
    let document = reported(&whole, &limits);
    assert_eq!(document["verdict"], "pass", "{}", document["checks"]);

    let gone = directory.path().join("gone.triptime");
    copy(&minute(), &gone, |id, at, window| {
        (id.0 == 1 || at != 30).then_some(window)
    });
    let low = directory.path().join("low.triptime");
    copy(&minute(), &low, |id, _, mut window| {
        window.max_ns = window.max_ns.map(|ns| if id.0 == 0 { ns / 2 } else { ns });
        Some(window)
    });
    for (file, words) in [
        (gone, "there is no window from 30.0 s to 31.0 s"),
        (low, "its largest sample is "),
    ] {
        let document = reported(&file, &limits);
        assert_eq!(document["verdict"], "inconclusive", "{words}");
        let found = document["contradictions"].as_array().expect("a list");
        let of_cpu0 = found.iter().filter(|one| one["series"] == "wakeup/cpu0");
        let texts: Vec<&str> = of_cpu0.filter_map(|one| one["text"].as_str()).collect();
        assert!(texts.iter().any(|text| text.starts_with(words)), "{texts:?}");
        assert_eq!(texts.len(), found.len(), "the other CPU's series agrees: {found:?}");
    }
}

/// Without this check, a run that lost its limits would look like a run without limits.
#[test]
fn a_run_whose_limits_are_gone_is_damaged_and_can_be_judged_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let gone = directory.path().join("gone.triptime");
    let file = RunFile::open(&minute()).expect("a run");
    let mut info = file.info().clone();
    info.arguments = ["wakeup", "--limits", "substation"].map(str::to_owned).to_vec();
    let mut writer = RunWriter::create(&gone, &info, None).expect("a run");
    for (_, spec) in file.series().expect("series") {
        writer.add_series(&spec).expect("added");
    }
    writer.finish(file.state(), file.duration_ns()).expect("closed");
    let path = gone.display().to_string();
    for face in [&[][..], &["--json"], &["--summary"], &["--full"]] {
        let output = run(&[&["report", path.as_str()], face].concat());
        assert_eq!(output.status.code(), Some(2), "{face:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("gone.triptime") && said.contains("its stored limits are missing"),
            "{said}"
        );
    }
    let judged = run(&["report", &path, "--limits", "substation"]);
    assert_eq!(judged.status.code(), Some(3));
}

#[test]
fn what_the_program_writes_agrees_with_itself() {
    agrees(&minute());
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name);
    for (name, more) in [
        ("wakeup", &["--window", "100ms", "--file-budget", "64KiB"][..]),
        ("noise", &["--window", "300ms"][..]),
    ] {
        let out = file(name);
        let out_text = out.display().to_string();
        let arguments = [&[name, "--duration", "3s", "--quiet", "--out", &out_text], more].concat();
        assert_eq!(run(&arguments).status.code(), Some(0), "{name}");
        agrees(&out);
    }
    let merged = RunFile::open(&file("wakeup")).expect("a run");
    let (windows, spans) = (merged.windows(SeriesId(0)), merged.histograms(SeriesId(0)));
    assert!(
        spans.expect("spans").len() < windows.expect("windows").len(),
        "some are merged"
    );
}

#[test]
fn streams_that_stop_and_come_again_agree_with_themselves() {
    if !root_or_skip("contradictions: streams") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let [publisher, _switch, device] = bed();
    let out = directory.path().join("subscribe.triptime");
    let out_text = out.display().to_string();
    let arguments = [
        "subscribe",
        "dut0",
        "--rate",
        "4000",
        "--window",
        "200ms",
        "--quiet",
        "--out",
    ];
    let mut receiver = inside(&device, &[&arguments[..], &[&out_text]].concat());
    let mut receiver = Running::start(receiver.stdout(std::process::Stdio::null()));
    until_thread(&mut receiver, "subscribe");
    for number in 0..2 {
        let sent = directory.path().join(format!("publish{number}.triptime"));
        let sent_text = sent.display().to_string();
        let arguments = [
            "publish",
            "ts0",
            "--duration",
            "1s",
            "--rate",
            "4000",
            "--window",
            "200ms",
            "--quiet",
            "--out",
        ];
        let output = inside(&publisher, &[&arguments[..], &[&sent_text]].concat()).output();
        assert!(output.expect("it ran").status.success());
        agrees(&sent);
        std::thread::sleep(std::time::Duration::from_millis(800));
    }
    end(receiver, &arguments);
    assert!(series(&reported(&out, &[]), "spacing/MU01")["received"].as_u64() > Some(7_000));
    agrees(&out);
}
