//! Splits a round trip into stages: to the driver, on the wire with the far end, and from the driver to the application.
//!
//! The kernel stamps a frame when its driver takes it, and an answer when its driver passes it up. Both stamps and the two stamps
//! of the application are of `CLOCK_REALTIME`. If the NIC stamps both frames, the time between its stamps is that of the wire and
//! the far end alone.

use super::series;
use crate::port::Port;
use run::Feed;
use sys::packet::{PacketPort, RxStamp, TxEvent, TxStage};
use units::{Monotonic, Ptp, Realtime};

/// Number of remembered frames: the most that can be under way.
const REMEMBERED: usize = 2 * super::MOST_FRAMES as usize;

/// A received answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReturnedFrame {
    /// Time when its driver or NIC received it.
    pub(super) stamp: RxStamp,
    /// Time when the application received it.
    pub(super) seen: Realtime,
    /// The same instant on the monotonic clock.
    pub(super) at: Monotonic,
    /// The whole round trip, in ns.
    pub(super) rtt_ns: i64,
}

/// A sent frame.
#[derive(Debug, Clone, Copy)]
struct Sent {
    sequence: u64,
    /// Number of the frame on this socket.
    id: u32,
    before: Realtime,
    driver: Option<Realtime>,
    wire: Option<Ptp>,
    answer: Option<ReturnedFrame>,
}

/// Frames of one socket and their stamps.
#[derive(Debug)]
pub(super) struct Stages {
    frames: Box<[Option<Sent>]>,
    /// Sequence numbers, indexed by the frame's number on the socket.
    sequences: Box<[u64]>,
    by_nic: bool,
    /// Number of round trips that could not be split, because a stamp is missing or a clock was stepped.
    unsplit: u64,
}

impl Stages {
    /// Makes the state for a port that stamps sent frames; with `by_nic`, the NIC stamps them.
    pub(super) fn new(by_nic: bool) -> Self {
        Self {
            frames: vec![None; REMEMBERED].into(),
            sequences: vec![0; REMEMBERED].into(),
            by_nic,
            unsplit: 0,
        }
    }

    /// Number of round trips that could not be split.
    pub(super) fn unsplit(&self) -> u64 {
        self.unsplit
    }

    /// Records a frame that has number `id` on the socket, and the instant before its send call.
    pub(super) fn sent(&mut self, sequence: u64, id: u32, before: Realtime) {
        self.sequences[index(u64::from(id))] = sequence;
        let place = &mut self.frames[index(sequence)];
        self.unsplit += u64::from(place.is_some_and(|older| older.answer.is_some()));
        *place = Some(Sent {
            sequence,
            id,
            before,
            driver: None,
            wire: None,
            answer: None,
        });
    }

    /// Takes the available stamps; answered frames that still lack one count as unsplit.
    pub(super) fn close(&mut self, port: &Port, feed: &mut Feed) {
        self.collect(port, None, feed);
        let unstamped = self.frames.iter().flatten().filter(|sent| sent.answer.is_some());
        self.unsplit += unstamped.count() as u64;
    }

    /// Records the first answer to a frame, and takes stamps that are still missing.
    pub(super) fn answered(&mut self, sequence: u64, answer: ReturnedFrame, port: &Port, feed: &mut Feed) {
        let place = &mut self.frames[index(sequence)];
        let Some(sent) = place.as_mut().filter(|sent| sent.sequence == sequence) else {
            self.unsplit += 1;
            return;
        };
        sent.answer = Some(answer);
        self.collect(port, Some(sequence), feed);
    }

    /// Takes the kernel's stamps of sent frames: all available ones, or until frame `wanted` is split.
    pub(super) fn collect(&mut self, port: &Port, wanted: Option<u64>, feed: &mut Feed) {
        let Some(port) = port.packet() else { return };
        loop {
            if wanted.is_some_and(|sequence| self.split(sequence, feed)) {
                return;
            }
            let Some(sequence) = self.next_stamp(port) else { return };
            if let Some(sequence) = sequence {
                self.split(sequence, feed);
            }
        }
    }

