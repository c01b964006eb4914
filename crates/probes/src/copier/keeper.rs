//! The reading end of the ring: keeps the last seconds, and writes the wanted frames in the order of their instants.
//!
//! Frames leave the ring in the order in which the measuring thread handled them. After a stall this is not the order of their
//! instants: a frame sent now comes before those that the kernel received meanwhile. So each frame is held for a while before it
//! is written.

use super::Extent;
use super::entry::{BYTES, RingEntry};
use super::held::{HeldFrame, Queue};
use capture::{Captured, Direction, PcapngWriter};
use rtrb::Consumer;
use run::SpikeSignal;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc;
use std::time::Duration;

/// Interval at which the ring is emptied.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// Maximum number of bytes kept for a later spike, whatever time they cover.
pub(super) const MOST_KEPT: usize = 64 << 20;

/// Maximum number of bytes held only for the order of the frames.
pub(super) const MOST_HELD: usize = 16 << 20;

/// Age at which a frame is written, in ns, relative to the newest one. After a stall, the measuring thread takes its waiting
/// frames in much less time.
const HOLD_NS: i64 = 500_000_000;

/// Time in ns by which frames are kept longer than they are wanted before a spike, since the recorder reports the spike some time
/// later.
const NOTICE_NS: i64 = 300_000_000;

/// Number of spans of time in which dropped frames are counted.
const SPANS: i64 = 1_024;

/// Maximum number of spikes that wait for a frame to be marked.
const MOST_MARKS: usize = 64;

/// Bytes of the two addresses, after which a VLAN tag follows.
const ADDRESSES: usize = 12;

/// Keeps and writes frames.
pub(super) struct Keeper<W> {
    sources: Sources,
    writer: PcapngWriter<W>,
    extent: Extent,
    signal: SpikeSignal,
    /// Spikes for which no frame is marked yet, on `CLOCK_MONOTONIC`.
    unmarked: Vec<i64>,
    held: Queue,
    /// Maximum number of held bytes.
    most_held: usize,
    /// Spans of time whose frames are wanted, on `CLOCK_MONOTONIC`.
    wanted: VecDeque<(i64, i64)>,
    /// Frames dropped for lack of room: the end of each span of time, and the number of frames in it.
    crowded_out: VecDeque<(i64, u64)>,
    /// True when no more frames come, so that the held frames can be written.
    is_over: bool,
    /// Difference of `CLOCK_REALTIME` from `CLOCK_MONOTONIC`, in ns.
    ahead_ns: i64,
    frame: Vec<u8>,
    /// Stamp of the last written frame.
    last_stamp_ns: i64,
    kept: Kept,
}

/// The rings that frames are read from, one for each measuring thread.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) known: Vec<Consumer<u8>>,
    /// Receiver of further rings.
    pub(super) further: mpsc::Receiver<Consumer<u8>>,
}

/// Result of a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kept {
    /// Number of frames in the file.
    pub(super) written: u64,
    /// Number of wanted frames that are missing, since there was no room to keep them until they were known to be wanted.
    pub(super) left_out: u64,
    /// Number of frames with a stamp before that of the frame before, because they came after that one was written.
    pub(super) out_of_order: u64,
}

/// Fate of the oldest frame.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Written,
    Forgotten,
    CrowdedOut,
}

impl<W: Write> Keeper<W> {
    pub(super) fn new(
        sources: Sources,
        writer: PcapngWriter<W>,
        extent: Extent,
        signal: SpikeSignal,
        most_held: usize,
    ) -> Self {
        Self {
            sources,
            writer,
            extent,
            signal,
            unmarked: Vec::new(),
            held: Queue::new(),
            most_held,
            wanted: VecDeque::new(),
            crowded_out: VecDeque::new(),
            is_over: false,
            ahead_ns: 0,
            frame: Vec::new(),
            last_stamp_ns: i64::MIN,
            kept: Kept::default(),
        }
    }

