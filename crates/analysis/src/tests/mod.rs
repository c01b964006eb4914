//! Small captures made by hand: tests of every counter, and of random faults, which must be counted exactly.

mod faults;
mod goose;
mod lans;
mod protocols;
mod signed;
mod stamps;

use crate::{Analysis, Config, Detail, Event, EventKind, Sink, StreamSummary, Summary, Window};
use capture::{Frame, LinkType};
use model::StreamId;
use wire::ether::{Hidden, Mac, VlanTag};
use wire::quality::SvQuality;
use wire::routed::{Key, SessionWriter};
use wire::sv::{Message, OwnedAsdu};

/// Nominal spacing of the streams of these tests: 4000 frames/s.
const SPACING_NS: i64 = 250_000;
const START_NS: i64 = 1_790_000_000_000_000_000;
const CONFIG: Config = Config {
    max_streams: 10,
    rate: Some(4_000),
    window_ns: None,
    port_mbit: None,
};

/// Everything that a sink receives, in short form.
#[derive(Debug, Default)]
struct Kept {
    labels: Vec<String>,
    events: Vec<Event>,
    /// Stream, start, end, received and lost of every window.
    windows: Vec<(usize, u64, u64, u64, u64)>,
    threshold_ns: Option<u64>,
}

impl Sink for Kept {
    fn opened(&mut self, stream: usize, _: &StreamId, label: &str) -> Option<u64> {
        assert_eq!(stream, self.labels.len());
        self.labels.push(label.to_owned());
        self.threshold_ns
    }

    fn window(&mut self, window: &Window<'_>) {
        let counts = &window.tally.counters;
        let row = (
            window.stream,
            window.start_ns,
            window.end_ns,
            counts.received,
            counts.lost,
        );
        self.windows.push(row);
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// Frames with their stamps, from the start of the capture.
type Stamped = (Option<i64>, Vec<u8>);

fn analyse_with(config: Config, sink: Kept, frames: &[Stamped]) -> (Summary, Kept) {
    analyse_by(config, sink, frames, Vec::new())
}

/// The same, with keys of datagrams.
fn analyse_by(config: Config, mut sink: Kept, frames: &[Stamped], keys: Vec<Key>) -> (Summary, Kept) {
    let mut analysis = Analysis::new(config, &mut sink).with_keys(keys);
    for (number, (time_ns, data)) in (1..).zip(frames) {
        analysis.frame(&Frame {
            number,
            time_ns: time_ns.map(|ns| START_NS + ns),
            data,
            original_len: data.len() as u32,
            link_type: LinkType::ETHERNET,
            interface: 0,
            interface_name: None,
        });
    }
    (analysis.finish(), sink)
}

fn analyse(frames: &[Stamped]) -> (Summary, Kept) {
    analyse_with(CONFIG, Kept::default(), frames)
}

fn sv_message(sv_id: &str, counts: &[u16]) -> Message {
    let asdu = |&smp_cnt: &u16| OwnedAsdu {
        smp_cnt,
        ..OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality(0)); 8])
    };
    Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: vec![VlanTag::new(4, false, 5)],
        appid: 0x4000,
        simulate: false,
        asdus: counts.iter().map(asdu).collect(),
    }
}

fn sv(sv_id: &str, smp_cnt: u16) -> Vec<u8> {
    sv_message(sv_id, &[smp_cnt]).encode().unwrap()
}

/// Frames of one stream with these counts, evenly spaced.
fn even(counts: impl IntoIterator<Item = u16>) -> Vec<Stamped> {
    let stamped = |(at, count)| (Some(at * SPACING_NS), sv("MU01", count));
    (0..).zip(counts).map(stamped).collect()
}

fn only(summary: &Summary) -> &StreamSummary {
    assert_eq!(summary.streams.len(), 1);
    &summary.streams[0]
}

#[test]
fn a_whole_stream() {
    let (summary, kept) = analyse(&even((3_000..4_000).chain(0..1_000)));
    let stream = only(&summary);
    assert_eq!(
        (stream.frames, stream.samples, stream.label.as_str()),
        (2_000, 2_000, "MU01")
    );
    assert_eq!((stream.first_frame, stream.last_frame), (1, 2_000));
    assert_eq!(stream.tally.counters.received, 1_999, "the first frame has no spacing");
    assert_eq!(stream.tally.counters.lost + stream.tally.counters.duplicate, 0);
    assert_eq!(
        (stream.tally.min_ns, stream.tally.max_ns),
        (Some(SPACING_NS), Some(SPACING_NS))
    );
    assert_eq!(stream.frames_per_second().map(f64::round), Some(4_000.0));
    assert_eq!(stream.identity.vid, Some(5));
    assert!(kept.events.is_empty(), "{:?}", kept.events);
    assert_eq!(kept.windows, [(0, 0, 1_999 * SPACING_NS as u64, 1_999, 0)]);
}

