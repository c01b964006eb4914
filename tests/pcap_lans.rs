//! `triptime pcap` of the two LANs of a redundant network, against a ledger of what each of them lost.

mod pcap_captures;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use capture::write::PcapWriter;
use pcap_captures::{SPACING_NS, START_NS, capture_of, have, pcap, template, text};
use support::{json, stderr};
use wire::ether::Mac;
use wire::redundancy::{Lan, Node, Protocol, Supervision, add};

/// Frames of the stream.
const FRAMES: usize = 8_000;
/// Time by which LAN B is behind LAN A.
const BEHIND_NS: i64 = 30_000;

/// The captures of the two LANs; `comes` says whether a frame comes on a LAN.
fn captures(directory: &Path, comes: impl Fn(Lan, usize) -> bool) -> [PathBuf; 2] {
    let mut template = template(0);
    let mut writers = Lan::BOTH.map(|lan| {
        let path = directory.join(format!("{}.pcap", lan.letter()));
        (PcapWriter::new(File::create(&path).unwrap()).unwrap(), path)
    });
    for number in 0..FRAMES {
        template.asdu_mut(0).unwrap().set_smp_cnt((number % 4_000) as u16);
        for lan in Lan::BOTH.into_iter().filter(|lan| comes(*lan, number)) {
            let mut frame = template.bytes().to_vec();
            add(&mut frame, Protocol::Prp, lan, number as u16).unwrap();
            let at = START_NS + number as i64 * SPACING_NS + BEHIND_NS * lan.number() as i64;
            writers[lan.number()].0.write(at, &frame).unwrap();
        }
    }
    let node = Supervision {
        path: 0,
        version: 1,
        sequence: 0,
        node: Node::PrpDiscard,
        mac: Mac([2, 0, 0, 0, 0, 0x77]),
        red_box: None,
    };
    let end = START_NS + FRAMES as i64 * SPACING_NS;
    writers[0].0.write(end, &node.encode(node.mac)).unwrap();
    writers.map(|(writer, path)| {
        writer.finish().unwrap();
        path
    })
}

fn limits(directory: &Path) -> PathBuf {
    let path = directory.join("limits.toml");
    let limit = |series: &str| {
        format!(
            "[[limit]]\nid = \"{series}.lost\"\nseries = \"{series}\"\nquantity = \"lost\"\nallowed = 0\nsource = \"test\"\n"
        )
    };
    let text = ["lan/A", "lan/B", "spacing/*"].map(limit).concat();
    std::fs::write(&path, format!("name = \"site\"\nwhat = \"test\"\n{text}")).unwrap();
    path
}

/// The document, and the verdict of each limit.
fn judged(directory: &Path, arguments: &[&str]) -> (serde_json::Value, Vec<String>) {
    let (limits, out) = (limits(directory), directory.join("run.triptime"));
    let more = ["--json", "--limits", text(&limits), "--out", text(&out)];
    let output = pcap(&[arguments, &more].concat());
    let document = json(&output);
    std::fs::remove_file(&out).unwrap();
    let verdict = |series: &str| {
        let checks = document["checks"].as_array().unwrap().iter();
        let mut of = checks.filter(|check| check["limit"] == format!("{series}.lost"));
        let found = of.next().map(|check| check["verdict"].as_str().unwrap());
        format!("{series}: {}", found.unwrap_or("none"))
    };
    let verdicts = ["lan/A", "lan/B", "spacing/*"].map(verdict).to_vec();
    (document, verdicts)
}

fn counts(document: &serde_json::Value, series: &str) -> (u64, u64) {
    let all = document["series"].as_array().unwrap();
    let of = all.iter().find(|one| one["name"] == series);
    let of = of.unwrap_or_else(|| panic!("{series} in {document}"));
    (of["received"].as_u64().unwrap(), of["lost"].as_u64().unwrap())
}

