//! `triptime relay FILE --replay RECORD`: tables, documents, and refusals.

use std::f64::consts::{SQRT_2, TAU};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use support::{json, run, stderr};
use waveform::comtrade::open;

const FEEDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/relay/tests/data/feeder.toml");

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A record of 1.5 s at 4000 samples a second: phase A to earth from 0.5 s to 0.6 s, when the trigger is.
fn fault(directory: &Path) -> PathBuf {
    let mut config = String::from("STATION,REC,1999\n8,8A,0D\n");
    for (number, name) in ["IA", "IB", "IC", "IN", "UA", "UB", "UC", "UN"].iter().enumerate() {
        let unit = if number < 4 { "A" } else { "V" };
        let _ = writeln!(config, "{},{name},,,{unit},0.01,0,0,-9999999,9999999,1,1,P", number + 1);
    }
    config.push_str("50\n1\n4000,6000\n1/1/2024,0:0:0.0\n1/1/2024,0:0:0.5\nASCII\n1\n");
    let mut data = String::new();
    for n in 0..6000 {
        let mut values = [0.0; 8];
        for phase in 0..3 {
            let is_fault = phase == 0 && (2000..2400).contains(&n);
            let (current, lag, volt) = if is_fault {
                (6000.0, 75.0, 4000.0)
            } else {
                (200.0, 15.0, 11_547.0)
            };
            let angle = TAU * (f64::from(n) / 80.0 - phase as f64 / 3.0);
            values[phase] = SQRT_2 * current * (angle - f64::to_radians(lag)).cos();
            values[4 + phase] = SQRT_2 * volt * angle.cos();
        }
        values[3] = values[0] + values[1] + values[2];
        values[7] = values[4] + values[5] + values[6];
        let _ = write!(data, "{},0", n + 1);
        for value in values {
            let _ = write!(data, ",{:.0}", value * 100.0);
        }
        data.push('\n');
    }
    let path = directory.join("fault.cfg");
    std::fs::write(&path, config).expect("a file");
    std::fs::write(directory.join("fault.dat"), data).expect("a file");
    path
}

#[test]
fn a_fault_trips() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = fault(directory.path());
    let arguments = ["relay", FEEDER, "--replay", text(&record)];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    // Independent of the width of the columns.
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "6000 samples at 4000 a second, 1.500 s, through FEEDER1",
        "bay1: Ia from IA [A] times 1",
        "I>> PIOC (50) operate A",
        "Q0 PTRC (94) operate ABC",
        "f< PTUF (81U) never started",
        "stream bay1: 6000 samples, 0 lost",
    ] {
        assert!(words.contains(wanted), "{wanted}: {table}");
    }
    assert!(stderr(&output).contains("times real time"), "{}", stderr(&output));
    let again = run(&arguments);
    assert_eq!(table.as_bytes(), again.stdout, "every time the same");
}

#[test]
fn the_document_has_it_all() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = fault(directory.path());
    let output = run(&["relay", FEEDER, "--replay", text(&record), "--json"]);
    let document = json(&output);
    assert_eq!(document["schema"], "triptime.replay/1");
    assert_eq!(document["trigger_ns"], 500_000_000);
    assert_eq!(document["samples_per_second"], 4000.0);
    let events = document["events"].as_array().expect("events");
    let operate = events
        .iter()
        .find(|event| event["name"] == "I>>" && event["change"] == "operate");
    let operate = operate.expect("an operation");
    assert_eq!(
        (&operate["name"], &operate["node"], &operate["phases"]),
        (&"I>>".into(), &"PIOC (50)".into(), &"A".into())
    );
    let at = operate["at_ns"].as_u64().expect("an instant");
    assert!((501_000_000..522_000_000).contains(&at), "{at}");
    assert_eq!(at, 250_000 * operate["sample"].as_u64().expect("a sample"));
    assert_eq!(operate["since_start_ns"], 1_000_000);
    assert_eq!(document["trips"][0]["operates"], 1);
    assert_eq!(document["functions"][4]["starts"], 0);
    assert_eq!(
        document["functions"][4]["reasons"],
        serde_json::json!(["settling", "voltage too low"])
    );
    assert_eq!(document["streams"][0]["received"], 6000);
    let blocked = events
        .iter()
        .find(|event| event["change"] == "blocked")
        .expect("a block");
    assert_eq!(blocked["reasons"], serde_json::json!(["settling"]));
}

