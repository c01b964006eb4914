//! The events of a replay in order of time, and their totals.

use crate::config::Config;
use crate::events::{Change, Event, Subject};
use protection::measure::Blocks;

/// Maximum number of kept rows; further ones are only counted.
const MOST_ROWS: usize = 100_000;

/// A change, with the time since its function started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The change.
    pub event: Event,
    /// Instant of the change, in ns after sample 0.
    pub at_ns: u64,
    /// Time since the start in ns, for a function that operates or resets.
    pub since_start_ns: Option<u64>,
}

/// Totals of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of starts.
    pub starts: u64,
    /// Number of operations.
    pub operates: u64,
    /// Instant of the first start, in ns after sample 0.
    pub first_start_ns: Option<u64>,
    /// Instant of the first operation, in ns after sample 0.
    pub first_operate_ns: Option<u64>,
    /// Total time blocked, in ns.
    pub blocked_ns: u64,
    /// All reasons for which it was blocked.
    pub reasons: Blocks,
    /// Instants since which it has been started, or blocked.
    started_ns: Option<u64>,
    since_ns: Option<u64>,
}

/// The events and their totals.
#[derive(Debug, Clone)]
pub struct Story {
    rate: f64,
    /// Rows in order of time.
    pub rows: Vec<Row>,
    /// Number of rows beyond the maximum.
    pub left_out: u64,
    /// Totals of the functions.
    pub functions: Vec<Tally>,
    /// Totals of the trips.
    pub trips: Vec<Tally>,
    /// Totals of the breaker failure functions of the trips.
    pub breakers: Vec<Tally>,
    /// Totals of the streams.
    pub streams: Vec<Tally>,
}

impl Story {
    pub(super) fn new(config: &Config, rate: f64) -> Self {
        let tallies = |count| vec![Tally::default(); count];
        Self {
            rate,
            rows: Vec::new(),
            left_out: 0,
            functions: tallies(config.functions.len()),
            trips: tallies(config.trips.len()),
            breakers: tallies(config.trips.len()),
            streams: tallies(config.streams.len()),
        }
    }

    /// Instant of a sample in ns after sample 0.
    #[must_use]
    pub fn ns(&self, sample: u64) -> u64 {
        (sample as f64 / self.rate * 1e9).round() as u64
    }

    pub(super) fn tell(&mut self, events: &[Event]) {
        for event in events {
            let at_ns = self.ns(event.at);
            let since_start_ns = self
                .tally(event.subject)
                .and_then(|tally| tally.take(event.change, at_ns));
            if self.rows.len() == MOST_ROWS {
                self.left_out += 1;
                continue;
            }
            self.rows.push(Row {
                event: *event,
                at_ns,
                since_start_ns,
            });
        }
    }

    fn tally(&mut self, subject: Subject) -> Option<&mut Tally> {
        match subject {
            Subject::Function(number) => self.functions.get_mut(number),
            Subject::Trip(number) => self.trips.get_mut(number),
            Subject::Breaker(number) => self.breakers.get_mut(number),
            Subject::Stream(number) => self.streams.get_mut(number),
            Subject::Fuse(_) | Subject::Swing(_) | Subject::HostClock => None,
        }
    }

    /// Ends the file with sample `last`: a subject still blocked counts as blocked until then.
    pub(super) fn end(&mut self, last: u64) {
        let at_ns = self.ns(last);
        let all = [
            &mut self.functions,
            &mut self.trips,
            &mut self.breakers,
            &mut self.streams,
        ];
        for tally in all.into_iter().flatten() {
            tally.release(at_ns);
        }
    }
}

impl Tally {
    /// Adds a change; returns the ns since the start for a function that operates or resets.
    fn take(&mut self, change: Change, at_ns: u64) -> Option<u64> {
        let since_start = self.started_ns.map(|started| at_ns - started);
        match change {
            Change::Start(..) => {
                if self.started_ns.is_none() {
                    self.starts += 1;
                    self.started_ns = Some(at_ns);
                    self.first_start_ns.get_or_insert(at_ns);
                }
                None
            }
            Change::Operate(_) | Change::Backtrip => {
                self.operates += 1;
                self.first_operate_ns.get_or_insert(at_ns);
                since_start
            }
            Change::Reset => {
                self.started_ns = None;
                since_start
            }
            Change::Blocked(reasons) => {
                self.reasons |= reasons;
                self.since_ns.get_or_insert(at_ns);
                None
            }
            Change::Released => {
                self.release(at_ns);
                None
            }
            Change::Samples(_) | Change::Restart | Change::Implausible(_) | Change::Synch(_) | Change::Ptp(_) => None,
        }
    }

    fn release(&mut self, at_ns: u64) {
        if let Some(since) = self.since_ns.take() {
            self.blocked_ns += at_ns.saturating_sub(since);
        }
    }
}