    /// Takes the frames in the rings.
    pub(super) fn take(&mut self) -> io::Result<()> {
        let pair = sys::clock::pair();
        self.ahead_ns = pair.realtime.as_ns() - pair.monotonic.as_ns();
        self.look_for_spikes();
        self.release()?;
        while let Some(frame) = self.next_frame() {
            self.held.insert(frame);
            self.release()?;
        }
        Ok(())
    }

    fn look_for_spikes(&mut self) {
        let Some((first, last)) = self.signal.take() else {
            return;
        };
        if self.unmarked.len() < MOST_MARKS {
            self.unmarked.push(first.as_ns());
        }
        let ns = self.around_ns();
        self.want(first.as_ns().saturating_sub(ns), last.as_ns().saturating_add(ns));
    }

    /// Writes the wanted ones of the held frames, and closes the file.
    pub(super) fn finish(mut self, missed: u64) -> io::Result<Kept> {
        self.take()?;
        // The span before the end counts from the last frame, which may be long ago.
        self.want(self.held.newest_ns().saturating_sub(self.around_ns()), i64::MAX);
        self.is_over = true;
        self.release()?;
        let now_ns = sys::clock::realtime().as_ns();
        self.writer.finish(now_ns, missed + self.kept.left_out)?;
        Ok(self.kept)
    }

    /// Next frame of any ring.
    fn next_frame(&mut self) -> Option<HeldFrame> {
        self.sources.known.extend(self.sources.further.try_iter());
        let mut rings = self.sources.known.iter_mut();
        let entry = rings.find_map(|ring| next_of(ring, &mut self.frame))?;
        Some(HeldFrame::new(&entry, &self.frame, self.ahead_ns))
    }

    /// Time in ns for which frames are wanted before and after a spike.
    fn around_ns(&self) -> i64 {
        match self.extent {
            Extent::All => i64::MAX,
            Extent::Around(ns) => i64::try_from(ns).unwrap_or(i64::MAX),
        }
    }

    /// Marks the frames of this span as wanted, and counts those that were already dropped.
    fn want(&mut self, from_ns: i64, until_ns: i64) {
        match self.wanted.back_mut().filter(|(_, known_ns)| *known_ns >= from_ns) {
            Some((first_ns, last_ns)) => {
                *first_ns = (*first_ns).min(from_ns);
                *last_ns = (*last_ns).max(until_ns);
            }
            None => self.wanted.push_back((from_ns, until_ns)),
        }
        self.forget_crowded_out(from_ns);
        while let Some((_, count)) = self.crowded_out.front().filter(|(end_ns, _)| *end_ns <= until_ns) {
            self.kept.left_out += count;
            self.crowded_out.pop_front();
        }
    }

    /// Handles the oldest frames as long as their fate is known.
    fn release(&mut self) -> io::Result<()> {
        while let Some(fate) = self.held.oldest().and_then(|frame| self.fate(frame)) {
            let Some(frame) = self.held.take_oldest() else { break };
            match fate {
                Fate::Written => self.write(&frame)?,
                Fate::Forgotten => {}
                Fate::CrowdedOut => self.crowd_out(frame.at_ns),
            }
        }
        Ok(())
    }

    /// Fate of the oldest frame; `None` if it is not known yet.
    fn fate(&self, frame: &HeldFrame) -> Option<Fate> {
        let newest_ns = self.held.newest_ns();
        let is_full = self.held.octets() > self.most_held;
        let is_in_order = self.is_over || is_full || frame.at_ns <= newest_ns.saturating_sub(HOLD_NS);
        let is_wanted = |&(from_ns, until_ns): &(i64, i64)| (from_ns..=until_ns).contains(&frame.at_ns);
        if self.extent == Extent::All || self.wanted.iter().any(is_wanted) {
            return is_in_order.then_some(Fate::Written);
        }
        // A frame older than the wanted span could no longer be written in order.
        let is_passed = self.wanted.back().is_some_and(|(from_ns, _)| *from_ns > frame.at_ns);
        if is_passed || frame.at_ns < newest_ns.saturating_sub(self.kept_for_ns()) {
            return Some(Fate::Forgotten);
        }
        is_full.then_some(Fate::CrowdedOut)
    }

