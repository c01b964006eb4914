//! The round trip between two real ends, and with a reflector that loses, doubles, delays and swaps frames on purpose.

mod common;

use common::{Pair, Run, can_run};
use model::Counters;
use probes::reflect::{ReflectConfig, Role, port_options};
use probes::{Probe, ProbeError, Receive};
use std::time::{Duration, Instant};
use sys::packet::PacketPort;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{self, TestFrame, TestFrameKind};

fn config(role: Role) -> ReflectConfig {
    ReflectConfig {
        interval_ns: 1_000_000,
        duration_ns: (role == Role::Initiator).then_some(1_000_000_000),
        late_after_ns: LATE_AFTER_NS,
        receive: Receive::Block,
        ..ReflectConfig::new(role)
    }
}

/// Time that is far longer than any scheduling delay of an answer.
const LATE_AFTER_NS: u64 = 500_000_000;

/// Time for which the bad reflector delays a frame.
const HELD_BACK: Duration = Duration::from_millis(700);

/// Only frames of this first part of the run are delayed or swapped, so that all are back before it ends.
const EARLY: Duration = Duration::from_millis(800);

/// Number of round trips before the first recorded one.
const WARM_UP_FRAMES: u64 = 64;

#[test]
fn every_frame_of_two_good_ends_is_accounted_for() {
    if !can_run("every_frame_of_two_good_ends_is_accounted_for") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    let far = pair.port_b(&options);
    let peer = Some(Mac(far.mac()));
    let reflector = config(Role::Reflector)
        .start(far, &mut run.recorder, &run.stop)
        .expect("the reflector starts");
    let initiator = ReflectConfig {
        peer,
        ..config(Role::Initiator)
    };
    let initiator = initiator
        .start(pair.port_a(&options), &mut run.recorder, &run.stop)
        .expect("the initiator starts");
    initiator.join().expect("the initiator ends well");
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    let recorded = run.finish();
    let rtt = recorded.counters("rtt/reflect");
    assert_eq!(rtt.expected, 1_000, "1 s in steps of 1 ms: {rtt:?}");
    assert_eq!(rtt.received + rtt.lost + rtt.missed, rtt.expected);
    assert_eq!(
        (rtt.lost, rtt.duplicate, rtt.reordered, rtt.overrun),
        (0, 0, 0, 0),
        "{rtt:?}"
    );
    let turned = recorded.counters("turnaround/reflect");
    assert_eq!(turned.received, rtt.received, "{turned:?}");
}

#[test]
fn a_second_round_goes_on_in_the_same_series() {
    if !can_run("a_second_round_goes_on_in_the_same_series") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    for label in ["a", "b", "b", "a"] {
        let labelled = |role| ReflectConfig {
            label: label.into(),
            duration_ns: (role == Role::Initiator).then_some(100_000_000),
            ..config(role)
        };
        let stop = run.stop.of_step();
        let far = labelled(Role::Reflector).start(pair.port_b(&options), &mut run.recorder, &stop);
        let near = labelled(Role::Initiator).start(pair.port_a(&options), &mut run.recorder, &stop);
        near.expect("started").join().expect("the initiator ends well");
        stop.request();
        far.expect("started").join().expect("the reflector ends well");
    }
    let recorded = run.finish();
    let mut names = recorded.names();
    names.sort_unstable();
    assert_eq!(names, ["rtt/a", "rtt/b", "turnaround/a", "turnaround/b"]);
    for name in ["rtt/a", "rtt/b"] {
        let rtt = recorded.counters(name);
        assert_eq!(rtt.expected, 200, "two rounds of 100: {rtt:?}");
        assert_eq!(rtt.received + rtt.lost + rtt.missed, rtt.expected, "{rtt:?}");
    }
}

#[test]
fn back_to_back_loses_nothing() {
    if !can_run("back_to_back_loses_nothing") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    let reflector = config(Role::Reflector)
        .start(pair.port_b(&options), &mut run.recorder, &run.stop)
        .expect("started");
    let initiator = ReflectConfig {
        interval_ns: 0,
        ..config(Role::Initiator)
    };
    let initiator = initiator
        .start(pair.port_a(&options), &mut run.recorder, &run.stop)
        .expect("started");
    initiator.join().expect("the initiator ends well");
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    let rtt = run.finish().counters("rtt/reflect");
    let expected = Counters {
        expected: rtt.received,
        received: rtt.received,
        late: rtt.late,
        ..Counters::default()
    };
    assert!(rtt.received > 0);
    assert_eq!(rtt, expected);
}

/// Actions of the bad reflector on recorded frames.
#[derive(Debug, Default)]
struct Done {
    seen: u64,
    dropped: u64,
    doubled: u64,
    held: u64,
    /// Number of frames whose first answer was sent after that of a later frame.
    overtaken: u64,
    highest: Option<u64>,
}

struct BadReflector {
    port: PacketPort,
    done: Done,
    /// Number and contents of an answer that is held until the next answer has been sent.
    swapped: Option<(u64, Vec<u8>)>,
    held: Vec<(Instant, u64, Vec<u8>)>,
    first: Option<Instant>,
}

impl BadReflector {
    fn new(port: PacketPort) -> Self {
        Self {
            port,
            done: Done::default(),
            swapped: None,
            held: Vec::new(),
            first: None,
        }
    }

