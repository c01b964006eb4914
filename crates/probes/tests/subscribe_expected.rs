//! The subscriber with expected streams: some come, some do not, and some differ from the expectation.

mod common;

use common::{Pair, Recorded, Run, can_run};
use model::EventKind;
use probes::subscribe::{ClockRelation, SubscribeConfig, port_options};
use probes::{Probe, ProbeError};
use std::sync::atomic::Ordering;
use std::time::Duration;
use streamset::{Content, StreamSpec};
use sys::packet::PortOptions;
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

const RATE: u32 = 4_800;

fn expected(sv_id: &str, number: u8) -> StreamSpec {
    StreamSpec {
        destination: Mac([1, 0x0c, 0xcd, 4, 0, number]),
        rate: RATE,
        asdus: 1,
        content: content(64),
        origin: format!("test.scd, {sv_id}"),
        ..StreamSpec::named(sv_id)
    }
}

fn content(octets: usize) -> Content {
    Content::Other {
        octets: Some(octets),
        why: "of no profile".into(),
    }
}

/// Frame number `number` of a faultless stream.
fn frame(stream: &StreamSpec, number: u32) -> Vec<u8> {
    let members = vec![(0, SvQuality::GOOD); stream.content.octets().unwrap_or(64) / 8];
    let asdus = u32::from(stream.asdus);
    let asdu = |index: u32| OwnedAsdu {
        smp_cnt: ((number * asdus + index) % stream.rate) as u16,
        dat_set: stream.dat_set.clone().map(String::into_bytes),
        smp_rate: stream.smp_rate,
        smp_mod: stream.smp_mod,
        ..OwnedAsdu::new(&stream.sv_id, stream.conf_rev, 2, &members)
    };
    let message = Message {
        dst: stream.destination,
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: stream.vlan.into_iter().collect(),
        appid: stream.appid,
        simulate: false,
        asdus: (0..asdus).map(asdu).collect(),
    };
    message.encode().expect("a frame")
}

/// Sends `frames` frames of each of `sent` to a subscriber that expects `expected`; after that there is silence.
fn run(expected: &[StreamSpec], sent: &[StreamSpec], frames: u32, silence: Duration) -> Recorded {
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let config = SubscribeConfig {
        expected: expected.to_vec(),
        clock: ClockRelation::SameHost,
        ..SubscribeConfig::default()
    };
    let mut run = Run::start();
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let mut count = 0;
    for number in 0..frames {
        for stream in sent {
            sender.send(&frame(stream, number)).expect("a frame is sent");
            count += 1;
        }
        if number % 50 == 49 || number + 1 == frames {
            common::wait_until("frames accepted", || {
                subscription.frames.load(Ordering::Relaxed) >= count
            });
        }
    }
    std::thread::sleep(silence);
    run.stop.request();
    subscription.running.join().expect("the subscriber ends well");
    run.finish()
}

fn texts(recorded: &Recorded, series: &str) -> Vec<String> {
    let events = recorded.events(series).into_iter();
    events
        .filter(|event| event.kind == EventKind::Stream)
        .map(|event| event.text)
        .collect()
}

#[test]
fn a_stream_that_never_comes_has_lost_everything() {
    if !can_run("a_stream_that_never_comes_has_lost_everything") {
        return;
    }
    let all = [expected("HERE", 1), expected("GONE", 2)];
    let recorded = run(&all, &all[..1], 200, Duration::from_millis(100));
    let names = ["HERE", "GONE"]
        .into_iter()
        .flat_map(|id| ["age", "arrival", "spacing"].map(|family| format!("{family}/{id}")));
    let mut names: Vec<String> = names.chain(["delivery/subscribe".into()]).collect();
    names.sort();
    let mut found = recorded.names();
    found.sort();
    assert_eq!(found, names);
    let here = recorded.counters("age/HERE");
    assert_eq!((here.received, here.lost), (200, 0));
    for family in ["age", "arrival", "spacing"] {
        let gone = recorded.counters(&format!("{family}/GONE"));
        assert_eq!((gone.received, gone.expected), (0, gone.lost));
        assert!(gone.lost >= u64::from(RATE) / 10, "at least 100 ms were due: {gone:?}");
    }
    let gone = texts(&recorded, "spacing/GONE");
    assert!(
        gone.len() == 1 && gone[0].starts_with("GONE: never came in "),
        "{gone:?}"
    );
    assert_eq!(texts(&recorded, "spacing/HERE"), ["HERE: smpCnt ran from 0 to 199"]);
}

