//! Round trips over a wire with faults.

use crate::common::Run;
use crate::truth::Log;
use crate::{BOTH_WAYS, assert_sound, can_run, injected, wait_until_empty};
use lab::bed::End;
use lab::fault::{Fault, FaultBed, Faults, LaneCounts, Rule, Way, Which};
use probes::reflect::{Receive, ReflectConfig, Role, SHORTEST_FRAME, Stamps, port_options, start};
use std::time::Duration;
use store::model::{Counters, EventKind};
use wire::ether::EthernetView;
use wire::test_frame::{COUNTS, Kind, TestFrame};

/// Round trips before the first recorded one.
const WARM_UP_FRAMES: u64 = 64;

/// Far more than scheduling holds an answer up for.
const LATE_AFTER_NS: u64 = 500_000_000;

fn config(role: Role) -> ReflectConfig {
    ReflectConfig {
        interval_ns: 1_000_000,
        patience_ns: 10_000_000_000,
        late_after_ns: LATE_AFTER_NS,
        receive: Receive::Block,
        ..ReflectConfig::new(role)
    }
}

/// A rule for measured frames `from` the one `to` the other, counted from 0.
fn rule(which: Which, fault: Fault, from: u64, to: u64) -> Rule {
    let span = WARM_UP_FRAMES + from..=WARM_UP_FRAMES + to;
    Rule::new(which, fault).when(move |frame| {
        let frame = EthernetView::parse(frame).and_then(|ethernet| TestFrame::parse(&ethernet));
        frame
            .is_ok_and(|frame| frame.kind == Kind::Probe && frame.flags & COUNTS != 0 && span.contains(&frame.sequence))
    })
}

/// A bed with these rules one way, or the other, or both.
fn bed(ways: &[Way], seed: u64, log: &Log, rules: impl Fn() -> Vec<Rule>) -> FaultBed {
    let of = |way| if ways.contains(&way) { rules() } else { Vec::new() };
    let faults = Faults {
        to_device: of(Way::ToDevice),
        to_test_set: of(Way::ToTestSet),
        seed,
        observer: Some(log.observer()),
    };
    FaultBed::build(faults).expect("the bed is built")
}

struct Outcome {
    rtt: Counters,
    link: Vec<String>,
    there: LaneCounts,
    back: LaneCounts,
}

/// Measures while `work` goes on, and for `ms` after it; `work` is given a way to restart the reflector.
fn measure(bed: &FaultBed, faults: &[Fault], ms: u64, work: impl FnOnce(&mut dyn FnMut(Duration))) -> Outcome {
    let options = port_options(SHORTEST_FRAME, Stamps::Off, None);
    let reflect = || {
        let mut run = Run::start();
        let port = bed.port(End::Device, &options).expect("a port");
        let reflector = start(&config(Role::Reflector), port, &mut run.recorder, &run.stop).expect("started");
        (run, reflector)
    };
    let mut reflector = Some(reflect());
    let stop = |(run, reflector): (Run, probes::Running)| {
        run.stop.request();
        reflector.join().expect("the reflector ends well");
        run.finish();
    };
    let mut run = Run::start();
    let port = bed.port(End::TestSet, &options).expect("a port");
    let initiator = start(&config(Role::Initiator), port, &mut run.recorder, &run.stop).expect("started");
    work(&mut |pause| {
        reflector.take().into_iter().for_each(stop);
        std::thread::sleep(pause);
        reflector = Some(reflect());
    });
    std::thread::sleep(Duration::from_millis(ms));
    run.stop.request();
    initiator.join().expect("the initiator ends well");
    reflector.take().into_iter().for_each(stop);
    wait_until_empty(bed, faults);
    let recorded = run.finish();
    let link = recorded.events("rtt/reflect").into_iter();
    Outcome {
        rtt: recorded.counters("rtt/reflect"),
        link: link
            .filter(|event| event.kind == EventKind::Link)
            .map(|event| event.text)
            .collect(),
        there: bed.wire().counts(Way::ToDevice),
        back: bed.wire().counts(Way::ToTestSet),
    }
}

/// Every counter is what went in and came out of the wire.
fn assert_counted(log: &Log, outcome: &Outcome, late: u64) {
    let (answers, rtt) = (log.answers(), &outcome.rtt);
    let sent = rtt.expected - rtt.missed;
    let expected = Counters {
        expected: rtt.expected,
        received: answers.received,
        lost: sent - answers.received,
        late,
        duplicate: answers.duplicate,
        reordered: answers.reordered,
        missed: rtt.missed,
        ..Counters::default()
    };
    assert_eq!(*rtt, expected, "{answers:?} {:?} {:?}", outcome.there, outcome.back);
}

