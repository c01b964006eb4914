//! Records published by others, compared with the Python package `comtrade`, and a real fault.

use serde_json::Value;
use std::f64::consts::{SQRT_2, TAU};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use waveform::comtrade::{ComtradeRecord, Values, open, parse};
use waveform::replay::{Ending, Options, parse_assignments, table};
use waveform::sample::Sampling;

/// The records and where they are, and what Python says of them; or why not. Python takes long for them: once for all tests here.
static FETCHED: OnceLock<(PathBuf, Result<Vec<Value>, String>)> = OnceLock::new();

/// `None` if the test is skipped.
fn fetched(test: &str) -> Option<(&'static Path, &'static [Value])> {
    let python = testing::python(test)?;
    let (directory, answers) = FETCHED.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("comtrade");
        let answers = answers(&python, &directory);
        (directory, answers)
    });
    match answers {
        Ok(answers) => Some((directory, answers)),
        Err(reason) => {
            testing::skip(test, reason);
            None
        }
    }
}

/// Python's reading of the records, which it fetches into the directory; or why there is none.
fn answers(python: &Path, directory: &Path) -> Result<Vec<Value>, String> {
    std::fs::create_dir_all(directory).expect("a directory");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle.py");
    let output = Command::new(python)
        .arg(script)
        .arg(directory)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    match answers.first().and_then(|answer| answer["skip"].as_str()) {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(answers),
    }
}

fn read(directory: &Path, answer: &Value) -> ComtradeRecord {
    let path = |key: &str| answer[key].as_str().map(|name| directory.join(name));
    let config = path("config").expect("a configuration");
    let record = match path("data") {
        // Some data go with the configuration of another name.
        Some(data) => parse(
            (&std::fs::read(config).expect("a file"), "cfg"),
            (&std::fs::read(data).expect("a file"), "dat"),
        ),
        None => open(&config),
    };
    record.unwrap_or_else(|error| panic!("{answer}: {error}"))
}

fn same(ours: f64, theirs: f64) -> bool {
    ours.is_nan() && theirs.is_nan() || (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-3)
}

fn assert_same(directory: &Path, number: usize, answer: &Value, record: &ComtradeRecord) {
    let name = &answer["config"];
    let doubles = std::fs::read(directory.join(format!("{number}.doubles"))).expect("doubles");
    let doubles: Vec<f64> = doubles
        .chunks_exact(8)
        .map(|octets| f64::from_ne_bytes(octets.try_into().expect("eight")))
        .collect();
    let samples = record.times_s().len();
    assert_eq!(answer["samples"], samples, "{name}");
    assert_eq!(doubles.len(), samples * (1 + record.config.analog.len()), "{name}");
    let ours =
        std::iter::once(record.times_s()).chain((0..record.config.analog.len()).map(|index| record.analog(index)));
    for (column, (ours, theirs)) in ours.zip(doubles.chunks_exact(samples)).enumerate() {
        for (sample, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            assert!(
                same(*ours, *theirs),
                "{name}: column {column}, sample {sample}: {ours}, Python has {theirs}"
            );
        }
    }
    let states = std::fs::read(directory.join(format!("{number}.states"))).expect("states");
    assert_eq!(states.len(), samples * record.config.digital.len(), "{name}");
    for (channel, states) in states.chunks_exact(samples).enumerate() {
        for (sample, state) in states.iter().enumerate() {
            assert_eq!(
                record.digital(channel, sample),
                Some(*state == 1),
                "{name}: D{}, sample {sample}",
                channel + 1
            );
        }
    }
}

#[test]
fn what_python_reads_is_what_we_read() {
    let test = "what_python_reads_is_what_we_read";
    let Some((directory, answers)) = fetched(test) else {
        return;
    };
    assert_eq!(answers.len(), 13);
    for (number, answer) in answers.iter().enumerate() {
        let record = read(directory, answer);
        assert_same(directory, number, answer, &record);
        let config = &record.config;
        assert_eq!(answer["station"].as_str().map(str::trim), Some(config.station.as_str()));
        assert_eq!(
            answer["revision"].to_string().trim_matches('"'),
            config.revision.to_string(),
            "{answer}"
        );
        assert_eq!(
            answer["frequency"].as_f64().filter(|hz| *hz > 0.0),
            config.frequency_hz,
            "{answer}"
        );
        let trigger_s = config.trigger_ns.expect("times") as f64 / 1e9;
        // Python keeps microseconds.
        assert!(
            (answer["trigger_s"].as_f64().expect("a time") - trigger_s).abs() < 2e-6,
            "{answer}"
        );
        for (theirs, ours) in answer["analog"]
            .as_array()
            .expect("channels")
            .iter()
            .zip(&config.analog)
        {
            let side = if ours.values == Values::Primary { "P" } else { "S" };
            let list = serde_json::json!([ours.name, ours.unit, ours.primary, ours.secondary, side]);
            assert_eq!(theirs[0].as_str().map(str::trim), list[0].as_str(), "{answer}");
            assert_eq!(theirs[1].as_str().map(str::trim), list[1].as_str(), "{answer}");
            assert_eq!(
                (&theirs[2], &theirs[3], &theirs[4]),
                (&list[2], &list[3], &list[4]),
                "{answer}"
            );
        }
    }
}