    fn run(mut self, stop: &run::Stop) -> Done {
        while !stop.requested() {
            self.port.wait(5_000_000).expect("poll");
            let mut idle = true;
            while let Some((request, answer)) = self.take() {
                idle = false;
                self.treat(&request, answer);
            }
            if idle && let Some((sequence, answer)) = self.swapped.take() {
                self.answer(sequence, &answer);
            }
            let now = Instant::now();
            let (ripe, held) = std::mem::take(&mut self.held)
                .into_iter()
                .partition(|(since, ..)| now - *since >= HELD_BACK);
            self.held = held;
            for (_, sequence, answer) in ripe {
                self.answer(sequence, &answer);
            }
        }
        assert!(
            self.held.is_empty() && self.swapped.is_none(),
            "the run was too short for the test"
        );
        self.done
    }

    fn take(&mut self) -> Option<(TestFrame, Vec<u8>)> {
        let own = Mac(self.port.mac());
        let frame = self.port.next()?;
        let mut answer = frame.data().to_vec();
        let request = TestFrame::parse(&EthernetView::parse(&answer).expect("Ethernet")).expect("a test frame");
        test_frame::reflect(&mut answer, own);
        Some((request, answer))
    }

    fn treat(&mut self, request: &TestFrame, answer: Vec<u8>) {
        if request.kind != TestFrameKind::Probe || request.sequence < WARM_UP_FRAMES {
            self.port.send(&answer).expect("sent");
            return;
        }
        let sequence = request.sequence;
        let age = self.first.get_or_insert_with(Instant::now).elapsed();
        self.done.seen += 1;
        match self.done.seen {
            n if n.is_multiple_of(10) => self.done.dropped += 1,
            n if n.is_multiple_of(7) => {
                self.answer(sequence, &answer);
                self.port.send(&answer).expect("sent");
                self.done.doubled += 1;
            }
            n if n.is_multiple_of(23) && age < EARLY => {
                self.held.push((Instant::now(), sequence, answer));
                self.done.held += 1;
            }
            n if n.is_multiple_of(13) && age < EARLY && self.swapped.is_none() => {
                self.swapped = Some((sequence, answer));
            }
            _ => {
                self.answer(sequence, &answer);
                if let Some((earlier, answer)) = self.swapped.take() {
                    self.answer(earlier, &answer);
                }
            }
        }
    }

    /// Sends the first answer to a frame.
    fn answer(&mut self, sequence: u64, answer: &[u8]) {
        self.port.send(answer).expect("sent");
        self.done.overtaken += u64::from(self.done.highest.is_some_and(|highest| sequence < highest));
        self.done.highest = self.done.highest.max(Some(sequence));
    }
}

#[test]
fn what_a_bad_reflector_does_is_counted_exactly() {
    if !can_run("what_a_bad_reflector_does_is_counted_exactly") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let options = port_options(&ReflectConfig::new(Role::Reflector));
    let bad = BadReflector::new(pair.port_b(&options));
    let stop = run.stop.clone();
    let reflector = std::thread::spawn(move || bad.run(&stop));
    let initiator = ReflectConfig {
        interval_ns: 2_000_000,
        duration_ns: Some(2_000_000_000),
        ..config(Role::Initiator)
    };
    let initiator = initiator
        .start(pair.port_a(&options), &mut run.recorder, &run.stop)
        .expect("started");
    initiator.join().expect("the initiator ends well");
    run.stop.request();
    let done = reflector.join().expect("the bad reflector ends well");
    let rtt = run.finish().counters("rtt/reflect");
    assert!(
        done.dropped > 0 && done.doubled > 0 && done.held > 0 && done.overtaken > done.held,
        "{done:?}"
    );
    let expected = Counters {
        expected: 1_000,
        received: done.seen - done.dropped,
        lost: done.dropped,
        late: done.held,
        duplicate: done.doubled,
        reordered: done.overtaken,
        missed: 1_000 - done.seen,
        ..Counters::default()
    };
    assert_eq!(rtt, expected, "{done:?}");
}

/// Runs an initiator that must find no reflector.
fn assert_nobody_answers(pair: &Pair, peer: Option<Mac>) {
    let mut run = Run::start();
    let port = pair.port_a(&port_options(&ReflectConfig::new(Role::Reflector)));
    let config = ReflectConfig {
        peer,
        ..config(Role::Initiator)
    };
    let began = Instant::now();
    let initiator = config
        .start(port, &mut run.recorder, &run.stop)
        .expect("the initiator starts");
    let error = initiator.join().expect_err("nobody answers");
    let took = began.elapsed();
    assert!(matches!(error, ProbeError::NoTraffic(_)), "{error}");
    assert!(error.to_string().contains("a0"), "{error}");
    assert!(
        (Duration::from_secs(3)..Duration::from_secs(6)).contains(&took),
        "said after {took:?}"
    );
    run.finish();
}

#[test]
fn nobody_there_is_said() {
    if can_run("nobody_there_is_said") {
        assert_nobody_answers(&Pair::build(), None);
    }
}

#[test]
fn a_reflector_does_not_answer_for_another_station() {
    if !can_run("a_reflector_does_not_answer_for_another_station") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let far = pair.port_b(&port_options(&ReflectConfig::new(Role::Reflector)));
    let mut wrong = far.mac();
    wrong[5] ^= 1;
    let reflector = config(Role::Reflector)
        .start(far, &mut run.recorder, &run.stop)
        .expect("started");
    assert_nobody_answers(&pair, Some(Mac(wrong)));
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    assert_eq!(run.finish().counters("turnaround/reflect").received, 0);
}
