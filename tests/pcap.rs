//! `triptime pcap`: the binary on captures, with Wireshark's tshark as the oracle.
//!
//! tshark does not validate frames, so only frames that must be accepted are compared with it.

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testing::Running;

use serde_json::Value;
use testing::vectors::vectors;

/// A capture of the vectors that a policy accepts, and their names by frame.
fn capture_of(directory: &Path, policies: &[&str]) -> (PathBuf, Vec<String>) {
    let path = directory.join("vectors.pcap");
    let mut writer = capture::write::PcapWriter::new(BufWriter::new(File::create(&path).unwrap())).unwrap();
    let mut names = Vec::new();
    for vector in vectors()
        .iter()
        .filter(|v| policies.iter().any(|policy| v.policy == *policy))
    {
        writer
            .write(1_790_000_000_000_000_007 + names.len() as i64, &vector.frame)
            .unwrap();
        names.push(vector.name.clone());
    }
    writer.finish().unwrap();
    (path, names)
}

/// Lines of standard output, standard error, and the exit status.
fn pcap(arguments: &[&Path]) -> (Vec<Value>, String, Option<i32>) {
    let output = support::triptime()
        .arg("pcap")
        .arg("--decode")
        .args(arguments)
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (lines, String::from_utf8(output.stderr).unwrap(), output.status.code())
}

/// Output of tshark for each frame: for every field its occurrences.
fn tshark(capture: &Path, fields: &[&str]) -> Vec<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.args([
        "-o",
        "sv.decode_data_as_phsmeas:TRUE",
        "-T",
        "fields",
        "-E",
        "occurrence=a",
        "-E",
        "aggregator=;",
    ]);
    command
        .arg("-r")
        .arg(capture)
        .args(fields.iter().flat_map(|field| ["-e", field]));
    let output = command
        .output()
        .expect("tshark is the oracle of this test: apt-get install tshark");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let occurrences = |cell: &str| {
        cell.split(';')
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| line.split('\t').map(occurrences).collect())
        .collect()
}

/// The numbers of one field over the lines of a frame, as text; lists are joined in order.
fn ours(lines: &[&Value], key: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    lines
        .iter()
        .flat_map(|line| match &line[key] {
            Value::Array(values) => values.iter().map(text).collect(),
            Value::Null => Vec::new(),
            value => vec![text(value)],
        })
        .collect()
}

/// tshark's hexadecimal numbers as decimals, and its signed bytes as unsigned ones.
fn number(text: &str, octets: u32) -> String {
    let value = match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    };
    value.rem_euclid(1 << (8 * octets)).to_string()
}

fn numbers(texts: &[String], octets: u32) -> Vec<String> {
    texts.iter().map(|text| number(text, octets)).collect()
}

#[test]
fn sampled_values_are_those_tshark_decodes() {
    let directory = tempfile::tempdir().unwrap();
    let (path, names) = capture_of(directory.path(), &["accept"]);
    let (lines, _, status) = pcap(&[&path]);
    assert_eq!(status, Some(0));
    let fields = [
        "eth.dst",
        "eth.src",
        "vlan.id",
        "vlan.priority",
        "sv.appid",
        "sv.length",
        "sv.svID",
        "sv.smpCnt",
        "sv.confRev",
        "sv.smpSynch",
        "sv.meas_value",
        "sv.meas_quality",
        "sv.reserve1.s_bit",
    ];
    let mut compared = 0;
    for (index, cells) in tshark(&path, &fields).iter().enumerate() {
        let of_frame: Vec<&Value> = lines.iter().filter(|line| line["frame"] == index + 1).collect();
        let name = &names[index];
        if of_frame[0]["kind"] != "sv" {
            continue;
        }
        compared += 1;
        let first = of_frame[0];
        assert_eq!(ours(&of_frame[..1], "dst"), cells[0], "{name}");
        assert_eq!(ours(&of_frame[..1], "src"), cells[1], "{name}");
        let vlan = |key: &str| {
            first["vlan"][key]
                .as_u64()
                .map(|n| n.to_string())
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (vlan("vid"), vlan("pcp")),
            (cells[2].clone(), cells[3].clone()),
            "{name}"
        );
        assert_eq!(ours(&of_frame[..1], "appid"), numbers(&cells[4], 2), "{name}");
        assert_eq!(ours(&of_frame[..1], "length"), numbers(&cells[5], 2), "{name}");
        assert_eq!(ours(&of_frame, "svID"), cells[6], "{name}");
        assert_eq!(ours(&of_frame, "smpCnt"), numbers(&cells[7], 2), "{name}");
        assert_eq!(ours(&of_frame, "confRev"), numbers(&cells[8], 4), "{name}");
        assert_eq!(ours(&of_frame, "smpSynch"), numbers(&cells[9], 1), "{name}");
        assert_eq!(ours(&of_frame, "values"), cells[10], "{name}");
        assert_eq!(ours(&of_frame, "qualities"), numbers(&cells[11], 4), "{name}");
        assert_eq!(first["simulate"], cells[12] == ["1"], "{name}");
    }
    assert_eq!(compared, 15, "sampled-value vectors with policy accept");
}

