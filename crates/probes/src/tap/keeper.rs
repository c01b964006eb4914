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
const MOST_KEPT: usize = 64 << 20;

/// How much longer frames are kept than they are wanted before a spike: the recorder tells of it some time later.
const NOTICE_NS: i64 = 300_000_000;

/// Octets of the two addresses, behind which a VLAN tag stands.
const ADDRESSES: usize = 12;

/// Keeps and writes.
pub(super) struct Keeper<W> {
    ring: Consumer<u8>,
    writer: PcapngWriter<W>,
    extent: Extent,
    signal: SpikeSignal,
    /// The newest spike that was heard of, `CLOCK_MONOTONIC`.
    spike_ns: i64,
    /// Entries of the last seconds, one after the other.
    kept: VecDeque<u8>,
    /// `CLOCK_MONOTONIC` instant up to which everything is written.
    write_until_ns: i64,
    /// Whether a frame at or after the spike is still to be marked.
    is_unmarked: bool,
    /// What `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`.
    ahead_ns: i64,
    frame: Vec<u8>,
    written: u64,
}

impl<W: Write> Keeper<W> {
    pub(super) fn new(ring: Consumer<u8>, writer: PcapngWriter<W>, extent: Extent, signal: SpikeSignal) -> Self {
        Self {
            ring,
            writer,
            extent,
            signal,
            spike_ns: i64::MIN,
            kept: VecDeque::new(),
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
        let Some(newest) = self.signal.newest().filter(|newest| newest.as_ns() > self.spike_ns) else {
            return Ok(());
        };
        self.spike_ns = newest.as_ns();
        self.is_unmarked = true;
        let Extent::Around(ns) = self.extent else {
            return Ok(());
        };
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        self.write_until_ns = self.spike_ns.saturating_add(ns);
        self.forget_before(self.spike_ns.saturating_sub(ns));
        self.write_kept()
    }

    /// Writes what is kept, and closes the file; returns how many frames are in it.
    pub(super) fn finish(mut self, missed: u64) -> io::Result<u64> {
        self.take()?;
        if let Extent::Around(ns) = self.extent {
            let newest_ns = sys::clock::monotonic().as_ns();
            self.forget_before(newest_ns.saturating_sub(i64::try_from(ns).unwrap_or(i64::MAX)));
        }
        self.write_kept()?;
        let now_ns = sys::clock::realtime().as_ns();
        self.writer.finish(now_ns, missed)?;
        Ok(self.written)
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
        match self.extent {
            Extent::All => self.write(entry),
            Extent::Around(_) if self.monotonic(entry) <= self.write_until_ns => self.write(entry),
            Extent::Around(ns) => {
                self.kept.extend(entry.to_bytes());
                self.kept.extend(&self.frame);
                let wanted_ns = i64::try_from(ns).unwrap_or(i64::MAX).saturating_add(NOTICE_NS);
                self.forget_before(self.monotonic(entry).saturating_sub(wanted_ns));
                Ok(())
            }
        }
    }

    fn forget_before(&mut self, oldest_ns: i64) {
        while let Some(first) = self.first_kept() {
            if self.monotonic(&first) >= oldest_ns && self.kept.len() <= MOST_KEPT {
                break;
            }
            self.kept.drain(..first.octets());
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

    fn write_kept(&mut self) -> io::Result<()> {
        while let Some(entry) = self.first_kept() {
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
