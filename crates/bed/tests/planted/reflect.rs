//! Round trips over the faulty wire.

use crate::bench::{Counted, Journal, Recorded, Run, bed, can_run, port};
use bed::fault::{Direction, Fault, Rule, Side, Which};
use bed::{End, FaultBed};
use model::Counters;
use probes::copier::{self, CaptureSpec, Extent};
use probes::reflect::{ReflectConfig, Role, port_options};
use probes::{Port, Probe, Receive};
use std::time::Duration;
use wire::ether::EthernetView;
use wire::test_frame::{COUNTS, TestFrame, TestFrameKind};

/// Far more than scheduling holds an answer up for, and less than a delayed frame takes.
const LATE_AFTER_NS: u64 = 500_000_000;
const DELAY: Duration = Duration::from_millis(700);

/// Round trips before the first one that counts.
const WARM_UP_FRAMES: u64 = 64;

/// A loaded machine sends fewer frames than 1000 in the time, but always more than these.
const EARLY_FRAMES: u64 = 300;

fn config(role: Role) -> ReflectConfig {
    ReflectConfig {
        interval_ns: 2_000_000,
        patience_ns: 10_000_000_000,
        duration_ns: (role == Role::Initiator).then_some(2_000_000_000),
        late_after_ns: LATE_AFTER_NS,
        receive: Receive::Block,
        ..ReflectConfig::new(role)
    }
}

/// The sequence number of a frame that counts.
fn counted(frame: &[u8]) -> Option<u64> {
    let ethernet = EthernetView::parse(frame).ok()?;
    let frame = TestFrame::parse(&ethernet).ok()?;
    (frame.kind == TestFrameKind::Probe && frame.flags & COUNTS != 0).then_some(frame.sequence)
}

/// A rule about the frames that count.
fn rule(which: Which, fault: Fault) -> Rule {
    Rule::new(which, fault).when(|frame| counted(frame).is_some())
}

/// A rule about those of the first frames that count: the initiator does not wait for a copy of its last answer.
pub(crate) fn early(which: Which, fault: Fault) -> Rule {
    Rule::new(which, fault)
        .when(|frame| counted(frame).is_some_and(|sequence| sequence < WARM_UP_FRAMES + EARLY_FRAMES))
}

fn numbers(numbers: impl IntoIterator<Item = u64>) -> Which {
    Which::Numbers(numbers.into_iter().collect())
}

/// Runs both ends over the bed until the initiator's duration is over.
pub(crate) fn meet(bed: &FaultBed) -> Recorded {
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    let mut run = Run::start();
    let far = port(bed, End::Device, &options);
    let near = port(bed, End::TestSet, &options);
    let reflector = config(Role::Reflector)
        .start(far, &mut run.recorder, &run.stop)
        .expect("the reflector starts");
    let initiator = config(Role::Initiator)
        .start(near, &mut run.recorder, &run.stop)
        .expect("the initiator starts");
    initiator.join().expect("the initiator ends well");
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    run.finish()
}

/// Expected counts of the initiator, computed from the frames that entered and left the wire and their order. The rules are not used for this.
pub(crate) fn by_the_journal(journal: &Journal) -> Counters {
    let sent = journal.of(Direction::ToDevice, Side::Entering, counted);
    let mut came = journal.of(Direction::ToTestSet, Side::Leaving, counted);
    // A number that was never sent answers no request.
    came.retain(|sequence| sent.contains(sequence));
    let counted = Counted::of(sent.len(), &came);
    Counters {
        expected: counted.sent,
        received: counted.sent - counted.lost,
        lost: counted.lost,
        duplicate: counted.duplicate,
        reordered: counted.reordered,
        ..Counters::default()
    }
}

/// The initiator's counters without the cycles that it slept through.
pub(crate) fn of_the_sent(recorded: &Recorded) -> Counters {
    let rtt = recorded.counters("rtt/reflect");
    assert_eq!(rtt.expected, 1_000, "2 s in steps of 2 ms: {rtt:?}");
    Counters {
        expected: rtt.expected - rtt.missed,
        missed: 0,
        ..rtt
    }
}

