//! Sampled values over the faulty wire.

use crate::bench::{Journal, Recorded, Run, bed, can_run, port, wait_until};
use lab::bed::End;
use lab::fault::{Fault, FaultBed, Rule, Side, Way, Which};
use probes::publish::{self, PublishConfig};
use probes::reflect::Receive;
use probes::subscribe::{ClockRelation, SubscribeConfig, Subscription, port_options, start};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::model::Counters;
use sys::SysError;
use sys::packet::PacketPort;
use sys::thread::Policy;
use wire::ether::{EthernetView, Mac};
use wire::quality::SvQuality;
use wire::sv::{Frame, Message, OwnedAsdu, Template};

pub(crate) const RATE: u64 = 4_800;
const SERIES: [&str; 3] = ["spacing/MU01", "arrival/MU01", "age/MU01"];

/// The EtherType; the tag of the savPdu, without which a frame is malformed.
const ETHER_TYPE_AT: usize = 13;
const SAV_PDU_AT: usize = 22;

fn config() -> SubscribeConfig {
    SubscribeConfig {
        rate: Some(RATE as u32),
        max_streams: 4,
        clock: ClockRelation::SameHost,
        receive: Receive::Block,
        duration_ns: None,
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    }
}

pub(crate) fn smp_cnt(frame: &[u8]) -> Option<u64> {
    let ethernet = EthernetView::parse(frame).ok()?;
    let frame = Frame::parse(&ethernet).ok()?;
    frame.asdus().next().map(|asdu| u64::from(asdu.smp_cnt()))
}

pub(crate) fn rule(which: Which, fault: Fault) -> Rule {
    Rule::new(which, fault).of_type(wire::ether::SV)
}

fn numbers(numbers: impl IntoIterator<Item = u64>) -> Which {
    Which::Numbers(numbers.into_iter().collect())
}

/// A subscriber at the device's end.
pub(crate) struct Subscriber {
    run: Run,
    pub(crate) subscription: Subscription,
}

impl Subscriber {
    pub(crate) fn start(bed: &FaultBed) -> Self {
        let mut run = Run::start();
        let far = port(bed, End::Device, &port_options());
        let subscription = start(&config(), far, &mut run.recorder, &run.stop).expect("the subscriber starts");
        Self { run, subscription }
    }

    /// Waits until it has everything sound that came out of the wire.
    fn wait_for(&self, journal: &Journal) {
        let sound = journal.of(Way::ToDevice, Side::Leaving, smp_cnt).len() as u64;
        wait_until("the subscriber has the frames", || {
            self.subscription.frames.load(Ordering::Relaxed) >= sound
        });
    }

    pub(crate) fn finish(self) -> Recorded {
        self.run.stop.request();
        self.subscription.running.join().expect("the subscriber ends well");
        self.run.finish()
    }
}

/// The test set's port and the frame it sends.
struct Sender(PacketPort);

impl Sender {
    fn open(bed: &FaultBed) -> Self {
        Self(port(bed, End::TestSet, &publish::port_options()))
    }

