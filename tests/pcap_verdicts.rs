//! `triptime pcap`: verdicts of a capture, which are never wrong, and its exit status.

mod pcap_captures;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use capture::write::PcapWriter;
use pcap_captures::{SPACING_NS, START_NS, capture_of, have, pcap, template, text};
use support::{json, stderr};

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

/// Verdict, reason, and exit status of a capture under a limit.
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
    // Some frames are cut: nothing shows to which stream they belong.
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

/// Judges a capture by a built-in profile; returns the verdict, and the limits that failed.
fn judged_by(profile: &str, capture: &Path, more: &[&str]) -> (String, Vec<String>) {
    let out = capture.with_extension("triptime");
    let arguments = [text(capture), "--json", "--limits", profile, "--out", text(&out)];
    let output = pcap(&[&arguments, more].concat());
    let document = json(&output);
    std::fs::remove_file(&out).unwrap();
    let checks = document["checks"].as_array().unwrap().iter();
    let failed = checks.filter(|check| check["verdict"] == "fail");
    (
        document["verdict"].as_str().unwrap().to_owned(),
        failed
            .map(|check| check["limit"].as_str().unwrap().to_owned())
            .collect(),
    )
}

#[test]
fn the_profiles_of_the_program_judge_a_capture() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bay.pcap");
    // Each frame twice, as with PRP or at a mirror port.
    capture_of(&path, 3, 5_000, |_, _| (2, 0));
    let tap = ["--stamped-by", "a tap"];
    assert_eq!(judged_by("substation", &path, &[]), ("pass".to_owned(), vec![]));
    assert_eq!(judged_by("avb", &path, &tap), ("pass".to_owned(), vec![]));
    assert_eq!(judged_by("avb", &path, &[]), ("inconclusive".to_owned(), vec![]));
    capture_of(&path, 3, 5_000, |stream, sample| {
        (usize::from((stream, sample) != (1, 2_000)), 0)
    });
    let lost = vec!["spacing.lost".to_owned()];
    assert_eq!(judged_by("substation", &path, &[]), ("fail".to_owned(), lost));
    let gap = vec!["spacing.excess".to_owned(), "spacing.lost".to_owned()];
    assert_eq!(judged_by("avb", &path, &[]), ("fail".to_owned(), gap));
}

/// Late frames of a capture are not counted, so 0 would be no evidence.
#[test]
fn a_limit_on_what_a_capture_does_not_count_is_refused_or_undecided() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("held.pcap");
    // One frame is held back by 400 ms.
    capture_of(&path, 1, 8_000, |_, sample| {
        (1, if sample == 4_000 { 400_000_000 } else { 0 })
    });
    let out = directory.path().join("run.triptime");
    let late = profile(directory.path(), "late", "0");
    let output = pcap(&[text(&path), "--limits", text(&late), "--out", text(&out)]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for part in [
        "late.toml, line 6",
        "spacing/* has no \"late\"",
        "spacing/* has max",
        "\"late\" belongs to rtt/*",
    ] {
        assert!(stderr(&output).contains(part), "{part} in {}", stderr(&output));
    }
    assert!(!out.exists(), "refused before anything was read");

    let all = std::fs::read_to_string(&late).unwrap().replace("spacing/*", "*");
    std::fs::write(&late, all).unwrap();
    let (verdict, why, status) = judged(&path, &late, &[]);
    assert_eq!((verdict.as_str(), status), ("inconclusive", Some(3)), "{why}");
    assert!(why.starts_with("spacing/* does not count \"late\""), "{why}");
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
    let arguments = [
        "--full",
        "--limits",
        text(&limits),
        "--out",
        text(&out),
        "--html",
        text(&html),
    ];
    let output = pcap(&[&[text(&path)][..], &arguments].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(
        report.contains("\nFAIL ") && report.contains("before frame 3001"),
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

/// A capture of a complete stream, and of another one with each sample in a frame made by `wrap`.
fn with_hidden(path: &Path, visible: bool, wrap: impl Fn(&[u8]) -> Vec<u8>) {
    let mut writer = PcapWriter::new(File::create(path).unwrap()).unwrap();
    let mut templates = [template(0), template(1)];
    for sample in 0..5_000 {
        for stream in &mut templates {
            stream.asdu_mut(0).unwrap().set_smp_cnt((sample % 4_000) as u16);
        }
        let time_ns = START_NS + sample * SPACING_NS;
        if visible {
            writer.write(time_ns, templates[0].bytes()).unwrap();
        }
        writer.write(time_ns + 10_000, &wrap(templates[1].bytes())).unwrap();
    }
    writer.finish().unwrap();
}

/// A packet of IPv4 with UDP to port 102 between two stations.
fn to_port_102(payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45];
    packet.resize(14 + 20, 0);
    packet[14 + 9] = 17;
    packet.extend([0x30, 0x39, 0, 102, 0, 0, 0, 0]);
    packet.extend_from_slice(payload);
    packet
}

/// The frame with two more VLAN tags.
fn deeply_tagged(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8], &frame[12..]].concat()
}

