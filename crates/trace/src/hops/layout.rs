//! Structures shared with the programs that time frames; as in `bpf/hops_layout.h`, which describes each field.

use super::PointKind;
use crate::layout::in_order;
use crate::stream::{ID_WORDS, StreamKey};
use units::Monotonic;
use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/hops_layout.rs"));

// There is one bit for each point.
const _: () = assert!(POINTS <= u8::BITS as usize);
const _: () = assert!(PointKind::ALL.len() == KINDS as usize);

/// A place that belongs to a point.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Place {
    pub(super) ifindex: u32,
    pub(super) netns: u32,
    pub(super) kind: u32,
    pub(super) number: u32,
    pub(super) parent: u32,
    pub(super) histogram: u32,
    pub(super) cell: u32,
    pub(super) is_shared: u32,
}

/// Variables that are set when the programs are loaded, by name.
pub(super) struct Globals {
    pub(super) places: [Place; PLACES],
    pub(super) place_count: u32,
    pub(super) wanted: [u64; KINDS as usize],
    pub(super) parents: [u32; POINTS],
    pub(super) point_count: u32,
    pub(super) always_there: u32,
    pub(super) cell_count: u32,
    pub(super) histogram_count: u32,
    pub(super) own_histograms: u32,
    pub(super) reads_in_place: u32,
    pub(super) most_streams: u32,
    pub(super) threshold_ns: u64,
    pub(super) all_events: u32,
    pub(super) first_by_nic: u32,
}

/// Variables that are set during the run.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Settings {
    pub(super) span: u64,
    pub(super) opened_at: u64,
    pub(super) closed_at: u64,
    pub(super) nic_behind: i64,
    pub(super) nic_until: u64,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Site {
    next: u32,
    last: u32,
}

/// Streams that came to the places on one CPU.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Sites {
    pub(super) used: u64,
    unused: [u64; 7],
    of: [Site; PLACES],
}

/// Identity of a stream.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct StreamInfo {
    pub(super) key: StreamKey,
    pub(super) vlan: u16,
    pub(super) id_octets: u16,
    pub(super) asdus: u32,
    pub(super) id: [u8; 8 * ID_WORDS],
}

/// Progress of a stream.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Progress {
    pub(super) last_at: u64,
    pub(super) silent_ns: u64,
    newest: u32,
    pub(super) reached: u32,
    pub(super) silences: u32,
    pub(super) turned: u32,
}

/// A frame on its way.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Entry {
    /// When the first point saw it, in ns of `CLOCK_MONOTONIC`.
    pub(super) first_at: u64,
    state: u32,
    offset_ns: [u32; POINTS - 1],
}

impl Entry {
    /// One bit for each point that saw it.
    pub(super) fn seen(&self) -> u8 {
        let later = self.offset_ns.iter().enumerate().filter(|(_, offset)| **offset > 0);
        later.fold(u8::from(self.state & SEEN != 0), |seen, (at, _)| seen | 2 << at)
    }

    /// True if it came twice.
    pub(super) fn is_doubtful(&self) -> bool {
        self.state & DOUBTFUL != 0
    }
}

/// The recorded frames of a stream, by smpCnt.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Table {
    pub(super) entries: [Entry; SLOTS],
}

/// The longest and shortest duration of a span.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Extreme {
    span: u32,
    max_ns: u32,
    min_ns: u32,
    total_max_ns: u32,
    total_min_ns: u32,
}

/// Counts of one CPU for a stream at a point by one kind of event.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Cell {
    prefix: u32,
    next: u32,
    pub(super) paired: u64,
    pub(super) sum_ns: u64,
    pub(super) total_sum_ns: u64,
    last_at: u64,
    extremes: [Extreme; 2],
    words: [u64; PREFIX / 8],
    pub(super) over: u64,
    pub(super) lost: u64,
    pub(super) duplicate: u64,
    pub(super) doubtful: u64,
    pub(super) again: u64,
    pub(super) stale: u64,
    pub(super) early: u64,
    pub(super) skipped: u64,
    pub(super) reordered: u64,
    pub(super) cut: u64,
    unused: [u64; 4],
}

impl Cell {
    /// Instant of the newest counted frame; `None` if there was none.
    pub(super) fn last(&self) -> Option<Monotonic> {
        let at = i64::try_from(self.last_at).ok();
        at.filter(|at| *at > 0).map(Monotonic::from_ns)
    }

    /// Longest and shortest duration of a span, since the point before and since the first, if there are any.
    pub(super) fn extremes(&self, span: u64) -> Option<Extremes> {
        let of = self.extremes[(span % 2) as usize];
        (of.span == span as u32).then(|| Extremes {
            hop: (of.min_ns.into(), of.max_ns.into()),
            total: (of.total_min_ns.into(), of.total_max_ns.into()),
        })
    }
}

/// Number of durations in each bucket.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Histogram {
    pub(super) buckets: [u32; BUCKETS],
}

/// A duration that is reported one by one.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Duration {
    pub(super) at: u64,
    pub(super) ns: u64,
    pub(super) thread: u32,
    pub(super) cpu: u32,
    pub(super) series: u32,
    pub(super) smp_cnt: u16,
    unused: u16,
}

/// Numbers of the trouble counters, in the order in which they are read.
pub(super) const OF_TROUBLES: [u32; TROUBLES as usize] =
    [MALFORMED, CUT_SHORT, NO_ROOM, UNKNOWN_STREAM, RING_FULL, UNSTAMPED];
const _: () = assert!(in_order(&OF_TROUBLES));

/// The number of a kind in the programs.
pub(super) fn kind_number(kind: PointKind) -> u32 {
    match kind {
        PointKind::Receive => RECEIVE,
        PointKind::Transmit => TRANSMIT,
        PointKind::Queue => QUEUE,
        PointKind::Offload => OFFLOAD,
        PointKind::Consume => CONSUME,
        PointKind::Read => READ,
    }
}

/// The durations that a bucket counts, in ns: above the first value, up to and including the second.
pub fn bucket_bounds(bucket: usize) -> (u64, u64) {
    let exact = 1 << SUB_BITS;
    if bucket < exact {
        return (bucket as u64, bucket as u64);
    }
    let shift = (bucket >> SUB_BITS) - 1;
    let low = ((exact + bucket % exact) as u64) << shift;
    (low, low + (1 << shift) - 1)
}

/// The bucket that counts a duration in ns. No duration below [`super::EXPIRY_NS`] is beyond the last one.
pub fn bucket_of(ns: u64) -> usize {
    if ns < 1 << SUB_BITS {
        return ns as usize;
    }
    let shift = ns.ilog2() as usize - SUB_BITS;
    ((shift + 1) << SUB_BITS) + ((ns >> shift) as usize & ((1 << SUB_BITS) - 1))
}

/// Shortest and longest duration, in ns, since the point before and since the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) hop: (u64, u64),
    pub(super) total: (u64, u64),
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, bucket_bounds, bucket_of};

    #[test]
    fn buckets_follow_each_other_without_gap_up_to_the_expiry() {
        let mut next = 0;
        for bucket in 0..BUCKETS {
            let (low, high) = bucket_bounds(bucket);
            assert_eq!(low, next, "bucket {bucket}");
            assert!(high >= low && (high - low) as f64 <= low as f64 / 64.0);
            assert_eq!([low, high].map(bucket_of), [bucket; 2]);
            next = high + 1;
        }
        assert_eq!(next, 1 << 29);
        assert!(next > super::super::EXPIRY_NS);
    }
}
