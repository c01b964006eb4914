//! The subscriber with streams whose every fault is known.

mod common;
mod faults;

use common::{Pair, Recorded, Run, can_run};
use faults::{Fault, Script, StreamSpec};
use model::fact::{RECORDED_FROM, RECORDED_TO};
use model::{Counters, EventKind, FactOf};
use probes::subscribe::{ClockRelation, SubscribeConfig, port_options};
use probes::{Probe, ProbeError};
use recording::{SegmentReader, Survey};
use std::sync::atomic::Ordering;
use sys::packet::PortOptions;
use units::Realtime;
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::sv::Frame;

const FAMILIES: [&str; 3] = ["spacing", "arrival", "age"];

fn config() -> SubscribeConfig {
    SubscribeConfig {
        rate: Some(4_800),
        clock: ClockRelation::SameHost,
        ..SubscribeConfig::default()
    }
}

/// The nominal time between the samples of a series.
fn interval_ns(recorded: &Recorded, name: &str) -> Option<f64> {
    let series = recorded.file.series().expect("series");
    let found = series.iter().find(|(_, spec)| spec.name == name);
    found.expect("the series").1.interval_ns
}

/// Sends the frames to a subscriber and returns its record. After every few frames it waits until the subscriber has them, so
/// that no queue on the way can overflow: only frames that the script left out are lost.
fn subscribe(config: &SubscribeConfig, frames: &[Vec<u8>]) -> Recorded {
    subscribe_over(&Pair::build(), config, frames)
}

fn subscribe_over(pair: &Pair, config: &SubscribeConfig, frames: &[Vec<u8>]) -> Recorded {
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let mut accepted = 0;
    for chunk in frames.chunks(100) {
        for frame in chunk {
            let sent = sender.send(frame);
            if is_well_formed(frame) {
                sent.expect("a frame is sent");
                accepted += 1;
            }
        }
        common::wait_until(&format!("{accepted} frames accepted"), || {
            subscription.frames.load(Ordering::Relaxed) >= accepted
        });
    }
    assert_eq!(subscription.frames.load(Ordering::Relaxed), accepted);
    run.stop.request();
    subscription.running.join().expect("the subscriber ends well");
    run.finish()
}

fn is_well_formed(frame: &[u8]) -> bool {
    EthernetView::parse(frame).is_ok_and(|ethernet| Frame::parse(&ethernet).is_ok())
}

fn assert_counted(recorded: &Recorded, script: &Script) {
    let found = |family: &str| recorded.counters(&format!("{family}/{}", script.label));
    for family in FAMILIES {
        // The first frame has no distance to an earlier one.
        let first = if family == "spacing" { script.asdus } else { 0 };
        let counters = found(family);
        let expected = Counters {
            expected: script.received - first + script.lost,
            received: script.received - first,
            lost: script.lost,
            duplicate: script.duplicate,
            reordered: script.reordered,
            // This test does not check instants on the network, so samples outside a histogram's range are ignored.
            clipped: counters.clipped,
            ..Counters::default()
        };
        assert_eq!(counters, expected, "{family}/{}", script.label);
    }
    let events: Vec<String> = recorded
        .events(&format!("spacing/{}", script.label))
        .into_iter()
        .filter(|event| event.kind == EventKind::Stream)
        .map(|event| event.text)
        .collect();
    // This test does not depend on how fast the frames were sent.
    let events: Vec<String> = events
        .into_iter()
        .filter(|text| !text.contains("silent for") && !text.contains(" more "))
        .collect();
    let mut expected = script.events();
    // Ten events of one kind are written.
    let mut told = 0;
    expected.retain(|text| {
        told += u32::from(text.contains("simulation bit"));
        !text.contains("simulation bit") || told <= 10
    });
    assert_eq!(events, expected);
    for family in FAMILIES {
        let doubts = recorded.events(&format!("{family}/{}", script.label));
        // A jump to an earlier position of the stream may also look like a second publisher.
        let is_jump = |text: &str| !text.contains("two sequences");
        let doubts = doubts
            .iter()
            .filter(|event| event.kind == EventKind::StreamDoubt && is_jump(&event.text));
        let (found, expected) = (doubts.map(|event| &event.text).collect::<Vec<_>>(), script.doubts());
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for begin in expected {
            assert!(found.iter().any(|text| text.starts_with(&begin)), "{begin}: {found:?}");
        }
    }
}