#[test]
fn a_stream_that_stops_has_lost_what_was_due_since() {
    if !can_run("a_stream_that_stops_has_lost_what_was_due_since") {
        return;
    }
    let all = [expected("STOPS", 1)];
    let recorded = run(&all, &all, 100, Duration::from_millis(700));
    let counters = recorded.counters("spacing/STOPS");
    assert_eq!(counters.received, 99, "the spaces between 100 frames");
    assert!(counters.lost >= u64::from(RATE) * 7 / 10, "{counters:?}");
    let said = texts(&recorded, "spacing/STOPS");
    assert!(said.iter().any(|text| text.starts_with("STOPS: stopped ")), "{said:?}");
}

#[test]
fn what_is_not_as_expected_is_named() {
    if !can_run("what_is_not_as_expected_is_named") {
        return;
    }
    let all: Vec<StreamSpec> = (1..)
        .zip(["CONFREV", "ASDUS", "OCTETS", "VLAN", "PRIORITY", "RATE", "MOVED"])
        .map(|(number, id)| expected(id, number))
        .collect();
    let mut sent = all.clone();
    sent[0].conf_rev = 7;
    sent[1].asdus = 2;
    sent[2].content = content(72);
    sent[3].vlan = Some(VlanTag::new(4, false, 5));
    sent[4].vlan = Some(VlanTag::new(4, false, 0));
    sent[5].rate = 4_000;
    sent[6].destination = Mac([1, 0x0c, 0xcd, 4, 1, 7]);
    // Over the wrap, which shows the rate.
    let recorded = run(&all, &sent, 4_100, Duration::ZERO);
    let said = |id: &str| texts(&recorded, &format!("spacing/{id}"));
    let says = |id: &str, text: &str| {
        assert_eq!(
            said(id).iter().filter(|said| *said == text).count(),
            1,
            "{text}: {:?}",
            said(id)
        );
    };
    says("CONFREV", "CONFREV: confRev is 7, not 1 as expected");
    says("ASDUS", "ASDUS: 2 ASDUs in a frame, not 1 as expected");
    says(
        "OCTETS",
        "OCTETS: seqData has 72 octets, not 64 as expected: the dataset is different",
    );
    says("VLAN", "VLAN: came in VLAN 5, expected without a tag");
    says("RATE", "RATE: smpCnt wraps at 4000 samples/s, not 4800 as expected");
    says(
        "MOVED#2",
        "MOVED#2: is not among the expected streams; it is sent to 01:0c:cd:04:01:07, APPID 0x4000, without a tag",
    );
    assert!(
        said("MOVED").iter().any(|text| text.starts_with("MOVED: never came")),
        "{:?}",
        said("MOVED")
    );
    let priority = said("PRIORITY");
    assert!(
        !priority.iter().any(|text| text.contains("tag")),
        "a priority tag is no VLAN: {priority:?}"
    );
    assert_eq!(recorded.counters("age/PRIORITY").lost, 0);
    assert_eq!(
        recorded.counters("age/VLAN").received,
        4_100,
        "in another VLAN, and measured all the same"
    );
}

#[test]
fn another_dat_set_or_smp_rate_is_named() {
    if !can_run("another_dat_set_or_smp_rate_is_named") {
        return;
    }
    let stated = |id, number| StreamSpec {
        dat_set: Some("MU01MU/LLN0$PhsMeas1".into()),
        smp_rate: Some(4_800),
        smp_mod: Some(1),
        ..expected(id, number)
    };
    let all = [
        stated("RIGHT", 1),
        stated("WRONG", 2),
        stated("NEITHER", 3),
        expected("UNASKED", 4),
        expected("ZERO", 5),
    ];
    let mut sent = all.clone();
    sent[1].dat_set = Some("MU01MU/LLN0$PhsMeas2".into());
    sent[1].smp_rate = Some(4_000);
    (sent[2].dat_set, sent[2].smp_rate) = (None, None);
    sent[3] = stated("UNASKED", 4);
    sent[3].smp_rate = Some(80);
    sent[4].conf_rev = 0;
    let recorded = run(&all, &sent, 100, Duration::ZERO);
    let said = |id: &str| {
        let texts = texts(&recorded, &format!("spacing/{id}")).into_iter();
        texts.filter(|text| text.contains("expected")).collect::<Vec<String>>()
    };
    assert_eq!(said("RIGHT"), Vec::<String>::new());
    assert_eq!(
        said("WRONG"),
        [
            "WRONG: datSet is not MU01MU/LLN0$PhsMeas1 as expected",
            "WRONG: smpRate is 4000, not 4800 as expected"
        ]
    );
    assert_eq!(
        said("NEITHER"),
        [
            "NEITHER: has no datSet, expected MU01MU/LLN0$PhsMeas1",
            "NEITHER: has no smpRate, expected 4800"
        ]
    );
    assert_eq!(said("UNASKED"), ["UNASKED: smpRate is 80, not 4800 as expected"]);
    assert_eq!(said("ZERO"), ["ZERO: confRev is 0, not 1 as expected"]);
}

