//! Faults of the LANs that a test set makes at its own ports.

use std::collections::VecDeque;
use std::str::FromStr;
use sys::packet::PacketPort;
use units::{Monotonic, Ns};
use wire::redundancy::Lan;

/// Frames of a delayed LAN that are kept. [`LanFault::check`] refuses a delay that could need more.
const MOST_DELAYED: usize = 4_096;

/// A fault of the LANs, from the first faulted sample to the end of a disturbance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanFault {
    /// Nothing passes in this LAN, in either direction.
    Cut(Lan),
    /// Frames of the test set come later in this LAN, by ns.
    Delay(Lan, u64),
    /// Each LAN is cut in turn, for this time in ns.
    Flap(u64),
}

impl LanFault {
    /// Its description in a report.
    pub fn words(self) -> String {
        match self {
            Self::Cut(lan) => format!("{lan} is cut at the first faulted sample"),
            Self::Delay(lan, ns) => format!("{lan} is delayed by {} from the first faulted sample on", Ns(ns)),
            Self::Flap(ns) => format!(
                "LAN A and LAN B are cut in turn for {} each from the first faulted sample on",
                Ns(ns)
            ),
        }
    }

    /// Refuses a delay for which there is no memory, at this number of frames a second.
    ///
    /// # Errors
    /// The longest possible delay.
    pub fn check(self, frames_per_second: u64) -> Result<(), String> {
        let Self::Delay(_, ns) = self else { return Ok(()) };
        let most_ns = MOST_DELAYED as u64 * 1_000_000_000 / frames_per_second.max(1);
        // Frames that are sent late come in a batch after the delay.
        match ns > most_ns / 2 {
            true => Err(format!(
                "a LAN can be delayed by at most {} at {frames_per_second} frames/s: give a shorter delay, or fewer streams",
                Ns(most_ns / 2)
            )),
            false => Ok(()),
        }
    }

    /// True for a LAN that is cut at `after_ns` since the fault began.
    pub(super) fn cuts(self, lan: Lan, after_ns: u64) -> bool {
        match self {
            Self::Cut(cut) => cut == lan,
            Self::Delay(..) => false,
            Self::Flap(ns) => after_ns / ns.max(1) % 2 == lan.number() as u64,
        }
    }
}

impl FromStr for LanFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("`{text}`: write cut-a, cut-b, delay-a:DURATION, delay-b:DURATION or flap:DURATION");
        let duration = |text: &str| crate::options::positive_duration(text).map_err(|_| error());
        match text.split_once(':') {
            None if text == "cut-a" => Ok(Self::Cut(Lan::A)),
            None if text == "cut-b" => Ok(Self::Cut(Lan::B)),
            Some(("delay-a", ns)) => Ok(Self::Delay(Lan::A, duration(ns)?)),
            Some(("delay-b", ns)) => Ok(Self::Delay(Lan::B, duration(ns)?)),
            Some(("flap", ns)) => Ok(Self::Flap(duration(ns)?)),
            _ => Err(error()),
        }
    }
}

/// Frames of a delayed LAN, in memory that is allocated once.
#[derive(Debug, Default)]
pub(super) struct Delayed {
    waiting: VecDeque<(Monotonic, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
}

impl Delayed {
    /// Memory for the frames.
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::with_capacity(MOST_DELAYED),
            spare: (0..MOST_DELAYED).map(|_| Vec::with_capacity(super::LONGEST)).collect(),
        }
    }

    /// Keeps a frame until `due`; false if there is no room.
    pub(super) fn keep(&mut self, frame: &[u8], due: Monotonic) -> bool {
        let Some(mut own) = self.spare.pop() else { return false };
        own.clear();
        own.extend_from_slice(frame);
        self.waiting.push_back((due, own));
        true
    }

    /// Sends the frames that are due at `now`; returns how many the port did not accept.
    pub(super) fn send_due(&mut self, port: &PacketPort, now: Monotonic) -> u64 {
        let mut refused = 0;
        while self.waiting.front().is_some_and(|(due, _)| *due <= now) {
            let Some((_, frame)) = self.waiting.pop_front() else {
                break;
            };
            refused += u64::from(port.send(&frame).is_err());
            self.spare.push(frame);
        }
        refused
    }
}

#[cfg(test)]
mod tests {
    use super::{LanFault, MOST_DELAYED};
    use wire::redundancy::Lan;

    #[test]
    fn each_fault_is_read_and_others_are_refused() {
        for (text, fault) in [
            ("cut-a", LanFault::Cut(Lan::A)),
            ("cut-b", LanFault::Cut(Lan::B)),
            ("delay-a:5ms", LanFault::Delay(Lan::A, 5_000_000)),
            ("delay-b:7us", LanFault::Delay(Lan::B, 7_000)),
            ("flap:7ms", LanFault::Flap(7_000_000)),
        ] {
            assert_eq!(text.parse(), Ok(fault), "{text}");
        }
        for text in [
            "",
            "cut",
            "cut-c",
            "cut-a:5ms",
            "delay-a",
            "delay-b:0",
            "flap:",
            "flap:x",
        ] {
            assert!(text.parse::<LanFault>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_delay_has_room_for_its_frames_or_is_refused() {
        let most = |frames: u64| MOST_DELAYED as u64 * 1_000_000_000 / frames / 2;
        for frames in [4_800, 96_000] {
            assert_eq!(LanFault::Delay(Lan::B, most(frames)).check(frames), Ok(()));
            let refused = LanFault::Delay(Lan::B, most(frames) + 1).check(frames);
            assert!(refused.expect_err("too long").contains("at most"));
        }
        assert_eq!(LanFault::Cut(Lan::A).check(96_000), Ok(()));
        assert_eq!(LanFault::Flap(u64::MAX).check(96_000), Ok(()));
    }
}
