//! `triptime pcap`: the streams of a capture, with Wireshark's tshark as the oracle, and verdicts that are never wrong.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use capture::write::PcapWriter;
use serde_json::Value;
use support::{json, run, series, stderr};
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

const START_NS: i64 = 1_790_000_000_000_000_000;
const SPACING_NS: i64 = 250_000;

fn template(stream: u8) -> Template {
    Template::new(&Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, stream]),
        src: Mac([2, 0, 0, 0, 0, stream]),
        tags: vec![VlanTag::new(4, false, 1)],
        appid: 0x4000 + u16::from(stream),
        simulate: false,
        asdus: vec![OwnedAsdu::new(&format!("MU{stream:02}"), 1, 2, &[(0, SvQuality(0)); 8])],
    })
    .expect("encodes")
}

/// A capture of `streams` streams of 4000 samples/s. `edit` gets stream and sample, and answers how often it is written and
/// by how much its stamp is moved.
fn capture_of(path: &Path, streams: u8, samples: i64, edit: impl Fn(u8, i64) -> (usize, i64)) {
    let mut writer = PcapWriter::new(BufWriter::new(File::create(path).unwrap())).unwrap();
    let mut templates: Vec<Template> = (0..streams).map(template).collect();
    for sample in 0..samples {
        for (stream, template) in (0..).zip(&mut templates) {
            template.asdu_mut(0).unwrap().set_smp_cnt((sample % 4_000) as u16);
            let (times, moved_ns) = edit(stream, sample);
            for time in 0..times as i64 {
                // An odd number of ns, so that every unit of stamps rounds.
                let jitter_ns = (sample * 7_919 + i64::from(stream) * 104_729) % 5_003 + time;
                let time_ns = START_NS + sample * SPACING_NS + i64::from(stream) * 10_000 + jitter_ns + moved_ns;
                writer.write(time_ns, template.bytes()).unwrap();
            }
        }
    }
    writer.finish().unwrap();
}

/// What one stream is, by either tool.
#[derive(Debug, PartialEq, Eq)]
struct Stream {
    frames: u64,
    min_ns: i64,
    max_ns: i64,
}

/// Every SV stream as tshark sees it; a frame with the smpCnt of the one before it is a duplicate, and not measured.
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

fn pcap(arguments: &[&str]) -> Output {
    run(&[&["pcap"], arguments].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Every SV stream as triptime sees it.
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

fn have(test: &str, program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        testing::skip(test, &format!("no {program}: run scripts/need.sh test"));
    }
    found
}

#[test]
fn streams_are_those_of_tshark_in_every_format() {
    if !have("streams_are_those_of_tshark_in_every_format", "tshark") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("whole.pcap");
    // Losses in the first stream, repetitions in the second, a gap in time of the third.
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
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../crates/wire/tests/data/vectors.json")).unwrap();
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&path).unwrap())).unwrap();
    let accepted = vectors.iter().filter(|vector| vector["policy"] == "accept");
    for (at, vector) in accepted.enumerate() {
        let hex = vector["hex"].as_str().unwrap();
        let octets: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        writer.write(START_NS + at as i64 * 1_000_000, &octets).unwrap();
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

/// A profile with one limit on the longest spacing.
fn profile(directory: &Path, quantity: &str, allowed: &str) -> PathBuf {
    let path = directory.join(format!("{quantity}.toml"));
    let limit = format!(
        "name = \"site\"\nwhat = \"test\"\n[[limit]]\nid = \"limit\"\nseries = \"spacing/*\"\nquantity = \"{quantity}\"\n\
         allowed = {allowed}\nsource = \"test\"\n"
    );
    std::fs::write(&path, limit).unwrap();
    path
}

/// Samples of each SV stream that never came, and those that came again, by tshark's stamps and smpCnt: each is the sample
/// with that smpCnt that was due next to its stamp.
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

/// One frame that is late, and silences longer than the counter can show, cost what tshark's stamps and counters say.
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
    // Those that came 100 places late stay lost, as everywhere: they are too late for a relay.
    let late = |name: &str| if name == "MU00" { 2 } else { 0 };
    for rate in [&["--rate", "4000"][..], &[]] {
        let out = directory.path().join(format!("{}.triptime", rate.len()));
        let output = pcap(&[&[text(&path), "--json", "--out", text(&out)], rate].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let document = json(&output);
        for (name, (lost, _)) in &by_tshark {
            let found = series(&document, &format!("spacing/{name}"));
            assert_eq!(found["lost"], lost + late(name), "{name} {rate:?}");
            assert_eq!(
                (found["duplicate"].as_u64(), found["reordered"].as_u64()),
                (Some(0), Some(0))
            );
        }
        let events = document["events"].as_array().unwrap();
        let uncountable: Vec<&Value> = events.iter().filter(|event| event["kind"] == "incomplete").collect();
        assert!(uncountable.is_empty(), "{uncountable:?}");
    }
    let all = |name: &str| by_tshark[name];
    assert_eq!(
        (all("MU00"), all("MU01"), all("MU02"), all("MU03")),
        ((0, 0), (0, 2), (9_200, 0), (0, 0))
    );
}

/// Verdict, why, and exit status of a capture under a limit.
fn judged(capture: &Path, limits: &Path, more: &[&str]) -> (String, String, Option<i32>) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run.triptime");
    let arguments = [text(capture), "--json", "--limits", text(limits), "--out", text(&out)];
    let output = pcap(&[&arguments, more].concat());
    let document = json(&output);
    let why = document["checks"][0]["why"].as_str().unwrap().to_owned();
    (
        document["verdict"].as_str().unwrap().to_owned(),
        why,
        output.status.code(),
    )
}