/// One fault, in each direction; returns the counters found and what the rule did.
fn check_alone(rule: impl Fn() -> Rule, expected: impl Fn(u64, u64) -> Counters) {
    for way in [Direction::ToDevice, Direction::ToTestSet] {
        let (rules, fault) = (vec![rule()], rule().fault());
        let (bed, journal) = match way {
            Direction::ToDevice => bed(rules, Vec::new(), 1),
            Direction::ToTestSet => bed(Vec::new(), rules, 1),
        };
        let found = of_the_sent(&meet(&bed));
        let done = bed.wire().counts(way).rules[0];
        assert!(done.injected > 15, "{fault:?}: {done:?}");
        let mut expected = expected(done.injected, done.overtaken);
        expected.expected = found.expected;
        expected.received = found.expected - expected.lost;
        assert_eq!(found, expected, "{fault:?} {way:?}: {done:?}");
        let by_the_journal = Counters {
            late: found.late,
            ..by_the_journal(&journal)
        };
        assert_eq!(found, by_the_journal, "{fault:?} {way:?}");
        bed.end_wire().expect("the wire held");
    }
}

fn all_lost(lost: u64, _: u64) -> Counters {
    Counters {
        lost,
        ..Counters::default()
    }
}

#[test]
fn dropped_frames_are_lost() {
    if let Some(_clock) = can_run("dropped_frames_are_lost") {
        check_alone(|| early(Which::Every(11), Fault::Drop), all_lost);
    }
}

#[test]
fn doubled_frames_are_duplicates() {
    let Some(_clock) = can_run("doubled_frames_are_duplicates") else {
        return;
    };
    let rule = || early(Which::Chance(120_000), Fault::Duplicate);
    check_alone(rule, |duplicate, _| Counters {
        duplicate,
        ..Counters::default()
    });
}

#[test]
fn frames_that_change_places_are_reordered() {
    let Some(_clock) = can_run("frames_that_change_places_are_reordered") else {
        return;
    };
    let rule = || rule(numbers((10..EARLY_FRAMES).step_by(11)), Fault::HoldBack(1));
    check_alone(rule, |injected, reordered| {
        assert_eq!(injected, reordered);
        Counters {
            reordered,
            ..Counters::default()
        }
    });
}

#[test]
fn corrupted_frames_are_lost() {
    let Some(_clock) = can_run("corrupted_frames_are_lost") else {
        return;
    };
    // The EtherType, the first octet of what tells a test frame, and the number, which then is beyond what a run file has room
    // for.
    for (offset, bits) in [(13, 0x41), (14, 0x41), (26, 0x80)] {
        let fault = Fault::Corrupt { offset, bits };
        check_alone(|| early(Which::Every(13), fault), all_lost);
    }
}

#[test]
fn delayed_frames_are_late_and_reordered() {
    let Some(_clock) = can_run("delayed_frames_are_late_and_reordered") else {
        return;
    };
    // Early ones only, so that all are back before the end.
    let rule = || rule(numbers((10..200).step_by(7)), Fault::Delay(DELAY));
    check_alone(rule, |late, reordered| {
        assert_eq!(late, reordered);
        Counters {
            late,
            reordered,
            ..Counters::default()
        }
    });
}

#[test]
fn faults_together_in_both_directions_are_counted_by_what_came_back() {
    let Some(_clock) = can_run("faults_together_in_both_directions_are_counted_by_what_came_back") else {
        return;
    };
    let rules = || {
        vec![
            early(Which::Chance(80_000), Fault::Drop),
            early(Which::Chance(80_000), Fault::Duplicate),
            rule(numbers((10..250).step_by(7)), Fault::HoldBack(3)),
            rule(numbers((11..250).step_by(13)), Fault::HoldBack(1)),
            early(Which::Every(17), Fault::Corrupt { offset: 13, bits: 1 }),
        ]
    };
    for seed in 1..=3 {
        let (bed, journal) = bed(rules(), rules(), seed);
        let found = of_the_sent(&meet(&bed));
        let expected = Counters {
            // An answer in time may wait for a machine that stands still; no delay is injected here.
            late: found.late,
            ..by_the_journal(&journal)
        };
        assert_eq!(found, expected, "seed {seed}");
        assert!(
            found.lost > 40 && found.duplicate > 15 && found.reordered > 30,
            "seed {seed}: {found:?}"
        );
        bed.end_wire().expect("the wire held");
    }
}

