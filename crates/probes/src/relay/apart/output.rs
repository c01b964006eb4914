//! The sending thread: sends when a member has changed, and when a repetition is due.

use super::{Changed, OutputEnd};
use crate::error::ProbeError;
use crate::port::Publisher;
use crate::relay::outputs::Outputs;
use crate::relay::series::{TASK, WAKE, tell_refused};
use model::Counter;
use run::{Feed, Stop};
use units::{Monotonic, Ns};

/// Longest sleep of the thread before it checks for a stop.
const LOOK_NS: i64 = 100_000_000;

pub(in crate::relay) struct Output {
    outputs: Outputs,
    publisher: Publisher,
    end: OutputEnd,
    task_ns: u64,
    duration_ns: Option<u64>,
    stop: Stop,
    sent: u64,
}

impl Output {
    pub(in crate::relay) fn new(
        outputs: Outputs,
        publisher: Publisher,
        end: OutputEnd,
        task_ns: u64,
        stop: &Stop,
    ) -> Self {
        Self {
            outputs,
            publisher,
            end,
            task_ns,
            duration_ns: None,
            stop: stop.clone(),
            sent: 0,
        }
    }

    /// Duration after which the thread ends.
    pub(in crate::relay) fn lasting(mut self, duration_ns: Option<u64>) -> Self {
        self.duration_ns = duration_ns;
        self
    }

    /// Sends from `start` on, until the duration is over or a stop is requested.
    pub(in crate::relay) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        sys::wait::sleep_until(start);
        self.outputs.begin(start);
        let outcome = self.turns(start, feed).inspect_err(|_| self.stop.request());
        let refused = self.end.from.refused();
        tell_refused(refused, sys::clock::monotonic(), feed);
        outcome
    }

    fn turns(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let end = self.duration_ns.map(|ns| start + Ns(ns));
        let mut now = sys::clock::monotonic();
        while !self.stop.requested() && end.is_none_or(|end| now < end) {
            self.changes(feed)?;
            self.repetitions(feed)?;
            let look = sys::clock::monotonic() + LOOK_NS;
            let wake = [self.outputs.due(), end]
                .into_iter()
                .flatten()
                .fold(look, Monotonic::min);
            self.end.bell.wait_until(wake);
            now = sys::clock::monotonic();
        }
        Ok(())
    }

    /// Sends the changes one after the other.
    fn changes(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        while let Some(changed) = self.end.from.pop() {
            match changed {
                Changed::Member(told) => self.outputs.follow(told),
                Changed::Blocks { blocks, at } => {
                    let now = sys::clock::monotonic();
                    feed.sample(WAKE, now, now - at, self.sent);
                    self.send(at, now, blocks, feed)?;
                }
            }
        }
        let refused = self.end.from.first_refused();
        tell_refused(refused, sys::clock::monotonic(), feed);
        Ok(())
    }

    fn repetitions(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let now = sys::clock::monotonic();
        match self.outputs.due().filter(|due| *due <= now) {
            Some(due) => self.send(due, now, 0, feed),
            None => Ok(()),
        }
    }

    /// Sends the message that was due at `due`, at `now`.
    fn send(&mut self, due: Monotonic, now: Monotonic, blocks: u64, feed: &mut Feed) -> Result<(), ProbeError> {
        self.outputs.send(now, blocks, |frame| self.publisher.publish(frame))?;
        let sent = sys::clock::monotonic();
        feed.sample(TASK, sent, sent - due, self.sent);
        let is_overrun = (sent - due).unsigned_abs() > self.task_ns;
        feed.count(TASK, Counter::Late, sent, u64::from(is_overrun));
        self.sent += 1;
        Ok(())
    }
}
