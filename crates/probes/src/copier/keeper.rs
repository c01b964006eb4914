//! The other end of the ring: keeps the last seconds, writes what is wanted, in the order of the instants.
//!
//! Frames come out of the ring in the order in which the measuring thread dealt with them. After a stall that is not the order of
//! their instants: the frame sent now comes before those that the kernel received meanwhile. So each is held for a while before
//! it is written.

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

/// How often the ring is emptied.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// Most octets kept for what may go wrong later, whatever the time they cover.
pub(super) const MOST_KEPT: usize = 64 << 20;

/// Most octets held for the order alone.
pub(super) const MOST_HELD: usize = 16 << 20;

/// A frame is written when one so much younger has come: the thread that measures needs far less to take what waits for it after
/// a stall.
const HOLD_NS: i64 = 500_000_000;

/// How much longer frames are kept than they are wanted before a spike: the recorder tells of it some time later.
const NOTICE_NS: i64 = 300_000_000;

/// Spans of time by which frames are counted that there was no room for.
const SPANS: i64 = 1_024;

/// Most spikes that wait for a frame to be marked.
const MOST_MARKS: usize = 64;

/// Octets of the two addresses, behind which a VLAN tag stands.
const ADDRESSES: usize = 12;

/// Keeps and writes.
pub(super) struct Keeper<W> {
    sources: Sources,
    writer: PcapngWriter<W>,
    extent: Extent,
    signal: SpikeSignal,
    /// Spikes that no frame was marked for, `CLOCK_MONOTONIC`.
    unmarked: Vec<i64>,
    held: Queue,
    /// Most octets of them.
    most_held: usize,
    /// Spans of time whose frames are written, `CLOCK_MONOTONIC`.
    wanted: VecDeque<(i64, i64)>,
    /// Frames that there was no room for: the end of a span of time, and how many frames of it.
    crowded_out: VecDeque<(i64, u64)>,
    /// Nothing more comes: what is held can be written.
    is_over: bool,
    /// Time by which `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`.
    ahead_ns: i64,
    frame: Vec<u8>,
    /// Stamp of the frame that was written last.
    last_stamp_ns: i64,
    kept: Kept,
}

/// The rings that frames come out of: one for each thread that measures.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) known: Vec<Consumer<u8>>,
    /// Rings that were made meanwhile.
    pub(super) further: mpsc::Receiver<Consumer<u8>>,
}

/// Result of a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kept {
    /// Frames in the file.
    pub(super) written: u64,
    /// Frames that are wanted and not in it, since there was no room to keep them until that was known.
    pub(super) left_out: u64,
    /// Frames in it whose stamp is before that of the frame before: they came when that was written already.
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

    /// Takes what is in the ring.
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

    /// Writes what is wanted of what is held, and closes the file.
    pub(super) fn finish(mut self, missed: u64) -> io::Result<Kept> {
        self.take()?;
        // From the last frame on, not from now: it may be long ago.
        self.want(self.held.newest_ns().saturating_sub(self.around_ns()), i64::MAX);
        self.is_over = true;
        self.release()?;
        let now_ns = sys::clock::realtime().as_ns();
        self.writer.finish(now_ns, missed + self.kept.left_out)?;
        Ok(self.kept)
    }

    /// The next frame of any ring.
    fn next_frame(&mut self) -> Option<HeldFrame> {
        self.sources.known.extend(self.sources.further.try_iter());
        let mut rings = self.sources.known.iter_mut();
        let entry = rings.find_map(|ring| next_of(ring, &mut self.frame))?;
        Some(HeldFrame::new(&entry, &self.frame, self.ahead_ns))
    }

    /// How long frames are wanted before and after a spike.
    fn around_ns(&self) -> i64 {
        match self.extent {
            Extent::All => i64::MAX,
            Extent::Around(ns) => i64::try_from(ns).unwrap_or(i64::MAX),
        }
    }

    /// From now on the frames of this span of time are wanted. Counts those of them that are gone.
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

    /// Deals with the oldest frames for as long as it is known what becomes of them.
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

    /// Fate of the oldest frame; `None` when that is not known yet.
    fn fate(&self, frame: &HeldFrame) -> Option<Fate> {
        let newest_ns = self.held.newest_ns();
        let is_full = self.held.octets() > self.most_held;
        let is_in_order = self.is_over || is_full || frame.at_ns <= newest_ns.saturating_sub(HOLD_NS);
        let is_wanted = |&(from_ns, until_ns): &(i64, i64)| (from_ns..=until_ns).contains(&frame.at_ns);
        if self.extent == Extent::All || self.wanted.iter().any(is_wanted) {
            return is_in_order.then_some(Fate::Written);
        }
        // Behind what is wanted, it would no longer be in order.
        let is_passed = self.wanted.back().is_some_and(|(from_ns, _)| *from_ns > frame.at_ns);
        if is_passed || frame.at_ns < newest_ns.saturating_sub(self.kept_for_ns()) {
            return Some(Fate::Forgotten);
        }
        is_full.then_some(Fate::CrowdedOut)
    }

    /// How long frames are kept that nothing was wanted of yet.
    fn kept_for_ns(&self) -> i64 {
        self.around_ns().saturating_add(NOTICE_NS)
    }

    fn forget_crowded_out(&mut self, oldest_ns: i64) {
        while self.crowded_out.front().is_some_and(|(end_ns, _)| *end_ns < oldest_ns) {
            self.crowded_out.pop_front();
        }
    }

    /// Remembers when a frame was for which there was no room.
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
        // Spans of time that are over: frames come in order.
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
            // A tag has 4 octets.
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

/// The next entry of a ring, and its frame.
fn next_of(ring: &mut Consumer<u8>, frame: &mut Vec<u8>) -> Option<RingEntry> {
    let mut header = [0; BYTES];
    copy_out(ring, &mut header)?;
    let entry = RingEntry::from_bytes(header);
    frame.resize(entry.length as usize, 0);
    // Header and frame were put in together.
    copy_out(ring, frame)?;
    Some(entry)
}

/// Fills `place` from the ring; `None`, and nothing taken, when the ring does not hold as much.
fn copy_out(ring: &mut Consumer<u8>, place: &mut [u8]) -> Option<()> {
    let chunk = ring.read_chunk(place.len()).ok()?;
    let (first, second) = chunk.as_slices();
    place[..first.len()].copy_from_slice(first);
    place[first.len()..].copy_from_slice(second);
    chunk.commit_all();
    Some(())
}
