//! The round trips of a run: noted when they come, then counted and recorded in groups.

use super::notice::Notice;
use super::{ReflectConfig, series};
use model::Counter;
use run::{Feed, Stop};
use units::{Monotonic, Ns, SignedNs};
use wire::test_frame::Summary;

/// Number of round trips noted before they are counted and recorded. As with the reflector's answers, code that runs once in so
/// many frames does not evict the kernel's code from the instruction cache with each frame.
const NOTED: usize = 8;

/// A measured round trip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) rtt_ns: i64,
    pub(super) sequence: u64,
    pub(super) at: Monotonic,
    pub(super) reordered: bool,
}

impl Measured {
    /// An empty slot for a note.
    const NONE: Self = Self {
        rtt_ns: 0,
        sequence: 0,
        at: Monotonic::from_ns(0),
        reordered: false,
    };
}

/// Counts of the round trips, and notes not yet counted.
pub(super) struct RoundTrips {
    late_after_ns: u64,
    break_above_ns: Option<u64>,
    /// Set when a round trip is above this.
    stop: Stop,
    counted: Summary,
    sum_ns: u64,
    noted: [Measured; NOTED],
    notes: usize,
}

impl RoundTrips {
    pub(super) fn new(config: &ReflectConfig, stop: Stop) -> Self {
        Self {
            late_after_ns: config.late_after_ns,
            break_above_ns: config.break_above_ns,
            stop,
            counted: Summary::default(),
            sum_ns: 0,
            noted: [Measured::NONE; NOTED],
            notes: 0,
        }
    }

    /// Counts so far.
    pub(super) fn summary(&self) -> Summary {
        Summary {
            mean_ns: self.sum_ns.checked_div(self.counted.received).unwrap_or(0),
            ..self.counted
        }
    }

    /// Counts a sent probe.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.counted.sent += 1;
    }

    /// Counts a repeated answer.
    pub(super) fn duplicate(&mut self, at: Monotonic, feed: &mut Feed) {
        self.counted.duplicate += 1;
        feed.count(series::RTT, Counter::Duplicate, at, 1);
    }

    /// Notes a round trip; when the notes are full, counts and records them.
    #[inline]
    pub(super) fn note(&mut self, measured: Measured, feed: &mut Feed) {
        self.noted[self.notes] = measured;
        self.notes += 1;
        let breaks = |most| SignedNs(measured.rtt_ns) > Ns(most);
        if self.notes == NOTED || self.break_above_ns.is_some_and(breaks) {
            self.record(feed);
        }
    }

    /// Counts and records the noted round trips.
    #[inline(never)]
    pub(super) fn record(&mut self, feed: &mut Feed) {
        let noted = self.noted;
        for measured in &noted[..std::mem::take(&mut self.notes)] {
            self.measured(measured, feed);
        }
    }

    fn measured(&mut self, measured: &Measured, feed: &mut Feed) {
        let Measured {
            rtt_ns,
            sequence,
            at: now,
            reordered,
        } = *measured;
        feed.sample(series::RTT, now, rtt_ns, sequence);
        let rtt_ns = u64::try_from(rtt_ns).unwrap_or(0);
        let late = rtt_ns > self.late_after_ns;
        feed.count(series::RTT, Counter::Late, now, u64::from(late));
        feed.count(series::RTT, Counter::Reordered, now, u64::from(reordered));
        self.sum_ns = self.sum_ns.saturating_add(rtt_ns);
        let counted = &mut self.counted;
        counted.min_ns = if counted.received == 0 {
            rtt_ns
        } else {
            counted.min_ns.min(rtt_ns)
        };
        counted.max_ns = counted.max_ns.max(rtt_ns);
        counted.received += 1;
        counted.reordered += u64::from(reordered);
        if self.break_above_ns.is_some_and(|most| rtt_ns > most) {
            feed.notice(series::RTT, Notice::Break, now, rtt_ns, sequence);
            self.stop.request();
        }
    }
}
