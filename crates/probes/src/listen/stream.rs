//! One stream: its numbers, and the time between its frames.

use super::decode::{Key, Mark, Number};
use super::order::{Order, Step};
use super::series::{notice, slot};
use crate::reception::Arrival;
use crate::record::{Counter, Feed};
use units::{Monotonic, Realtime};
use wire::sequence::{Accounting, Sequence, Settled, Step as SampleStep};

/// A counter this many behind the newest one is late; further behind, it has wrapped.
const LATE_COUNTS: u32 = 16;

/// New starts of one stream that are told one by one; two talkers in one stream would fill the run with them.
const RESTARTS_TOLD: u64 = 20;

/// Rates of one stream, other than the one given, that are told.
const RATES_TOLD: u64 = 4;

/// How a stream is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) interval_ns: u64,
    pub(super) late_after_ns: u64,
    /// Frames a second, where a second has a whole number.
    pub(super) per_second: Option<u32>,
}

/// Frames of sampled values that are not our talker's, by their smpCnt.
struct Samples {
    sequence: Sequence,
    accounting: Accounting,
    /// When the newest one came.
    newest: Option<Arrival>,
    out_of_range: u64,
    /// New starts that were told.
    restarts: u64,
    /// Other rates that were told.
    other_rates: u64,
}

impl Samples {
    fn new(per_second: Option<u32>, asdus: u16) -> Self {
        // The rate that was given may be another than the stream's.
        let sequence = per_second.map_or_else(Sequence::learning, Sequence::checking);
        Self {
            sequence: sequence.of_frames(asdus),
            accounting: Accounting::default(),
            newest: None,
            out_of_range: 0,
            restarts: 0,
            other_rates: 0,
        }
    }

    /// The rate that was taken in place of `before`, if that is still to be told.
    fn other_rate(&mut self, before: Option<u32>) -> Option<u32> {
        let rate = self.sequence.rate()?;
        if before.is_none_or(|before| before == rate) || self.other_rates >= RATES_TOLD {
            return None;
        }
        self.other_rates += 1;
        Some(rate)
    }

    /// New starts among `all` that were not told yet.
    fn untold(&mut self, all: u64) -> u64 {
        let untold = all.saturating_sub(self.restarts);
        self.restarts += untold;
        untold
    }
}

