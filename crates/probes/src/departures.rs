//! Departure times of a sender's frames, from transmit time stamps of the driver or the NIC.
//!
//! The kernel reports a stamp in the socket's error queue some time after the send call, with the number of the frame. Until then
//! the frame is remembered with its due instant.

use crate::nic::{NicClock, Stamps};
use crate::port::Port;
use run::Feed;
use sys::packet::{TxEvent, TxStage, TxStamp};
use units::{Monotonic, Realtime};

/// Number of frames remembered: a tenth of a second of twenty streams at 4000 frames a second.
const REMEMBERED: usize = 8_192;

/// Time to wait for the stamps of the last frames.
const LAST_NS: i64 = 20_000_000;

/// A frame whose stamp has not arrived yet.
#[derive(Debug, Clone, Copy)]
struct Sent {
    /// Number of the frame on this socket.
    id: u32,
    slot: u16,
    /// Due instant, on the wall clock as it was set when the frame was sent.
    due: Realtime,
    /// Instant just before the send call, on the same clock.
    called: Realtime,
    sequence: u64,
}

/// Both clocks of the sender just before a send call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called {
    at: Monotonic,
    wall: Realtime,
}

impl Called {
    /// Reads both clocks.
    pub(crate) fn now() -> Self {
        let pair = sys::clock::pair();
        Self {
            at: pair.monotonic,
            wall: pair.realtime,
        }
    }
}

/// Frames of one socket that wait for their stamps, and the count of those that got none.
#[derive(Debug)]
pub(crate) struct Departures {
    sent: Box<[Option<Sent>]>,
    /// The NIC's clock if its stamps are used; `None` for the driver's stamps.
    nic: Option<NicClock>,
    /// Frames whose stamp did not arrive or cannot be converted to the wall clock.
    unstamped: u64,
}

impl Departures {
    /// Creates the departures of a port that was opened with these stamps; `None` if stamps are off.
    pub(crate) fn of(port: &Port, stamps: Stamps) -> Option<Self> {
        (stamps != Stamps::Off).then(|| Self::new(port.nic_clock()))
    }

    fn new(nic: Option<NicClock>) -> Self {
        Self {
            sent: vec![None; REMEMBERED].into(),
            nic,
            unstamped: 0,
        }
    }

    /// Records `count` frames with one due instant, numbered from `first`; their samples go to `slot`.
    pub(crate) fn sent(
        &mut self,
        (first, count): (u32, u32),
        due: Monotonic,
        called: Called,
        slot: u16,
        sequence: u64,
    ) {
        for id in (0..count).map(|n| first.wrapping_add(n)) {
            let place = &mut self.sent[index(id)];
            self.unstamped += u64::from(place.is_some());
            *place = Some(Sent {
                id,
                slot,
                due: called.wall + (due - called.at),
                called: called.wall,
                sequence,
            });
        }
    }

    /// Takes the available stamps; other events are passed to `other`.
    pub(crate) fn collect(&mut self, port: &Port, feed: &mut Feed, mut other: impl FnMut(TxEvent)) {
        let at = sys::clock::monotonic();
        while let Some(event) = port.next_tx_event() {
            match event {
                TxEvent::Stamp(stamp) => self.take(stamp, at, feed),
                TxEvent::Dropped(_) => other(event),
            }
        }
    }

    /// Waits briefly for the last stamps; returns the number of frames without one.
    pub(crate) fn close(&mut self, port: &Port, feed: &mut Feed) -> u64 {
        let end = sys::clock::monotonic() + LAST_NS;
        self.collect(port, feed, |_| {});
        while self.sent.iter().any(Option::is_some) && sys::clock::monotonic() < end {
            sys::wait::sleep_until(sys::clock::monotonic() + LAST_NS / 20);
            self.collect(port, feed, |_| {});
        }
        self.unstamped += self.sent.iter().flatten().count() as u64;
        self.sent.fill(None);
        self.unstamped
    }

    fn take(&mut self, stamp: TxStamp, at: Monotonic, feed: &mut Feed) {
        let left = match (stamp.stage, &self.nic) {
            (TxStage::Driver(left), None) => Some(left),
            (TxStage::Wire(left), Some(nic)) => nic.on_system_clock(left),
            (TxStage::Driver(_), Some(_)) | (TxStage::Wire(_), None) | (TxStage::Qdisc(_), _) => return,
        };
        let place = &mut self.sent[index(stamp.id)];
        let Some(sent) = place.take_if(|sent| sent.id == stamp.id) else {
            return;
        };
        let within_ns = self.nic.as_ref().map_or(0, NicClock::within_ns).cast_signed();
        // A stamp from before the send call belongs to another frame, or the clock was set meanwhile.
        match left.filter(|left| *left - sent.called >= -within_ns) {
            Some(left) => feed.sample(sent.slot, at, left - sent.due, sent.sequence),
            None => self.unstamped += 1,
        }
    }
}

