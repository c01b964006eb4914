//! The samples of `publish` are the same as those that `subscribe` captures and `pcap` decodes.

use serde_json::Value;
use std::f64::consts::{SQRT_2, TAU};
use std::path::Path;
use std::process::Output;
use store::RunFile;
use support::{namespace, root_or_skip, run, start, stderr, wait};
use tempfile::TempDir;

/// Publishes with `options` on one end of a veth pair; returns the publisher's output and every ASDU captured at the other.
fn published(options: &[&str], directory: &TempDir) -> (Output, Vec<Value>) {
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (sent, received, capture) = (path("sent.triptime"), path("received.triptime"), path("frames.pcapng"));
    let subscribe = [
        "subscribe",
        "v1",
        "--duration",
        "4s",
        "--capture",
        &capture,
        "--capture-all",
        "--no-flight-recorder",
        "--json",
        "--out",
        &received,
    ];
    let mut publish = vec![
        "publish",
        "v0",
        "--duration",
        "1500ms",
        "--no-flight-recorder",
        "--json",
        "--out",
        &sent,
    ];
    publish.extend(options);
    let namespace = namespace();
    let listener = namespace.run(|| start(&subscribe)).expect("a thread in the namespace");
    let publisher = namespace.run(|| start(&publish)).expect("a thread in the namespace");
    let said = wait(publisher, &publish);
    let heard = wait(listener, &subscribe);
    assert!(matches!(heard.status.code(), Some(0 | 3)), "{}", stderr(&heard));
    let decoded = run(&["pcap", &capture, "--decode"]);
    let text = String::from_utf8(decoded.stdout).expect("UTF-8");
    let asdus = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (said, asdus.collect())
}

fn number(asdu: &Value, key: &str) -> u64 {
    asdu[key].as_u64().unwrap_or_else(|| panic!("{key} in {asdu}"))
}

#[test]
fn a_waveform_file_is_what_is_captured() {
    if !root_or_skip("a_waveform_file_is_what_is_captured") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("fault.toml");
    std::fs::write(
        &file,
        "currents_a = 100\ncurrent_angles_deg = 0\n[[state]]\nname = \"fault\"\nat = \"500ms\"\ncurrents_a = [900, 100, 100]\n",
    )
    .expect("a file");
    let options = [
        "--waveform",
        file.to_str().expect("UTF-8"),
        "--streams",
        "2",
        "--phase-step",
        "90",
        "--quality",
        "test",
    ];
    let (said, asdus) = published(&options, &directory);
    assert_eq!(said.status.code(), Some(0), "{}", stderr(&said));
    let sent = RunFile::open(&directory.path().join("sent.triptime")).expect("a run file");
    let events = sent.events().expect("events");
    let begins = |name: &str| {
        let begin = format!("`{name}` begins: svID MU01, MU02, smpCnt ");
        let of = events.iter().filter(|event| event.text.starts_with(&begin));
        of.map(|event| event.text[begin.len()..].to_owned()).collect::<Vec<_>>()
    };
    let faults = begins("fault");
    assert!(
        faults.len() == 1 && faults[0].starts_with("2400, due ") && faults[0].ends_with(".500000000 UTC"),
        "both streams, once: {faults:?}"
    );
    let (_, spec) = &sent.series().expect("series")[0];
    assert!(
        spec.settings.contains(&("waveform".into(), "fault.toml".into())),
        "{spec:?}"
    );
    for (name, ahead) in [("MU01", 0.0), ("MU02", TAU / 4.0)] {
        let of: Vec<&Value> = asdus.iter().filter(|asdu| asdu["svID"] == name).collect();
        assert!(of.len() > 4_800, "{} of {name}", of.len());
        let mut second = 0;
        for (index, asdu) in of.iter().enumerate() {
            let count = number(asdu, "smpCnt");
            second += u64::from(index > 0 && count < number(of[index - 1], "smpCnt"));
            let time_s = second as f64 + count as f64 / 4_800.0;
            let rms = if time_s >= 0.5 { 900e3 } else { 100e3 };
            let expected = rms * SQRT_2 * (TAU * 50.0 * time_s + ahead).cos();
            let value = asdu["values"][0].as_f64().expect("a value");
            assert!((value - expected).abs() < 0.6, "{expected} at {time_s} s in {asdu}");
            assert_eq!(asdu["qualities"][0], 0x0800, "{asdu}");
        }
    }
}

