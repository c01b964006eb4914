//! How `bpf/hops.bpf.c` lays its maps out.

/// Points of a tracer.
pub(super) const POINTS: usize = 6;
/// Places that are points, of all kinds of events.
pub(super) const PLACES: usize = 16;
/// Frames of a stream that are remembered, by smpCnt.
const SLOTS: usize = 2048;
/// Words of a stream's table of frames.
pub(super) const TABLE_WORDS: usize = SLOTS * ENTRY_WORDS;
const ENTRY_WORDS: usize = 4;
const ENTRY_HALVES: usize = 2 * ENTRY_WORDS;
/// Buckets of a histogram.
pub const BUCKETS: usize = 1536;
/// Buckets of an octave, as a power of two.
const SUB_BITS: usize = 6;
/// Words of what is known of a stream.
pub(super) const INFO_WORDS: usize = 21;
/// Words of what is counted of a stream at a point by one kind of event.
pub(super) const CELL_WORDS: usize = 40;
/// Words of what came to the places on one CPU; the first is 0 if nothing did.
pub(super) const SITES_WORDS: usize = 8 + PLACES;
/// Words of a cell before its extremes, and behind them and the prefix.
const EXTREMES_AT: usize = 4;
const COUNTERS_AT: usize = 25;
const COUNTERS: usize = 10;
/// Halves of words of the extremes of a span.
const EXTREME_HALVES: usize = 5;
/// Counters of troubles.
pub(super) const TROUBLES: usize = 5;
/// Words of how far a stream has come.
pub(super) const PROGRESS_WORDS: usize = 4;
/// Octets of a duration in the ring.
pub(super) const DURATION_OCTETS: usize = 32;
/// Words of the settings.
pub(super) const SETTING_WORDS: usize = 3;

const SEEN: u32 = 1 << 16;
const DOUBTFUL: u32 = 1 << 31;

/// The durations that a bucket counts, in ns: from the first up to and including the second.
pub fn bucket_bounds(bucket: usize) -> (u64, u64) {
    let exact = 1 << SUB_BITS;
    if bucket < exact {
        return (bucket as u64, bucket as u64);
    }
    let shift = (bucket >> SUB_BITS) - 1;
    let low = ((exact + bucket % exact) as u64) << shift;
    (low, low + (1 << shift) - 1)
}

/// A frame under way, as the programs remember it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// When the first point saw it, in ns of `CLOCK_MONOTONIC`.
    pub(super) first_at_ns: u64,
    /// A bit per point that saw it.
    pub(super) seen: u8,
    /// It came twice.
    pub(super) doubtful: bool,
}

/// The frames of a stream's table.
pub(super) fn entries(table: &[u64; TABLE_WORDS]) -> impl Iterator<Item = Entry> + '_ {
    let (entries, _) = table.as_chunks::<ENTRY_WORDS>();
    entries.iter().map(|words| {
        let halves: [u32; ENTRY_HALVES] = std::array::from_fn(|at| half(words, at));
        let [_, _, state, offsets @ ..] = halves;
        let later = offsets.iter().enumerate().filter(|(_, offset)| **offset > 0);
        Entry {
            first_at_ns: words[0],
            seen: later.fold(u8::from(state & SEEN != 0), |seen, (at, _)| seen | 2 << at),
            doubtful: state & DOUBTFUL != 0,
        }
    })
}

/// The half of a word at this place of all halves.
fn half(words: &[u64], at: usize) -> u32 {
    (words[at / 2] >> (32 * (at % 2))) as u32
}

/// What one CPU counted of a stream at a point by one kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// At the first point: frames that came.
    pub(super) paired: u64,
    pub(super) sum_ns: u64,
    pub(super) total_sum_ns: u64,
    /// Over, lost, duplicate, doubtful, again, stale, early, skipped, reordered, cut.
    pub(super) counters: [u64; COUNTERS],
    extremes: [[u32; EXTREME_HALVES]; 2],
}

impl Cell {
    pub(super) fn of(words: &[u64; CELL_WORDS]) -> Self {
        let extreme = |which: usize| std::array::from_fn(|at| half(&words[EXTREMES_AT..], EXTREME_HALVES * which + at));
        Self {
            paired: words[1],
            sum_ns: words[2],
            total_sum_ns: words[3],
            counters: std::array::from_fn(|at| words[COUNTERS_AT + at]),
            extremes: [extreme(0), extreme(1)],
        }
    }

    /// Longest and shortest of a span, since the point before and since the first, as far as there are any.
    pub(super) fn extremes(&self, span: u64) -> Option<Extremes> {
        let [of, max_ns, min_ns, total_max_ns, total_min_ns] = self.extremes[(span % 2) as usize];
        (of == span as u32).then(|| Extremes {
            hop: (min_ns.into(), max_ns.into()),
            total: (total_min_ns.into(), total_max_ns.into()),
        })
    }
}

/// Shortest and longest, in ns, since the point before and since the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) hop: (u64, u64),
    pub(super) total: (u64, u64),
}

impl Extremes {
    pub(super) fn and(self, other: Self) -> Self {
        let both = |one: (u64, u64), two: (u64, u64)| (one.0.min(two.0), one.1.max(two.1));
        Self {
            hop: both(self.hop, other.hop),
            total: both(self.total, other.total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, bucket_bounds};

    #[test]
    fn buckets_follow_each_other_without_gap_up_to_the_expiry() {
        let mut next = 0;
        for bucket in 0..BUCKETS {
            let (low, high) = bucket_bounds(bucket);
            assert_eq!(low, next, "bucket {bucket}");
            assert!(high >= low && (high - low) as f64 <= low as f64 / 64.0);
            next = high + 1;
        }
        assert_eq!(next, 1 << 29);
        assert!(next > super::super::EXPIRY_NS);
    }
}
