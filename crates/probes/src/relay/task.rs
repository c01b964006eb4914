//! The task: once a cycle, from samples to messages.

use super::RelayConfig;
use super::functions::{Decided, Functions};
use super::series::{Stage, TASK};
use crate::error::ProbeError;
use model::Counter;
use run::{Feed, Stop};
use sys::wait::Wait;
use units::{Grid, Monotonic};

/// Sources and destinations around the functions: the network, or other threads.
pub(super) trait Ends {
    /// Prepares for `start`.
    fn begin(&mut self, start: Monotonic);

    /// Passes received samples to the functions.
    fn receive(&mut self, functions: &mut Functions, feed: &mut Feed) -> Result<(), ProbeError>;

    /// Publishes the changes.
    fn send(&mut self, functions: &Functions, decided: &Decided, feed: &mut Feed) -> Result<(), ProbeError>;

    /// Ends the task; called once, after the last cycle.
    fn end(&mut self, feed: &mut Feed) -> Result<(), ProbeError>;
}

pub(super) struct Task<E> {
    task_ns: u64,
    duration_ns: Option<u64>,
    spin_ahead_ns: u64,
    functions: Functions,
    ends: E,
    stop: Stop,
}

impl<E: Ends> Task<E> {
    pub(super) fn new(config: &RelayConfig, functions: Functions, ends: E, stop: &Stop) -> Self {
        Self {
            task_ns: config.relay.task_ns,
            duration_ns: config.duration_ns,
            spin_ahead_ns: config.spin_ahead_ns,
            functions,
            ends,
            stop: stop.clone(),
        }
    }

    /// Runs a cycle at every due instant from `start` on, until the duration is over or a stop is requested.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.ends.begin(start);
        let ended = self.cycles(start, feed);
        let over = self.ends.end(feed);
        ended.and(over)
    }

    fn cycles(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let grid = Grid::every_ns(start, self.task_ns);
        let cycles = self.duration_ns.map(|ns| ns / self.task_ns);
        let wait = Wait::spinning_ahead(self.spin_ahead_ns);
        let mut cycle = 0;
        while cycles.is_none_or(|end| cycle < end) && !self.stop.requested() {
            let due = grid.due(cycle);
            let began = wait.until(due);
            if began < due {
                continue;
            }
            let ended = self.cycle(began, feed)?;
            feed.sample(TASK, ended, ended - began, cycle);
            let is_overrun = (ended - began).unsigned_abs() > self.task_ns;
            feed.count(TASK, Counter::Late, ended, u64::from(is_overrun));
            let next = grid.first_after(ended).max(cycle + 1);
            let next = cycles.map_or(next, |end| next.min(end).max(cycle + 1));
            feed.count(TASK, Counter::Missed, ended, next - cycle - 1);
            cycle = next;
        }
        Ok(())
    }

    /// Runs one cycle, which began at `began`; returns the instant of its end.
    fn cycle(&mut self, began: Monotonic, feed: &mut Feed) -> Result<Monotonic, ProbeError> {
        self.ends.receive(&mut self.functions, feed)?;
        let received = Stage::Receive.took(began, feed);
        let decided = self.functions.decide(received, feed);
        self.ends.send(&self.functions, &decided, feed)?;
        let sent = Stage::Send.took(decided.at, feed);
        Ok(self.functions.record(decided, sent, feed))
    }
}