/// Fundamental RMS of the cycle that ends with each sample, from the first whole cycle on.
fn rms(values: &[f64], per_cycle: usize) -> Vec<f64> {
    let phasor = |window: &[f64]| {
        let sums = window.iter().enumerate().fold((0.0, 0.0), |(re, im), (sample, value)| {
            let angle = TAU * sample as f64 / per_cycle as f64;
            (re + value * angle.cos(), im + value * angle.sin())
        });
        SQRT_2 / per_cycle as f64 * sums.0.hypot(sums.1)
    };
    values.windows(per_cycle).map(phasor).collect()
}

/// First and last sample, from 0, whose cycle is over `limit`.
fn over(rms: &[f64], per_cycle: usize, limit: f64) -> (usize, usize) {
    let first = rms.iter().position(|value| *value > limit).expect("over the limit");
    let last = rms.iter().rposition(|value| *value > limit).expect("over the limit");
    (first + per_cycle - 1, last + per_cycle - 1)
}

#[test]
fn a_real_fault_keeps_its_currents_through_the_replay() {
    let test = "a_real_fault_keeps_its_currents_through_the_replay";
    let Some((directory, answers)) = fetched(test) else {
        return;
    };
    let answer = answers.iter().find(|answer| {
        answer["config"]
            .as_str()
            .is_some_and(|name| name.ends_with("test2.cfg"))
    });
    let record = read(directory, answer.expect("test2"));
    let channel = |name: &str| {
        let index = record.config.analog.iter().position(|channel| channel.name == name);
        record.analog(index.expect("a channel"))
    };
    // Worked out with numpy from what Python reads: 5760 samples a second are 96 of a cycle at 60 Hz.
    let ia = rms(channel("IA_GC1"), 96);
    let (on, off) = over(&ia, 96, 800.0);
    assert!(
        on.abs_diff(1_484) <= 1 && off.abs_diff(1_873) <= 1,
        "over 800 A from {on} to {off}"
    );
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    assert!((largest(&ia) - 1_774.847).abs() < 0.01, "{}", largest(&ia));
    assert!((largest(&rms(channel("IN_TF8"), 96)) - 104.804).abs() < 0.01);
    let va = rms(channel("VA_GC1"), 96);
    let least = va.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((least - 5.366).abs() < 0.001, "{least} kV");

    // The same through 4800 samples a second, 80 of a cycle.
    let options = Options {
        assignments: parse_assignments("In=IN_TF8").expect("assignments"),
        ending: Ending::Once,
        ..Options::default()
    };
    let replay = table(&record, &Sampling::new(4_800), &options).expect("a table");
    assert!(
        replay.channels[0].starts_with("Ia from IA_GC1 [A]"),
        "{:?}",
        replay.channels
    );
    assert!(
        replay.channels[4].starts_with("Ua from VA_GC1 [kV]"),
        "{:?}",
        replay.channels
    );
    assert!(
        replay.channels[7].starts_with("Un from VN_GC1 [kV]"),
        "{:?}",
        replay.channels
    );
    let member = |member: usize, lsb: f64| -> Vec<f64> {
        let word = |sample: u64| {
            let octets = &replay.table.seq_data(sample)[8 * member..8 * member + 4];
            f64::from(i32::from_be_bytes(octets.try_into().expect("four"))) * lsb
        };
        (0..replay.table.once()).map(word).collect()
    };
    assert_eq!(replay.table.once(), (13_248 - 1) * 4_800 / 5_760 + 1);
    let ia = rms(&member(0, 0.001), 80);
    let (on, off) = over(&ia, 80, 800.0);
    let scaled = |sample: usize| sample * 4_800 / 5_760;
    assert!(
        on.abs_diff(scaled(1_484)) <= 2 && off.abs_diff(scaled(1_873)) <= 2,
        "from {on} to {off}"
    );
    assert!((largest(&ia) / 1_774.847 - 1.0).abs() < 0.002, "{}", largest(&ia));
    assert!((largest(&rms(&member(3, 0.001), 80)) / 104.804 - 1.0).abs() < 0.005);
    let va = rms(&member(4, 0.01), 80).iter().copied().fold(f64::INFINITY, f64::min);
    assert!((va / 5_366.0 - 1.0).abs() < 0.002, "{va} V");
    let trigger = replay
        .table
        .marks()
        .iter()
        .find(|mark| mark.name == "trigger")
        .map(|mark| mark.sample);
    assert_eq!(trigger, Some(1_440), "0.3 s after the start");
    assert_eq!((replay.table.saturated(), replay.table.missing()), (0, 0));
}
