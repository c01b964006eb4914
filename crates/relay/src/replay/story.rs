//! The events of a replay, in order, and in sum.

use crate::config::Config;
use crate::events::{Change, Event, Subject};
use protection::measure::Blocks;

/// Most rows that are kept; more are counted.
const MOST_ROWS: usize = 100_000;

/// A change, and how long after the start of its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The change.
    pub event: Event,
    /// When, in ns after sample 0.
    pub at_ns: u64,
    /// For what operates or resets: ns since it started.
    pub since_start_ns: Option<u64>,
}

/// A subject in sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often it started.
    pub starts: u64,
    /// How often it operated.
    pub operates: u64,
    /// First start, in ns after sample 0.
    pub first_start_ns: Option<u64>,
    /// First operation, in ns after sample 0.
    pub first_operate_ns: Option<u64>,
    /// How long it was blocked, in ns.
    pub blocked_ns: u64,
    /// Why it was blocked, all reasons together.
    pub reasons: Blocks,
    /// Since when it has started, is blocked.
    started_ns: Option<u64>,
    since_ns: Option<u64>,
}

/// The events and their sum.
#[derive(Debug, Clone)]
pub struct Story {
    rate: f64,
    /// In the order of time.
    pub rows: Vec<Row>,
    /// Rows that there was no room for.
    pub left_out: u64,
    /// The functions in sum.
    pub functions: Vec<Tally>,
    /// The trips in sum.
    pub trips: Vec<Tally>,
    /// The breaker failure functions behind the trips in sum.
    pub breakers: Vec<Tally>,
    /// The streams in sum.
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
        }
    }

    /// The file ends with sample `last`: what is blocked then has been until then.
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
    /// Takes a change; ns since the start for what operates or resets.
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
            Change::Samples(_) | Change::Restart | Change::Synch(_) => None,
        }
    }

    fn release(&mut self, at_ns: u64) {
        if let Some(since) = self.since_ns.take() {
            self.blocked_ns += at_ns.saturating_sub(since);
        }
    }
}
