//! Sampled values through the faulty wire: sender, receiver, and the expected counts.

use crate::bench::{Counted, Journal, Recorded, Run, port, wait_until};
use bed::fault::{Direction, Fault, Rule, Side, Which};
use bed::{End, FaultBed};
use model::Counters;
use probes::subscribe::{ClockRelation, SubscribeConfig, Subscription, port_options};
use probes::{Probe, SenderEnd, publish};
use std::sync::atomic::Ordering;
use sys::SysError;
use sys::packet::PacketPort;
use wire::ether::{EthernetView, Mac};
use wire::quality::SvQuality;
use wire::sv::{Frame, Message, OwnedAsdu, Template};

pub(crate) const RATE: u64 = 4_800;
pub(crate) const SERIES: [&str; 3] = ["spacing/MU01", "arrival/MU01", "age/MU01"];

fn config() -> SubscribeConfig {
    SubscribeConfig {
        rate: Some(RATE as u32),
        clock: ClockRelation::SameHost,
        ..SubscribeConfig::default()
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

pub(crate) fn numbers(numbers: impl IntoIterator<Item = u64>) -> Which {
    Which::Numbers(numbers.into_iter().collect())
}

/// A subscriber at the device's end.
pub(crate) struct Subscriber {
    run: Run,
    pub(crate) subscription: Subscription,
    /// Notified when the publisher has ended: samples due afterwards are not lost.
    pub(crate) sender: SenderEnd,
}

impl Subscriber {
    pub(crate) fn start(bed: &FaultBed) -> Self {
        let mut run = Run::start();
        let far = port(bed, End::Device, &port_options());
        let config = config();
        let subscription = config
            .start(far, &mut run.recorder, &run.stop)
            .expect("the subscriber starts");
        Self {
            run,
            subscription,
            sender: config.sender,
        }
    }

    /// Waits until it has received all valid frames that left the wire.
    pub(crate) fn wait_for(&self, journal: &Journal) {
        let sound = journal.of(Direction::ToDevice, Side::Leaving, smp_cnt).len() as u64;
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
pub(crate) struct Sender(PacketPort);

impl Sender {
    pub(crate) fn open(bed: &FaultBed) -> Self {
        Self(port(bed, End::TestSet, &publish::port_options()))
    }

    /// Sends the samples `first..first + count`, without those that the interface refuses while it is down. It waits every few frames until the wire
    /// has them, so that no queue can overflow.
    pub(crate) fn send(&self, bed: &FaultBed, first: u64, count: u64) {
        let mut template = template();
        let mut sent = bed.wire().counts(Direction::ToDevice).entered;
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
                    bed.wire().counts(Direction::ToDevice).entered >= sent
                });
            }
        }
    }
}

/// Sends the samples `first..first + count`, and returns the subscriber's counts for the frames that the wire let through.
pub(crate) fn subscribe(bed: &FaultBed, journal: &Journal, first: u64, count: u64) -> Recorded {
    let subscriber = Subscriber::start(bed);
    Sender::open(bed).send(bed, first, count);
    wait_until("delayed frames are out", || {
        let rules = bed.wire().counts(Direction::ToDevice).rules;
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

pub(crate) fn assert_counted(recorded: &Recorded, counted: Counted) {
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
            // Samples are sent as fast as possible, so their times are not evaluated.
            clipped: found.clipped,
            ..Counters::default()
        };
        assert_eq!(found, expected, "{name}");
    }
}

/// Expected counts for the samples that left the wire, by the order in which they entered.
pub(crate) fn by_the_journal(journal: &Journal) -> Counted {
    let sent = journal.of(Direction::ToDevice, Side::Entering, |frame| Some(frame.to_vec()));
    let came = journal.of(Direction::ToDevice, Side::Leaving, |frame| {
        smp_cnt(frame)?;
        // No test sends a whole second twice.
        let place = sent.iter().position(|sent| sent == frame).expect("it was sent");
        Some(place as u64)
    });
    Counted::of(sent.len(), &came)
}
