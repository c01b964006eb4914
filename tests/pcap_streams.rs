//! `triptime pcap`: the streams of a capture, with Wireshark's tshark as the oracle, and the listing.

mod pcap_captures;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::{Command, Stdio};

use capture::write::PcapWriter;
use pcap_captures::{SPACING_NS, START_NS, capture_of, have, pcap, template, text};
use serde_json::Value;
use support::{json, series, stderr};
use testing::vectors;
use wire::sv::Template;

/// Description of one stream, by either tool.
#[derive(Debug, PartialEq, Eq)]
struct Stream {
    frames: u64,
    min_ns: i64,
    max_ns: i64,
}

/// Every SV stream by tshark; a frame with the smpCnt of the frame before is a duplicate, and not measured.
fn tshark(capture: &Path) -> BTreeMap<String, Stream> {
    let mut command = Command::new("tshark");
    command.args([
        "-T",
        "fields",
        "-e",
        "frame.time_epoch",
        "-e",
        "sv.svID",
        "-e",
        "sv.smpCnt",
    ]);
    let output = command.arg("-r").arg(capture).args(["-Y", "sv"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mut streams: BTreeMap<String, (Stream, i64, String)> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let time_ns = nanoseconds(cells[0]);
        let count = cells[2].to_owned();
        let Some((stream, last_ns, last)) = streams.get_mut(cells[1]) else {
            let first = Stream {
                frames: 1,
                min_ns: i64::MAX,
                max_ns: i64::MIN,
            };
            streams.insert(cells[1].to_owned(), (first, time_ns, count));
            continue;
        };
        stream.frames += 1;
        if *last == count {
            continue;
        }
        let spacing = time_ns - std::mem::replace(last_ns, time_ns);
        stream.min_ns = stream.min_ns.min(spacing);
        stream.max_ns = stream.max_ns.max(spacing);
        *last = count;
    }
    streams.into_iter().map(|(name, (stream, ..))| (name, stream)).collect()
}

/// Seconds with nine decimals, or an ISO date in newer versions of tshark, which is not used here.
fn nanoseconds(text: &str) -> i64 {
    let (seconds, part) = text.split_once('.').expect("seconds and nanoseconds");
    seconds.parse::<i64>().unwrap() * 1_000_000_000 + format!("{part:0<9}").parse::<i64>().unwrap()
}

/// Every SV stream by triptime.
fn ours(capture: &Path, run_file: &Path) -> (BTreeMap<String, Stream>, Value) {
    let output = pcap(&[text(capture), "--json", "--out", text(run_file)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let of = |series: &Value| {
        let count = |key: &str| series[key].as_u64().unwrap();
        let stream = Stream {
            // The first frame has no spacing.
            frames: count("received") + count("duplicate") + 1,
            min_ns: series["min"].as_i64().unwrap(),
            max_ns: series["max"].as_i64().unwrap(),
        };
        let name = series["name"].as_str().unwrap();
        name.strip_prefix("spacing/").map(|name| (name.to_owned(), stream))
    };
    let streams = document["series"].as_array().unwrap().iter().filter_map(of).collect();
    (streams, document)
}

#[test]
fn streams_are_those_of_tshark_in_every_format() {
    if !have("streams_are_those_of_tshark_in_every_format", "tshark") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("whole.pcap");
    // Losses in the first stream, repetitions in the second, a time gap in the third.
    capture_of(&whole, 4, 9_000, |stream, sample| match (stream, sample) {
        (0, 100 | 4_500..4_510) => (0, 0),
        (1, 700 | 4_100) => (2, 0),
        (2, 5_000) => (1, 120_000),
        _ => (1, 0),
    });
    let packed = directory.path().join("whole.pcap.gz");
    let gzip = Command::new("gzip").arg("-c").arg(&whole).output().unwrap();
    std::fs::write(&packed, gzip.stdout).unwrap();
    let mut captures = vec![whole.clone(), packed];
    for format in ["pcapng", "nsecpcap", "pcap"] {
        let converted = directory.path().join(format);
        let mut editcap = Command::new("editcap");
        assert!(
            editcap
                .args(["-F", format])
                .arg(&whole)
                .arg(&converted)
                .status()
                .unwrap()
                .success()
        );
        captures.push(converted);
    }
    for (at, capture) in captures.iter().enumerate() {
        let (found, document) = ours(capture, &directory.path().join(format!("{at}.triptime")));
        assert_eq!(found, tshark(capture), "{}", capture.display());
        assert_eq!(found.len(), 4);
        let counts = |name: &str| {
            let series = series(&document, name);
            ["lost", "duplicate", "reordered"].map(|key| series[key].as_u64().unwrap())
        };
        assert_eq!(counts("spacing/MU00"), [11, 0, 0]);
        assert_eq!(counts("spacing/MU01"), [0, 2, 0]);
        assert_eq!(counts("spacing/MU02"), [0, 0, 0]);
        assert_eq!(document["verdict"], Value::from("inconclusive"), "nothing was judged");
    }
}

#[test]
fn the_vectors_have_the_streams_of_tshark() {
    if !have("the_vectors_have_the_streams_of_tshark", "tshark") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("vectors.pcap");
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&path).unwrap())).unwrap();
    let vectors = vectors::vectors();
    let accepted = vectors.iter().filter(|vector| vector.policy == "accept");
    for (at, vector) in accepted.enumerate() {
        writer.write(START_NS + at as i64 * 1_000_000, &vector.frame).unwrap();
    }
    writer.finish().unwrap();
    let mut command = Command::new("tshark");
    command.args([
        "-T",
        "fields",
        "-E",
        "occurrence=f",
        "-e",
        "eth.dst",
        "-e",
        "sv.svID",
        "-e",
        "goose.gocbRef",
    ]);
    let output = command.arg("-r").arg(&path).output().unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    let listing = String::from_utf8(pcap(&[text(&path)]).stdout).unwrap();
    let rows: Vec<Vec<&str>> = listing.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut frames: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in names.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let name = if cells[1].is_empty() { cells[2] } else { cells[1] };
        *frames.entry((name.to_owned(), cells[0].to_owned())).or_default() += 1;
    }
    assert!(frames.len() > 5, "{frames:?}");
    for ((name, dst), expected) in &frames {
        // Streams of one name differ in VLAN or APPID: `NAME#2`.
        let of_name = |label: &str| label == name || label.starts_with(&format!("{name}#"));
        let rows = rows
            .iter()
            .filter(|row| row.len() > 6 && of_name(row[1]) && row[2] == dst);
        let found: u64 = rows.map(|row| row[5].parse::<u64>().unwrap()).sum();
        assert_eq!(found, *expected, "{name} to {dst} in {listing}");
    }
}