/// A relay's record of a replayed fault equals the fault, sample by sample, with the time of the fault.
#[test]
fn a_replayed_fault_is_recorded_to_the_sample() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = fault(directory.path());
    let (folder, relay) = (directory.path().join("records"), directory.path().join("one.toml"));
    let text_of_one = std::fs::read_to_string(FEEDER)
        .expect("a file")
        .replace("most = 100", "most = 1");
    std::fs::write(&relay, text_of_one).expect("a file");
    let arguments = [
        "relay",
        text(&relay),
        "--replay",
        text(&source),
        "--records",
        text(&folder),
    ];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let files = || {
        std::fs::read_dir(&folder)
            .expect("a folder")
            .map(|file| file.expect("a file").path())
    };
    let file = files().find(|file| file.extension().is_some_and(|extension| extension == "cfg"));
    let file = file.expect("a record");
    assert!(stderr(&output).contains(text(&file)), "{}", stderr(&output));

    let [source, record] = [&source, &file].map(|path| open(path).unwrap_or_else(|error| panic!("{error}")));
    let begins = record.config.start.expect("a start") - source.config.start.expect("a start");
    let first = usize::try_from(begins / 250_000).expect("after the source's");
    // 200 ms before a trip in the first cycle of the fault, and so long that the second trip of the breaker failure is in it.
    assert!((1204..1290).contains(&first), "{first}");
    let samples = record.times_s().len();
    assert!(samples > 2801 && first + samples <= 6000, "{samples}");
    for channel in 0..8 {
        let half_a_step = if channel < 4 { 0.000_5 } else { 0.005 };
        for (index, value) in record.analog(channel).iter().enumerate() {
            let wanted = source.analog(channel)[first + index];
            assert!(
                (value - wanted).abs() <= half_a_step * 1.001,
                "{channel}, {index}: {value}, not {wanted}"
            );
        }
    }
    // The folder is full, and its files stay.
    let again = run(&arguments);
    assert_eq!(again.status.code(), Some(0));
    assert!(
        stderr(&again).contains("has 1 already, as many as `most`"),
        "{}",
        stderr(&again)
    );
    assert_eq!(files().count(), 2);
    // The relay can play its own record, too.
    let replayed = run(&["relay", FEEDER, "--replay", text(&file)]);
    let table = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert!(table.contains("operate ABC"), "{table}");
    let refused = run(&["relay", FEEDER, "--replay", text(&file), "--records", "/proc/nowhere"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("--records: /proc/nowhere: cannot keep records there"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = fault(directory.path());
    let bad = directory.path().join("bad.toml");
    let refused = |arguments: &[&str], status: i32, wanted: &str| {
        let output = run(&[&["relay"], arguments].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    };
    refused(&[FEEDER], 2, "name an interface, a file with --replay");
    refused(
        &["/nowhere.toml", "--replay", text(&record)],
        2,
        "/nowhere.toml: neither a relay of this program",
    );
    refused(&[FEEDER, "--replay", "/nowhere.cfg"], 2, "/nowhere.cfg");
    refused(&[FEEDER, "--replay", "/nowhere.pcap"], 2, "/nowhere.pcap");
    refused(&[FEEDER, "--replay", FEEDER], 2, "feeder.toml");
    refused(
        &[FEEDER, "--replay", text(&record), "--channels", "Ia=NONE"],
        2,
        "no analog channel \"NONE\"",
    );
    refused(
        &[FEEDER, "--replay", text(&record), "--channels", "bay7:Ia=IA"],
        2,
        "no stream \"bay7\" in the relay",
    );
    let whole = std::fs::read_to_string(FEEDER).expect("the example");
    std::fs::write(&bad, whole.replace("pickup = 5 ", "pickup = 500 ")).expect("a file");
    refused(
        &[text(&bad), "--replay", text(&record)],
        2,
        "line 21: function \"I>>\": PIOC: pickup is 500 x In",
    );
    let mut writer = capture::write::PcapWriter::new(Vec::new()).expect("a capture");
    writer.write(1_700_000_000_000_000_000, &[0; 60]).expect("a frame");
    let empty = directory.path().join("empty.pcap");
    std::fs::write(&empty, writer.finish().expect("a capture")).expect("a file");
    refused(
        &[FEEDER, "--replay", text(&empty)],
        3,
        "the capture has no sampled values",
    );
    refused(
        &[FEEDER, "--replay", text(&empty), "--as-recorded"],
        2,
        "are for COMTRADE records",
    );
}