#[test]
fn the_rate_is_learned_and_counts_beyond_it_are_seen() {
    let learning = Config { rate: None, ..CONFIG };
    let frames = even((3_000..4_000).chain(0..500).chain([4_000, 4_001]).chain(500..600));
    let (summary, kept) = analyse_with(learning, Kept::default(), &frames);
    let Detail::SampledValues {
        rate,
        out_of_range,
        lowest,
        highest,
        ..
    } = only(&summary).detail
    else {
        panic!("sampled values");
    };
    assert_eq!((rate, out_of_range, lowest, highest), (Some(4_000), 2, 0, 4_001));
    let kinds: Vec<EventKind> = kept.events.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [EventKind::Change, EventKind::Doubt, EventKind::Doubt],
        "{kept:?}"
    );
    let text = &kept.events[1].text;
    assert!(
        text.starts_with("smpCnt 4000 is beyond the rate of 4000/s") && text.ends_with("(frame 1501)"),
        "{text}"
    );
}

#[test]
fn a_silence_in_which_the_counter_may_go_round_is_told() {
    // A second stream shows that the capture's clock did not step.
    let silent = |config: Config, ns: i64, is_alone: bool| {
        let mut frames = even((0..1_200).chain(1_200..1_400));
        for (time_ns, _) in &mut frames[1_200..] {
            *time_ns = time_ns.map(|at| at + ns);
        }
        if !is_alone {
            let last_ns = frames.last().and_then(|(time_ns, _)| *time_ns).unwrap_or(0);
            let beside =
                (0..last_ns / SPACING_NS).map(|at| (Some(at * SPACING_NS + 1), sv("MU02", (at % 4_000) as u16)));
            frames.extend(beside);
            frames.sort_by_key(|(time_ns, _)| *time_ns);
        }
        analyse_with(config, Kept::default(), &frames)
    };
    let doubts = |kept: &Kept| {
        kept.events
            .iter()
            .filter(|event| event.kind == EventKind::Doubt)
            .count()
    };
    let rate_unknown = Config { rate: None, ..CONFIG };
    // Exactly one second is missing: smpCnt alone does not show it, but the stamps do, even if the rate is known only from the pace.
    for config in [CONFIG, rate_unknown] {
        let (summary, kept) = silent(config, 1_000_000_000, false);
        assert_eq!((summary.streams[0].tally.counters.lost, doubts(&kept)), (4_000, 0));
        // If nothing else came either, the clock may have stepped.
        let (summary, kept) = silent(config, 1_000_000_000, true);
        assert_eq!(
            (summary.streams[0].tally.counters.lost, doubts(&kept)),
            (0, 1),
            "{kept:?}"
        );
        assert!(
            silent(config, 400_000_000, true)
                .1
                .events
                .iter()
                .all(|event| event.kind != EventKind::Doubt)
        );
    }
    // The counter does not fit the stamps: this is another publisher, or a restart of the same one.
    let (_, kept) = silent(CONFIG, 1_500_000_000, false);
    assert_eq!(doubts(&kept), 1);
    let (_, kept) = analyse(&even((0..100).chain(2_500..2_600)));
    assert_eq!(kept.events[0].kind, EventKind::Doubt, "a jump of smpCnt");
    assert!(kept.events[0].text.contains("jumped from 99 to 25"), "{kept:?}");
}

#[test]
fn one_frame_far_too_late_is_no_restart_and_costs_no_other() {
    for rate in [Some(4_000), None] {
        let config = Config { rate, ..CONFIG };
        for (late, behind) in [(300, 17), (300, 1_000), (3_950, 30), (4_700, 60)] {
            for doubled in [false, true] {
                let mut numbers: Vec<u16> = (0..9_000).collect();
                let again = numbers[late];
                numbers.insert(late + behind + 1, again);
                if !doubled {
                    numbers.remove(late);
                }
                let counts = numbers.iter().map(|number| number % 4_000);
                let (summary, kept) = analyse_with(config, Kept::default(), &even(counts));
                let counts = only(&summary).tally.counters;
                assert_eq!(
                    (counts.lost, counts.reordered),
                    (u64::from(!doubled), 0),
                    "{late} {behind} {doubled} {rate:?}"
                );
                assert!(
                    kept.events.iter().all(|event| event.kind != EventKind::Doubt),
                    "{kept:?}"
                );
            }
        }
    }
}

