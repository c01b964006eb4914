//! Paced streams over the faulty wire.

use crate::bench::{Counted, Journal, Recorded, Run, bed, can_run, port, wait_until};
use bed::fault::{Direction, Fault, Rule, Side, Which};
use bed::{End, FaultBed};
use model::Counters;
use probes::listen::{ListenConfig, Listening, port_options};
use probes::talk::{self, TalkConfig};
use probes::{Framing, Probe};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::SysError;
use sys::packet::{PacketPort, PortOptions};
use units::Period;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{TestFrame, TestFrameKind};

const STREAM: &str = "listen/test-02:00:00:00:00:07";
const SOURCE: Mac = Mac([2, 0, 0, 0, 0, 7]);

/// The flag of `talk`'s frames after the last one.
const BEHIND_THE_LAST: u16 = 2;

fn numbered(frame: &[u8]) -> Option<(u32, u64)> {
    let ethernet = EthernetView::parse(frame).ok()?;
    let fields = TestFrame::parse(&ethernet).ok()?;
    (fields.kind == TestFrameKind::Stream && fields.flags == 0).then_some((fields.session, fields.sequence))
}

/// A rule for the frames that count.
pub(crate) fn rule(which: Which, fault: Fault) -> Rule {
    Rule::new(which, fault).when(|frame| numbered(frame).is_some())
}

fn numbers(numbers: impl IntoIterator<Item = u64>) -> Which {
    Which::Numbers(numbers.into_iter().collect())
}

/// A listener at the device's end.
pub(crate) struct Listener {
    run: Run,
    listening: Listening,
}

impl Listener {
    pub(crate) fn start(bed: &FaultBed, interval: Duration) -> Self {
        let mut run = Run::start();
        let period = Period::of_ns(u64::try_from(interval.as_nanos()).expect("short"));
        let far = port(bed, End::Device, &port_options(None));
        let config = ListenConfig::every(period);
        let listening = config
            .start(far, &mut run.recorder, &run.stop)
            .expect("the listener starts");
        Self { run, listening }
    }

    /// Waits until it has received all valid frames that left the wire.
    pub(crate) fn wait_for(&self, bed: &FaultBed, journal: &Journal) {
        wait_until("held frames are out", || {
            let rules = bed.wire().counts(Direction::ToDevice).rules;
            rules.iter().all(|rule| rule.held == 0)
        });
        let sound = journal.of(Direction::ToDevice, Side::Leaving, |frame| {
            let ethernet = EthernetView::parse(frame).ok()?;
            TestFrame::parse(&ethernet)
                .ok()
                .filter(|fields| fields.kind == TestFrameKind::Stream)
        });
        wait_until("the listener has the frames", || {
            self.listening.frames.load(Ordering::Relaxed) >= sound.len() as u64
        });
    }

    pub(crate) fn finish(self) -> Recorded {
        self.run.stop.request();
        self.listening.running.join().expect("the listener ends well");
        self.run.finish()
    }
}

/// The test set's port.
pub(crate) struct Sender(PacketPort);

impl Sender {
    pub(crate) fn open(bed: &FaultBed) -> Self {
        let options = PortOptions {
            ring_frames: 0,
            ..PortOptions::default()
        };
        Self(port(bed, End::TestSet, &options))
    }