#[test]
fn two_expected_streams_of_one_name_are_told_apart() {
    if !can_run("two_expected_streams_of_one_name_are_told_apart") {
        return;
    }
    let all = [expected("TWIN", 1), expected("TWIN", 2)];
    let recorded = run(&all, &all, 100, Duration::ZERO);
    for name in ["age/TWIN", "age/TWIN#2"] {
        let counters = recorded.counters(name);
        assert_eq!((counters.received, counters.lost), (100, 0), "{name}");
    }
}

#[test]
fn nothing_at_all_is_no_traffic() {
    if !can_run("nothing_at_all_is_no_traffic") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let config = SubscribeConfig {
        expected: vec![expected("GONE", 1)],
        duration_ns: Some(300_000_000),
        ..SubscribeConfig::default()
    };
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let error = subscription.running.join().expect_err("nothing came");
    assert!(
        matches!(&error, ProbeError::NoTraffic(text) if text.contains("of any of the 1 expected streams")),
        "{error}"
    );
    let recorded = run.finish();
    assert!(recorded.counters("spacing/GONE").lost >= u64::from(RATE) * 3 / 10);
}

#[test]
fn more_than_can_be_told_apart_are_refused() {
    if !can_run("more_than_can_be_told_apart_are_refused") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let config = SubscribeConfig {
        expected: vec![expected("A", 1), expected("B", 2)],
        max_streams: 1,
        ..SubscribeConfig::default()
    };
    let error = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect_err("too many");
    assert!(error.to_string().contains("use --max-streams 2 or more"), "{error}");
    run.finish();
}

/// Events of a subscriber that receives one stream, together with frames of the same stream after these bytes.
fn beside_hidden(expected: &[StreamSpec], before: &[u8]) -> Vec<(EventKind, String)> {
    beside(expected, None, before)
}

/// The same, with these frames to another address.
fn beside(expected: &[StreamSpec], to: Option<[u8; 6]>, before: &[u8]) -> Vec<(EventKind, String)> {
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let config = SubscribeConfig {
        expected: expected.to_vec(),
        ..SubscribeConfig::default()
    };
    let mut run = Run::start();
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let stream = expected_stream();
    // One frame in 256 is checked: with this number of frames, none is checked once in ten million runs.
    for number in 0..4_096 {
        let frame = frame(&stream, number);
        let to = to.as_ref().map_or(&frame[..6], |to| to.as_slice());
        let hidden = [to, &frame[6..12], before, &frame[12..]].concat();
        sender.send(&frame).expect("a frame is sent");
        sender.send(&hidden).expect("a frame is sent");
        if number % 50 == 49 {
            common::wait_until("frames accepted", || {
                subscription.frames.load(Ordering::Relaxed) > u64::from(number)
            });
        }
    }
    run.stop.request();
    subscription.running.join().expect("the subscriber ends well");
    let events = run.finish().events("delivery/subscribe").into_iter();
    events
        .filter(|event| event.text.contains("which is not read"))
        .map(|event| (event.kind, event.text))
        .collect()
}

fn expected_stream() -> StreamSpec {
    expected("MU01", 1)
}

#[test]
fn streams_behind_headers_that_are_not_read_are_a_doubt_of_all_that_come() {
    if !can_run("streams_behind_headers_that_are_not_read_are_a_doubt_of_all_that_come") {
        return;
    }
    let redundancy_tag = [0xf1, 0xc1, 0, 0, 0, 1];
    let text = |header: &str| {
        format!(
            "frames carry sampled values or GOOSE after {header}, which is not read: no figure includes their streams"
        )
    };
    let tagged = text("redundancy tags (IEEE 802.1CB)");
    assert_eq!(
        beside_hidden(&[], &redundancy_tag),
        [(EventKind::StreamDoubt, tagged.clone())]
    );
    assert_eq!(
        beside_hidden(&[expected_stream()], &redundancy_tag),
        [(EventKind::Note, tagged)]
    );
    // IPv4 and GRE, with the whole frame inside.
    let mut ipv4 = [0; 20];
    (ipv4[0], ipv4[9]) = (0x45, 47);
    let inner = [&[8, 0][..], &ipv4, &[0, 0, 0x65, 0x58], &[2; 12]].concat();
    assert_eq!(
        beside_hidden(&[], &inner),
        [(EventKind::StreamDoubt, text("GRE or ERSPAN"))]
    );
    // Other traffic hides no stream, except to the addresses of sampled values.
    let other = [&[8, 0][..], &[0x45; 20]].concat();
    assert_eq!(beside(&[], Some([1, 0, 0x5e, 0, 0, 1]), &other), []);
    assert_eq!(
        beside_hidden(&[], &other),
        [(
            EventKind::StreamDoubt,
            text("another header, or encryption, in frames to their addresses")
        )]
    );
}