#[test]
fn losses_of_each_lan_and_of_both_are_those_of_the_ledger() {
    if !have("losses_of_each_lan_and_of_both_are_those_of_the_ledger", "mergecap") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    // LAN B is cut for half a second; LAN A loses every 500th frame; frame 5000 is lost on both.
    let comes = |lan, number: usize| match lan {
        Lan::A => number % 500 != 250 && number != 5_000,
        Lan::B => !(2_000..4_000).contains(&number) && number != 5_000,
    };
    let [a, b] = captures(directory.path(), comes);
    let lost = |lan: Lan| {
        let is_lost = |number: &usize| !comes(lan, *number) && comes(lan.other(), *number);
        (0..FRAMES).filter(is_lost).count() as u64
    };
    let both = (0..FRAMES).filter(|number| Lan::BOTH.iter().all(|lan| !comes(*lan, *number)));
    let both = both.count() as u64;
    assert_eq!((lost(Lan::A), lost(Lan::B), both), (12, 1_996, 5));
    let merged = directory.path().join("both.pcapng");
    let status = Command::new("mergecap")
        .args(["-I", "none", "-w", text(&merged), text(&a), text(&b)])
        .status();
    assert!(status.expect("mergecap comes with tshark").success());
    for arguments in [
        vec![text(&a), "--lan-b", text(&b)],
        vec![text(&merged), "--lans", "0,1"],
        vec![text(&merged)],
    ] {
        let (document, verdicts) = judged(directory.path(), &arguments);
        assert_eq!(
            verdicts,
            ["lan/A: fail", "lan/B: fail", "spacing/*: fail"],
            "{arguments:?}"
        );
        let received = |lan: Lan| (0..FRAMES).filter(|number| comes(lan, *number)).count() as u64;
        for lan in Lan::BOTH {
            let counted = counts(&document, &format!("lan/{}", lan.letter()));
            assert_eq!(counted, (received(lan), lost(lan)), "{lan}, {arguments:?}");
        }
        let stream = document["series"].as_array().unwrap().iter();
        let stream = stream
            .clone()
            .find(|one| one["name"].as_str().unwrap().starts_with("spacing/"))
            .unwrap();
        assert_eq!((&stream["lost"], &stream["duplicate"]), (&both.into(), &0.into()));
    }
    let output = pcap(&[text(&a), "--lan-b", text(&b)]);
    let listing = String::from_utf8(output.stdout.clone()).unwrap();
    for part in [
        "Redundant LANs",
        "5 numbers between them came on neither LAN",
        "node 02:00:00:00:00:77 (PRP node, discards duplicates): 1 supervision frames on LAN A, 0 on LAN B",
    ] {
        assert!(listing.contains(part), "{part} in {listing} {}", stderr(&output));
    }
}

#[test]
fn both_lans_whole_pass_and_a_silent_one_never_does() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = captures(directory.path(), |_, _| true);
    let (document, verdicts) = judged(directory.path(), &[text(&a), "--lan-b", text(&b)]);
    assert_eq!(
        verdicts,
        ["lan/A: pass", "lan/B: pass", "spacing/*: pass"],
        "{document}"
    );
    // The files are exchanged: each frame states the other LAN.
    let (document, verdicts) = judged(directory.path(), &[text(&b), "--lan-b", text(&a)]);
    assert_eq!(verdicts[..2], ["lan/A: fail", "lan/B: fail"], "{document}");
    assert_eq!(counts(&document, "lan/A").0, 0);
    assert_eq!(verdicts[2], "spacing/*: pass");
    let stream = document["series"].as_array().unwrap().iter();
    let duplicates: Vec<_> = stream.map(|one| one["duplicate"].as_u64().unwrap_or(0)).collect();
    assert!(duplicates.iter().all(|count| *count == 0), "{duplicates:?}");
    let listing = String::from_utf8(pcap(&[text(&b), "--lan-b", text(&a)]).stdout).unwrap();
    assert!(listing.contains("are the cables crossed?"), "{listing}");
    let [a, b] = captures(directory.path(), |lan, _| lan == Lan::A);
    // An empty file is no evidence for LAN B; without one, LAN B is not measured.
    let alone = vec![text(&a)];
    for (arguments, verdict) in [(vec![text(&a), "--lan-b", text(&b)], "inconclusive"), (alone, "none")] {
        let (document, verdicts) = judged(directory.path(), &arguments);
        // Nothing shows the losses of the only LAN.
        assert_eq!(
            verdicts,
            ["lan/A: inconclusive", &format!("lan/B: {verdict}"), "spacing/*: pass"],
            "{document}"
        );
        let output = pcap(&arguments);
        let listing = String::from_utf8(output.stdout).unwrap();
        assert!(listing.contains("LAN B: no frame of it"), "{listing}");
    }
}

