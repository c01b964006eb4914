//! Counts of the programs.

use super::HopSeries;
use super::layout;
use super::layout::{BUCKETS, Cell, bucket_bounds};
use crate::stream::vlan;
use model::{StreamId, StreamKind};
use units::Monotonic;
use wire::ether::Mac;
use zerocopy::FromBytes;

/// A stream as identified by its first frame at the first point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its number.
    pub number: u32,
    /// Destination address.
    pub destination: [u8; 6],
    /// Source address.
    pub source: [u8; 6],
    /// APPID.
    pub appid: u16,
    /// VLAN identifier.
    pub vlan: Option<u16>,
    /// Number of ASDUs in a frame.
    pub asdus: u8,
    /// svID as received.
    pub sv_id: Vec<u8>,
    /// How far it has come.
    pub progress: Progress,
}

impl StreamInfo {
    /// Identity of the stream.
    pub fn id(&self) -> StreamId {
        StreamId {
            destination: Some(Mac(self.destination)),
            source: Some(Mac(self.source)),
            vid: self.vlan,
            appid: Some(self.appid),
            ..StreamId::named(StreamKind::SampledValues, &self.sv_id)
        }
    }
}

/// Progress of a stream since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// When a frame last came to the first point; `None`: never.
    pub last: Option<Monotonic>,
    /// The longest of its silences there, in ns: see [`super::SILENCE_NS`].
    pub longest_silence_ns: u64,
    /// How often it was silent and then continued.
    pub silences: u32,
    /// How often smpCnt went back further than for frames out of order: once at each wrap.
    pub turned: u32,
    /// One bit for each point at which a frame of it was paired.
    pub reached: u8,
}

impl Progress {
    pub(super) fn of(progress: &layout::Progress) -> Self {
        Self {
            last: i64::try_from(progress.last_at)
                .ok()
                .filter(|last| *last > 0)
                .map(Monotonic::from_ns),
            longest_silence_ns: progress.silent_ns,
            silences: progress.silences,
            turned: progress.turned,
            reached: progress.reached as u8,
        }
    }
}

impl StreamInfo {
    /// `None` while the stream is being added.
    pub(super) fn of(number: u32, info: &layout::StreamInfo, progress: Progress) -> Option<Self> {
        let sv_id = info.id.get(..usize::from(info.id_octets))?;
        let [destination, source] = info.key.macs;
        (!sv_id.is_empty()).then(|| Self {
            number,
            destination,
            source,
            appid: info.key.appid,
            vlan: vlan(info.vlan),
            asdus: info.asdus as u8,
            sv_id: sv_id.to_vec(),
            progress,
        })
    }

    /// True if a frame of it was ever paired at a point.
    pub fn has_reached(&self, point: usize) -> bool {
        self.progress.reached >> point & 1 == 1
    }
}

/// Counts of a stream's frames at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HopCounts {
    /// Frames seen at the point.
    pub seen: u64,
    /// Frames paired with the point before: the number of durations.
    pub paired: u64,
    /// Durations over the threshold.
    pub over: u64,
    /// Frames seen at the point before, but never here.
    pub lost: u64,
    /// At the first point: frames that came again, within the expiry.
    pub duplicate: u64,
    /// Frames not paired, because each may be either of two.
    pub doubtful: u64,
    /// Frames that came here again: for another reader, or as a copy.
    pub again: u64,
    /// Frames not seen at the first point, or too long ago.
    pub stale: u64,
    /// Frames seen at the first point, but not at the one before.
    pub skipped: u64,
    /// Sum of the durations since the point before, in ns.
    pub sum_ns: u64,
    /// Sum of the durations since the first point, in ns, if that is not the point before.
    pub total_sum_ns: u64,
    /// At the first point: frames that came after a later one.
    pub reordered: u64,
    /// Frames that were shorter here than their own Length: not timed.
    pub cut: u64,
}