fn assert_delivered(recorded: &Recorded, frames: usize, malformed: u64) {
    let frames = frames as u64;
    let expected = Counters {
        expected: frames,
        received: frames,
        clipped: recorded.counters("delivery/subscribe").clipped,
        ..Counters::default()
    };
    assert_eq!(recorded.counters("delivery/subscribe"), expected);
    let events: Vec<String> = recorded
        .events("delivery/subscribe")
        .into_iter()
        .filter(|event| matches!(event.kind, EventKind::Incomplete | EventKind::SocketDrop))
        .map(|event| event.text)
        .collect();
    match malformed {
        0 => assert_eq!(events, Vec::<String>::new()),
        count => {
            assert_eq!(events.len(), 1, "{events:?}");
            assert!(
                events[0].starts_with(&format!("{count} malformed SV frames;")),
                "{events:?}"
            );
        }
    }
}

/// Runs all scripts together and compares every one of them.
fn check(scripts: &[Script], seed: u64) {
    let frames = faults::interleave(scripts, seed);
    let recorded = subscribe(&config(), &frames);
    assert_eq!(interval_ns(&recorded, "delivery/subscribe"), None);
    for name in recorded.names().iter().filter(|name| *name != "delivery/subscribe") {
        assert_eq!(interval_ns(&recorded, name), Some(1e9 / 4_800.0), "{name}");
    }
    for script in scripts {
        assert_counted(&recorded, script);
    }
    assert_delivered(
        &recorded,
        frames.len(),
        scripts.iter().map(|script| script.malformed).sum(),
    );
    assert_eq!(recorded.names().len(), 1 + 3 * scripts.len(), "{:?}", recorded.names());
}

#[test]
fn each_fault_by_itself() {
    if !can_run("each_fault_by_itself") {
        return;
    }
    let scripts: Vec<Script> = Fault::AT_ONCE
        .into_iter()
        .zip(0..)
        .map(|(fault, number)| {
            let spec = StreamSpec::new(&format!("{fault:?}"), number);
            Script::make(&spec, &[fault], 20, u64::from(number))
        })
        .collect();
    check(&scripts, 1);
}

/// In its first second, a jump back may lead to copies of earlier samples.
#[test]
fn restarts_are_told_after_a_second_of_the_stream() {
    if !can_run("restarts_are_told_after_a_second_of_the_stream") {
        return;
    }
    let scripts: Vec<Script> = [&[Fault::Restart][..], &Fault::ALL]
        .into_iter()
        .zip(1..)
        .map(|(faults, number)| {
            let mut spec = StreamSpec::new(&format!("RESTART{number}"), number);
            spec.has_gone_round = true;
            Script::make(&spec, faults, 20, u64::from(number))
        })
        .collect();
    check(&scripts, 3);
}

#[test]
fn a_sound_stream_has_no_fault_over_the_wrap() {
    if !can_run("a_sound_stream_has_no_fault_over_the_wrap") {
        return;
    }
    let mut one = StreamSpec::new("ONE", 1);
    one.first = 4_700;
    let mut two = StreamSpec::new("TWO", 2);
    (two.first, two.asdus) = (4_700, 2);
    let scripts = [Script::make(&one, &[], 5, 3), Script::make(&two, &[], 5, 4)];
    assert!(
        scripts
            .iter()
            .all(|script| script.lowest == 0 && script.highest == 4_799)
    );
    check(&scripts, 2);
}

#[test]
fn all_faults_together_in_streams_that_are_easily_confused() {
    if !can_run("all_faults_together_in_streams_that_are_easily_confused") {
        return;
    }
    for seed in 1..=3 {
        let plain = StreamSpec::new("PLAIN", 1);
        // The same APPID and destination as PLAIN: only the svID differs.
        let mut twin = plain.clone();
        twin.label = "TWINS".into();
        twin.sv_id = "TWINS".into();
        // The same svID, APPID and destination as PLAIN, in a VLAN.
        let mut tagged = plain.clone();
        tagged.label = "PLAIN#2".into();
        tagged.vlan = Some(VlanTag::new(4, false, 7));
        // The same svID as PLAIN, to another destination.
        let mut elsewhere = plain.clone();
        elsewhere.label = "PLAIN#3".into();
        elsewhere.destination = Mac([0x01, 0x0c, 0xcd, 0x04, 0x01, 0xff]);
        let mut double = StreamSpec::new("DOUBLE", 2);
        double.asdus = 2;
        let mut tagged_double = StreamSpec::new("TAGGED-DOUBLE", 2);
        tagged_double.asdus = 2;
        tagged_double.vlan = Some(VlanTag::new(6, false, 0));
        let scripts: Vec<Script> = [plain, tagged, elsewhere, twin, double, tagged_double]
            .iter()
            .zip(seed * 100..)
            .map(|(spec, seed)| Script::make(spec, &Fault::AT_ONCE, 40, seed))
            .collect();
        check(&scripts, seed);
    }
}