fn index(id: u32) -> usize {
    id as usize % REMEMBERED
}

#[cfg(test)]
mod tests {
    use super::{Called, Departures, REMEMBERED};
    use crate::nic::NicClock;
    use run::{Describe, FeedItem, Heard};
    use sys::packet::{TxStage, TxStamp};
    use units::{Monotonic, Ptp, Realtime};

    struct Nameless;

    impl Describe for Nameless {
        fn series(&self, _slot: u16, label: &str) -> model::SeriesSpec {
            model::SeriesSpec::named(label)
        }
    }

    const CALLED: Called = Called {
        at: Monotonic::from_ns(5_000),
        wall: Realtime::from_ns(1_000_005_000),
    };

    /// Measurements of the frames from number 0 on, all due at 4 µs and called at 5 µs, with these stamps; and the number of
    /// frames without a stamp.
    fn measured(nic: Option<NicClock>, frames: u32, stamps: &[(u32, TxStage)]) -> (Vec<i64>, u64) {
        let (mut feed, mut heard) = Heard::of(1 << 10, 1, Box::new(Nameless));
        let mut departures = Departures::new(nic);
        departures.sent((0, frames), Monotonic::from_ns(4_000), CALLED, 0, 7);
        for (id, stage) in stamps {
            let stamp = TxStamp { id: *id, stage: *stage };
            departures.take(stamp, Monotonic::from_ns(9_000), &mut feed);
        }
        let left = departures.sent.iter().flatten().count() as u64;
        let values = heard.take().into_iter().filter_map(|item| match item {
            FeedItem::Sample { value_ns, .. } => Some(value_ns),
            _ => None,
        });
        (values.collect(), departures.unstamped + left)
    }

    #[test]
    fn each_frame_is_timed_from_its_due_instant_by_the_stamp_that_is_wanted() {
        let driver = |ns: i64| TxStage::Driver(Realtime::from_ns(1_000_000_000 + ns));
        let wire = |ns: i64| TxStage::Wire(Ptp::from_ns(1_000_000_000 + ns));
        let qdisc = TxStage::Qdisc(Realtime::from_ns(1_000_005_100));
        let all = [
            (0, qdisc),
            (0, driver(5_200)),
            (1, driver(5_300)),
            (0, wire(5_900)),
            (1, driver(5_300)),
        ];
        assert_eq!(measured(None, 2, &all), (vec![1_200, 1_300], 0));
        // The NIC's clock is 300 ns ahead of the system clock.
        let nic = NicClock::fixed(-300, 500);
        assert_eq!(
            measured(Some(nic), 2, &all),
            (vec![1_600], 1),
            "the second was not stamped by the NIC"
        );
    }

    #[test]
    fn a_stamp_that_cannot_be_the_frames_own_is_none() {
        let nic = || Some(NicClock::fixed(0, 500));
        let wire = |ns: i64| [(0, TxStage::Wire(Ptp::from_ns(ns)))];
        // Within the uncertainty between the two clocks, a frame may seem to leave before its send call.
        assert_eq!(measured(nic(), 1, &wire(1_000_004_500)), (vec![500], 0));
        assert_eq!(measured(nic(), 1, &wire(1_000_004_499)), (vec![], 1));
        assert_eq!(
            measured(nic(), 1, &wire(90_000_000_000)),
            (vec![], 1),
            "far from every reading"
        );
        assert_eq!(measured(nic(), 1, &[(1, wire(1_000_006_000)[0].1)]), (vec![], 1));
    }

    #[test]
    fn frames_without_stamps_are_counted_when_others_take_their_places() {
        let mut departures = Departures::new(None);
        let most = REMEMBERED as u32;
        departures.sent((0, most), Monotonic::from_ns(0), CALLED, 0, 0);
        assert_eq!(departures.unstamped, 0);
        departures.sent((most, 3), Monotonic::from_ns(0), CALLED, 0, 0);
        assert_eq!(departures.unstamped, 3);
    }
}
