//! Classifies each message of a GOOSE stream as a new state, a repetition or an old message, and detects expiry of the
//! stream.
//!
//! Rules of IEC 61850-8-1 as a subscriber applies them: a new state has a higher stNum and begins with sqNum 0;
//! repetitions increment sqNum; the next message arrives within timeAllowedtoLive. A message older than the last one is
//! old while the last one is live (the replay rule of IEC 62351-6); after that, it means that the publisher restarted.
//! If the numbers are further ahead than the time since the last message allows, that is also a restart and not a loss:
//! see [`SHORTEST_INTERVAL_NS`].
//!
//! `t` is the time of the last change of state, so it distinguishes publishers: lower numbers with a later `t` come
//! from a publisher that restarted; an earlier `t`, or other values, in a known state come from another publisher.
//! Publishers that stamp each message are recognised at their second such time stamp, and judged by their numbers
//! alone.

mod memory;
mod time;

pub use time::SHORTEST_INTERVAL_NS;

use super::outcome::{Counts, Heard, Numbers, Oddity, Outcome, Said};
use crate::order::{Order, OrderPlace};
use memory::{Bodies, Earlier, Stamps};
use time::{Beat, Time};

const NS_PER_MS: f64 = 1e6;

/// The state of the rules. Taking a message allocates nothing.
#[derive(Debug, Clone)]
pub struct Rules {
    ns_per_ms: f64,
    last: Option<Last>,
    /// True if the silence since the last message was found too long, and counted.
    is_expired: bool,
    order: Order,
    /// Added to sqNum to make it grow when it wraps from its highest value to 1.
    base: u64,
    /// The previous value of `base`.
    base_before: u64,
    bodies: Bodies,
    /// The previous state, if it was live when the last one replaced it.
    earlier: Option<Earlier>,
    stamps: Stamps,
    beat: Beat,
    oddity: Option<Oddity>,
    counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    message: Said,
    at: Heard,
}

