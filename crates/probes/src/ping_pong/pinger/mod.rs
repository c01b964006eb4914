//! The thread that sends the pings and takes the answers.

mod account;

use super::PingPongConfig;
use super::beside::{Beside, Shared};
use super::case::Case;
use super::device::{Device, Pong};
use super::notice::Notice;
use super::series::{answer_slot, own_slot};
use super::stamps::driver_stamp;
use super::waiting::{LONGEST_SLEEP_NS, reception, wait};
use crate::error::ProbeError;
use crate::messages::Messages;
use crate::port::Port;
use crate::reception::{Polling, Reception};
use account::Tally;
use run::{Feed, Stop};
use stats::random::Random;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sys::wait::sleep_until;
use units::{Monotonic, Ns, Realtime};
use wire::ether::Mac;
use wire::goose::{Curve, Follower, Simulation, Value};

/// Time for which a load runs before the first ping of its case, since it begins at a full second.
const SETTLE_NS: i64 = 1_500_000_000;

/// Longest wait for the device's first message, and for its first answer.
const FIRST_ANSWER_NS: i64 = 10_000_000_000;

/// Number of pings between two silences of this machine.
const PINGS_BETWEEN_SILENCES: u32 = 50;

/// Reason why the pings end before the last one.
enum EarlyEnd {
    /// A stop was requested, or the time is over.
    Told,
    /// The thread cannot continue.
    Cannot(ProbeError),
}

impl From<ProbeError> for EarlyEnd {
    fn from(error: ProbeError) -> Self {
        Self::Cannot(error)
    }
}

/// A ping that was sent.
struct Sent {
    /// Instant just before the send call.
    at: Monotonic,
    /// The same instant on the wall clock.
    wall: Realtime,
    /// Number of the frame on this socket.
    id: u32,
    refused: u64,
}

/// State of the thread.
pub(super) struct Pinger {
    config: PingPongConfig,
    port: Port,
    messages: Messages,
    /// Current value of this machine's member.
    value: bool,
    /// Instant until which the device must accept the last message as valid.
    lives_until: Monotonic,
    /// True if the message was repeated later than that since the ping before.
    was_held_up: bool,
    reception: Reception,
    polling: Polling,
    device: Device,
    random: Random,
    shared: Arc<Shared>,
    /// Stop request of the user.
    stop: Stop,
    start: Monotonic,
    /// Number of pings so far.
    pings: u64,
    /// The longest answer so far in ns, the first one included, which is not counted.
    longest_ns: i64,
    /// Number of changes without a ping so far.
    unasked: u64,
}

impl Pinger {
    /// Makes a pinger that sends on the first port and listens on the other.
    pub(super) fn new(
        config: &PingPongConfig,
        [ping, goose]: [Port; 2],
        shared: Arc<Shared>,
        stop: &Stop,
    ) -> Result<Self, ProbeError> {
        let follower = Follower::new(config.device.as_bytes(), config.member, Simulation::Off, false);
        let value = config.block.message.all_data.get(config.ping_member) == Some(&Value::Boolean(true));
        Ok(Self {
            messages: Messages::new(&config.block, Mac(ping.mac()), "trip")?,
            value,
            lives_until: Monotonic::from_ns(i64::MAX / 2),
            was_held_up: false,
            port: ping,
            reception: reception(goose, config.receive, stop),
            polling: Polling::new(Monotonic::from_ns(0)),
            device: Device::new(follower),
            random: Random::new(config.seed),
            shared,
            stop: stop.clone(),
            start: Monotonic::from_ns(0),
            pings: 0,
            longest_ns: 0,
            unasked: 0,
            config: config.clone(),
        })
    }