    /// Time in ns for which frames are kept until they are known to be wanted.
    fn kept_for_ns(&self) -> i64 {
        self.around_ns().saturating_add(NOTICE_NS)
    }

    fn forget_crowded_out(&mut self, oldest_ns: i64) {
        while self.crowded_out.front().is_some_and(|(end_ns, _)| *end_ns < oldest_ns) {
            self.crowded_out.pop_front();
        }
    }

    /// Records the instant of a frame that was dropped for lack of room.
    fn crowd_out(&mut self, at_ns: i64) {
        let span_ns = (self.kept_for_ns() / SPANS).max(1);
        let end_ns = (at_ns / span_ns + 1) * span_ns;
        match self.crowded_out.back_mut().filter(|(known_ns, _)| *known_ns >= end_ns) {
            Some((_, count)) => *count += 1,
            None => self.crowded_out.push_back((end_ns, 1)),
        }
        self.forget_crowded_out(self.held.newest_ns().saturating_sub(self.kept_for_ns()));
    }

    fn write(&mut self, frame: &HeldFrame) -> io::Result<()> {
        // Removes spans that are over, since frames come in order.
        while self.wanted.len() > 1 && self.wanted.front().is_some_and(|(_, until_ns)| *until_ns < frame.at_ns) {
            self.wanted.pop_front();
        }
        let waiting = self.unmarked.len();
        self.unmarked.retain(|spike_ns| *spike_ns > frame.at_ns);
        let marks = self.unmarked.len() < waiting;
        let data = &frame.data[..];
        let tag = frame.tag.filter(|_| data.len() >= ADDRESSES);
        let tag_octets = tag.map(|tag| {
            let [a, b] = tag.tpid.to_be_bytes();
            let [c, d] = tag.tci.to_be_bytes();
            [a, b, c, d]
        });
        let tag_octets = tag_octets.as_ref().map_or(&[][..], |octets| &octets[..]);
        let (addresses, rest) = data.split_at(data.len().min(ADDRESSES));
        self.writer.write(&Captured {
            time_ns: frame.stamp_ns,
            direction: match frame.is_sent {
                true => Direction::Outbound,
                false => Direction::Inbound,
            },
            pieces: &[addresses, tag_octets, rest],
            // A tag has 4 bytes.
            original_len: frame.original_len + tag_octets.len() as u32,
            comment: marks
                .then_some("triptime: a sample over its threshold, or a loss, was noticed just before this frame"),
        })?;
        self.kept.written += 1;
        self.kept.out_of_order += u64::from(frame.stamp_ns < self.last_stamp_ns);
        self.last_stamp_ns = frame.stamp_ns;
        Ok(())
    }
}

/// Next entry of a ring, with its frame.
fn next_of(ring: &mut Consumer<u8>, frame: &mut Vec<u8>) -> Option<RingEntry> {
    let mut header = [0; BYTES];
    copy_out(ring, &mut header)?;
    let entry = RingEntry::from_bytes(header);
    frame.resize(entry.length as usize, 0);
    // Header and frame were added together.
    copy_out(ring, frame)?;
    Some(entry)
}

/// Fills `place` from the ring; `None`, without taking anything, if the ring does not hold that much.
fn copy_out(ring: &mut Consumer<u8>, place: &mut [u8]) -> Option<()> {
    let chunk = ring.read_chunk(place.len()).ok()?;
    let (first, second) = chunk.as_slices();
    place[..first.len()].copy_from_slice(first);
    place[first.len()..].copy_from_slice(second);
    chunk.commit_all();
    Some(())
}