/// A recording shows exactly the faults of a stream.
#[test]
fn every_sample_is_recorded_with_both_stamps() {
    if !can_run("every_sample_is_recorded_with_both_stamps") {
        return;
    }
    let scripts: Vec<Script> = Fault::AT_ONCE
        .into_iter()
        .zip(0..)
        .map(|(fault, number)| {
            let mut spec = StreamSpec::new(&format!("{fault:?}"), number);
            spec.asdus = 1 + u16::from(number % 2);
            Script::make(&spec, &[fault], 20, u64::from(number))
        })
        .collect();
    let config = SubscribeConfig {
        record: true,
        ..config()
    };
    let recorded = subscribe(&config, &faults::interleave(&scripts, 5));
    let totals = recorded.file.segment_totals().expect("readable").expect("segments");
    let to_ns = instant(&recorded, &RECORDED_TO);
    assert!(
        totals.last_ns <= to_ns,
        "until {to_ns}, with stamps until {}",
        totals.last_ns
    );
    let mut survey = Survey::new((totals.first_ns, totals.last_ns));
    let mut reader = SegmentReader::new();
    let take = |octets: Result<&[u8], String>| survey.take(reader.read(octets.expect("there")).expect("whole"));
    recorded.file.each_segment(take).expect("readable");
    assert_eq!(survey.points, ["kernel", "application"]);
    assert_eq!(survey.streams.len(), scripts.len());
    for script in &scripts {
        let stream = survey
            .streams
            .iter()
            .find(|stream| stream.info.name == script.label)
            .expect("recorded");
        let counts = stream.counts;
        let found = (counts.received, counts.lost, counts.duplicate, counts.reordered);
        let done = (script.received, script.lost, script.duplicate, script.reordered);
        assert_eq!(found, done, "{}", script.label);
        assert_eq!(stream.info.rate, Some(4_800));
        assert_eq!(stream.latencies[0].count(), script.received);
        assert_eq!(stream.latencies[0].negative(), 0);
    }
}

/// Start or end of the time for which the recording claims to have every frame.
fn instant(recorded: &Recorded, of: &FactOf<Realtime>) -> i64 {
    let known = recorded.file.facts().expect("readable");
    let said = known
        .iter()
        .filter(|fact| (fact.group.as_str(), fact.name.as_str()) == (of.group, of.name));
    assert_eq!(said.count(), 1, "{}", of.name);
    of.of(&known).expect("an instant").as_ns()
}

/// For silence at the end, a recording shows only that the subscriber was listening.
#[test]
fn a_recording_lasts_as_long_as_it_was_listened() {
    if !can_run("a_recording_lasts_as_long_as_it_was_listened") {
        return;
    }
    let config = SubscribeConfig {
        record: true,
        duration_ns: Some(900_000_000),
        ..config()
    };
    let pair = Pair::build();
    let mut run = Run::start();
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("it starts");
    let script = Script::make(&StreamSpec::new("QUIET", 1), &[], 20, 1);
    let sender = pair.port_a(&PortOptions::default());
    sender.send(&script.frames()[0]).expect("sent");
    subscription.running.join().expect("it ends well");
    let recorded = run.finish();
    let heard_ns = instant(&recorded, &RECORDED_TO) - instant(&recorded, &RECORDED_FROM);
    // Apart from the slew of the wall clock meanwhile.
    assert!(heard_ns >= 899_000_000, "{heard_ns} ns");
}