#[test]
fn a_reflector_that_starts_again_loses_what_came_meanwhile() {
    let Some(_clock) = can_run("a_reflector_that_starts_again_loses_what_came_meanwhile") else {
        return;
    };
    let (bed, journal) = bed(vec![early(Which::Every(30), Fault::Drop)], Vec::new(), 1);
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    let mut run = Run::start();
    let near = port(&bed, End::TestSet, &options);
    let reflect_during = |run: &mut Run, time: Duration| {
        let mut far_run = Run::start();
        let far = port(&bed, End::Device, &options);
        let stop = far_run.stop.clone();
        let reflector = config(Role::Reflector)
            .start(far, &mut far_run.recorder, &stop)
            .expect("started");
        std::thread::sleep(time);
        assert!(!run.stop.requested());
        stop.request();
        reflector.join().expect("the reflector ends well");
        far_run.finish().counters("turnaround/reflect").received
    };
    let initiator = config(Role::Initiator)
        .start(near, &mut run.recorder, &run.stop)
        .expect("started");
    let first = reflect_during(&mut run, Duration::from_millis(600));
    std::thread::sleep(Duration::from_millis(100));
    let second = reflect_during(&mut run, Duration::from_millis(2_500));
    initiator.join().expect("the initiator ends well");
    let found = of_the_sent(&run.finish());
    assert_eq!(
        found,
        Counters {
            late: found.late,
            ..by_the_journal(&journal)
        }
    );
    assert_eq!(found.received, first + second, "{found:?}");
    let dropped = bed.wire().counts(Direction::ToDevice).rules[0].injected;
    assert!(
        found.lost > dropped && found.duplicate + found.reordered == 0,
        "{found:?}"
    );
}

#[test]
fn an_interface_that_goes_down_loses_what_the_wire_did_not_pass() {
    let Some(_clock) = can_run("an_interface_that_goes_down_loses_what_the_wire_did_not_pass") else {
        return;
    };
    let (bed, journal) = bed(vec![early(Which::Every(30), Fault::Duplicate)], Vec::new(), 1);
    let flaps = std::thread::scope(|scope| {
        let flap = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            bed.set_link(End::Device, false).expect("down");
            std::thread::sleep(Duration::from_millis(200));
            bed.set_link(End::Device, true).expect("up");
        });
        let recorded = meet(&bed);
        flap.join().expect("no panic");
        recorded
    });
    let found = of_the_sent(&flaps);
    let expected = Counters {
        late: found.late,
        ..by_the_journal(&journal)
    };
    assert_eq!(found, expected);
    let refused = bed.wire().counts(Direction::ToDevice).refused;
    assert!(
        found.lost > 0 && refused > 0 && found.lost <= refused,
        "{found:?} {refused}"
    );
}

/// Frames around a loss are captured, and it is known to be one long before its place is needed again.
#[test]
fn a_capture_has_what_was_around_a_loss() {
    let Some(_clock) = can_run("a_capture_has_what_was_around_a_loss") else {
        return;
    };
    let lost = numbers([200]);
    let (bed, journal) = bed(vec![rule(lost, Fault::Drop)], Vec::new(), 1);
    let file = tempfile::NamedTempFile::new().expect("a file");
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    let mut run = Run::start();
    let spec = CaptureSpec {
        path: file.path().to_owned(),
        extent: Extent::Around(60_000_000),
        interface: "ts0".into(),
        application: "test".into(),
        signal: run.recorder.spike_signal(),
    };
    let (copier, capture) = copier::start(&spec).expect("a capture");
    let far = port(&bed, End::Device, &options);
    let near = Port::from(port(&bed, End::TestSet, &options)).with_copier(Some(copier));
    let reflector = config(Role::Reflector)
        .start(far, &mut run.recorder, &run.stop)
        .expect("the reflector starts");
    let initiator = config(Role::Initiator)
        .start(near, &mut run.recorder, &run.stop)
        .expect("the initiator starts");
    initiator.join().expect("the initiator ends well");
    run.recorder.settle();
    let captured = capture.finish().expect("the capture is written");
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    assert_eq!(run.finish().counters("rtt/reflect").lost, 1);
    assert_eq!((captured.missed, captured.left_out), (0, 0));

    let went_in = journal.of(Direction::ToDevice, Side::Entering, counted);
    let came_out = journal.of(Direction::ToDevice, Side::Leaving, counted);
    let lost = went_in
        .iter()
        .find(|number| !came_out.contains(number))
        .expect("one is lost");
    let mut reader = capture::Reader::open(file.path()).expect("a capture");
    let mut numbers = Vec::new();
    while let Some(frame) = reader.next_frame().expect("a frame") {
        numbers.extend(counted(frame.data));
    }
    let times = |number: u64| numbers.iter().filter(|found| **found == number).count();
    assert_eq!(times(*lost), 1, "it went out and did not come back: {numbers:?}");
    for near in [lost - 5, lost - 1, lost + 1, lost + 5] {
        assert_eq!(times(near), 2, "{near} beside {lost}: {numbers:?}");
    }
    // 120 ms around it, and 60 before the end, of 2 s: a machine that stalls leaves fewer.
    assert!(numbers.len() < went_in.len(), "{} of {}", numbers.len(), went_in.len());
}