pub(super) struct Stream {
    pub(super) key: Key,
    number: u16,
    pace: Pace,
    order: Order,
    /// From the first frame that is counted by its samples.
    samples: Option<Samples>,
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
            samples: None,
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
            Number::Samples { count, asdus } => self.sampled(count, asdus, arrival, feed),
        }
    }

    fn sampled(&mut self, count: u16, asdus: u16, arrival: &Arrival, feed: &mut Feed) {
        let per_second = self.pace.per_second;
        let samples = self.samples.get_or_insert_with(|| Samples::new(per_second, asdus));
        let silent_ns = samples
            .newest
            .map_or(0, |newest| u64::try_from(arrival.heard - newest.heard).unwrap_or(0));
        let rate = samples.sequence.rate();
        let step = samples.sequence.accept_after(count, silent_ns);
        if let Some(other) = samples.other_rate(rate) {
            feed.notice(slot(self.number), notice::OTHER_RATE, arrival.at, u64::from(other), 0);
        }
        if matches!(
            step,
            SampleStep::First | SampleStep::Next | SampleStep::Gap(_) | SampleStep::Restart | SampleStep::OutOfRange
        ) {
            samples.newest = Some(*arrival);
        }
        match step {
            SampleStep::First | SampleStep::Next | SampleStep::OutOfOrder => {
                self.measure(u64::from(count), 0, arrival, feed);
            }
            SampleStep::Gap(missing) => {
                feed.suspect(arrival.at);
                self.measure(u64::from(count), u64::from(missing), arrival, feed);
            }
            // The time since what was sent before is no delta.
            SampleStep::Restart => self.before = arrival.kernel,
            // Not measured, but it came: what follows it is not late.
            SampleStep::OutOfRange => {
                samples.out_of_range += 1;
                self.before = arrival.kernel;
            }
            SampleStep::Duplicate | SampleStep::TooLate => {}
        }
        self.tell_samples(arrival.at, feed);
    }

    /// What is certain by now of frames that are counted by their samples.
    fn tell_samples(&mut self, at: Monotonic, feed: &mut Feed) {
        let Some(samples) = &mut self.samples else { return };
        let untold = samples.untold(samples.sequence.certain_restarts());
        let Samples {
            sequence, accounting, ..
        } = samples;
        let settled = accounting
            .is_due(sequence.counters())
            .then(|| accounting.look(sequence.counters()));
        for _ in 0..untold {
            self.began_anew(at, feed);
        }
        if let Some(settled) = settled {
            self.report(settled, at, feed);
        }
    }

    fn report(&self, settled: Settled, at: Monotonic, feed: &mut Feed) {
        for (counter, count) in [
            (Counter::Lost, settled.lost),
            (Counter::Duplicate, settled.duplicates),
            (Counter::Reordered, settled.out_of_order),
        ] {
            feed.count(slot(self.number), counter, at, count);
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
        let number = match began_anew {
            false => self.unwrapped(value % modulus, modulus),
            true => {
                self.restart(arrival.at, feed);
                first_number(value % modulus, modulus)
            }
        };
        self.number(number, arrival, feed);
    }

    /// The number that a counter of 8 bits stands for.
    fn unwrapped(&self, value: u32, modulus: u32) -> u64 {
        let Some(expected) = self.order.expected() else {
            return first_number(value, modulus);
        };
        let modulus_wide = u64::from(modulus);
        let ahead = (u64::from(value) + modulus_wide - expected % modulus_wide) % modulus_wide;
        let behind = modulus_wide - ahead;
        match behind <= u64::from(LATE_COUNTS.min(modulus / 4)) {
            true => expected - behind,
            false => expected + ahead,
        }
    }

    /// The talker began anew: what it sent before is settled, and the time since is no delta.
    fn restart(&mut self, at: Monotonic, feed: &mut Feed) {
        self.settle(at, feed);
        self.before = None;
        self.began_anew(at, feed);
    }

    fn began_anew(&mut self, at: Monotonic, feed: &mut Feed) {
        self.restarts += 1;
        if self.restarts <= RESTARTS_TOLD {
            feed.notice(slot(self.number), notice::RESTART, at, self.restarts, 0);
        }
    }

    fn number(&mut self, number: u64, arrival: &Arrival, feed: &mut Feed) {
        let missing = match self.order.accept(number) {
            Step::First => 0,
            Step::Next(missing) => {
                if missing > 0 {
                    feed.suspect(arrival.at);
                }
                missing
            }
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

    /// The same for samples; the stream has ended.
    fn settle_samples(&mut self, at: Monotonic, feed: &mut Feed) {
        let Some(samples) = &mut self.samples else { return };
        let counters = *samples.sequence.counters();
        let settled = samples.accounting.last_look(&counters);
        let untold = samples.untold(counters.restarts);
        self.stale += counters.too_late;
        self.report(settled, at, feed);
        for _ in 0..untold {
            self.began_anew(at, feed);
        }
    }

    /// Said once, at the end.
    pub(super) fn end(&mut self, at: Monotonic, feed: &mut Feed) {
        self.settle(at, feed);
        self.settle_samples(at, feed);
        let untold = self.restarts.saturating_sub(RESTARTS_TOLD);
        let out_of_range = self.samples.as_ref().map_or(0, |samples| samples.out_of_range);
        for (code, count) in [
            (notice::MORE_RESTARTS, untold),
            (notice::STALE, self.stale),
            (notice::OUT_OF_RANGE, out_of_range),
        ] {
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