#[test]
fn the_rate_is_learned_at_the_wrap() {
    if !can_run("the_rate_is_learned_at_the_wrap") {
        return;
    }
    let mut spec = StreamSpec::new("LEARN", 1);
    (spec.rate, spec.first) = (4_000, 3_900);
    let script = Script::make(&spec, &[], 5, 1);
    let recorded = subscribe(&SubscribeConfig { rate: None, ..config() }, &script.frames());
    assert_eq!(interval_ns(&recorded, "age/LEARN"), None);
    let spacing = recorded.counters("spacing/LEARN");
    assert_eq!((spacing.received, spacing.lost), (script.received - 1, 0));
    let age = recorded.counters("age/LEARN");
    assert_eq!(
        age.received,
        script.received - 100,
        "100 samples came before the wrap showed the rate"
    );
    let events = recorded.events("spacing/LEARN");
    let texts: Vec<&str> = events
        .iter()
        .filter(|event| event.kind == EventKind::Stream)
        .map(|event| event.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "LEARN: 4000 samples/s, learned from the stream",
            "LEARN: smpCnt ran from 0 to 3999"
        ]
    );
}

#[test]
fn without_a_clock_relation_nothing_one_way_is_measured() {
    if !can_run("without_a_clock_relation_nothing_one_way_is_measured") {
        return;
    }
    let script = Script::make(&StreamSpec::new("MU01", 1), &[Fault::Drop], 5, 1);
    let config = SubscribeConfig {
        clock: ClockRelation::Unknown,
        ..config()
    };
    let recorded = subscribe(&config, &script.frames());
    assert_eq!(recorded.names(), ["delivery/subscribe", "spacing/MU01"]);
    assert_eq!(recorded.counters("spacing/MU01").lost, script.lost);
}

/// Loss in the host is distinguished from loss on the network, and reported only if samples are missing.
#[test]
fn what_the_kernel_drops_is_named_beside_what_is_lost() {
    if !can_run("what_the_kernel_drops_is_named_beside_what_is_lost") {
        return;
    }
    // Longer than the receiving end accepts: the kernel drops it there, and counts it.
    let foreign = [[0xff; 12].as_slice(), &[0x88, 0xb7], &[0; 1_000]].concat();
    for (faults, is_named) in [(&[Fault::Drop][..], true), (&[], false)] {
        let mut frames = Script::make(&StreamSpec::new("MU01", 1), faults, 5, 1).frames();
        frames.splice(20..20, vec![foreign.clone(); 30]);
        let pair = Pair::build();
        pair.set_far_mtu(500);
        let recorded = subscribe_over(&pair, &config(), &frames);
        let events = recorded.events("delivery/subscribe");
        let named: Vec<_> = events.iter().filter(|event| event.kind == EventKind::NicDrop).collect();
        assert_eq!(named.len(), usize::from(is_named), "{events:?}");
        if let Some(event) = named.first() {
            let count = event
                .text
                .split("dropped ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            let count: u64 = count.and_then(|count| count.parse().ok()).expect("a number");
            assert!(count >= 30 && event.text.starts_with("b0: "), "{}", event.text);
        }
    }
}

#[test]
fn streams_beyond_the_limit_are_counted_not_measured() {
    if !can_run("streams_beyond_the_limit_are_counted_not_measured") {
        return;
    }
    let scripts = ["KEPT1", "KEPT2", "LEFT1", "LEFT2"].map(|name| Script::make(&StreamSpec::new(name, 1), &[], 3, 1));
    let frames: Vec<Vec<u8>> = scripts.iter().flat_map(Script::frames).collect();
    let left: usize = scripts[2..].iter().map(|script| script.frames().len()).sum();
    let recorded = subscribe(
        &SubscribeConfig {
            max_streams: 2,
            ..config()
        },
        &frames,
    );
    assert_eq!(recorded.names().len(), 1 + 2 * 3);
    assert_counted(&recorded, &scripts[0]);
    assert_counted(&recorded, &scripts[1]);
    let said = recorded.events("delivery/subscribe").iter().any(|event| {
        event.text.starts_with(&format!(
            "{left} samples or frames belong to streams beyond the limit of 2"
        ))
    });
    assert!(said);
}

#[test]
fn silence_is_said() {
    if !can_run("silence_is_said") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let config = SubscribeConfig {
        duration_ns: Some(300_000_000),
        ..config()
    };
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let error = subscription.running.join().expect_err("nothing came");
    assert!(matches!(error, ProbeError::NoTraffic(_)), "{error}");
    assert!(error.to_string().contains("b0"), "{error}");
    run.finish();
}