/// The captures of both LANs with supervision frames of another node only, and frames of a stream as `data` makes them.
fn beside_a_node(directory: &Path, data: impl Fn(&[u8], Lan, usize) -> Option<Vec<u8>>) -> [PathBuf; 2] {
    let mut template = template(0);
    Lan::BOTH.map(|lan| {
        let path = directory.join(format!("{}.pcap", lan.letter()));
        let mut writer = PcapWriter::new(File::create(&path).unwrap()).unwrap();
        for number in 0..FRAMES {
            let at = START_NS + number as i64 * SPACING_NS + BEHIND_NS * lan.number() as i64;
            if number.is_multiple_of(1_000) {
                let node = Supervision {
                    path: 0,
                    version: 1,
                    sequence: number as u16,
                    node: Node::PrpDiscard,
                    mac: Mac([2, 0, 0, 0, 0, 0x77]),
                    red_box: None,
                };
                let mut frame = node.encode(node.mac);
                add(&mut frame, Protocol::Prp, lan, (number / 1_000) as u16).unwrap();
                writer.write(at - 1_000, &frame).unwrap();
            }
            template.asdu_mut(0).unwrap().set_smp_cnt((number % 4_000) as u16);
            if let Some(frame) = data(template.bytes(), lan, number) {
                writer.write(at, &frame).unwrap();
            }
        }
        writer.finish().unwrap();
        path
    })
}

/// Cuts the frames of a capture as a snap length does.
fn cut(path: &Path, octets: usize) {
    const HEADER: usize = 24;
    const RECORD: usize = 16;
    let whole = std::fs::read(path).unwrap();
    let mut short = whole[..HEADER].to_vec();
    let mut rest = &whole[HEADER..];
    while let Some((record, after)) = rest.split_at_checked(RECORD) {
        let kept = u32::from_le_bytes(record[8..12].try_into().unwrap()) as usize;
        let cut = kept.min(octets);
        short.extend_from_slice(&record[..8]);
        short.extend_from_slice(&(cut as u32).to_le_bytes());
        short.extend_from_slice(&record[12..]);
        short.extend_from_slice(&after[..cut]);
        rest = &after[kept..];
    }
    std::fs::write(path, short).unwrap();
}

