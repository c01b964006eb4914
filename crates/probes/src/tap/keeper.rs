//! The other end of the ring: keeps the last seconds, writes what is wanted.

use super::Extent;
use super::entry::{BYTES, Entry, Kind};
use crate::record::SpikeSignal;
use capture::{Captured, Direction, PcapngWriter};
use rtrb::Consumer;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

/// How often the ring is emptied.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// Most octets kept, whatever the time they cover.
pub(super) const MOST_KEPT: usize = 64 << 20;

/// How much longer frames are kept than they are wanted before a spike: the recorder tells of it some time later.
const NOTICE_NS: i64 = 300_000_000;

/// Spans of time by which frames are counted that there was no room for.
const SPANS: i64 = 1_024;

/// Octets of the two addresses, behind which a VLAN tag stands.
const ADDRESSES: usize = 12;

/// Keeps and writes.
pub(super) struct Keeper<W> {
    ring: Consumer<u8>,
    writer: PcapngWriter<W>,
    extent: Extent,
    signal: SpikeSignal,
    /// The first spike that no frame was marked for, `CLOCK_MONOTONIC`.
    spike_ns: i64,
    /// Entries of the last seconds, one after the other.
    kept: VecDeque<u8>,
    /// Most octets of them.
    most_kept: usize,
    /// What there was no room for among them: the end of a span of time, and how many frames of it.
    crowded_out: VecDeque<(i64, u64)>,
    /// Of these, frames that were wanted after all.
    left_out: u64,
    /// Instant of the newest frame, `CLOCK_MONOTONIC`.
    newest_ns: i64,
    /// `CLOCK_MONOTONIC` instant up to which everything is written.
    write_until_ns: i64,
    /// Whether a frame at or after the spike is still to be marked.
    is_unmarked: bool,
    /// What `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`.
    ahead_ns: i64,
    frame: Vec<u8>,
    written: u64,
}

/// What a keeper came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kept {
    /// Frames in the file.
    pub(super) written: u64,
    /// Frames that are wanted and not in it, since there was no room to keep them until that was known.
    pub(super) left_out: u64,
}

impl<W: Write> Keeper<W> {
    pub(super) fn new(
        ring: Consumer<u8>,
        writer: PcapngWriter<W>,
        extent: Extent,
        signal: SpikeSignal,
        most_kept: usize,
    ) -> Self {
        Self {
            ring,
            writer,
            extent,
            signal,
            spike_ns: i64::MIN,
            kept: VecDeque::new(),
            most_kept,
            crowded_out: VecDeque::new(),
            left_out: 0,
            newest_ns: i64::MIN,
            write_until_ns: i64::MIN,
            is_unmarked: false,
            ahead_ns: 0,
            frame: Vec::new(),
            written: 0,
        }
    }

    /// Takes what is in the ring.
    pub(super) fn take(&mut self) -> io::Result<()> {
        let pair = sys::clock::pair();
        self.ahead_ns = pair.realtime.as_ns() - pair.monotonic.as_ns();
        self.look_for_spikes()?;
        while let Some(entry) = self.next_entry() {
            self.place(&entry)?;
        }
        Ok(())
    }

    fn look_for_spikes(&mut self) -> io::Result<()> {
        let Some((first, last)) = self.signal.take() else {
            return Ok(());
        };
        if !self.is_unmarked {
            self.spike_ns = first.as_ns();
            self.is_unmarked = true;
        }
        let Extent::Around(ns) = self.extent else {
            return Ok(());
        };
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        let until_ns = last.as_ns().saturating_add(ns);
        self.write_until_ns = self.write_until_ns.max(until_ns);
        self.write_kept(first.as_ns().saturating_sub(ns), until_ns)
    }

    /// Writes what is wanted of what is kept, and closes the file.
    pub(super) fn finish(mut self, missed: u64) -> io::Result<Kept> {
        self.take()?;
        if let Extent::Around(ns) = self.extent {
            let ns = i64::try_from(ns).unwrap_or(i64::MAX);
            // From the last frame on, not from now: it may be long ago.
            self.write_kept(self.newest_ns.saturating_sub(ns), i64::MAX)?;
        }
        let now_ns = sys::clock::realtime().as_ns();
        self.writer.finish(now_ns, missed + self.left_out)?;
        Ok(Kept {
            written: self.written,
            left_out: self.left_out,
        })
    }