impl Default for Rules {
    /// A stream expires after timeAllowedtoLive.
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl Rules {
    /// Rules by which a stream expires after `tal_factor` times timeAllowedtoLive: with 2, one lost message does not
    /// make it expire. Factors that are not greater than 0 count as 1.
    pub fn new(tal_factor: f64) -> Self {
        let factor = if tal_factor.is_finite() && tal_factor > 0.0 {
            tal_factor
        } else {
            1.0
        };
        Self {
            ns_per_ms: NS_PER_MS * factor,
            last: None,
            is_expired: false,
            order: Order::default(),
            base: 0,
            base_before: 0,
            bodies: Bodies::default(),
            earlier: None,
            stamps: Stamps::OfTheState,
            beat: Beat::default(),
            oddity: None,
            counts: Counts::default(),
        }
    }

    /// The messages so far, by outcome.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Messages that never arrived, as far as that is certain.
    pub fn lost(&self) -> u64 {
        self.order.lost + self.counts.missed_states
    }

    /// Places where sqNum left out at least one message.
    pub fn gaps(&self) -> u64 {
        self.order.gaps
    }

    /// Messages that arrived again.
    pub fn duplicates(&self) -> u64 {
        self.order.duplicates
    }

    /// Messages that arrived after a later one.
    pub fn late(&self) -> u64 {
        self.order.late + self.counts.old + self.counts.held_up
    }

    /// An oddity of the last message, in addition to its outcome, or one found at the end.
    pub fn oddity(&self) -> Option<Oddity> {
        self.oddity
    }

    /// Takes the next message. Returns its outcome and, in ns, how long after the allowed time it arrived.
    pub fn accept(&mut self, message: impl Into<Said>, at: Heard) -> (Outcome, Option<i64>) {
        let message = message.into();
        self.oddity = None;
        let Some(last) = self.last else {
            self.begin(message.numbers.sq_num);
            self.take(message, at);
            return (Outcome::First, None);
        };
        let overdue = self.lateness(at);
        let elapsed_ns = at.since(last.at);
        let time = Time::of(elapsed_ns, overdue.is_some());
        let outcome = self.place(message, last.message, time, at);
        self.beat.take(outcome, elapsed_ns);
        self.taken(outcome, message, overdue, at)
    }

    /// Takes the next message as one of another publisher, which replaces the previous one: its numbers say nothing
    /// about messages of the previous publisher.
    pub(super) fn take_over(&mut self, message: Said, at: Heard) -> (Outcome, Option<i64>) {
        if self.last.is_none() {
            return self.accept(message, at);
        }
        self.oddity = None;
        let overdue = self.lateness(at);
        let outcome = self.restart(message.numbers.sq_num);
        self.beat = Beat::default();
        self.taken(outcome, message, overdue, at)
    }

    /// How long a message arrived after the allowed time; 0 if that silence was already counted.
    fn lateness(&self, at: Heard) -> Option<i64> {
        self.overdue(at).or(self.is_expired.then_some(0))
    }

    fn taken(&mut self, outcome: Outcome, message: Said, overdue: Option<i64>, at: Heard) -> (Outcome, Option<i64>) {
        if !outcome.is_taken() {
            return (outcome, None);
        }
        self.counts.expired += u64::from(overdue.is_some() && !self.is_expired);
        self.take(message, at);
        (outcome, overdue)
    }

    /// Checks for expiry between messages. When it first finds the last message expired, returns how long ago that was,
    /// in ns.
    pub fn expire(&mut self, now: Heard) -> Option<i64> {
        if self.is_expired {
            return None;
        }
        let overdue = self.overdue(now)?;
        self.is_expired = true;
        self.counts.expired += 1;
        Some(overdue)
    }

    /// Ends the stream: missing messages are lost, and the silence until `end` may show that a message is missing.
    pub fn finish(&mut self, end: Heard) -> Option<i64> {
        self.order.settle();
        self.oddity = None;
        if self.stamps == Stamps::Moved {
            self.began_again();
        }
        let overdue = self.expire(end);
        let silence_ns = self.silence_ns(end).filter(|_| !self.is_expired);
        self.counts.fell_silent = u64::from(silence_ns.is_some_and(|ns| self.beat.is_missed(ns)));
        overdue
    }

    /// True if only one message was taken: nothing is known about later ones.
    pub fn is_single(&self) -> bool {
        self.counts.taken == 1
    }

    /// True if a message was taken and has not been found expired.
    pub fn is_live(&self) -> bool {
        self.last.is_some() && !self.is_expired
    }

    /// When the last message expires, by the clock of the time stamps; `None` if that is not known or the message has
    /// already expired.
    pub fn deadline_ns(&self) -> Option<i64> {
        let last = self
            .last
            .filter(|last| !self.is_expired && last.message.numbers.tal_ms > 0)?;
        Some(last.at.0?.saturating_add(self.allowed_ns(last.message.numbers)))
    }

    /// The last message taken.
    pub fn last(&self) -> Option<Numbers> {
        self.last.map(|last| last.message.numbers)
    }

    /// Time since the last message taken, ns.
    pub fn silence_ns(&self, now: Heard) -> Option<i64> {
        now.since(self.last?.at)
    }

    /// Time from the expiry of the last message to `now`, in ns.
    pub(super) fn overdue(&self, now: Heard) -> Option<i64> {
        let last = self.last?;
        let elapsed = now.since(last.at)?;
        let allowed = self.allowed_ns(last.message.numbers);
        (allowed > 0 && elapsed > allowed).then(|| elapsed - allowed)
    }

    fn allowed_ns(&self, message: Numbers) -> i64 {
        (f64::from(message.tal_ms) * self.ns_per_ms) as i64
    }

    fn take(&mut self, message: Said, at: Heard) {
        self.counts.taken += 1;
        self.counts.without_life += u64::from(message.numbers.tal_ms == 0);
        self.last = Some(Last { message, at });
        self.is_expired = false;
        self.keep(self.base, message);
    }

    fn place(&mut self, said: Said, last: Said, time: Time, at: Heard) -> Outcome {
        let (message, last_numbers) = (said.numbers, last.numbers);
        let ahead = message.st_num.wrapping_sub(last_numbers.st_num);
        if ahead == 0 {
            return self.repetition(said, last, time);
        }
        if !time.is_overdue
            && let Some(earlier) = self.earlier.filter(|earlier| earlier.is_of(&said))
        {
            return self.of_the_state_before(earlier, &said, at);
        }
        // stNum wraps from its highest value to 1: near both ends, a lower number may be the next one.
        let wrapped = message.st_num < last_numbers.st_num && ahead < 1 << 16;
        if message.st_num > last_numbers.st_num || wrapped {
            let missed = u64::from(ahead) - 1 - u64::from(wrapped && ahead > 1);
            let Some(most_missing) = time.most_missing.checked_sub(missed) else {
                return match wrapped {
                    true => self.behind(said, last, time.is_overdue),
                    false => self.restart(message.sq_num),
                };
            };
            // sqNum starts neither at 0 nor after the last one: the number of missing messages cannot be known.
            let goes_on = message.sq_num == last_numbers.sq_num.wrapping_add(1);
            if u64::from(message.sq_num) > most_missing && !goes_on {
                return self.restart(message.sq_num);
            }
            let of_this_state = u64::from(message.sq_num);
            let left = most_missing.checked_sub(of_this_state).unwrap_or(most_missing);
            self.earlier = Some(Earlier::of(last, at, left));
            self.new_state(message.sq_num, most_missing);
            if of_this_state > most_missing {
                self.counts.not_reset += 1;
                self.oddity = Some(Oddity::NotReset);
            }
            self.counts.states += 1;
            self.counts.missed_states += missed;
            return Outcome::NewState(missed);
        }
        self.behind(said, last, time.is_overdue)
    }

    fn repetition(&mut self, said: Said, last: Said, time: Time) -> Outcome {
        let (sq_num, last_sq_num) = (said.numbers.sq_num, last.numbers.sq_num);
        let base = self.base_of(sq_num, last_sq_num);
        let number = number(base, sq_num);
        let place = self.order.place(number);
        let is_beyond = matches!(place, OrderPlace::Gap(missing) if missing > time.most_missing);
        // Lower, but not after a wrap: it is an older message.
        let is_ahead = matches!(place, OrderPlace::Next | OrderPlace::Gap(_)) && !(is_beyond && sq_num < last_sq_num);
        let is_earlier = said.t_ns < last.t_ns && self.stamps != Stamps::OfEachMessage;
        match place {
            _ if !is_ahead && said.t_ns > last.t_ns => return self.restart(sq_num),
            OrderPlace::Duplicate if time.is_overdue && sq_num < last_sq_num => return self.restart(sq_num),
            OrderPlace::Duplicate if !self.bodies.is_kept(number, &said) => return self.conflicting(sq_num, time),
            OrderPlace::Duplicate => {}
            OrderPlace::Restart => return self.behind(said, last, time.is_overdue),
            _ if is_earlier => return self.behind(said, last, time.is_overdue),
            _ if is_beyond && !is_ahead => return self.behind(said, last, time.is_overdue),
            _ if is_beyond => return self.restart(sq_num),
            _ => {}
        }
        if is_ahead {
            self.look_at_contents(said, last, time);
        }
        if base > self.base {
            self.base_before = std::mem::replace(&mut self.base, base);
            self.oddity = self.oddity.or((sq_num == 0).then_some(Oddity::ToZero));
        }
        self.counts.repetitions += 1;
        self.keep(base, said);
        Outcome::Repetition(self.order.accept(number))
    }

    /// The number to add to `sq_num` after `last_sq_num`. sqNum wraps from its highest value to 1 or, for a publisher
    /// that breaks the rule, to 0; a message from before the wrap may be late.
    fn base_of(&self, sq_num: u32, last_sq_num: u32) -> u64 {
        match sq_num.abs_diff(last_sq_num) > u32::MAX / 2 {
            true if sq_num < last_sq_num => self.base + u64::from(u32::MAX) + u64::from(sq_num == 0),
            true => self.base_before,
            false => self.base,
        }
    }

    /// Checks that a repetition has the contents of the previous message.
    fn look_at_contents(&mut self, now: Said, last: Said, time: Time) {
        if now.t_ns != last.t_ns {
            // An earlier `t` is accepted only from a publisher that stamps each message.
            self.stamps = match self.stamps {
                Stamps::OfTheState => Stamps::Moved,
                Stamps::Moved | Stamps::OfEachMessage => Stamps::OfEachMessage,
            };
            return;
        }
        let stands = time.elapsed_ns.is_some_and(|ns| ns > Stamps::COARSEST_NS);
        if self.stamps == Stamps::Moved || self.stamps == Stamps::OfEachMessage && stands {
            self.began_again();
        }
        // Some publishers that stamp each message put a changed value into a repetition.
        if now.values != last.values && self.stamps == Stamps::OfTheState {
            self.counts.altered += 1;
            self.oddity.get_or_insert(Oddity::Altered);
        }
    }

    /// Counts a restart: `t` changed with a repetition, and then stayed constant.
    fn began_again(&mut self) {
        self.stamps = Stamps::OfTheState;
        self.counts.restarts += 1;
        self.oddity = Some(Oddity::BeganAgain);
    }

    /// Handles a message of the previous state, which was live when this one began.
    fn of_the_state_before(&mut self, earlier: Earlier, said: &Said, at: Heard) -> Outcome {
        if let Some(missing) = earlier.overtaken(said, at) {
            // Only one message can be late: a second one shows that the previous state continues. A missing message
            // before it would also be late.
            self.earlier = Some(earlier.without_late());
            self.counts.held_up += 1;
            self.order.lost += missing;
            self.order.gaps += u64::from(missing > 0);
            return Outcome::HeldUp(missing);
        }
        self.counts.old += 1;
        Outcome::Old
    }

    /// Handles a number already seen, with other contents.
    fn conflicting(&mut self, sq_num: u32, time: Time) -> Outcome {
        if time.is_overdue {
            return self.restart(sq_num);
        }
        self.counts.conflicting += 1;
        Outcome::Conflicting
    }

    fn keep(&mut self, base: u64, said: Said) {
        self.bodies.keep(number(base, said.numbers.sq_num), &said);
    }

    /// A message with lower numbers than the last one, or with an earlier `t`.
    fn behind(&mut self, said: Said, last: Said, is_overdue: bool) -> Outcome {
        if !is_overdue && said.t_ns <= last.t_ns {
            self.counts.old += 1;
            return Outcome::Old;
        }
        self.restart(said.numbers.sq_num)
    }

    fn restart(&mut self, sq_num: u32) -> Outcome {
        self.earlier = self.last.map(|last| Earlier::of(last.message, last.at, 0));
        self.stamps = Stamps::OfTheState;
        self.begin(sq_num);
        self.counts.restarts += 1;
        Outcome::Restart
    }

    /// A state should begin with sqNum 0: the messages before `sq_num` are lost, if there was enough time to send them.
    fn new_state(&mut self, sq_num: u32, most_missing: u64) {
        self.counts.begun_late += u64::from(sq_num != 0);
        self.begin(sq_num);
        if u64::from(sq_num) <= most_missing {
            self.order.begin(number(0, 0) - 1);
            self.order.accept(number(0, sq_num));
        }
    }

    /// Continues from `sq_num`; missing messages before it are settled.
    fn begin(&mut self, sq_num: u32) {
        self.order.settle();
        (self.base, self.base_before) = (0, 0);
        self.order.begin(number(0, sq_num));
    }
}

/// Converts sqNum to a number that only grows, plus 1 to leave a number before 0.
fn number(base: u64, sq_num: u32) -> u64 {
    base + u64::from(sq_num) + 1
}

#[cfg(test)]
mod tests;