    /// Sends pings from `start` on, until every case is over.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.start = start;
        self.polling = Polling::new(start);
        sleep_until(start);
        while self.reception.port.next().is_some() {}
        let ended = self.cases(feed);
        self.shared.ended.request();
        self.say_doubts(feed);
        match ended {
            Err(EarlyEnd::Cannot(error)) => Err(error),
            Ok(()) | Err(EarlyEnd::Told) => Ok(()),
        }
    }

    fn cases(&mut self, feed: &mut Feed) -> Result<(), EarlyEnd> {
        self.meet(feed)?;
        for number in 0..self.config.cases.len() {
            let mut tally = Tally::default();
            let ended = self.case(number, &mut tally, feed);
            self.say_case(number, &tally, feed);
            ended?;
        }
        Ok(())
    }

    /// Waits for the device's first message and for its first answer, which is not counted.
    fn meet(&mut self, feed: &mut Feed) -> Result<(), EarlyEnd> {
        let until = sys::clock::monotonic() + FIRST_ANSWER_NS;
        let (mut changed, mut asked) = (None, until);
        while changed.is_none() || self.device.follower.live_value() != changed {
            if sys::clock::monotonic() >= until || self.is_over() {
                return Err(ProbeError::NoTraffic(self.silence()).into());
            }
            if let (None, Some(value)) = (changed, self.device.follower.live_value()) {
                // First takes the device's value, then its opposite, so that the device has to change.
                self.send(value)?;
                self.pause(feed)?;
                asked = self.send(!value)?.at;
                changed = Some(!value);
            }
            self.turn(sys::clock::monotonic() + LONGEST_SLEEP_NS, feed)?;
        }
        self.longest_ns = self.device.answer().map_or(0, |answer| answer.at - asked);
        // Messages from before the first ping belong to no case.
        (self.device.late, self.device.unwanted) = (0, 0);
        Ok(())
    }

    fn case(&mut self, number: usize, tally: &mut Tally, feed: &mut Feed) -> Result<(), EarlyEnd> {
        let Some(case) = self.config.cases.get(number).copied() else {
            return Ok(());
        };
        self.begin(case, feed)?;
        for ping in 0..self.config.pings {
            if ping.is_multiple_of(PINGS_BETWEEN_SILENCES) {
                self.silence_of_pings(feed)?;
            }
            self.agree(feed)?;
            self.pause(feed)?;
            if self.is_over() {
                break;
            }
            self.ping(number, tally, feed)?;
        }
        self.silence_of_pings(feed)?;
        match self.is_over() {
            true => Err(EarlyEnd::Told),
            false => Ok(()),
        }
    }

    /// Sends no ping for twice as long as the longest answer took, or may take. A device that changes by itself, and so meets each ping sooner or later, does that
    /// here, too, where it is no answer.
    fn silence_of_pings(&mut self, feed: &mut Feed) -> Result<(), EarlyEnd> {
        self.agree(feed)?;
        let deadline_ns = i64::try_from(self.config.deadline_ns).unwrap_or(i64::MAX);
        self.rest(2 * self.longest_ns.min(deadline_ns), feed)
    }

    /// Starts the load of a case.
    fn begin(&mut self, case: Case, feed: &mut Feed) -> Result<(), EarlyEnd> {
        self.shared
            .on
            .store(Beside::number(&self.config, case), Ordering::Release);
        self.messages.set_curve(match case {
            Case::Subscribed => repeated(self.config.goose_rate),
            _ => self.config.block.curve,
        });
        if matches!(case, Case::Goose | Case::Sv) {
            self.rest(SETTLE_NS, feed)?;
        }
        for count in [&self.shared.due, &self.shared.sent] {
            count.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Sets this machine's member to the device's value, without measuring: after a ping without an answer they differ.
    fn agree(&mut self, feed: &mut Feed) -> Result<(), EarlyEnd> {
        while !self.is_over()
            && let Some(value) = self.device.follower.live_value().filter(|value| *value != self.value)
        {
            self.send(value)?;
            self.pause(feed)?;
        }
        Ok(())
    }

    /// Sends one ping and measures its answer.
    fn ping(&mut self, case: usize, tally: &mut Tally, feed: &mut Feed) -> Result<(), EarlyEnd> {
        driver_stamp(&self.port, None);
        self.take(feed)?;
        self.pings += 1;
        let slot = answer_slot(case);
        let value = !self.value;
        let sent = self.send(value)?;
        if sent.refused > 0 {
            feed.notice(slot, Notice::NotSent, sent.at, self.pings, 0);
            return Ok(());
        }
        let answer = self.answer(sent.at + Ns(self.config.deadline_ns), feed)?;
        self.own_part(own_slot(case), &sent, feed);
        if std::mem::take(&mut self.was_held_up) {
            self.not_counted(slot, sent.at, feed);
            return Ok(());
        }
        self.account_for_changes(slot, feed);
        match answer {
            Some(answer) if answer.is_first => self.answered(slot, tally, &sent, answer, feed),
            Some(Pong { at, .. }) => {
                feed.notice(
                    slot,
                    Notice::LaterMessage,
                    at,
                    self.pings,
                    (at - sent.at).unsigned_abs(),
                );
            }
            None => self.lost(slot, tally, sent.at, feed),
        }
        Ok(())
    }

    /// The answer that the kernel received before `deadline`; all frames from before it have then been taken.
    fn answer(&mut self, deadline: Monotonic, feed: &mut Feed) -> Result<Option<Pong>, EarlyEnd> {
        loop {
            let looked = sys::clock::monotonic();
            self.take(feed)?;
            if let Some(answer) = self.device.answer() {
                return Ok(Some(answer).filter(|answer| answer.at <= deadline));
            }
            if looked > deadline {
                return Ok(None);
            }
            self.turn(deadline + 1, feed)?;
        }
    }

    /// Waits for a random pause, so that pings meet every phase of the device's cycle.
    fn pause(&mut self, feed: &mut Feed) -> Result<(), EarlyEnd> {
        let pause = self.config.pause_ns;
        let ns = pause + self.random.next_u64() % pause.max(1);
        self.rest(i64::try_from(ns).unwrap_or(i64::MAX / 4), feed)
    }

    /// Repeats due messages and listens for this time.
    fn rest(&mut self, ns: i64, feed: &mut Feed) -> Result<(), EarlyEnd> {
        let until = sys::clock::monotonic() + ns;
        while sys::clock::monotonic() < until {
            self.turn(until, feed)?;
        }
        Ok(())
    }

    /// Repeats a due message, or waits for a frame or the next repetition, at most `until` this instant; then takes the received
    /// frames.
    fn turn(&mut self, until: Monotonic, feed: &mut Feed) -> Result<(), EarlyEnd> {
        let now = sys::clock::monotonic();
        if self.stop.requested() || self.shared.ended.requested() {
            return Err(EarlyEnd::Told);
        }
        let due = self.start + self.messages.repeat_ns();
        if due <= now {
            self.repeat(now)?;
        } else {
            wait(&self.reception, until.min(due).min(now + LONGEST_SLEEP_NS), now);
        }
        self.take(feed)
    }

    /// Takes the received frames.
    fn take(&mut self, feed: &mut Feed) -> Result<(), EarlyEnd> {
        Ok(self.reception.poll(&mut self.polling, &mut self.device, feed)?)
    }

    fn repeat(&mut self, now: Monotonic) -> Result<(), EarlyEnd> {
        let due_ns = now - self.start;
        self.messages.make(due_ns, false, || sys::clock::realtime().as_ns());
        self.port.publish(self.messages.frame())?;
        self.sent(due_ns);
        Ok(())
    }

    /// Records that the message due at `due_ns` was sent.
    fn sent(&mut self, due_ns: i64) {
        let now = sys::clock::monotonic();
        self.was_held_up |= now > self.lives_until;
        self.lives_until = now + i64::from(self.messages.time_allowed_to_live_ms()) * 1_000_000;
        self.messages.sent(due_ns, now - self.start);
    }

    /// Sends a change of this machine's member, and waits for the device to follow.
    fn send(&mut self, value: bool) -> Result<Sent, EarlyEnd> {
        let member = Value::Boolean(value);
        let is_change = self.messages.set(std::iter::once((self.config.ping_member, &member)));
        let due_ns = sys::clock::monotonic() - self.start;
        self.messages.make(due_ns, is_change, || sys::clock::realtime().as_ns());
        let (id, wall) = (self.port.next_number(), sys::clock::realtime());
        let at = sys::clock::monotonic();
        self.device.await_answer(value, at);
        let refused = self.port.publish(self.messages.frame())?;
        self.value = value;
        self.sent(due_ns);
        Ok(Sent { at, wall, id, refused })
    }

    fn is_over(&self) -> bool {
        let duration = self.config.duration_ns;
        duration.is_some_and(|ns| sys::clock::monotonic() >= self.start + Ns(ns))
    }
}

/// Curve with this many repetitions a second. A message lives as long as with the usual curve, so that a stall of this thread is
/// no silence.
fn repeated(rate: u32) -> Curve {
    let usual = Curve::default();
    let interval_ns = 1_000_000_000 / u64::from(rate.max(1));
    Curve {
        first_ns: interval_ns,
        last_ns: interval_ns,
        tal_factor: usual.tal_factor * usual.last_ns as f64 / interval_ns as f64,
    }
}