    /// Sends a frame; false when the interface is down.
    fn one(&self, session: u32, sequence: u64, flags: u16) -> bool {
        let fields = TestFrame {
            kind: TestFrameKind::Stream,
            flags,
            session,
            sequence,
            sent_ns: 0,
        };
        match self.0.send(&fields.encode(Mac::BROADCAST, SOURCE, None, 64)) {
            Ok(()) => true,
            Err(SysError::InterfaceDown { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends the frames `first..first + count`, and waits every few frames until the wire has them.
    pub(crate) fn send(&self, bed: &FaultBed, session: u32, first: u64, count: u64) {
        let mut sent = bed.wire().counts(Direction::ToDevice).entered;
        for number in 0..count {
            sent += u64::from(self.one(session, first + number, 0));
            if number % 100 == 99 || number + 1 == count {
                wait_until("the wire has the frames", || {
                    bed.wire().counts(Direction::ToDevice).entered >= sent
                });
            }
        }
    }
}

/// Expected counts of a stream whose first frame has no predecessor.
pub(crate) fn assert_counted(recorded: &Recorded, counted: Counted) {
    let found = recorded.counters(STREAM);
    let expected = Counters {
        expected: counted.sent - 1,
        received: counted.sent - counted.lost - 1,
        lost: counted.lost,
        duplicate: counted.duplicate,
        reordered: counted.reordered,
        // Frames are sent as fast as possible, so their times are not evaluated.
        late: found.late,
        clipped: found.clipped,
        ..Counters::default()
    };
    assert_eq!(found, expected);
}

/// Expected counts for the frames that left the wire, by the numbers of those that entered.
fn by_the_journal(journal: &Journal) -> Counted {
    let sent = journal.of(Direction::ToDevice, Side::Entering, numbered);
    Counted::of(sent.len(), &journal.of(Direction::ToDevice, Side::Leaving, numbered))
}

/// Sends 3000 frames, from `first`, through a wire with those rules to a listener.
fn listen(rules: Vec<Rule>, seed: u64, first: u64) -> (Recorded, Journal, FaultBed) {
    let (bed, journal) = bed(rules, Vec::new(), seed);
    let listener = Listener::start(&bed, Duration::from_micros(125));
    let sender = Sender::open(&bed);
    sender.send(&bed, 1, first, 3_000);
    assert!(sender.one(1, first + 3_000, BEHIND_THE_LAST));
    listener.wait_for(&bed, &journal);
    (listener.finish(), journal, bed)
}

#[test]
fn every_fault_by_itself() {
    let Some(_clock) = can_run("every_fault_by_itself") else {
        return;
    };
    let corrupt = |offset| Fault::Corrupt { offset, bits: 0x40 };
    let faults = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::HoldBack(1),
        Fault::HoldBack(100),
        corrupt(13),
        corrupt(14),
    ];
    for fault in faults {
        // The last ones of the range have enough frames after them for a frame that is held back.
        let places = numbers((10..2_800).step_by(43));
        let (recorded, journal, bed) = listen(vec![rule(places, fault)], 1, 7_000);
        let done = bed.wire().counts(Direction::ToDevice).rules[0];
        assert_eq!(done.injected, 65, "{fault:?}");
        let mut expected = Counted {
            sent: 3_000,
            ..Counted::default()
        };
        *match fault {
            Fault::Drop | Fault::Corrupt { .. } => &mut expected.lost,
            Fault::Duplicate => &mut expected.duplicate,
            Fault::HoldBack(_) | Fault::Delay(_) => &mut expected.reordered,
        } = done.injected;
        assert_eq!(by_the_journal(&journal), expected, "{fault:?}");
        assert_counted(&recorded, expected);
    }
}

#[test]
fn faults_together() {
    let Some(_clock) = can_run("faults_together") else {
        return;
    };
    for seed in 1..=5 {
        let rules = vec![
            rule(numbers((10..2_800).step_by(23)), Fault::HoldBack(1)),
            rule(numbers((11..2_800).step_by(61)), Fault::HoldBack(40)),
            rule(numbers((12..2_800).step_by(37)), Fault::Drop),
            rule(Which::Chance(30_000), Fault::Duplicate),
            rule(numbers((13..2_800).step_by(53)), Fault::Corrupt { offset: 14, bits: 1 }),
        ];
        // Over a wrap of the lower 32 bits of the number.
        let first = u64::from(u32::MAX) - 1_500;
        let (recorded, journal, bed) = listen(rules, seed, first);
        let rules = bed.wire().counts(Direction::ToDevice).rules;
        assert!(rules.iter().all(|rule| rule.injected > 20), "{rules:?}");
        let expected = Counted {
            sent: 3_000,
            lost: rules[2].injected + rules[4].injected,
            duplicate: rules[3].injected,
            reordered: rules[0].overtaken + rules[1].overtaken,
        };
        assert_eq!(by_the_journal(&journal), expected, "seed {seed}");
        assert_counted(&recorded, expected);
    }
}

#[test]
fn a_delayed_frame_is_late_once() {
    let Some(_clock) = can_run("a_delayed_frame_is_late_once") else {
        return;
    };
    let delay = Fault::Delay(Duration::from_millis(450));
    let (bed, journal) = bed(vec![rule(numbers([4, 6]), delay)], Vec::new(), 1);
    // A frame counts as late 300 ms after the previous one, longer than any stall of the machine.
    let listener = Listener::start(&bed, Duration::from_millis(200));
    let sender = Sender::open(&bed);
    for number in 0..8 {
        sender.send(&bed, 1, number, 1);
        listener.wait_for(&bed, &journal);
    }
    let found = listener.finish().counters(STREAM);
    assert_eq!((found.received, found.late), (7, 2), "{found:?}");
    assert_eq!((found.lost, found.duplicate, found.reordered), (0, 0, 0), "{found:?}");
}

#[test]
fn frames_sent_while_an_interface_is_down_are_lost() {
    let Some(_clock) = can_run("frames_sent_while_an_interface_is_down_are_lost") else {
        return;
    };
    for end in [End::TestSet, End::Device] {
        let (bed, journal) = bed(vec![rule(Which::Every(50), Fault::Duplicate)], Vec::new(), 1);
        let sender = Sender::open(&bed);
        let listener = Listener::start(&bed, Duration::from_micros(125));
        sender.send(&bed, 1, 0, 700);
        listener.wait_for(&bed, &journal);
        bed.set_link(end, false).expect("down");
        sender.send(&bed, 1, 700, 300);
        bed.set_link(end, true).expect("up");
        sender.send(&bed, 1, 1_000, 700);
        listener.wait_for(&bed, &journal);
        let expected = Counted {
            sent: 1_700,
            lost: 300,
            duplicate: 1_400 / 50,
            reordered: 0,
        };
        assert_counted(&listener.finish(), expected);
    }
}

#[test]
fn a_talker_that_starts_again_loses_nothing_by_it() {
    let Some(_clock) = can_run("a_talker_that_starts_again_loses_nothing_by_it") else {
        return;
    };
    let rules = vec![
        rule(Which::Every(40), Fault::Drop),
        rule(Which::Every(33), Fault::Duplicate),
    ];
    let (bed, journal) = bed(rules, Vec::new(), 1);
    let interval = Duration::from_millis(1);
    let listener = Listener::start(&bed, interval);
    let mut stream = String::new();
    for _ in 0..2 {
        let mut run = Run::start();
        let near = port(&bed, End::TestSet, &talk::port_options(false));
        stream = format!("listen/test-{}", Mac(near.mac()));
        let config = TalkConfig {
            framing: Framing::Test,
            duration_ns: Some(500_000_000),
            ..TalkConfig::every(Period::of_ns(1_000_000))
        };
        let talking = config
            .start(near, &mut run.recorder, &run.stop)
            .expect("the talker starts");
        talking.running.join().expect("the talker ends well");
        run.finish();
    }
    listener.wait_for(&bed, &journal);
    let recorded = listener.finish();
    let found = recorded.counters(&stream);
    let expected = by_the_journal(&journal);
    let rules = bed.wire().counts(Direction::ToDevice).rules;
    assert_eq!(
        (expected.lost, expected.duplicate),
        (rules[0].injected, rules[1].injected)
    );
    assert!(expected.lost > 10 && expected.duplicate > 10, "{expected:?}");
    assert_eq!(
        (found.lost, found.duplicate, found.reordered),
        (expected.lost, expected.duplicate, 0),
        "{found:?}"
    );
    assert_eq!(found.received, expected.sent - expected.lost, "{found:?}");
    let restarts = recorded
        .events()
        .iter()
        .filter(|event| event.text.contains("started a new run"))
        .count();
    assert_eq!(restarts, 1);
}