#[test]
fn each_fault_alone_is_counted_as_what_it_is() {
    if !can_run("each_fault_alone_is_counted_as_what_it_is") {
        return;
    }
    let cases = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::HoldBack(1),
        Fault::Delay(Duration::from_millis(700)),
        // Octets without which it is no frame of this session: EtherType, magic, version, kind, session, number.
        Fault::Corrupt { offset: 12, bits: 0x10 },
        Fault::Corrupt { offset: 14, bits: 0x01 },
        Fault::Corrupt { offset: 18, bits: 0x80 },
        Fault::Corrupt { offset: 19, bits: 0x40 },
        Fault::Corrupt { offset: 24, bits: 0xff },
        Fault::Corrupt { offset: 26, bits: 0x80 },
    ];
    for way in BOTH_WAYS {
        for fault in cases {
            let log = Log::default();
            let bed = bed(&[way], 1, &log, || vec![rule(Which::Every(7), fault, 20, 150)]);
            let is_delay = matches!(fault, Fault::Delay(_));
            let outcome = measure(&bed, &[fault], if is_delay { 1_800 } else { 400 }, |_| {});
            let lane = match way {
                Way::ToDevice => &outcome.there,
                Way::ToTestSet => &outcome.back,
            };
            assert_eq!(lane.rules[0].injected, 18, "every 7th of 131");
            assert_sound(
                lane,
                injected(lane, &[fault], Fault::Drop),
                injected(lane, &[fault], Fault::Duplicate),
            );
            let rtt = outcome.rtt;
            let counted = (rtt.lost, rtt.duplicate, rtt.reordered, rtt.late);
            let expected = match fault {
                Fault::Drop | Fault::Corrupt { .. } => (18, 0, 0, 0),
                Fault::Duplicate => (0, 18, 0, 0),
                Fault::HoldBack(_) => (0, 0, 18, 0),
                Fault::Delay(_) => (0, 0, 18, 18),
            };
            assert_eq!(counted, expected, "{way:?} {fault:?}");
            assert_counted(&log, &outcome, expected.3);
        }
    }
}

#[test]
fn all_faults_together_both_ways() {
    if !can_run("all_faults_together_both_ways") {
        return;
    }
    for seed in 1..=3 {
        let faults = [
            Fault::Drop,
            Fault::Duplicate,
            Fault::HoldBack(1),
            Fault::Delay(Duration::from_millis(9)),
            Fault::Corrupt { offset: 15, bits: 2 },
        ];
        let log = Log::default();
        let rules = || faults.map(|fault| rule(Which::Chance(60_000), fault, 0, 600)).into();
        let bed = bed(&BOTH_WAYS, seed, &log, rules);
        let outcome = measure(&bed, &faults, 1_200, |_| {});
        for lane in [&outcome.there, &outcome.back] {
            assert!(lane.rules.iter().all(|rule| rule.injected > 10), "{lane:?}");
            assert_sound(
                lane,
                injected(lane, &faults, Fault::Drop),
                injected(lane, &faults, Fault::Duplicate),
            );
        }
        assert!(outcome.rtt.lost > 0 && outcome.rtt.duplicate > 0 && outcome.rtt.reordered > 0);
        assert_counted(&log, &outcome, 0);
    }
}

#[test]
fn a_wire_without_faults_has_none() {
    if !can_run("a_wire_without_faults_has_none") {
        return;
    }
    let log = Log::default();
    let bed = bed(&[], 0, &log, Vec::new);
    let outcome = measure(&bed, &[], 500, |_| {});
    let rtt = outcome.rtt;
    assert!(rtt.received > 50, "{rtt:?}");
    assert_eq!(rtt.lost + rtt.late + rtt.duplicate + rtt.reordered, 0, "{rtt:?}");
    assert_counted(&log, &outcome, 0);
}

#[test]
fn a_reflector_that_is_restarted_loses_what_was_sent_meanwhile() {
    if !can_run("a_reflector_that_is_restarted_loses_what_was_sent_meanwhile") {
        return;
    }
    let log = Log::default();
    let doubled = || vec![rule(Which::Every(5), Fault::Duplicate, 0, 10_000)];
    let bed = bed(&[Way::ToTestSet], 0, &log, doubled);
    let outcome = measure(&bed, &[], 400, |restart| {
        std::thread::sleep(Duration::from_millis(300));
        restart(Duration::from_millis(250));
    });
    assert!(outcome.rtt.lost > 20, "{:?}", outcome.rtt);
    assert_counted(&log, &outcome, 0);
}

#[test]
fn an_end_that_goes_down_and_comes_back_loses_what_was_sent_meanwhile() {
    if !can_run("an_end_that_goes_down_and_comes_back_loses_what_was_sent_meanwhile") {
        return;
    }
    for end in [End::TestSet, End::Device] {
        let log = Log::default();
        let doubled = || vec![rule(Which::Every(9), Fault::Duplicate, 0, 10_000)];
        let bed = bed(&[Way::ToDevice], 0, &log, doubled);
        let outcome = measure(&bed, &[], 400, |_| {
            std::thread::sleep(Duration::from_millis(300));
            bed.set_link(end, false).expect("down");
            std::thread::sleep(Duration::from_millis(250));
            bed.set_link(end, true).expect("up");
        });
        let (answers, rtt) = (log.answers(), &outcome.rtt);
        let sent = rtt.expected - rtt.missed;
        assert_eq!(sent, rtt.received + rtt.lost, "{rtt:?}");
        assert!(rtt.lost > 20 && rtt.received > 100, "{rtt:?}");
        // At the moment an end goes down, a frame may have left the wire and not have been taken in yet.
        assert!(
            (answers.received.saturating_sub(3)..=answers.received).contains(&rtt.received),
            "{rtt:?} {answers:?}"
        );
        assert!(
            outcome.link.len() == if end == End::TestSet { 2 } else { 0 },
            "{:?}",
            outcome.link
        );
    }
}