#[test]
fn a_record_is_what_is_captured() {
    if !root_or_skip("a_record_is_what_is_captured") {
        return;
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/waveform/tests/data");
    let record = data.join("binary_1999.cfg");
    let options = [
        "--profile",
        "F4000S2I1U1",
        "--comtrade",
        record.to_str().expect("UTF-8"),
        "--comtrade-channels",
        "Ua=3",
        "--comtrade-ending",
        "mute:3500us",
    ];
    let directory = tempfile::tempdir().expect("a directory");
    let (said, asdus) = published(&options, &directory);
    assert_eq!(said.status.code(), Some(0), "{}", stderr(&said));
    assert!(stderr(&said).contains("Ia from IA [A] times 1"), "{}", stderr(&said));
    assert!(!stderr(&said).contains("INT32"), "{}", stderr(&said));
    // 0.5 times the raw number plus 1.5 A; 0.002 times it less 1 kV. Six samples, then 14 of silence.
    let currents = [1_500, 501_500, -498_500, 4_000, 4_500, 5_000];
    let voltages = [-140_000, 6_453_400, -6_653_400, -100_000, -99_800, -99_600];
    assert!(asdus.len() > 4_000, "{}", asdus.len());
    for asdu in &asdus {
        let place = (number(asdu, "smpCnt") % 20) as usize;
        let expected = [currents.get(place).unwrap_or(&0), voltages.get(place).unwrap_or(&0)];
        assert_eq!(asdu["values"], serde_json::json!(expected), "{asdu}");
    }
}

#[test]
fn a_record_without_voltages_whose_phase_fields_say_nothing_ends_once() {
    if !root_or_skip("a_record_without_voltages_whose_phase_fields_say_nothing_ends_once") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("emt.cfg");
    let channel = |number, name| format!("{number},{name}: w{number},A,,kA,0.001,0,0,-9999,9999,1,1,P\n");
    let channels = [(1, "IA"), (2, "IB"), (3, "IC")].map(|(number, name)| channel(number, name));
    let rest = "50\n1\n4800,480\n29/02/2024,0:0:0\n01/03/2024,0:0:0\nASCII\n1\n";
    std::fs::write(&config, format!("EMT,1,1999\n3,3A,0D\n{}{rest}", channels.concat())).expect("a file");
    let samples: String = (1..=480).map(|number| format!("{number},0,500,-300,100\n")).collect();
    std::fs::write(directory.path().join("emt.dat"), samples).expect("a file");
    let options = [
        "--comtrade",
        config.to_str().expect("UTF-8"),
        "--comtrade-ending",
        "once",
    ];
    let (said, asdus) = published(&options, &directory);
    assert_eq!(said.status.code(), Some(0), "{}", stderr(&said));
    for line in [
        "Ib from IB: w2 [kA] times 1000",
        "the phase fields of the currents do not identify the phases: the names do",
        "Ua from nothing, quality invalid: the record has no voltage",
    ] {
        assert!(stderr(&said).contains(line), "{}", stderr(&said));
    }
    let sent = RunFile::open(&directory.path().join("sent.triptime")).expect("a run file");
    let events = sent.events().expect("events");
    let begins = |name: &str| {
        events
            .iter()
            .filter(|event| event.text.starts_with(&format!("`{name}` begins")))
            .count()
    };
    assert_eq!((begins("record"), begins("end")), (1, 1), "{events:?}");
    let mut second = 0;
    for (index, asdu) in asdus.iter().enumerate() {
        let count = number(asdu, "smpCnt");
        second += u64::from(index > 0 && count < number(&asdus[index - 1], "smpCnt"));
        let is_record = second == 0 && count < 480;
        let values = if is_record {
            [500_000, -300_000, 100_000, 300_000]
        } else {
            [0; 4]
        };
        assert_eq!(
            asdu["values"],
            serde_json::json!([&values[..], &[0; 4]].concat()),
            "{asdu}"
        );
        assert_eq!(asdu["qualities"], serde_json::json!([0, 0, 0, 0, 1, 1, 1, 1]), "{asdu}");
    }
}

#[test]
fn values_that_cannot_be_published_are_said() {
    if !root_or_skip("values_that_cannot_be_published_are_said") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("large.toml");
    std::fs::write(&file, "currents_a = 2e6").expect("a file");
    let (said, asdus) = published(&["--waveform", file.to_str().expect("UTF-8")], &directory);
    assert!(
        stderr(&said).contains("large.toml") && stderr(&said).contains("do not fit into INT32"),
        "{}",
        stderr(&said)
    );
    // 2.4 million amperes at smpCnt 0 exceed the range of INT32 in milliamperes.
    let first = asdus.iter().find(|asdu| asdu["smpCnt"] == 0).expect("smpCnt 0");
    assert_eq!(
        (&first["values"][0], &first["qualities"][0]),
        (&i32::MAX.into(), &5.into()),
        "{first}"
    );
}

#[test]
fn what_cannot_be_is_refused_with_file_and_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let toml = directory.path().join("wrong.toml");
    std::fs::write(&toml, "frequency_hz = 50\nvolts = 3\n").expect("a file");
    let cfg = directory.path().join("wrong.cfg");
    std::fs::write(&cfg, "station,device,1999\n5,3A,x\n").expect("a file");
    std::fs::write(directory.path().join("wrong.dat"), "1,0,0\n").expect("a file");
    let (toml, cfg) = (toml.to_str().expect("UTF-8"), cfg.to_str().expect("UTF-8"));
    for (options, parts) in [
        (&["--waveform", toml][..], &["wrong.toml", "line 2", "volts"][..]),
        (&["--comtrade", cfg], &["wrong.cfg, line 2", "\"x\""]),
        (&["--comtrade", "/nowhere.cff"], &["/nowhere.cff", "No such file"]),
        (&["--frequency", "0"], &["frequency_hz is 0"]),
        (&["--phase-step", "nan"], &["number of degrees"]),
        (&["--comtrade", cfg, "--waveform", toml], &["cannot be used with"]),
        (&["--replay", "x.pcap", "--frequency", "60"], &["cannot be used with"]),
    ] {
        let output = run(&[&["publish", "lo"][..], options].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        for part in parts {
            assert!(stderr(&output).contains(part), "{part} in {}", stderr(&output));
        }
    }
}
