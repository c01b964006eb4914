//! Account of pings: their samples and counters, the class of a case, and the doubts about all of it.

use super::{Pinger, Sent};
use crate::ping_pong::PingPongConfig;
use crate::ping_pong::device::Pong;
use crate::ping_pong::notice::Notice;
use crate::ping_pong::series::answer_slot;
use crate::ping_pong::stamps::driver_stamp;
use model::Counter;
use run::Feed;
use std::sync::atomic::Ordering;
use units::Monotonic;
use wire::goose::FollowerDoubt;

/// Number of pings without an answer that get an event, for each case.
const MOST_NAMED: u64 = 100;

/// Share of a load in percent; if less was sent, the load is not as stated.
const LEAST_LOAD_PERCENT: u64 = 99;

/// Counts of the pings of a case.
#[derive(Default)]
pub(super) struct Tally {
    answered: u64,
    lost: u64,
    longest_ns: i64,
}

impl Pinger {
    /// Counts the answer to a ping.
    pub(super) fn answered(&mut self, slot: u16, tally: &mut Tally, sent: &Sent, answer: Pong, feed: &mut Feed) {
        let took_ns = answer.at - sent.at;
        feed.sample(slot, answer.at, took_ns, self.pings);
        tally.answered += 1;
        tally.longest_ns = tally.longest_ns.max(took_ns);
        self.longest_ns = self.longest_ns.max(took_ns);
    }

    /// Does not count a ping, since the device may have treated this publisher as gone; its acts meanwhile are not its fault.
    pub(super) fn not_counted(&mut self, slot: u16, at: Monotonic, feed: &mut Feed) {
        self.device.give_up();
        (self.device.late, self.device.unwanted) = (0, 0);
        feed.notice(slot, Notice::HeldUp, at, self.pings, 0);
    }

    pub(super) fn lost(&mut self, slot: u16, tally: &mut Tally, at: Monotonic, feed: &mut Feed) {
        self.device.give_up();
        feed.count(slot, Counter::Lost, at, 1);
        tally.lost += 1;
        if tally.lost <= MOST_NAMED {
            feed.notice(slot, Notice::Lost, at, self.pings, 0);
        }
    }

    /// Measures this machine's part of a ping, by the driver's stamp.
    pub(super) fn own_part(&self, slot: u16, sent: &Sent, feed: &mut Feed) {
        match driver_stamp(&self.port, Some(sent.id)) {
            Some(driver) => feed.sample(slot, sent.at, driver - sent.wall, self.pings),
            None => feed.count(slot, Counter::Lost, sent.at, 1),
        }
    }

    pub(super) fn account_for_changes(&mut self, slot: u16, feed: &mut Feed) {
        let now = sys::clock::monotonic();
        feed.count(slot, Counter::Late, now, std::mem::take(&mut self.device.late));
        self.unasked += self.device.unwanted;
        feed.count(slot, Counter::Unwanted, now, std::mem::take(&mut self.device.unwanted));
    }

    /// Writes the result at the end of a case: its class, and a doubt if its load was not as stated.
    pub(super) fn say_case(&mut self, number: usize, tally: &Tally, feed: &mut Feed) {
        let (slot, now) = (answer_slot(number), sys::clock::monotonic());
        self.account_for_changes(slot, feed);
        let pings = tally.answered + tally.lost;
        if tally.lost > 0 {
            feed.notice(slot, Notice::Classless, now, tally.answered, pings);
        } else if tally.answered > 0 {
            feed.notice(slot, Notice::Class, now, tally.longest_ns.unsigned_abs(), 0);
        }
        let [due, sent] = [&self.shared.due, &self.shared.sent].map(|count| count.load(Ordering::Relaxed));
        let has_load = self.shared.on.load(Ordering::Relaxed) > 0;
        if has_load && pings > 0 && (due == 0 || sent * 100 < due * LEAST_LOAD_PERCENT) {
            feed.notice(slot, Notice::LoadShort, now, sent, due);
        }
    }

    /// Writes the doubts that concern all cases, once.
    pub(super) fn say_doubts(&mut self, feed: &mut Feed) {
        let now = sys::clock::monotonic();
        let others = [
            (Notice::Dropped, self.reception.port.dropped()),
            (Notice::Malformed, self.device.malformed),
            (Notice::Link, self.device.link_downs),
            (Notice::Unasked, self.unasked),
        ];
        let follower = &self.device.follower;
        let doubts = FollowerDoubt::ALL.map(|doubt| (Notice::Doubt(doubt), follower.count(doubt)));
        for (notice, count) in others.into_iter().chain(doubts).filter(|(_, count)| *count > 0) {
            for case in 0..self.config.cases.len() {
                feed.notice(answer_slot(case), notice, now, count, 0);
            }
        }
    }

    /// Reason why no answer of the device was found.
    pub(super) fn silence(&self) -> String {
        let PingPongConfig { device, member, .. } = &self.config;
        let ping = String::from_utf8_lossy(&self.config.block.message.gocb_ref);
        let has = |doubt| self.device.follower.count(doubt) > 0;
        match self.device.follower.value() {
            Some(_) => format!(
                "trip: member {member} of {device} does not follow member {} of {ping}: does the device subscribe to it, and is it that \
                 member (--trip-member)?",
                self.config.ping_member
            ),
            None if has(FollowerDoubt::WithoutMember) => {
                format!(
                    "trip: member {member} of {device} is missing or is not a boolean: name another (--trip-member)"
                )
            }
            None if has(FollowerDoubt::OfTest) || has(FollowerDoubt::Refused) => format!(
                "trip: all messages of {device} are test or simulated messages, or need commissioning: end that state at the device"
            ),
            None => format!(
                "trip: no GOOSE message of {device} came: is the device connected to this network, and is that its name?"
            ),
        }
    }
}