    /// The next entry of the ring, what follows it in `frame`.
    fn next_entry(&mut self) -> Option<Entry> {
        let mut header = [0; BYTES];
        copy_out(&mut self.ring, &mut header)?;
        let entry = Entry::from_bytes(header);
        self.frame.resize(entry.length as usize, 0);
        // Header and frame were put in together.
        copy_out(&mut self.ring, &mut self.frame)?;
        Some(entry)
    }

    fn place(&mut self, entry: &Entry) -> io::Result<()> {
        let at_ns = self.monotonic(entry);
        self.newest_ns = self.newest_ns.max(at_ns);
        match self.extent {
            Extent::All => self.write(entry),
            Extent::Around(_) if at_ns <= self.write_until_ns => self.write(entry),
            Extent::Around(ns) => {
                self.kept.extend(entry.to_bytes());
                self.kept.extend(&self.frame);
                let wanted_ns = i64::try_from(ns).unwrap_or(i64::MAX).saturating_add(NOTICE_NS);
                self.forget_before(at_ns.saturating_sub(wanted_ns));
                self.make_room(wanted_ns);
                Ok(())
            }
        }
    }

    fn forget_before(&mut self, oldest_ns: i64) {
        while let Some(first) = self.first_kept().filter(|first| self.monotonic(first) < oldest_ns) {
            self.kept.drain(..first.octets());
        }
        while self.crowded_out.front().is_some_and(|(end_ns, _)| *end_ns < oldest_ns) {
            self.crowded_out.pop_front();
        }
    }

    /// Forgets the oldest frames that there is no room for, and remembers how many and from when: frames are wanted for
    /// `wanted_ns`.
    fn make_room(&mut self, wanted_ns: i64) {
        let span_ns = (wanted_ns / SPANS).max(1);
        while self.kept.len() > self.most_kept
            && let Some(first) = self.first_kept()
        {
            self.kept.drain(..first.octets());
            let end_ns = (self.monotonic(&first) / span_ns + 1) * span_ns;
            match self.crowded_out.back_mut().filter(|(known_ns, _)| *known_ns >= end_ns) {
                Some((_, count)) => *count += 1,
                None => self.crowded_out.push_back((end_ns, 1)),
            }
        }
    }

    fn first_kept(&self) -> Option<Entry> {
        let mut header = [0; BYTES];
        if self.kept.len() < BYTES {
            return None;
        }
        for (place, octet) in header.iter_mut().zip(&self.kept) {
            *place = *octet;
        }
        Some(Entry::from_bytes(header))
    }

    /// Writes the kept frames from `from_ns` to `until_ns`, forgets those before, and counts those that are wanted and gone.
    fn write_kept(&mut self, from_ns: i64, until_ns: i64) -> io::Result<()> {
        self.forget_before(from_ns);
        while let Some((_, count)) = self.crowded_out.front().filter(|(end_ns, _)| *end_ns <= until_ns) {
            self.left_out += count;
            self.crowded_out.pop_front();
        }
        while let Some(entry) = self.first_kept().filter(|entry| self.monotonic(entry) <= until_ns) {
            self.kept.drain(..BYTES);
            self.frame.clear();
            self.frame.extend(self.kept.drain(..entry.length as usize));
            self.write(&entry)?;
        }
        Ok(())
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let direction = match entry.kind {
            Kind::Sent => Direction::Outbound,
            Kind::Received | Kind::ReceivedAt => Direction::Inbound,
        };
        let marks = self.is_unmarked && self.monotonic(entry) >= self.spike_ns;
        self.is_unmarked &= !marks;
        let data = &self.frame[..];
        let tag = entry.tag.filter(|_| data.len() >= ADDRESSES);
        let tag_octets = tag.map(|tag| {
            let [a, b] = tag.tpid.to_be_bytes();
            let [c, d] = tag.tci.to_be_bytes();
            [a, b, c, d]
        });
        let tag_octets = tag_octets.as_ref().map_or(&[][..], |octets| &octets[..]);
        let (addresses, rest) = data.split_at(data.len().min(ADDRESSES));
        self.writer.write(&Captured {
            time_ns: self.monotonic(entry) + self.ahead_ns,
            direction,
            pieces: &[addresses, tag_octets, rest],
            // A tag has 4 octets.
            original_len: entry.original_len + tag_octets.len() as u32,
            comment: marks
                .then_some("triptime: a sample over its threshold, or a loss, was noticed just before this frame"),
        })?;
        self.written += 1;
        Ok(())
    }

    fn monotonic(&self, entry: &Entry) -> i64 {
        match entry.kind {
            Kind::ReceivedAt => entry.at_ns - self.ahead_ns,
            _ => entry.at_ns,
        }
    }
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
