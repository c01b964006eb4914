//! The end that sends and measures.

use super::exchange::{Exchange, GIVE_UP_NS};
use super::notice::Notice;
use super::{ReflectConfig, series};
use crate::error::ProbeError;
use crate::port::Port;
use model::Counter;
use run::{Feed, Stop};
use sys::wait::sleep_until;
use units::{Grid, Monotonic, Ns, SignedNs};
use wire::ether::VlanTag;
use wire::test_frame::TestFrameKind;

/// Number of round trips before the first recorded one.
const WARM_UP_FRAMES: u64 = 64;

/// Time to wait for the answer to a greeting or a farewell before it is repeated.
const GREETING_NS: i64 = 10_000_000;

/// Number of greetings after a rest, which only make sure that the reflector is awake again, and of farewells.
const ATTEMPTS: usize = 5;

/// Longest time without a frame for a rest of `length_ns`: before it, answers under way are awaited, and after it, the far end is
/// greeted.
pub(super) fn longest_silence_ns(length_ns: u64) -> u64 {
    let around_ns = GIVE_UP_NS + GREETING_NS * ATTEMPTS as i64;
    length_ns.saturating_add(around_ns.unsigned_abs())
}

/// A completed rest.
struct Rested {
    /// Planned end, including the time for the last answers.
    planned: Monotonic,
    /// Instant at which frames are sent again.
    over: Monotonic,
}

/// Number of cycles before `next` by which a rest lasted longer than planned, apart from the time for a greeting and its answers.
/// Cycles after the end do not count.
fn overslept(grid: &Grid, rest: &Rested, next: u64, end: Option<u64>) -> u64 {
    let latest = rest.planned + GREETING_NS * ATTEMPTS as i64;
    let next = end.map_or(next, |end| next.min(end));
    next.saturating_sub(grid.first_after(latest))
}

pub(super) struct Initiator {
    exchange: Exchange,
}

