//! One stream: its numbers, and the time between its frames.

use super::decode::{Key, Mark, Number};
use super::order::{Order, Step};
use super::series::{notice, slot};
use crate::reception::Arrival;
use crate::record::{Counter, Feed};
use units::{Monotonic, Realtime};

/// A counter this many behind the newest one is late; further behind, it has wrapped.
const LATE_COUNTS: u32 = 16;

/// New starts of one stream that are told one by one; two talkers in one stream would fill the run with them.
const RESTARTS_TOLD: u64 = 20;

/// How a stream is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) interval_ns: u64,
    pub(super) late_after_ns: u64,
}

pub(super) struct Stream {
    pub(super) key: Key,
    number: u16,
    pace: Pace,
    order: Order,
    session: Option<u32>,
    epoch: Option<bool>,
    /// How many frames the talker says it sent.
    sent: Option<u64>,
    /// Kernel stamp of the frame before.
    before: Option<Realtime>,
    restarts: u64,
    stale: u64,
}

impl Stream {
    pub(super) fn new(number: u16, key: Key, pace: Pace) -> Self {
        Self {
            key,
            number,
            pace,
            order: Order::default(),
            session: None,
            epoch: None,
            sent: None,
            before: None,
            restarts: 0,
            stale: 0,
        }
    }

    /// Accounts for one frame.
    pub(super) fn frame(&mut self, number: Number, arrival: &Arrival, feed: &mut Feed) {
        match number {
            Number::Own {
                session,
                sequence,
                mark,
            } => self.own(session, sequence, mark, arrival, feed),
            Number::Counter { value, modulus, epoch } => self.counted(value, modulus, epoch, arrival, feed),
        }
    }

    fn own(&mut self, session: u32, sequence: u64, mark: Mark, arrival: &Arrival, feed: &mut Feed) {
        if self.session != Some(session) {
            if self.session.is_some() {
                self.restart(arrival.at, feed);
            }
            self.session = Some(session);
            if mark == Mark::Begin {
                self.order.begin_with(0);
            }
        }
        match mark {
            Mark::None => self.number(sequence, arrival, feed),
            // On the same grid as the first one that counts.
            Mark::Begin => self.before = arrival.kernel,
            Mark::End => {
                self.sent = Some(sequence);
                self.before = None;
            }
        }
    }

    fn counted(&mut self, value: u32, modulus: u32, epoch: bool, arrival: &Arrival, feed: &mut Feed) {
        let began_anew = self.epoch.is_some_and(|before| before != epoch);
        self.epoch = Some(epoch);
        match self.unwrapped(value % modulus, modulus).filter(|_| !began_anew) {
            Some(number) => self.number(number, arrival, feed),
            None => {
                self.restart(arrival.at, feed);
                self.number(first_number(value % modulus, modulus), arrival, feed);
            }
        }
    }

    /// The number that a wrapping counter stands for; `None` when it jumped by half a second of samples or more. A counter of 8
    /// bits wraps too soon for that.
    fn unwrapped(&self, value: u32, modulus: u32) -> Option<u64> {
        let Some(expected) = self.order.expected() else {
            return Some(first_number(value, modulus));
        };
        let modulus_wide = u64::from(modulus);
        let ahead = (u64::from(value) + modulus_wide - expected % modulus_wide) % modulus_wide;
        let behind = modulus_wide - ahead;
        if behind <= u64::from(LATE_COUNTS.min(modulus / 4)) {
            return Some(expected - behind);
        }
        let restart = modulus > 256 && ahead >= modulus_wide / 2;
        (!restart).then_some(expected + ahead)
    }

    /// The talker began anew: what it sent before is settled, and the time since is no delta.
    fn restart(&mut self, at: Monotonic, feed: &mut Feed) {
        self.settle(at, feed);
        self.before = None;
        self.restarts += 1;
        if self.restarts <= RESTARTS_TOLD {
            feed.notice(slot(self.number), notice::RESTART, at, self.restarts, 0);
        }
    }

    fn number(&mut self, number: u64, arrival: &Arrival, feed: &mut Feed) {
        let missing = match self.order.accept(number) {
            Step::First => 0,
            Step::Next(missing) => missing,
            Step::Late => {
                feed.count(slot(self.number), Counter::Reordered, arrival.at, 1);
                0
            }
            Step::Again => {
                feed.count(slot(self.number), Counter::Duplicate, arrival.at, 1);
                return;
            }
            Step::Stale => {
                self.stale += 1;
                return;
            }
        };
        let lost = self.order.take_lost();
        feed.count(slot(self.number), Counter::Lost, arrival.at, lost);
        self.measure(number, missing, arrival, feed);
    }

    fn measure(&mut self, number: u64, missing: u64, arrival: &Arrival, feed: &mut Feed) {
        let Some(kernel) = arrival.kernel else { return };
        if let Some(before) = self.before {
            let delta_ns = kernel - before;
            feed.sample(slot(self.number), arrival.at, delta_ns, number);
            let allowed = missing
                .saturating_mul(self.pace.interval_ns)
                .saturating_add(self.pace.late_after_ns);
            let late = u64::try_from(delta_ns).is_ok_and(|ns| ns > allowed);
            feed.count(slot(self.number), Counter::Late, arrival.at, u64::from(late));
        }
        self.before = Some(kernel);
    }

    /// What has not come will not come any more.
    fn settle(&mut self, at: Monotonic, feed: &mut Feed) {
        self.order.end(self.sent.take());
        feed.count(slot(self.number), Counter::Lost, at, self.order.take_lost());
    }

    /// Said once, at the end.
    pub(super) fn end(&mut self, at: Monotonic, feed: &mut Feed) {
        self.settle(at, feed);
        let untold = self.restarts.saturating_sub(RESTARTS_TOLD);
        for (code, count) in [(notice::MORE_RESTARTS, untold), (notice::STALE, self.stale)] {
            if count > 0 {
                feed.notice(slot(self.number), code, at, count, 0);
            }
        }
    }
}

/// The number that the first value of a counter stands for: far enough from 0 that one which comes late has a number too.
fn first_number(value: u32, modulus: u32) -> u64 {
    u64::from(value) + u64::from(modulus)
}