    /// Sends the samples `first..first + count`; those that the interface does not take since it is down are left out. Every
    /// few frames it waits until the wire has them, so that no queue before it can overflow.
    fn send(&self, bed: &FaultBed, first: u64, count: u64) {
        let mut template = template();
        let mut sent = bed.wire().counts(Way::ToDevice).entered;
        for number in 0..count {
            let mut asdu = template.asdu_mut(0).expect("an ASDU");
            asdu.set_smp_cnt(((first + number) % RATE) as u16);
            match self.0.send(template.bytes()) {
                Ok(()) => sent += 1,
                Err(SysError::InterfaceDown { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            if number % 100 == 99 || number + 1 == count {
                wait_until("the wire has the frames", || {
                    bed.wire().counts(Way::ToDevice).entered >= sent
                });
            }
        }
    }
}

/// Sends the samples `first..first + count` and returns what a subscriber made of what the wire let through.
fn subscribe(bed: &FaultBed, journal: &Journal, first: u64, count: u64) -> Recorded {
    let subscriber = Subscriber::start(bed);
    Sender::open(bed).send(bed, first, count);
    wait_until("delayed frames are out", || {
        let rules = bed.wire().counts(Way::ToDevice).rules;
        rules.iter().all(|rule| rule.held == 0)
    });
    subscriber.wait_for(journal);
    subscriber.finish()
}

fn template() -> Template {
    Template::new(&Message {
        dst: Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![OwnedAsdu::new("MU01", 1, 2, &[(0, SvQuality::GOOD); 8])],
    })
    .expect("the stream can be encoded")
}

/// What is to be counted of a stream of that many samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counted {
    sent: u64,
    lost: u64,
    duplicate: u64,
    reordered: u64,
}

fn assert_counted(recorded: &Recorded, counted: Counted) {
    for name in SERIES {
        // The first frame has no distance to one before it.
        let first = u64::from(name == SERIES[0]);
        let found = recorded.counters(name);
        let expected = Counters {
            expected: counted.sent - first,
            received: counted.sent - counted.lost - first,
            lost: counted.lost,
            duplicate: counted.duplicate,
            reordered: counted.reordered,
            // Samples are sent as fast as it goes, so their instants mean nothing here.
            clipped: found.clipped,
            ..Counters::default()
        };
        assert_eq!(found, expected, "{name}");
    }
}

/// What came out of the wire, by the order of the samples that went in. Nothing of this looks at the rules.
fn by_the_journal(journal: &Journal) -> Counted {
    let sent = journal.of(Way::ToDevice, Side::Entering, |frame| Some(frame.to_vec()));
    let came = journal.of(Way::ToDevice, Side::Leaving, |frame| {
        smp_cnt(frame).map(|_| frame.to_vec())
    });
    let (mut seen, mut highest, mut reordered) = (BTreeSet::new(), 0, 0);
    for frame in &came {
        // No test sends a whole second twice.
        let place = sent.iter().position(|sent| sent == frame).expect("it was sent");
        if seen.insert(place) {
            reordered += u64::from(place < highest);
            highest = highest.max(place);
        }
    }
    let received = seen.len() as u64;
    Counted {
        sent: sent.len() as u64,
        lost: sent.len() as u64 - received,
        duplicate: came.len() as u64 - received,
        reordered,
    }
}

/// 4000 samples over the wrap with one fault; the rule's counts are what is counted.
fn check_alone(which: Which, fault: Fault, expected: impl Fn(u64, u64) -> Counted) -> Recorded {
    let (bed, journal) = bed(vec![rule(which, fault)], Vec::new(), 1);
    let recorded = subscribe(&bed, &journal, 2_000, 4_000);
    let done = bed.wire().counts(Way::ToDevice).rules[0];
    assert!(done.injected > 20, "{done:?}");
    let expected = Counted {
        sent: 4_000,
        ..expected(done.injected, done.overtaken)
    };
    assert_counted(&recorded, expected);
    assert_eq!(by_the_journal(&journal), expected);
    bed.end_wire().expect("the wire held");
    recorded
}

fn lost(lost: u64, _: u64) -> Counted {
    Counted {
        lost,
        ..Counted::default()
    }
}

fn malformed(recorded: &Recorded) -> Option<String> {
    let events = recorded.events();
    let event = events.into_iter().find(|event| event.text.contains("malformed"));
    event.map(|event| event.text)
}

#[test]
fn dropped_samples_are_lost() {
    if can_run("dropped_samples_are_lost") {
        let recorded = check_alone(Which::Every(37), Fault::Drop, lost);
        assert_eq!(malformed(&recorded), None);
    }
}

#[test]
fn doubled_samples_are_duplicates() {
    if can_run("doubled_samples_are_duplicates") {
        check_alone(Which::Chance(30_000), Fault::Duplicate, |duplicate, _| Counted {
            duplicate,
            ..Counted::default()
        });
    }
}

#[test]
fn samples_that_come_later_than_their_successors_are_reordered() {
    if !can_run("samples_that_come_later_than_their_successors_are_reordered") {
        return;
    }
    for by in [1, 2, 15, 16] {
        let places = numbers((10..3_900).step_by(41));
        check_alone(places, Fault::HoldBack(by), |injected, overtaken| {
            assert_eq!(injected, overtaken);
            Counted {
                reordered: overtaken,
                ..Counted::default()
            }
        });
    }
}

#[test]
fn samples_that_come_more_than_the_window_late_are_lost_and_no_restart() {
    if !can_run("samples_that_come_more_than_the_window_late_are_lost_and_no_restart") {
        return;
    }
    for by in [17, 33, 150] {
        let places = numbers((10..3_700).step_by(41));
        let (bed, journal) = bed(vec![rule(places, Fault::HoldBack(by))], Vec::new(), 1);
        let recorded = subscribe(&bed, &journal, 2_000, 4_000);
        let late = bed.wire().counts(Way::ToDevice).rules[0].injected;
        let found = recorded.counters(SERIES[2]);
        let expected = Counters {
            expected: 4_000,
            received: 4_000 - late,
            lost: late,
            clipped: found.clipped,
            ..Counters::default()
        };
        assert_eq!(found, expected, "by {by}");
        let text = format!(
            "MU01: {late} samples came more than 16 counts late, no restart: those that were missing stay lost"
        );
        assert!(recorded.events().iter().any(|event| event.text == text), "by {by}");
    }
}

#[test]
fn samples_of_another_type_are_lost_and_broken_ones_are_malformed_too() {
    if !can_run("samples_of_another_type_are_lost_and_broken_ones_are_malformed_too") {
        return;
    }
    let corrupt = |offset| Fault::Corrupt { offset, bits: 0x04 };
    let recorded = check_alone(numbers((10..3_900).step_by(50)), corrupt(ETHER_TYPE_AT), lost);
    assert_eq!(malformed(&recorded), None);
    let recorded = check_alone(numbers((10..3_900).step_by(50)), corrupt(SAV_PDU_AT), lost);
    let said = malformed(&recorded).expect("it is said");
    assert!(said.starts_with("78 malformed SV frames;"), "{said}");
}

#[test]
fn faults_exactly_around_the_wrap() {
    if !can_run("faults_exactly_around_the_wrap") {
        return;
    }
    // smpCnt 4799 is the frame number 100, and 0 is number 101.
    let faults = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::HoldBack(1),
        Fault::HoldBack(3),
        Fault::Corrupt {
            offset: SAV_PDU_AT,
            bits: 1,
        },
    ];
    for fault in faults {
        for places in [
            vec![99],
            vec![100],
            vec![101],
            vec![102],
            vec![100, 101],
            (96..106).collect(),
        ] {
            let count = places.len() as u64;
            let (bed, journal) = bed(vec![rule(numbers(places.clone()), fault)], Vec::new(), 1);
            let recorded = subscribe(&bed, &journal, RATE - 100, 200);
            let mut expected = Counted {
                sent: 200,
                ..Counted::default()
            };
            *match fault {
                Fault::Drop | Fault::Corrupt { .. } => &mut expected.lost,
                Fault::Duplicate => &mut expected.duplicate,
                Fault::HoldBack(_) | Fault::Delay(_) => &mut expected.reordered,
            } = count;
            assert_eq!(by_the_journal(&journal), expected, "{fault:?} at {places:?}");
            assert_counted(&recorded, expected);
        }
    }
}

#[test]
fn faults_together_over_the_wrap() {
    if !can_run("faults_together_over_the_wrap") {
        return;
    }
    for seed in 1..=5 {
        let rules = vec![
            rule(Which::Chance(30_000), Fault::Drop),
            rule(Which::Chance(30_000), Fault::Duplicate),
            rule(numbers((10..3_900).step_by(23)), Fault::HoldBack(1)),
            rule(numbers((11..3_900).step_by(61)), Fault::HoldBack(5)),
            rule(
                Which::Every(97),
                Fault::Corrupt {
                    offset: SAV_PDU_AT,
                    bits: 0x10,
                },
            ),
        ];
        let (bed, journal) = bed(rules, Vec::new(), seed);
        let recorded = subscribe(&bed, &journal, 3_000, 4_000);
        let rules = bed.wire().counts(Way::ToDevice).rules;
        let expected = Counted {
            sent: 4_000,
            lost: rules[0].injected + rules[4].injected,
            duplicate: rules[1].injected,
            reordered: rules[2].overtaken + rules[3].overtaken,
        };
        assert!(rules.iter().all(|rule| rule.injected > 20), "{rules:?}");
        assert_eq!(by_the_journal(&journal), expected, "seed {seed}");
        assert_counted(&recorded, expected);
        let said = malformed(&recorded).expect("it is said");
        let count = rules[4].injected;
        assert!(said.starts_with(&format!("{count} malformed SV frames;")), "{said}");
    }
}

/// Publishes for a time over the bed; what the publisher says of its frames.
pub(crate) fn publish_for(bed: &FaultBed, time: Duration) -> Counters {
    let mut run = Run::start();
    let near = port(bed, End::TestSet, &publish::port_options());
    let config = PublishConfig {
        duration_ns: u64::try_from(time.as_nanos()).ok(),
        ..PublishConfig::default()
    };
    let publisher = publish::start(&config, near, &mut run.recorder, &run.stop).expect("the publisher starts");
    publisher.join().expect("the publisher ends well");
    run.finish().counters("publish/lateness")
}

/// What a real publisher sent; it leaves out the samples that it slept through.
fn real_stream(journal: &Journal) -> Vec<u64> {
    journal.of(Way::ToDevice, Side::Entering, smp_cnt)
}

/// How many samples are missing from it.
fn skipped(stream: &[u64]) -> u64 {
    stream
        .windows(2)
        .map(|pair| (pair[1] + RATE - pair[0] - 1) % RATE)
        .sum()
}

#[test]
fn samples_sent_while_an_interface_is_down_are_lost() {
    if !can_run("samples_sent_while_an_interface_is_down_are_lost") {
        return;
    }
    for end in [End::TestSet, End::Device] {
        let (bed, journal) = bed(vec![rule(Which::Every(50), Fault::Duplicate)], Vec::new(), 1);
        let sender = Sender::open(&bed);
        let subscriber = Subscriber::start(&bed);
        sender.send(&bed, 4_000, 700);
        subscriber.wait_for(&journal);
        bed.set_link(end, false).expect("down");
        sender.send(&bed, 4_700, 300);
        bed.set_link(end, true).expect("up");
        sender.send(&bed, 200, 700);
        subscriber.wait_for(&journal);
        let counts = bed.wire().counts(Way::ToDevice);
        let expected = Counted {
            sent: 1_700,
            lost: 300,
            duplicate: 1_400 / 50,
            reordered: 0,
        };
        assert_counted(&subscriber.finish(), expected);
        match end {
            End::TestSet => assert_eq!((counts.entered, counts.refused), (1_400, 0)),
            End::Device => assert_eq!((counts.entered, counts.refused), (1_700, 300 + 300 / 50)),
        }
    }
}

#[test]
fn a_publisher_whose_interface_goes_down_loses_what_it_sends_meanwhile() {
    if !can_run("a_publisher_whose_interface_goes_down_loses_what_it_sends_meanwhile") {
        return;
    }
    let (bed, journal) = bed(vec![rule(Which::Every(50), Fault::Duplicate)], Vec::new(), 1);
    let subscriber = Subscriber::start(&bed);
    std::thread::scope(|scope| {
        let publisher = scope.spawn(|| publish_for(&bed, Duration::from_millis(700)));
        wait_until("frames pass", || bed.wire().counts(Way::ToDevice).entered > 500);
        bed.set_link(End::TestSet, false).expect("down");
        std::thread::sleep(Duration::from_millis(150));
        bed.set_link(End::TestSet, true).expect("up");
        publisher.join().expect("no panic");
    });
    subscriber.wait_for(&journal);
    let sent = real_stream(&journal);
    let missing = skipped(&sent);
    let expected = Counted {
        sent: sent.len() as u64 + missing,
        lost: missing,
        duplicate: bed.wire().counts(Way::ToDevice).rules[0].injected,
        reordered: 0,
    };
    assert!(missing > 400 && expected.duplicate > 5, "{expected:?}");
    assert_counted(&subscriber.finish(), expected);
}