#[test]
fn streams_are_told_apart_and_capped() {
    let mut other_vlan = sv_message("MU01", &[7]);
    other_vlan.tags = vec![VlanTag::new(4, false, 6)];
    let mut other_appid = sv_message("MU01", &[7]);
    other_appid.appid = 0x4001;
    let frames: Vec<Stamped> = (0..5)
        .flat_map(|at| {
            let mut both = sv_message("A", &[at, at]);
            both.asdus[1].sv_id = b"B".to_vec();
            let messages = [sv_message("MU01", &[at]), other_vlan.clone(), other_appid.clone(), both];
            messages.map(|message| (Some(i64::from(at)), message.encode().unwrap()))
        })
        .collect();
    let (summary, kept) = analyse(&frames);
    assert_eq!(kept.labels, ["MU01", "MU01#2", "MU01#3", "A", "B"]);
    let frames_of: Vec<u64> = summary.streams.iter().map(|stream| stream.frames).collect();
    assert_eq!(frames_of, [5; 5]);
    assert_eq!(summary.streams[1].tally.counters.duplicate, 4);
    let capped = Config {
        max_streams: 2,
        ..CONFIG
    };
    let (summary, _) = analyse_with(capped, Kept::default(), &frames);
    assert_eq!((summary.streams.len(), summary.unplaced), (2, 5 + 2 * 5));
}

#[test]
fn several_samples_in_a_frame_are_counted_one_by_one() {
    let frames: Vec<Stamped> = (0..100_u16)
        .filter(|at| *at != 50)
        .map(|at| {
            (
                Some(i64::from(at) * 2 * SPACING_NS),
                sv_message("MU01", &[2 * at, 2 * at + 1]).encode().unwrap(),
            )
        })
        .collect();
    let (summary, _) = analyse(&frames);
    let stream = only(&summary);
    assert_eq!((stream.frames, stream.samples), (99, 198));
    assert_eq!((stream.tally.counters.received, stream.tally.counters.lost), (196, 2));
    assert!(matches!(stream.detail, Detail::SampledValues { asdus: 2, gaps: 1, .. }));
}

#[test]
fn changes_in_the_header_are_told_once_and_bounded() {
    let mut frames = even(0..10);
    let mut changed = sv_message("MU01", &[10]);
    changed.simulate = true;
    changed.asdus[0].conf_rev = 2;
    changed.asdus[0].smp_synch = Some(0);
    changed.src = Mac([2, 0, 0, 0, 0, 9]);
    frames.push((Some(10 * SPACING_NS), changed.encode().unwrap()));
    let texts = |events: &[Event]| events.iter().map(|event| event.text.clone()).collect::<Vec<_>>();
    assert_eq!(
        texts(&analyse(&frames).1.events),
        [
            "source address changed from 02:00:00:00:00:01 to 02:00:00:00:00:09: a second publisher? (frame 11)",
            "simulation bit changed from 0 to 1 (frame 11)",
            "confRev changed from 1 to 2 (frame 11)",
            "smpSynch changed from 2 to 0 (frame 11)"
        ]
    );
    let flapping = (0..1_000_u16).map(|at| {
        let mut message = sv_message("MU01", &[at]);
        message.simulate = at % 2 == 1;
        (Some(i64::from(at) * SPACING_NS), message.encode().unwrap())
    });
    let (summary, kept) = analyse(&flapping.collect::<Vec<_>>());
    assert_eq!((kept.events.len(), only(&summary).events_unlisted), (11, 0));
    assert!(
        kept.events[10]
            .text
            .starts_with("989 more changes of the simulation bit"),
        "{kept:?}"
    );
}

#[test]
fn what_cannot_be_read_is_counted() {
    let whole = sv("MU01", 0);
    let mut malformed = whole.clone();
    malformed[26] ^= 0x40;
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let frames = [whole.clone(), malformed, arp, vec![1, 2]].map(|data| (Some(0), data));
    let mut nothing = ();
    let mut analysis = Analysis::new(CONFIG, &mut nothing);
    for (number, (time_ns, data)) in (1..).zip(&frames) {
        let frame = Frame {
            number,
            time_ns: *time_ns,
            data,
            original_len: data.len() as u32,
            link_type: LinkType::ETHERNET,
            interface: 0,
            interface_name: None,
        };
        analysis.frame(&frame);
    }
    let cut = Frame {
        number: 5,
        time_ns: Some(0),
        data: &whole[..60],
        original_len: whole.len() as u32,
        link_type: LinkType::ETHERNET,
        interface: 0,
        interface_name: None,
    };
    analysis.frame(&cut);
    analysis.frame(&Frame {
        link_type: LinkType(113),
        ..cut
    });
    let summary = analysis.finish();
    assert_eq!((summary.frames, summary.malformed, summary.cut), (6, 1, 1));
    assert_eq!((summary.other, summary.not_ethernet), (2, 1));
    assert_eq!(summary.first_malformed.map(|first| first.frame), Some(2));
}

