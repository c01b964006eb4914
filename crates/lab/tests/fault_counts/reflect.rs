//! Round trips over a wire with faults.

use crate::common::Run;
use crate::truth::Log;
use crate::{assert_sound, can_run, wait_until_empty};
use lab::bed::End;
use lab::fault::{Direction, Fault, FaultBed, Frames, LineCounts, Pick, Rule};
use probes::reflect::{Receive, ReflectConfig, Role, SHORTEST_FRAME, Stamps, port_options, start};
use std::time::Duration;
use store::model::{Counters, EventKind};
use wire::test_frame::{COUNTS, ETHER_TYPE, Kind};

/// Where a test frame has its kind, and the low octet of its flags.
const KIND_AT: usize = 19;
const FLAGS_AT: usize = 21;

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

/// A rule for measured frames `from` the one `to` the other.
fn rule(direction: Direction, pick: Pick, fault: Fault, from: u64, to: u64) -> Rule {
    Rule {
        direction,
        frames: Frames {
            ether_type: Some(ETHER_TYPE),
            octets: vec![(KIND_AT, Kind::Probe as u8), (FLAGS_AT, COUNTS as u8)],
            from,
            to: Some(to),
        },
        pick,
        fault,
    }
}

struct Outcome {
    rtt: Counters,
    link: Vec<String>,
    there: LineCounts,
    back: LineCounts,
}

/// Measures while `work` goes on, and for `ms` after it; `work` is given a way to restart the reflector.
fn measure(bed: &FaultBed, ms: u64, work: impl FnOnce(&mut dyn FnMut(Duration))) -> Outcome {
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
    wait_until_empty(bed);
    let recorded = run.finish();
    let link = recorded.events("rtt/reflect").into_iter();
    let outcome = Outcome {
        rtt: recorded.counters("rtt/reflect"),
        link: link
            .filter(|event| event.kind == EventKind::Link)
            .map(|event| event.text)
            .collect(),
        there: bed.counts(Direction::ToDevice),
        back: bed.counts(Direction::ToTestSet),
    };
    assert_sound(&outcome.there);
    assert_sound(&outcome.back);
    outcome
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
        Fault::Reorder,
        Fault::Delay { ns: 700_000_000 },
        // Octets without which it is no frame of this session: EtherType, magic, version, kind, session, number.
        Fault::Corrupt { at: 12, flip: 0x10 },
        Fault::Corrupt { at: 14, flip: 0x01 },
        Fault::Corrupt { at: 18, flip: 0x80 },
        Fault::Corrupt { at: 19, flip: 0x40 },
        Fault::Corrupt { at: 24, flip: 0xff },
        Fault::Corrupt { at: 26, flip: 0x80 },
    ];
    for direction in Direction::BOTH {
        for fault in cases {
            let log = Log::default();
            let rules = [rule(direction, Pick::Every(7), fault, 20, 150)];
            let bed = FaultBed::build(&rules, 1, Some(log.observer())).expect("the bed is built");
            let is_delay = matches!(fault, Fault::Delay { .. });
            let outcome = measure(&bed, if is_delay { 1_800 } else { 400 }, |_| {});
            let done = match direction {
                Direction::ToDevice => outcome.there.rules[0],
                Direction::ToTestSet => outcome.back.rules[0],
            };
            assert_eq!(done.looked_at, 131, "frames 20 to 150 were looked at");
            assert_eq!(done.done, 18, "every 7th of 131");
            let rtt = outcome.rtt;
            let counted = (rtt.lost, rtt.duplicate, rtt.reordered, rtt.late);
            let expected = match fault {
                Fault::Drop | Fault::Corrupt { .. } => (18, 0, 0, 0),
                Fault::Duplicate => (0, 18, 0, 0),
                Fault::Reorder => (0, 0, 18, 0),
                Fault::Delay { .. } => (0, 0, 18, 18),
            };
            assert_eq!(counted, expected, "{direction:?} {fault:?}");
            assert_counted(&log, &outcome, expected.3);
        }
    }
}

#[test]
fn all_faults_together_both_ways() {
    if !can_run("all_faults_together_both_ways") {
        return;
    }
    for seed in 1..=5 {
        let faults = [
            Fault::Drop,
            Fault::Duplicate,
            Fault::Reorder,
            Fault::Delay { ns: 9_000_000 },
            Fault::Corrupt { at: 15, flip: 2 },
        ];
        let rules: Vec<Rule> = Direction::BOTH
            .into_iter()
            .flat_map(|way| faults.map(|fault| rule(way, Pick::Chance(0.06), fault, 1, 600)))
            .collect();
        let log = Log::default();
        let bed = FaultBed::build(&rules, seed, Some(log.observer())).expect("the bed is built");
        let outcome = measure(&bed, 1_200, |_| {});
        let done = |line: &LineCounts| line.rules.iter().map(|rule| rule.done).sum::<u64>();
        assert!(
            done(&outcome.there) > 50 && done(&outcome.back) > 50,
            "{:?}",
            outcome.there
        );
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
    let bed = FaultBed::build(&[], 0, Some(log.observer())).expect("the bed is built");
    let outcome = measure(&bed, 500, |_| {});
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
    let rules = [rule(Direction::ToTestSet, Pick::Every(5), Fault::Duplicate, 1, 10_000)];
    let log = Log::default();
    let bed = FaultBed::build(&rules, 0, Some(log.observer())).expect("the bed is built");
    let outcome = measure(&bed, 400, |restart| {
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
        let rules = [rule(Direction::ToDevice, Pick::Every(9), Fault::Reorder, 1, 10_000)];
        let log = Log::default();
        let bed = FaultBed::build(&rules, 0, Some(log.observer())).expect("the bed is built");
        let outcome = measure(&bed, 400, |_| {
            std::thread::sleep(Duration::from_millis(300));
            bed.set_down(end).expect("down");
            std::thread::sleep(Duration::from_millis(250));
            bed.set_up(end).expect("up");
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
