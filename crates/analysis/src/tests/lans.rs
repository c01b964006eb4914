//! Captures of redundant networks.

use super::{CONFIG, analyse, even, only};
use crate::{Analysis, Summary};
use capture::{Frame, LinkType};
use wire::ether::Mac;
use wire::redundancy::{Lan, Node, Protocol, Supervision, add};

/// A frame as it is sent on a LAN.
fn marked(frame: &[u8], protocol: Protocol, lan: Lan, sequence: usize) -> Vec<u8> {
    let mut frame = frame.to_vec();
    add(&mut frame, protocol, lan, sequence as u16).unwrap();
    frame
}

/// Frames of a stream, each on both LANs: the stamp, the LAN and the frame.
fn on_both(protocol: Protocol) -> Vec<(i64, Lan, Vec<u8>)> {
    let frames = even((3_000..4_000).chain(0..1_000));
    let both = |(number, (at, frame)): (usize, (Option<i64>, Vec<u8>))| {
        let at = at.unwrap();
        Lan::BOTH.map(|lan| {
            (
                at + 10_000 * lan.number() as i64,
                lan,
                marked(&frame, protocol, lan, number),
            )
        })
    };
    frames.into_iter().enumerate().flat_map(both).collect()
}

/// The frame of a capture with this number.
fn captured(number: u64, at: i64, data: &[u8]) -> Frame<'_> {
    Frame {
        number,
        time_ns: Some(at),
        data,
        original_len: data.len() as u32,
        link_type: LinkType::ETHERNET,
        interface: 0,
        interface_name: None,
    }
}