#[test]
fn an_empty_capture_has_nothing() {
    let (summary, kept) = analyse(&[]);
    assert_eq!((summary.frames, summary.first_ns, summary.streams.len()), (0, None, 0));
    assert!(kept.windows.is_empty());
}

#[test]
fn frames_behind_headers_that_are_not_read_are_counted_by_header() {
    let frame = sv("MU01", 0);
    let with = |octets: &[u8]| (Some(0), [&frame[..12], octets, &frame[12..]].concat());
    let vlan = with(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8]);
    let r_tag = with(&[0xf1, 0xc1, 0, 0, 0, 9]);
    let (summary, _) = analyse(&[vlan.clone(), r_tag, vlan]);
    assert_eq!(summary.hidden, [(Hidden::Vlan, 2), (Hidden::RTag, 1)].into());
    assert_eq!((summary.other, summary.malformed, summary.streams.len()), (0, 0, 0));
}

/// The frame as a datagram of R-SV.
fn routed(frame: &[u8], number: u32, sign: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let writer = SessionWriter {
        source: [10, 0, 0, 1].into(),
        destination: [239, 192, 0, 7].into(),
        number,
        key_id: 0,
    };
    writer.write(frame, sign).expect("sampled values")
}

#[test]
fn a_stream_over_udp_is_counted_like_one_of_layer_2() {
    let mut frames = even((3_000..4_000).chain(0..1_000));
    for (number, (_, frame)) in (0..).zip(&mut frames) {
        *frame = routed(frame, number, |_| Vec::new());
    }
    // A datagram that comes twice, and one that is lost.
    let copy = frames[500].clone();
    frames.insert(501, copy);
    frames.remove(1_200);
    let (summary, _) = analyse(&frames);
    let counts = &only(&summary).tally.counters;
    assert_eq!((counts.lost, counts.duplicate, counts.conflicting), (1, 1, 0));
    assert_eq!((summary.other, summary.malformed, summary.hidden.len()), (0, 0, 0));
    assert_eq!((summary.routed.unsigned, summary.routed.signed), (2_000, 0));
    assert_eq!(only(&summary).identity.destination, Some(Mac([1, 0, 0x5e, 64, 0, 7])));
}

#[test]
fn groups_and_senders_behind_one_router_are_told_apart() {
    let frame = |count: u16, source: u8, group: u8| {
        let writer = SessionWriter {
            source: [10, 0, 0, source].into(),
            destination: [group, 64, 0, 7].into(),
            number: count.into(),
            key_id: 0,
        };
        (
            Some(i64::from(count) * SPACING_NS),
            writer.write(&sv("MU01", count), |_| Vec::new()).expect("SV"),
        )
    };
    // Both groups have the MAC address 01:00:5e:40:00:07.
    let two: Vec<Stamped> = (0..200)
        .flat_map(|count| [frame(count, 1, 239), frame(count, 1, 238)])
        .collect();
    let (summary, _) = analyse(&two);
    assert_eq!(summary.streams.len(), 2);
    assert!(
        summary
            .streams
            .iter()
            .all(|stream| stream.tally.counters.duplicate == 0)
    );
    let changed: Vec<Stamped> = (0..200)
        .map(|count| frame(count, 1 + u8::from(count >= 100), 239))
        .collect();
    let (summary, kept) = analyse(&changed);
    assert_eq!(summary.streams.len(), 1);
    let told = kept
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Doubt && event.text.contains("10.0.0.2"));
    assert_eq!(told.count(), 1, "{:?}", kept.events);
}

#[test]
fn signed_datagrams_are_read_and_named_and_encrypted_ones_are_hidden() {
    let signed = routed(&sv("MU01", 0), 0, |_| vec![7; 16]);
    let mut encrypted = routed(&sv("MU01", 1), 1, |_| Vec::new());
    // An initialisation vector of one octet: the payload is one octet shorter.
    // After the headers with a VLAN tag.
    let vector_at = 46 + 2 + 4 + 10 + 6 + 4;
    let length = u32::from_be_bytes(encrypted[vector_at + 1..vector_at + 5].try_into().expect("four"));
    encrypted[vector_at] = 1;
    encrypted[vector_at + 2..vector_at + 6].copy_from_slice(&(length - 1).to_be_bytes());
    let mut broken = routed(&sv("MU01", 2), 2, |_| Vec::new());
    // Its version.
    broken[vector_at - 11] = 9;
    let frames = [signed, encrypted, broken].map(|frame| (Some(0), frame));
    let (summary, _) = analyse(&frames);
    assert_eq!(summary.hidden, [(Hidden::Routed, 1)].into());
    assert_eq!((summary.routed.signed, summary.routed.encrypted), (1, 1));
    assert_eq!((only(&summary).frames, summary.malformed), (1, 1));
}