/// Supervision frames come on both LANs; they say nothing about the streams of others.
#[test]
fn frames_without_marks_are_not_proven_by_those_of_another_node() {
    let directory = tempfile::tempdir().unwrap();
    // A publisher with one port, on LAN A.
    let [a, b] = beside_a_node(directory.path(), |frame, lan, _| {
        (lan == Lan::A).then(|| frame.to_vec())
    });
    let (document, verdicts) = judged(directory.path(), &[text(&a), "--lan-b", text(&b)]);
    assert_eq!(counts(&document, "lan/A"), (8, 0));
    assert_eq!(verdicts[..2], ["lan/A: inconclusive", "lan/B: pass"], "{document}");
    // Without ports, the frames may have been on either LAN.
    let (document, verdicts) = judged(directory.path(), &[text(&a)]);
    assert_eq!(verdicts[0], "lan/A: inconclusive", "{document}");
    // The snap length cuts the marks; LAN B loses a quarter.
    let [a, b] = beside_a_node(directory.path(), |frame, lan, number| {
        let mut frame = frame.to_vec();
        add(&mut frame, Protocol::Prp, lan, number as u16).unwrap();
        (lan == Lan::A || number < 6_000).then_some(frame)
    });
    for path in [&a, &b] {
        cut(path, 96);
    }
    // Frames of which nothing is read are no run, and no pass.
    let output = support::run(&["pcap", text(&a), "--lan-b", text(&b)]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

/// The end of one capture before that of the other decides nothing, on either LAN.
#[test]
fn a_lan_is_not_judged_while_it_was_not_captured() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = captures(directory.path(), |lan, number| {
        lan == Lan::A || (1_000..6_000).contains(&number)
    });
    let (document, verdicts) = judged(directory.path(), &[text(&a), "--lan-b", text(&b)]);
    assert_eq!(
        verdicts,
        ["lan/A: inconclusive", "lan/B: inconclusive", "spacing/*: pass"],
        "{document}"
    );
    assert_eq!(counts(&document, "lan/B"), (5_000, 0));
}

/// A name that is none of the capture's must not make its frames state their own LAN.
#[test]
fn interfaces_that_the_capture_has_not_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [a, _] = captures(directory.path(), |_, _| true);
    let out = directory.path().join("run.triptime");
    for more in [&[][..], &["--out", text(&out)]] {
        let output = pcap(&[&[text(&a), "--lans", "eth7,eth8"], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("no interface eth7: name two of 0"),
            "{}",
            stderr(&output)
        );
        assert!(!out.exists());
    }
}

/// The largest time of LAN B after LAN A, by a limit of 50 us.
fn judged_max(directory: &Path, arguments: &[&str]) -> (String, String) {
    let (limits, out) = (directory.join("max.toml"), directory.join("max.triptime"));
    let limit = "name = \"site\"\nwhat = \"test\"\n[[limit]]\nid = \"lan.max\"\nseries = \"lan/B\"\nquantity = \"max\"\nallowed = \"50us\"\n\
                 source = \"test\"\n";
    std::fs::write(&limits, limit).unwrap();
    let output = pcap(&[arguments, &["--json", "--limits", text(&limits), "--out", text(&out)]].concat());
    let document = json(&output);
    std::fs::remove_file(&out).unwrap();
    let check = &document["checks"][0];
    let word = |key: &str| check[key].as_str().unwrap().to_owned();
    (word("verdict"), word("why"))
}

#[test]
fn a_time_between_stamps_of_two_clocks_or_in_coarse_steps_is_not_decided() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = captures(directory.path(), |_, _| true);
    let two = [text(&a), "--lan-b", text(&b)];
    let (verdict, why) = judged_max(directory.path(), &two);
    assert!(
        verdict == "inconclusive" && why.contains("one clock made both"),
        "{verdict}: {why}"
    );
    let (verdict, why) = judged_max(directory.path(), &[&two[..], &["--stamped-by", "a tap"]].concat());
    assert_eq!(verdict, "pass", "{why}");
    // In one capture with steps of 100 us, the 30 us of LAN B are 0 or 100.
    let path = directory.path().join("coarse.pcap");
    let mut writer = PcapWriter::new(File::create(&path).unwrap()).unwrap();
    let mut template = template(0);
    for number in 0..FRAMES {
        template.asdu_mut(0).unwrap().set_smp_cnt((number % 4_000) as u16);
        for lan in Lan::BOTH {
            let mut frame = template.bytes().to_vec();
            add(&mut frame, Protocol::Prp, lan, number as u16).unwrap();
            let at = START_NS + number as i64 * SPACING_NS + BEHIND_NS * lan.number() as i64;
            writer.write(at / 100_000 * 100_000, &frame).unwrap();
        }
    }
    writer.finish().unwrap();
    let (verdict, why) = judged_max(directory.path(), &[text(&path)]);
    assert!(
        verdict == "inconclusive" && why.contains("steps of 100 µs"),
        "{verdict}: {why}"
    );
}

#[test]
fn a_capture_without_marks_says_nothing_of_lans() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plain.pcap");
    capture_of(&path, 1, 4_000, |_, _| (1, 0));
    let listing = String::from_utf8(pcap(&[text(&path)]).stdout).unwrap();
    assert!(
        listing.contains("MU00") && !listing.contains("Redundant LANs"),
        "{listing}"
    );
    let (document, verdicts) = judged(directory.path(), &[text(&path)]);
    assert_eq!(
        verdicts,
        ["lan/A: none", "lan/B: none", "spacing/*: pass"],
        "{document}"
    );
}
