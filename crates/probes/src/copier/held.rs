//! Frames in memory, in the order of their instants.

use super::entry::{BYTES, EntryKind, RingEntry};
use std::collections::VecDeque;
use sys::packet::VlanTag;

/// A frame on its way to the file.
#[derive(Debug)]
pub(super) struct HeldFrame {
    /// Instant on `CLOCK_MONOTONIC`, in ns.
    pub(super) at_ns: i64,
    /// Time stamp for the file, in ns since 1970.
    pub(super) stamp_ns: i64,
    pub(super) is_sent: bool,
    pub(super) tag: Option<VlanTag>,
    pub(super) original_len: u32,
    pub(super) data: Box<[u8]>,
}

impl HeldFrame {
    /// Makes a frame from an entry of the ring; `CLOCK_REALTIME` was `ahead_ns` ahead of `CLOCK_MONOTONIC`.
    pub(super) fn new(entry: &RingEntry, data: &[u8], ahead_ns: i64) -> Self {
        let (at_ns, stamp_ns) = match entry.kind {
            EntryKind::Sent | EntryKind::Received => (entry.at_ns, entry.at_ns + ahead_ns),
            // If the clock was set back since the frame was received, the result would be in the future.
            EntryKind::ReceivedAt => {
                let now_ns = sys::clock::monotonic().as_ns();
                ((entry.at_ns - ahead_ns).min(now_ns), entry.at_ns)
            }
        };
        Self {
            at_ns,
            stamp_ns,
            is_sent: entry.kind == EntryKind::Sent,
            tag: entry.tag,
            original_len: entry.original_len,
            data: data.into(),
        }
    }

    fn octets(&self) -> usize {
        BYTES + self.data.len()
    }
}

/// The held frames.
#[derive(Debug)]
pub(super) struct Queue {
    frames: VecDeque<HeldFrame>,
    octets: usize,
    newest_ns: i64,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            frames: VecDeque::new(),
            octets: 0,
            newest_ns: i64::MIN,
        }
    }

    /// Inserts a frame in the order of the instants. Frames with the same instant keep their order.
    pub(super) fn insert(&mut self, frame: HeldFrame) {
        self.octets += frame.octets();
        self.newest_ns = self.newest_ns.max(frame.at_ns);
        match self.frames.back() {
            Some(last) if last.at_ns > frame.at_ns => {
                let place = self.frames.partition_point(|other| other.at_ns <= frame.at_ns);
                self.frames.insert(place, frame);
            }
            _ => self.frames.push_back(frame),
        }
    }

    pub(super) fn oldest(&self) -> Option<&HeldFrame> {
        self.frames.front()
    }

    pub(super) fn take_oldest(&mut self) -> Option<HeldFrame> {
        let frame = self.frames.pop_front()?;
        self.octets -= frame.octets();
        Some(frame)
    }

    /// Bytes of the frames, including the data about them.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// Instant of the newest frame so far, on `CLOCK_MONOTONIC`.
    pub(super) fn newest_ns(&self) -> i64 {
        self.newest_ns
    }
}