impl Initiator {
    pub(super) fn new(config: ReflectConfig, port: Port, stop: Stop) -> Self {
        Self {
            exchange: Exchange::new(config, port, stop),
        }
    }

    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        sleep_until(start);
        self.find_reflector(feed)?;
        self.warm_up(feed)?;
        let begin = sys::clock::monotonic();
        let measured = if self.exchange.config.interval_ns == 0 {
            self.back_to_back(begin, feed)
        } else {
            self.paced(begin, feed)
        };
        self.exchange.close(feed);
        measured?;
        self.part(feed)
    }

    /// Greets until a reflector answers and thereby shows its address.
    fn find_reflector(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let patience_ns = self.exchange.config.patience_ns;
        let until = sys::clock::monotonic() + Ns(patience_ns);
        while sys::clock::monotonic() < until && !self.exchange.stop.requested() {
            if self.exchange.greet(GREETING_NS, feed)? {
                return self.check_tag();
            }
        }
        if self.exchange.stop.requested() {
            return Ok(());
        }
        Err(super::nobody_answers(self.exchange.interface(), patience_ns))
    }

    /// Checks that frames return with the VLAN that they were sent with. Otherwise they have used another network for half of
    /// their way.
    fn check_tag(&self) -> Result<(), ProbeError> {
        let (sent, came) = (self.exchange.config.vlan, self.exchange.greeted_with());
        let vid = |tag: Option<VlanTag>| tag.map_or(0, VlanTag::vid);
        if vid(sent) == vid(came) {
            return Ok(());
        }
        Err(ProbeError::NoTraffic(format!(
            "reflect: the far end of {} answers frames of {} with frames of {}: give both ends the same --vlan",
            self.exchange.interface(),
            super::vlan_words(sent),
            super::vlan_words(came),
        )))
    }

    fn warm_up(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        for _ in 0..WARM_UP_FRAMES {
            if self.exchange.stop.requested() {
                break;
            }
            self.exchange.send_probe(feed)?;
            self.exchange.await_room(1, feed);
        }
        self.exchange.begin();
        Ok(())
    }

    /// Keeps the configured number of frames under way.
    fn back_to_back(&mut self, begin: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let end = self.exchange.config.duration_ns.map(|ns| begin + Ns(ns));
        let frames = u64::from(self.exchange.config.frames);
        let mut rested = begin;
        while !self.exchange.stop.requested() {
            let sent = self.exchange.send_probe(feed)?;
            self.exchange.await_room(frames, feed);
            if end.is_some_and(|end| sent >= end) {
                break;
            }
            if self.rest_is_due(rested, sent) {
                rested = self.rest(feed)?.over;
            }
        }
        Ok(())
    }

    /// Sends the configured number of frames at each due instant.
    fn paced(&mut self, begin: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let interval_ns = self.exchange.config.interval_ns;
        let grid = Grid::every_ns(begin, interval_ns);
        let end = self.exchange.config.duration_ns.map(|ns| ns / interval_ns + 1);
        let frames = u64::from(self.exchange.config.frames);
        let mut rested = begin;
        let mut cycle = 1;
        while end.is_none_or(|end| cycle < end) && !self.exchange.stop.requested() {
            self.exchange.wait_for(grid.due(cycle), feed);
            if self.exchange.stop.requested() {
                break;
            }
            let sent = self.exchange.send_probe(feed)?;
            for _ in 1..frames {
                self.exchange.send_probe(feed)?;
            }
            let next = grid.first_after(sent).max(cycle + 1);
            // Cycles after the end were never due.
            let next = end.map_or(next, |end| next.min(end));
            feed.count(series::RTT, Counter::Missed, sent, (next - cycle - 1) * frames);
            cycle = next;
            if self.rest_is_due(rested, sent) {
                let rest = self.rest(feed)?;
                rested = rest.over;
                let next = grid.first_after(rest.over).max(cycle);
                // A stall of this thread does not belong to its rest.
                let missed = overslept(&grid, &rest, next, end);
                feed.count(series::RTT, Counter::Missed, rest.over, missed * frames);
                cycle = next;
            }
        }
        Ok(())
    }

    fn rest_is_due(&self, rested: Monotonic, now: Monotonic) -> bool {
        let rest = &self.exchange.config.rest;
        rest.is_on() && SignedNs(now - rested) >= Ns(rest.every_ns)
    }

    /// Announces a rest once every answer is there, sleeps through it, and makes sure that the reflector is awake again.
    fn rest(&mut self, feed: &mut Feed) -> Result<Rested, ProbeError> {
        let answered_by = sys::clock::monotonic() + GIVE_UP_NS;
        self.exchange.await_room(1, feed);
        let length_ns = self.exchange.config.rest.length_ns;
        self.exchange.send(TestFrameKind::Rest, length_ns, feed)?;
        let sent = sys::clock::monotonic();
        sleep_until(sent + Ns(length_ns));
        for _ in 0..ATTEMPTS {
            if self.exchange.stop.requested() || self.exchange.greet(GREETING_NS, feed)? {
                break;
            }
        }
        Ok(Rested {
            planned: sent.min(answered_by) + Ns(length_ns),
            over: sys::clock::monotonic(),
        })
    }

    /// Exchanges the counts of both ends, so that losses on the way there and back are known separately.
    fn part(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        for _ in 0..ATTEMPTS {
            if let Some(there) = self.exchange.part(GREETING_NS, feed)? {
                let back = self.exchange.summary();
                let lost_there = back.sent.saturating_sub(there.received);
                let lost_back = there.received.saturating_sub(back.received);
                feed.notice(
                    series::RTT,
                    Notice::LostWhere,
                    sys::clock::monotonic(),
                    lost_there,
                    lost_back,
                );
                break;
            }
        }
        Ok(())
    }
}

const _: () = assert!(
    GREETING_NS < GIVE_UP_NS,
    "a greeting is repeated long before a frame is given up"
);

#[cfg(test)]
mod tests {
    use super::{ATTEMPTS, GREETING_NS, Rested, overslept};
    use units::{Grid, Monotonic};

    #[test]
    fn a_stall_in_a_rest_misses_the_cycles_that_it_slept_through() {
        let grid = Grid::every_ns(Monotonic::from_ns(0), 1_000_000);
        let greetings = GREETING_NS * ATTEMPTS as i64;
        let planned = Monotonic::from_ns(50_000_000);
        let missed = |later: i64, end| {
            let over = planned + later;
            overslept(&grid, &Rested { planned, over }, grid.first_after(over), end)
        };
        assert_eq!(missed(300_000, None), 0);
        assert_eq!(missed(greetings, None), 0, "a far end that took its time to answer");
        assert_eq!(missed(greetings + 700_000_000, None), 700);
        assert_eq!(
            missed(greetings + 700_000_000, Some(200)),
            99,
            "the others were never due"
        );
    }
}