#[test]
fn verdicts_follow_the_limits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("whole.pcap");
    capture_of(&path, 2, 5_000, |stream, sample| {
        (usize::from((stream, sample) != (1, 2_000)), 0)
    });
    let max = profile(directory.path(), "max", "\"600us\"");
    let lost = profile(directory.path(), "lost", "0");
    let (verdict, why, status) = judged(&path, &lost, &[]);
    assert_eq!((verdict.as_str(), status), ("fail", Some(1)), "{why}");
    let clean = directory.path().join("clean.pcap");
    capture_of(&clean, 2, 5_000, |_, _| (1, 0));
    for limits in [&max, &lost] {
        let (verdict, why, status) = judged(&clean, limits, &[]);
        assert_eq!((verdict.as_str(), status), ("pass", Some(0)), "{why}");
    }
    let tight = profile(directory.path(), "max", "\"250us\"");
    let (verdict, why, status) = judged(&clean, &tight, &[]);
    assert_eq!((verdict.as_str(), status), ("fail", Some(1)), "{why}");
}

#[test]
fn what_is_not_whole_is_never_a_pass() {
    let test = "what_is_not_whole_is_never_a_pass";
    let directory = tempfile::tempdir().unwrap();
    let max = profile(directory.path(), "max", "\"1s\"");
    let lost = profile(directory.path(), "lost", "0");
    let clean = directory.path().join("clean.pcap");
    capture_of(&clean, 2, 2_000, |_, _| (1, 0));
    let assert_open = |capture: &Path, limits: &Path, more: &[&str], part: &str| {
        let (verdict, why, status) = judged(capture, limits, more);
        assert_eq!((verdict.as_str(), status), ("inconclusive", Some(3)), "{why}");
        assert!(why.contains(part), "no {part:?} in {why:?}");
    };

    let cut = directory.path().join("cut.pcap");
    let octets = std::fs::read(&clean).unwrap();
    std::fs::write(&cut, &octets[..octets.len() - 5]).unwrap();
    for limits in [&max, &lost] {
        assert_open(&cut, limits, &[], "ended early");
        assert_open(
            &clean,
            limits,
            &["--max-streams", "1"],
            "2000 frames of the capture could not be read",
        );
    }

    let back = directory.path().join("back.pcap");
    capture_of(&back, 2, 2_000, |_, sample| {
        (1, if sample >= 1_000 { -2_000_000 } else { 0 })
    });
    assert_open(&back, &max, &[], "clock-step");

    if !have(test, "editcap") {
        return;
    }
    // Some frames are cut: nothing shows which stream they were of.
    let short = directory.path().join("short.pcap");
    let mut editcap = Command::new("editcap");
    assert!(
        editcap
            .args(["-F", "nsecpcap", "-s", "80"])
            .arg(&clean)
            .arg(&short)
            .status()
            .unwrap()
            .success()
    );
    let mixed = directory.path().join("mixed.pcap");
    let mut mergecap = Command::new("mergecap");
    assert!(
        mergecap
            .args(["-F", "nsecpcap", "-a", "-w"])
            .args([&mixed, &clean, &short])
            .status()
            .unwrap()
            .success()
    );
    for limits in [&max, &lost] {
        assert_open(&mixed, limits, &[], "4000 frames of the capture could not be read");
    }
}

#[test]
fn a_capture_without_streams_or_cut_without_limits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("arp.pcap");
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let mut writer = PcapWriter::new(File::create(&path).unwrap()).unwrap();
    writer.write(START_NS, &arp).unwrap();
    writer.finish().unwrap();
    let out = directory.path().join("run.triptime");
    let output = pcap(&[text(&path), "--json", "--out", text(&out)]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("no stream of sampled values"),
        "{}",
        stderr(&output)
    );
    assert!(output.stdout.is_empty() && !out.exists());

    let cut = directory.path().join("cut.pcap");
    capture_of(&cut, 1, 100, |_, _| (1, 0));
    let octets = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &octets[..octets.len() - 5]).unwrap();
    for arguments in [&[text(&cut)][..], &[text(&cut), "--out", text(&out)]] {
        let output = pcap(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("the capture is cut"), "{}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("99 frames"));
    }
    assert!(out.exists(), "what came before the cut is a run");
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

#[test]
fn worst_gaps_carry_frame_numbers_into_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gap.pcap");
    capture_of(&path, 1, 5_000, |_, sample| {
        (1, if sample >= 3_000 { 5_000_000 } else { 0 })
    });
    let limits = profile(directory.path(), "max", "\"1ms\"");
    let (out, html) = (
        directory.path().join("run.triptime"),
        directory.path().join("report.html"),
    );
    let arguments = ["--limits", text(&limits), "--out", text(&out), "--html", text(&html)];
    let output = pcap(&[&[text(&path)][..], &arguments].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(
        report.starts_with("FAIL") && report.contains("before frame 3001"),
        "{report}"
    );
    assert!(std::fs::read_to_string(&html).unwrap().contains("spacing/MU00"));
    let run = store::RunFile::open(&out).unwrap();
    let (id, spec) = run.series().unwrap().remove(0);
    let spike = run.spikes(id).unwrap().remove(0);
    assert_eq!(spike.sequence, Some(3_001));
    assert!(
        spike.value_ns > 5_000_000
            && spec
                .settings
                .iter()
                .any(|(_, value)| value.contains("frame of the capture"))
    );
}