impl HopCounts {
    /// Sum of the counts of these cells.
    pub(super) fn of<'cell>(cells: impl Iterator<Item = &'cell Cell>, point: usize) -> Self {
        let mut sum = Self::default();
        for cell in cells {
            sum.add(&Self {
                seen: cell.paired + cell.doubtful + cell.again + cell.stale + cell.early + cell.skipped,
                paired: if point == 0 { 0 } else { cell.paired },
                over: cell.over,
                lost: cell.lost,
                duplicate: cell.duplicate,
                doubtful: cell.doubtful,
                again: cell.again,
                stale: cell.stale,
                skipped: cell.skipped,
                sum_ns: cell.sum_ns,
                total_sum_ns: cell.total_sum_ns,
                reordered: cell.reordered,
                cut: cell.cut,
            });
        }
        sum
    }

    /// Combines each counter of both with `of`.
    fn each(&self, other: &Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            seen: of(self.seen, other.seen),
            paired: of(self.paired, other.paired),
            over: of(self.over, other.over),
            lost: of(self.lost, other.lost),
            duplicate: of(self.duplicate, other.duplicate),
            doubtful: of(self.doubtful, other.doubtful),
            again: of(self.again, other.again),
            stale: of(self.stale, other.stale),
            skipped: of(self.skipped, other.skipped),
            sum_ns: of(self.sum_ns, other.sum_ns),
            total_sum_ns: of(self.total_sum_ns, other.total_sum_ns),
            reordered: of(self.reordered, other.reordered),
            cut: of(self.cut, other.cut),
        }
    }

    /// Counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.each(earlier, u64::saturating_sub)
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        *self = self.each(other, |count, more| count + more);
    }
}

/// Durations of a series over a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distribution {
    /// Number of durations in each bucket that has any; [`bucket_bounds`] gives a bucket's durations.
    pub buckets: Vec<(usize, u64)>,
    /// Shortest, in ns.
    pub min_ns: u64,
    /// Longest, in ns.
    pub max_ns: u64,
    /// Durations that were counted and are in no bucket, so that nothing else is known about them. Reported once no program runs
    /// any more.
    pub clipped: u64,
}

impl Distribution {
    /// The counts between two readings of a histogram whose counts wrap.
    pub(super) fn between(before: &[u32; BUCKETS], now: &[u32; BUCKETS]) -> Self {
        let differences = before.iter().zip(now).map(|(before, now)| now.wrapping_sub(*before));
        let buckets = differences.enumerate().filter(|(_, count)| *count > 0);
        Self {
            buckets: buckets.map(|(bucket, count)| (bucket, u64::from(count))).collect(),
            ..Self::default()
        }
    }

    /// Number of durations in buckets.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// Number of all durations.
    pub fn durations(&self) -> u64 {
        self.count() + self.clipped
    }

    /// Sets the extremes: the shortest and longest duration that the kernel kept for several spans, if they fit the outer buckets.
    /// A duration that was counted while the span changed is in the buckets of one span and in the extremes of the other. If no
    /// kept value fits, the end of the bucket is used: it is never better than the measured value.
    pub(super) fn with_extremes(mut self, kept: &[(u64, u64)]) -> Self {
        let (Some((first, _)), Some((last, _))) = (self.buckets.first(), self.buckets.last()) else {
            return self;
        };
        let (lowest, highest) = (bucket_bounds(*first), bucket_bounds(*last));
        let fits = |(low, high): (u64, u64)| move |ns: &u64| (low..=high).contains(ns);
        let shortest = kept.iter().map(|kept| kept.0).filter(fits(lowest)).min();
        let longest = kept.iter().map(|kept| kept.1).filter(fits(highest)).max();
        self.min_ns = shortest.unwrap_or(lowest.0);
        self.max_ns = longest.unwrap_or(highest.1);
        self
    }
}