#[test]
fn goose_messages_are_those_tshark_decodes() {
    let directory = tempfile::tempdir().unwrap();
    let (path, names) = capture_of(directory.path(), &["accept", "accept_flag", "drop_count"]);
    let (lines, _, status) = pcap(&[&path]);
    assert_eq!(status, Some(0));
    let fields = [
        "goose.gocbRef",
        "goose.timeAllowedtoLive",
        "goose.datSet",
        "goose.goID",
        "goose.stNum",
        "goose.sqNum",
        "goose.confRev",
        "goose.numDatSetEntries",
        "goose.integer",
        "goose.unsigned",
        "goose.boolean",
        "goose.bit_string",
        "goose.floating_point",
        "goose.visible_string",
        "goose.octet_string",
        "goose.utc_time",
    ];
    let mut compared = 0;
    for (index, cells) in tshark(&path, &fields).iter().enumerate() {
        let of_frame: Vec<&Value> = lines.iter().filter(|line| line["frame"] == index + 1).collect();
        let name = &names[index];
        if of_frame[0]["kind"] != "goose" {
            continue;
        }
        compared += 1;
        assert_eq!(of_frame.len(), 1);
        assert_eq!(ours(&of_frame, "gocbRef"), cells[0], "{name}");
        assert_eq!(ours(&of_frame, "timeAllowedtoLive"), numbers(&cells[1], 4), "{name}");
        assert_eq!(ours(&of_frame, "datSet"), cells[2], "{name}");
        assert_eq!(ours(&of_frame, "goID"), cells[3], "{name}");
        assert_eq!(ours(&of_frame, "stNum"), numbers(&cells[4], 4), "{name}");
        assert_eq!(ours(&of_frame, "sqNum"), numbers(&cells[5], 4), "{name}");
        assert_eq!(ours(&of_frame, "confRev"), numbers(&cells[6], 4), "{name}");
        assert_eq!(ours(&of_frame, "numDatSetEntries"), numbers(&cells[7], 4), "{name}");
        let data = |kind: &str, key: &str| ours(&flat(&of_frame[0]["allData"], kind), key);
        assert_eq!(data("integer", "value"), cells[8], "{name}");
        assert_eq!(data("unsigned", "value"), numbers(&cells[9], 4), "{name}");
        let booleans: Vec<String> = cells[10].iter().map(|text| (text == "1").to_string()).collect();
        assert_eq!(data("boolean", "value"), booleans, "{name}");
        assert_eq!(data("bitstring", "bytes"), cells[11], "{name}");
        assert_eq!(data("visiblestring", "value"), cells[13], "{name}");
        assert_eq!(data("octetstring", "raw"), cells[14], "{name}");
        assert_eq!(data("utctime", "raw").len(), cells[15].len(), "{name}");
        // tshark shows the bytes: exponent width, then IEEE 754.
        let floats: Vec<f32> = cells[12]
            .iter()
            .map(|text| f32::from_bits(u32::from_str_radix(&text[2..], 16).unwrap()))
            .collect();
        let found: Vec<f32> = data("float32", "value")
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        assert_eq!(found, floats, "{name}");
    }
    assert_eq!(compared, 11, "GOOSE vectors that decode");
}

/// Values of one type, at any depth.
fn flat<'a>(values: &'a Value, kind: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for value in values.as_array().into_iter().flatten() {
        if value["type"] == kind {
            found.push(value);
        }
        found.extend(flat(&value["value"], kind));
    }
    found
}

#[test]
fn malformed_frames_are_counted_and_the_exit_status_stays_0() {
    let directory = tempfile::tempdir().unwrap();
    let (path, names) = capture_of(directory.path(), &["drop"]);
    let (lines, messages, status) = pcap(&[&path]);
    assert_eq!(status, Some(0));
    assert_eq!(lines.len(), names.len());
    for (line, name) in lines.iter().zip(&names) {
        assert!(line["error"].is_string() && line["offset"].is_u64(), "{name}: {line}");
    }
    assert!(
        messages.contains(&format!("breaking a rule: {}", names.len())),
        "{messages}"
    );
}

#[test]
fn a_cut_capture_exits_with_2_after_the_whole_frames() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = capture_of(directory.path(), &["accept"]);
    let octets = std::fs::read(&path).unwrap();
    std::fs::write(&path, &octets[..octets.len() - 5]).unwrap();
    let (lines, messages, status) = pcap(&[&path]);
    assert_eq!(status, Some(2));
    assert!(!lines.is_empty());
    assert_eq!(messages.lines().count(), 1, "{messages}");
    assert!(messages.contains("the capture is cut"), "{messages}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.pcap");
    let frame = vectors().remove(0).frame;
    let mut writer = capture::write::PcapWriter::new(BufWriter::new(File::create(&path).unwrap())).unwrap();
    for index in 0..20_000 {
        writer.write(index, &frame).unwrap();
    }
    writer.finish().unwrap();
    let mut command = support::triptime();
    command.args(["pcap", "--decode"]).arg(&path);
    let mut child = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut beginning = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
    let output = child.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The same frames, written as pcap and pcapng by other programs.
#[test]
fn every_capture_format_gives_the_same_lines() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = capture_of(directory.path(), &["accept"]);
    let (lines, ..) = pcap(&[&path]);
    for (format, unit_ns) in [("pcapng", 1), ("nsecpcap", 1), ("pcap", 1000)] {
        let converted = directory.path().join(format);
        let status = Command::new("editcap")
            .args(["-F", format])
            .arg(&path)
            .arg(&converted)
            .status();
        assert!(
            status
                .expect("editcap comes with tshark: apt-get install tshark")
                .success()
        );
        let (found, ..) = pcap(&[&converted]);
        assert_eq!(found.len(), lines.len());
        for (found, line) in found.iter().zip(&lines) {
            let mut expected = line.clone();
            let time_ns = line["time_ns"].as_i64().unwrap();
            expected["time_ns"] = (time_ns - time_ns % unit_ns).into();
            assert_eq!(*found, expected, "{format}");
        }
    }
}
