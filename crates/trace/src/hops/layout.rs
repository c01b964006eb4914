//! How `bpf/hops.bpf.c` lays its maps out.

/// Points of a tracer.
pub(super) const POINTS: usize = 6;
/// Places that are points, of all kinds of events.
pub(super) const PLACES: usize = 24;
/// Frames of a stream that are remembered, by smpCnt.
const SLOTS: usize = 2048;
/// Words of a stream's table of frames.
pub(super) const TABLE_WORDS: usize = SLOTS * ENTRY_WORDS;
const ENTRY_WORDS: usize = 4;
/// Buckets of a histogram.
pub const BUCKETS: usize = 1536;
/// Buckets of an octave, as a power of two.
const SUB_BITS: usize = 6;
/// Words of what is known of a stream.
pub(super) const INFO_WORDS: usize = 22;
/// Words of a cell of counters.
pub(super) const CELL_WORDS: usize = 12;
/// Words of a cell of extremes.
pub(super) const EXTREME_WORDS: usize = 4;
/// Counters of troubles.
pub(super) const TROUBLES: usize = 4;
/// Octets of a duration in the ring.
pub(super) const DURATION_OCTETS: usize = 32;
/// Words of the settings.
pub(super) const SETTING_WORDS: usize = 6 + POINTS;

const DOUBTFUL: u32 = 1 << 31;
const SEEN_SHIFT: u32 = 16;

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
        let state = words[1] as u32;
        Entry {
            first_at_ns: words[0],
            seen: (state >> SEEN_SHIFT) as u8 & 0x3f,
            doubtful: state & DOUBTFUL != 0,
        }
    })
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