fn with_ports(frames: &[(i64, Lan, Vec<u8>)], begin: impl FnOnce(&mut Analysis<'_>)) -> Summary {
    let mut nothing = ();
    let mut analysis = Analysis::new(CONFIG, &mut nothing);
    analysis.has_ports();
    begin(&mut analysis);
    for (number, (at, lan, data)) in (1..).zip(frames) {
        let frame = captured(number, *at, data);
        analysis.frame_of(&frame, Some(*lan));
    }
    analysis.finish()
}

#[test]
fn both_copies_of_hsr_and_of_prp_are_one_stream() {
    for protocol in [Protocol::Prp, Protocol::Hsr] {
        let mut frames = on_both(protocol);
        // If only one copy is lost, nothing is lost.
        frames.remove(1_001);
        let plain = |frames: &[(i64, Lan, Vec<u8>)]| {
            let frames: Vec<_> = frames.iter().map(|(at, _, frame)| (Some(*at), frame.clone())).collect();
            analyse(&frames).0
        };
        let summary = plain(&frames);
        let counts = &only(&summary).tally.counters;
        assert_eq!((counts.lost, counts.duplicate, counts.conflicting), (0, 0, 0));
        assert_eq!((summary.other, summary.malformed, summary.hidden.len()), (0, 0, 0));
        let lans = summary.redundancy.unwrap();
        assert!(!lans.has_ports);
        assert_eq!(lans.lans.each_ref().map(|lan| lan.counts.lost), [0, 1]);
        assert_eq!(lans.lans.each_ref().map(|lan| lan.counts.received), [2_000, 1_999]);
        // Both copies are lost.
        frames.drain(2_001..2_003);
        let summary = plain(&frames);
        assert_eq!(only(&summary).tally.counters.lost, 1);
        assert_eq!(summary.redundancy.unwrap().sources[0].neither, 1);
    }
}

#[test]
fn the_account_of_each_lan_is_in_the_summary() {
    let mut frames = on_both(Protocol::Prp);
    // LAN B delivers nothing for a quarter of a second, LAN A loses every hundredth frame there and elsewhere.
    let is_cut = |number: usize| (800..1_800).contains(&number);
    let mut number = 0;
    frames.retain(|(_, lan, _)| {
        let kept = match lan {
            Lan::A => number / 2 % 100 != 50,
            Lan::B => !is_cut(number / 2),
        };
        number += 1;
        kept
    });
    let summary = with_ports(&frames, |_| {});
    let both_lost = (800..1_800).filter(|number| number % 100 == 50).count() as u64;
    assert_eq!(only(&summary).tally.counters.lost, both_lost);
    let lans = summary.redundancy.unwrap();
    let [a, b] = &lans.lans;
    assert_eq!((a.counts.lost, b.counts.lost), (20 - both_lost, 1_000 - both_lost));
    assert_eq!(
        (a.tally.max_ns, b.tally.max_ns, b.counts.most_after_ns),
        (Some(0), Some(10_000), 10_000)
    );
    assert_eq!((a.frames, b.frames, a.unmarked), (1_980, 1_000, 0));
    assert_eq!(
        (lans.sources[0].neither, lans.sources[0].together),
        (both_lost, 2_000 - both_lost)
    );
}

#[test]
fn a_lan_is_judged_only_while_it_was_captured() {
    let mut frames = on_both(Protocol::Prp);
    let (from, to) = (frames[400].0, frames[3_600].0);
    frames.retain(|(at, lan, _)| *lan == Lan::A || (from..=to).contains(at));
    let summary = with_ports(&frames, |analysis| {
        analysis.lan_from(Lan::B, from);
        analysis.lan_to(Lan::B, to);
    });
    let counts = summary.redundancy.unwrap().lans[1].counts;
    // The copy of the last one before the end of LAN B came too late for the capture.
    assert_eq!((counts.lost, counts.undecided, counts.on_its_way), (0, 200 + 199, 1));
}

/// A capture of both LANs begins and ends between two copies.
#[test]
fn the_edges_of_a_capture_lose_nothing() {
    let mut frames = on_both(Protocol::Prp);
    for (at, lan, _) in &mut frames {
        *at += 600_000 * lan.number() as i64;
    }
    frames.sort_by_key(|frame| frame.0);
    let frames = &frames[11..frames.len() - 11];
    let counts = with_ports(frames, |_| {})
        .redundancy
        .unwrap()
        .lans
        .map(|lan| lan.counts);
    assert_eq!(counts.map(|of| (of.lost, of.undecided)), [(0, 0); 2]);
    assert!(counts.iter().all(|of| (1..=3).contains(&of.on_its_way)), "{counts:?}");
}

#[test]
fn a_lan_without_a_frame_is_never_complete() {
    let frames: Vec<_> = on_both(Protocol::Prp)
        .into_iter()
        .filter(|frame| frame.1 == Lan::A)
        .collect();
    for is_captured in [true, false] {
        let summary = with_ports(&frames, |analysis| {
            if !is_captured {
                analysis.lan_from(Lan::B, i64::MAX);
            }
        });
        let lans = summary.redundancy.unwrap();
        let counts = lans.lans[1].counts;
        assert!(!lans.lans[1].has_spoken());
        assert_eq!(counts.lost + counts.undecided, 2_000);
        assert_eq!(counts.lost > 0, is_captured);
    }
}

#[test]
fn crossed_ports_and_nodes_are_told() {
    let mut frames = on_both(Protocol::Prp);
    for (_, lan, _) in &mut frames {
        *lan = lan.other();
    }
    let supervision = Supervision {
        path: 0,
        version: 1,
        sequence: 0,
        node: Node::PrpDiscard,
        mac: Mac([2, 0, 0, 0, 0, 1]),
        red_box: None,
    };
    let at = frames[10].0;
    frames.insert(10, (at, Lan::A, supervision.encode(supervision.mac)));
    let summary = with_ports(&frames, |_| {});
    assert_eq!(summary.other, 0);
    assert_eq!(only(&summary).tally.counters.duplicate, 0);
    let lans = summary.redundancy.unwrap();
    assert_eq!(
        lans.lans.each_ref().map(|lan| (lan.counts.wrong, lan.counts.received)),
        [(2_000, 0); 2]
    );
    assert_eq!(
        (lans.supervision, lans.nodes.len(), lans.nodes[0].frames),
        (1, 1, [1, 0])
    );
}

#[test]
fn frames_of_further_ports_are_in_no_account() {
    let frames = on_both(Protocol::Prp);
    let mut nothing = ();
    let mut analysis = Analysis::new(CONFIG, &mut nothing);
    analysis.has_ports();
    for (number, (at, lan, data)) in (1..).zip(&frames) {
        let frame = captured(number, *at, data);
        // The port of LAN B is a third one.
        analysis.frame_of(&frame, Some(*lan).filter(|lan| *lan == Lan::A));
    }
    let lans = analysis.finish().redundancy.unwrap();
    assert_eq!((lans.elsewhere, lans.lans[0].counts.received), (2_000, 2_000));
    assert_eq!((lans.lans[1].frames, lans.lans[1].counts.received), (0, 0));
}

/// A node that stops announcing itself shows by its silence up to the end.
#[test]
fn the_silence_of_a_node_goes_to_the_end() {
    let mut frames = on_both(Protocol::Prp);
    let last = frames.last().unwrap().0;
    let at = frames[0].0;
    for node in 0..257_u16 {
        let supervision = Supervision {
            path: 0,
            version: 1,
            sequence: 0,
            node: Node::PrpDiscard,
            mac: Mac([2, 0, 0, 1, (node >> 8) as u8, node as u8]),
            red_box: None,
        };
        frames.insert(0, (at, Lan::A, supervision.encode(supervision.mac)));
    }
    let lans = with_ports(&frames, |_| {}).redundancy.unwrap();
    assert_eq!((lans.nodes.len(), lans.unplaced_nodes), (256, 1));
    assert_eq!(lans.nodes[0].longest_silence_ns, (last - at) as u64);
}

/// Each node of a ring adds its residence time to the correction of PTP.
#[test]
fn copies_of_ptp_may_differ() {
    for (ether_type, conflicting) in [(0x88f7_u16, 0), (0x88b9, 100)] {
        let mut frames = Vec::new();
        for number in 0..100_usize {
            for lan in Lan::BOTH {
                let mut frame = vec![1, 0x1b, 0x19, 0, 0, 0, 2, 0, 0, 0, 0, 7];
                frame.extend(ether_type.to_be_bytes());
                frame.resize(60, 0);
                frame[30] = lan.number() as u8;
                let at = number as i64 * 1_000_000 + 5_000 * lan.number() as i64;
                frames.push((at, lan, marked(&frame, Protocol::Hsr, lan, number)));
            }
        }
        let counts = with_ports(&frames, |_| {}).redundancy.unwrap().lans[1].counts;
        assert_eq!(
            (counts.received, counts.conflicting),
            (100, conflicting),
            "{ether_type:#x}"
        );
    }
}

#[test]
fn a_capture_without_marks_has_no_lans() {
    let (summary, _) = analyse(&even(0..100));
    assert!(summary.redundancy.is_none());
}

/// Marks of another node say nothing about a stream without marks, nor about cut frames.
#[test]
fn frames_without_marks_are_counted_by_what_they_leave_open() {
    let mut frames = on_both(Protocol::Prp);
    let at = frames.last().unwrap().0;
    let plain = even(0..100).into_iter().map(|(_, frame)| (at, Lan::A, frame));
    frames.extend(plain);
    frames.push((at, Lan::A, vec![0; 60]));
    let lans = with_ports(&frames, |_| {}).redundancy.unwrap();
    let of = lans.lans.each_ref().map(|lan| lan.unproven);
    assert_eq!(of.map(|of| (of.of_protection, of.cut)), [(100, 0), (0, 0)]);
    assert_eq!(lans.lans[0].unmarked, 101);
    let mut nothing = ();
    let mut analysis = Analysis::new(CONFIG, &mut nothing);
    for (number, (at, _, data)) in (1..).zip(&frames) {
        let mut frame = captured(number, *at, data);
        frame.original_len += u32::from(number > 4_000);
        analysis.frame(&frame);
    }
    let of = analysis.finish().redundancy.unwrap().lans.map(|lan| lan.unproven);
    assert_eq!(of.map(|of| (of.of_protection, of.cut)), [(0, 101); 2]);
}