/// Lost and repeated samples of each SV stream, by tshark's stamps and smpCnt: each is the sample with that smpCnt whose due instant is nearest to
/// its stamp.
fn lost_by_tshark(capture: &Path) -> BTreeMap<String, (u64, u64)> {
    let mut command = Command::new("tshark");
    let fields = ["frame.time_epoch", "sv.svID", "sv.smpCnt"].map(|field| ["-e", field]);
    command.args(["-T", "fields"]).args(fields.concat());
    let output = command.arg("-r").arg(capture).args(["-Y", "sv"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mut streams: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let due = (nanoseconds(cells[0]) - START_NS) / SPACING_NS;
        let count: i64 = cells[2].parse().unwrap();
        let second = (due - count + 2_000).div_euclid(4_000);
        streams
            .entry(cells[1].to_owned())
            .or_default()
            .push(second * 4_000 + count);
    }
    let of = |numbers: Vec<i64>| {
        let all = numbers.len() as u64;
        let unique: std::collections::BTreeSet<i64> = numbers.into_iter().collect();
        let span = (unique.last().unwrap() - unique.first().unwrap() + 1) as u64;
        (span - unique.len() as u64, all - unique.len() as u64)
    };
    streams.into_iter().map(|(name, numbers)| (name, of(numbers))).collect()
}

/// One late frame, and silences longer than the counter can show, give the losses that follow from tshark's stamps and counters.
#[test]
fn late_frames_and_silences_are_counted_as_tshark_has_them() {
    if !have("late_frames_and_silences_are_counted_as_tshark_has_them", "tshark") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("late.pcap");
    // Stream 0: late by 100 places before the rate is known, and again after. Stream 1: the same frames, doubled: the copy is
    // late. Stream 2: silent for 1.3 s and for a second to the sample. Stream 3: whole.
    let mut frames: Vec<(i64, u8, i64)> = Vec::new();
    for sample in 0..20_000 {
        for stream in 0..4_u8 {
            let is_late = stream < 2 && [2_000, 11_000].contains(&sample);
            if is_late {
                frames.push(((sample + 100) * SPACING_NS + 20_000, stream, sample));
            }
            let is_silent = stream == 2 && ((5_000..10_200).contains(&sample) || (12_000..16_000).contains(&sample));
            if !(is_silent || is_late && stream == 0) {
                frames.push((sample * SPACING_NS, stream, sample));
            }
        }
    }
    frames.sort_unstable();
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&path).unwrap())).unwrap();
    let mut templates: Vec<Template> = (0..4).map(template).collect();
    for (at_ns, stream, sample) in frames {
        let template = &mut templates[usize::from(stream)];
        template.asdu_mut(0).unwrap().set_smp_cnt((sample % 4_000) as u16);
        writer.write(START_NS + at_ns, template.bytes()).unwrap();
    }
    writer.finish().unwrap();
    let by_tshark = lost_by_tshark(&path);
    // Samples that came 100 places late stay lost, as everywhere: they are too late for a relay.
    let late = |name: &str| if name == "MU00" { 2 } else { 0 };
    for rate in [&["--rate", "4000"][..], &[]] {
        let out = directory.path().join(format!("{}.triptime", rate.len()));
        let output = pcap(&[&[text(&path), "--json", "--out", text(&out)], rate].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let document = json(&output);
        for (name, (lost, doubled)) in &by_tshark {
            let found = series(&document, &format!("spacing/{name}"));
            assert_eq!(found["lost"], lost + late(name), "{name} {rate:?}");
            assert_eq!(
                (found["duplicate"].as_u64(), found["reordered"].as_u64()),
                (Some(*doubled), Some(0))
            );
        }
        let events = document["events"].as_array().unwrap();
        let uncountable: Vec<&Value> = events
            .iter()
            .filter(|event| event["kind"] == "incomplete" || event["kind"] == "stream-doubt")
            .collect();
        assert!(uncountable.is_empty(), "{uncountable:?}");
    }
    let all = |name: &str| by_tshark[name];
    assert_eq!(
        (all("MU00"), all("MU01"), all("MU02"), all("MU03")),
        ((0, 0), (0, 2), (9_200, 0), (0, 0))
    );
}

#[test]
fn a_file_that_is_there_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("clean.pcap");
    capture_of(&path, 1, 100, |_, _| (1, 0));
    let before = std::fs::read(&path).unwrap();
    let output = pcap(&[text(&path), "--out", text(&path)]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn the_listing_writes_no_file_and_reads_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("clean.pcap");
    capture_of(&path, 2, 5_000, |_, _| (1, 0));
    let mut command = support::triptime();
    command.current_dir(directory.path()).args(["pcap", "-"]);
    let output = command.stdin(Stdio::from(File::open(&path).unwrap())).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let listing = String::from_utf8(output.stdout).unwrap();
    assert!(
        listing.starts_with("standard input: 10000 frames in 1.25 s"),
        "{listing}"
    );
    assert!(listing.contains("MU00") && listing.contains("4000/s"), "{listing}");
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        1,
        "only the capture"
    );
}