/// Counts of one stream at one point since the last reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Number of the stream.
    pub stream: u32,
    /// Number of the point.
    pub point: usize,
    /// When the newest counted frame came to the point, by the programs' clock, because the reader may be late. `None`: there was
    /// none.
    pub until: Option<Monotonic>,
    /// Counters. `over` is never more than the durations of `hop`.
    pub counts: HopCounts,
    /// Durations since the point before; empty at the first point.
    pub hop: Distribution,
    /// Durations since the first point, if that is not the point before.
    pub total: Distribution,
}

/// One duration that was long enough to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration {
    /// Its series.
    pub series: HopSeries,
    /// When the frame came to the point.
    pub at: Monotonic,
    /// The duration in ns.
    pub ns: u64,
    /// The CPU on which the frame came.
    pub cpu: u32,
    /// The thread that ran there at that instant: it took the frame, or was interrupted.
    pub thread: i32,
    /// First smpCnt of the frame.
    pub smp_cnt: u16,
}

impl Duration {
    pub(super) fn of(octets: &[u8]) -> Option<Self> {
        let told = layout::Duration::read_from_bytes(octets).ok()?;
        Some(Self {
            at: Monotonic::from_ns(i64::try_from(told.at).ok()?),
            ns: told.ns,
            thread: told.thread.cast_signed(),
            cpu: told.cpu,
            series: HopSeries::of(told.series),
            smp_cnt: told.smp_cnt,
        })
    }
}

/// Reasons why frames could not be timed at all, with counts since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Troubles {
    /// Frames of EtherType 0x88BA that are not valid sampled values up to smpCnt.
    pub malformed: u64,
    /// Frames that end before their own Length, of streams without any complete frame.
    pub cut_short: u64,
    /// Frames of streams that there was no room for.
    pub no_room: u64,
    /// Frames at a later point, of streams that the first point has not seen.
    pub unknown_stream: u64,
    /// Long durations that were counted but not reported one by one, because the ring was full.
    pub not_told: u64,
    /// Runs that the kernel skipped because the same program was already running on the CPU.
    pub missed_runs: u64,
    /// Frames without a stamp of the NIC, or with a stamp whose instant is not known, if the first point is the NIC's.
    pub unstamped: u64,
}

#[cfg(test)]
mod tests {
    use super::Distribution;
    use crate::hops::layout::BUCKETS;

    #[test]
    fn differences_survive_counts_that_come_round() {
        let (mut before, mut now) = ([0u32; BUCKETS], [0u32; BUCKETS]);
        (before[70], now[70]) = (u32::MAX - 1, 3);
        (before[100], now[100]) = (7, 7);
        let found = Distribution::between(&before, &now);
        assert_eq!(found.buckets, [(70, 5)]);
        assert_eq!(found.count(), 5);
    }

    #[test]
    fn extremes_stay_within_the_outer_buckets() {
        let (before, mut now) = ([0u32; BUCKETS], [0u32; BUCKETS]);
        (now[10], now[200]) = (1, 1);
        let found = Distribution::between(&before, &now);
        let (low, high) = super::bucket_bounds(200);
        assert_eq!(found.clone().with_extremes(&[]).max_ns, high);
        let exact = found.clone().with_extremes(&[(10, low + 1)]);
        assert_eq!((exact.min_ns, exact.max_ns), (10, low + 1));
        let beyond = found.with_extremes(&[(10, high + 1)]);
        assert_eq!(
            beyond.max_ns, high,
            "not of these durations, and never better than they"
        );
    }

    #[test]
    fn one_counted_while_the_span_changed_is_found_in_the_other() {
        let (before, mut now) = ([0u32; BUCKETS], [0u32; BUCKETS]);
        (now[10], now[200]) = (1, 1);
        let found = Distribution::between(&before, &now);
        let (low, _) = super::bucket_bounds(200);
        let straddling = found.with_extremes(&[(10, 12), (11, low + 2)]);
        assert_eq!((straddling.min_ns, straddling.max_ns), (10, low + 2));
    }
}