/// Makes another frame of one.
type Wrap<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

#[test]
fn streams_behind_headers_that_are_not_read_are_no_pass() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hidden.pcap");
    let routed = |frame: &[u8]| to_port_102(&[&[1, 0x40, 0xa2], frame].concat());
    let wraps: [(&str, Wrap<'_>); 2] = [
        ("more than two VLAN tags, or obsolete ones", &deeply_tagged),
        ("UDP (R-GOOSE, R-SV)", &routed),
    ];
    for (header, wrap) in wraps {
        with_hidden(&path, true, wrap);
        assert_eq!(judged_by("substation", &path, &[]), ("inconclusive".to_owned(), vec![]));
        let listing = String::from_utf8(pcap(&[text(&path)]).stdout).unwrap();
        let part = format!("5000 frames with sampled values or GOOSE inside {header}, not read");
        assert!(listing.contains(&part), "no {part:?} in {listing}");

        with_hidden(&path, false, wrap);
        let output = pcap(&[text(&path), "--limits", "substation"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(stderr(&output).contains(&part), "{}", stderr(&output));
    }
}

/// The frame in ERSPAN of type II, as a switch mirrors it to an address.
fn mirrored(frame: &[u8]) -> Vec<u8> {
    let mut packet = to_port_102(&[]);
    packet.truncate(14 + 20);
    packet[14 + 9] = 47;
    packet.extend([0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 1, 0, 0, 0, 0]);
    [&packet, frame].concat()
}

/// Nothing shows that the frames in the mirror are copies of those that were read.
#[test]
fn a_mirror_of_a_stream_beside_it_is_a_doubt_of_the_stream() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mirror.pcap");
    let mut sample = template(0);
    let mut writer = PcapWriter::new(File::create(&path).unwrap()).unwrap();
    for number in 0..5_000 {
        sample.asdu_mut(0).unwrap().set_smp_cnt((number % 4_000) as u16);
        let time_ns = START_NS + number * SPACING_NS;
        writer.write(time_ns, sample.bytes()).unwrap();
        writer.write(time_ns + 10_000, &mirrored(sample.bytes())).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(judged_by("substation", &path, &[]), ("inconclusive".to_owned(), vec![]));
}

#[test]
fn streams_that_are_not_read_excuse_no_loss_of_those_that_are() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lost.pcap");
    let mut sample = template(0);
    let mut writer = PcapWriter::new(File::create(&path).unwrap()).unwrap();
    for number in (0..5_000).filter(|number| *number != 2_000) {
        sample.asdu_mut(0).unwrap().set_smp_cnt((number % 4_000) as u16);
        writer.write(START_NS + number * SPACING_NS, sample.bytes()).unwrap();
    }
    let end_ns = START_NS + 5_000 * SPACING_NS;
    writer.write(end_ns, &deeply_tagged(template(1).bytes())).unwrap();
    writer.finish().unwrap();
    let lost = vec!["spacing.lost".to_owned()];
    assert_eq!(judged_by("substation", &path, &[]), ("fail".to_owned(), lost));
}

#[test]
fn other_traffic_raises_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("healthy.pcap");
    let traffic: [Wrap<'_>; 2] = [&|_| to_port_102(&[2, 0xf0, 0x80, 0xa2]), &|frame| {
        let mut other = deeply_tagged(frame);
        // A frame to an address of sampled values that cannot be read is a doubt.
        other[..6].fill(0xff);
        other.splice(24.., [8, 6].into_iter().chain([0; 40]));
        other
    }];
    for wrap in traffic {
        with_hidden(&path, true, wrap);
        assert_eq!(judged_by("substation", &path, &[]), ("pass".to_owned(), vec![]));
    }
}