    /// Takes one stamp and returns the frame that it belongs to, if that is known. `None` if no stamp is left.
    fn next_stamp(&mut self, port: &PacketPort) -> Option<Option<u64>> {
        let TxEvent::Stamp(stamp) = port.next_tx_event().ok()?? else {
            return Some(None);
        };
        let sequence = self.sequences[index(u64::from(stamp.id))];
        let sent = self.frames[index(sequence)].as_mut();
        let Some(sent) = sent.filter(|sent| sent.id == stamp.id) else {
            return Some(None);
        };
        match stamp.stage {
            TxStage::Driver(at) => sent.driver = Some(at),
            TxStage::Wire(at) => sent.wire = Some(at),
            TxStage::Qdisc(_) => return Some(None),
        }
        Some(Some(sent.sequence))
    }

    /// Records the parts of a round trip once every stamp is there; returns true if the frame is finished.
    fn split(&mut self, sequence: u64, feed: &mut Feed) -> bool {
        let place = &mut self.frames[index(sequence)];
        let Some(sent) = place.filter(|sent| sent.sequence == sequence) else {
            return true;
        };
        let Some(answer) = sent.answer else { return false };
        let Some(parts) = parts(&sent, &answer, self.by_nic) else {
            return false;
        };
        *place = None;
        let parts = || parts.into_iter().flatten();
        if parts().any(|(_, ns)| ns < 0) {
            self.unsplit += 1;
            return true;
        }
        for (slot, ns) in parts() {
            feed.sample(slot, answer.at, ns, sequence);
        }
        true
    }
}

/// The parts of a round trip with the slots of their series; `None` while a stamp is missing.
fn parts(sent: &Sent, answer: &ReturnedFrame, by_nic: bool) -> Option<[Option<(u16, i64)>; 3]> {
    if by_nic {
        let (Some(wire), RxStamp::Hardware(came)) = (sent.wire, answer.stamp) else {
            return None;
        };
        let wire_ns = came - wire;
        let host_ns = answer.rtt_ns - wire_ns;
        return Some([Some((series::WIRE, wire_ns)), Some((series::HOST, host_ns)), None]);
    }
    let (RxStamp::Software(came) | RxStamp::Socket(came)) = answer.stamp else {
        return None;
    };
    let driver = sent.driver?;
    Some([
        Some((series::SEND, driver - sent.before)),
        Some((series::WIRE, came - driver)),
        Some((series::RECEIVE, answer.seen - came)),
    ])
}

fn index(sequence: u64) -> usize {
    (sequence % REMEMBERED as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::{ReturnedFrame, Sent, parts};
    use crate::reflect::series::{HOST, RECEIVE, SEND, WIRE};
    use sys::packet::RxStamp;
    use units::{Monotonic, Ptp, Realtime};

    const SENT: Sent = Sent {
        sequence: 7,
        id: 9,
        before: Realtime::from_ns(1_000),
        driver: Some(Realtime::from_ns(1_600)),
        wire: Some(Ptp::from_ns(50)),
        answer: None,
    };

    fn answer(stamp: RxStamp) -> ReturnedFrame {
        ReturnedFrame {
            stamp,
            seen: Realtime::from_ns(3_000),
            at: Monotonic::from_ns(0),
            rtt_ns: 2_000,
        }
    }

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let software = answer(RxStamp::Software(Realtime::from_ns(2_500)));
        let wanted = [Some((SEND, 600)), Some((WIRE, 900)), Some((RECEIVE, 500))];
        assert_eq!(parts(&SENT, &software, false), Some(wanted));
        let hardware = answer(RxStamp::Hardware(Ptp::from_ns(850)));
        let wanted = [Some((WIRE, 800)), Some((HOST, 1_200)), None];
        assert_eq!(parts(&SENT, &hardware, true), Some(wanted));
    }

    #[test]
    fn nothing_is_said_without_every_stamp() {
        let software = answer(RxStamp::Software(Realtime::from_ns(2_500)));
        let unstamped = Sent {
            driver: None,
            wire: None,
            ..SENT
        };
        assert_eq!(parts(&unstamped, &software, false), None);
        assert_eq!(parts(&SENT, &software, true), None, "the NIC did not stamp the answer");
        let hardware = answer(RxStamp::Hardware(Ptp::from_ns(850)));
        assert_eq!(parts(&unstamped, &hardware, true), None);
    }
}
