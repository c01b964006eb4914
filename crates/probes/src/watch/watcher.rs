//! The thread that listens to the relays. Messages are few, so it evaluates each one at once.

use super::WatchConfig;
use super::notice::Notice;
use super::pairing::{Decision, Paired, Pairing};
use super::series::{lead_slot, slot};
use crate::error::ProbeError;
use crate::reception::{Account, Arrival, Reception};
use model::Counter;
use run::Feed;
use units::Monotonic;
use wire::ether::VlanTag;
use wire::goose::{Followed, Follower, FollowerDoubt, Frame, Heard, Simulation};

/// Number of events about the same doubt of one relay, or about decisions of only one relay. Further ones are only counted.
const MOST_NAMED: u64 = 1_000;
const MOST_DOUBTS_NAMED: u64 = 50;

/// State of a relay.
struct Watched {
    follower: Follower,
    /// Counts of its doubts that were reported.
    told: [u64; FollowerDoubt::ALL.len()],
    /// Number of events for each kind of doubt.
    named: [u64; FollowerDoubt::ALL.len()],
}

/// The relays, and the pairs of their decisions with those of the first relay.
pub(super) struct Relays {
    relays: Vec<Watched>,
    pairings: Vec<Pairing>,
    decisions: u64,
    named: u64,
    malformed: u64,
}

/// The watching thread.
pub(super) struct Watcher {
    pub(super) reception: Reception,
    pub(super) relays: Relays,
}

impl Watcher {
    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        // Frames that already wait came before the start.
        while self.reception.port.next().is_some() {}
        let mut accepted = 0;
        let (until, received) = self.reception.run(&mut accepted, &mut self.relays, feed);
        let dropped = self.reception.port.dropped();
        self.relays.end(until, dropped, feed);
        match (received, accepted) {
            (Ok(()), 0) => Err(ProbeError::NoTraffic(format!(
                "trip: no GOOSE message of the relays came on {}: are they connected to this network, and are these the names of their \
                 control blocks?",
                self.reception.port.interface()
            ))),
            (received, _) => received,
        }
    }
}

impl Relays {
    pub(super) fn new(config: &WatchConfig) -> Self {
        let watched = |relay: &super::RelayBlock| Watched {
            follower: Follower::new(relay.gocb_ref.as_bytes(), relay.member, Simulation::Off, false),
            told: [0; FollowerDoubt::ALL.len()],
            named: [0; FollowerDoubt::ALL.len()],
        };
        let pairs = config.relays.len().saturating_sub(1);
        Self {
            relays: config.relays.iter().map(watched).collect(),
            pairings: vec![Pairing::new(config.pair_within_ns); pairs],
            decisions: 0,
            named: 0,
            malformed: 0,
        }
    }

    /// Records a decision. A relay is compared with the first relay, and the first relay with all others.
    fn decided(&mut self, relay: usize, at: Monotonic, is_exact: bool, feed: &mut Feed) {
        self.decisions += 1;
        let pairs = if relay == 0 {
            0..self.pairings.len()
        } else {
            relay - 1..relay
        };
        for pair in pairs {
            let (place, other) = if relay == 0 { (0, pair + 1) } else { (1, 0) };
            let decision = Decision {
                at,
                is_exact,
                is_comparable: self.relays[other].follower.live_value() == Some(false),
            };
            if let Some(paired) = self.pairings[pair].decide(place, decision) {
                self.account(pair, paired, feed);
            }
        }
    }

    fn account(&mut self, pair: usize, paired: Paired, feed: &mut Feed) {
        match paired {
            Paired::Both {
                first,
                at,
                by_ns,
                is_exact: true,
            } => {
                feed.sample(slot(pair), at, by_ns, self.decisions);
                feed.sample(lead_slot(pair, first), at, by_ns, self.decisions);
            }
            Paired::Both { at, by_ns, .. } => feed.notice(slot(pair), Notice::Inexact, at, by_ns.unsigned_abs(), 0),
            Paired::Alone { relay, decision } => self.alone(pair, relay, decision, feed),
        }
    }

    /// Records that only one relay of a pair decided; 0 is the first relay of the list.
    fn alone(&mut self, pair: usize, relay: usize, decision: Decision, feed: &mut Feed) {
        let Decision { at, is_comparable, .. } = decision;
        let notice = match is_comparable {
            true => Notice::Alone,
            false => Notice::Incomparable,
        };
        feed.count(slot(pair), Counter::Lost, at, u64::from(is_comparable));
        self.named += 1;
        if self.named <= MOST_NAMED {
            let [one, other] = numbers(pair, relay);
            feed.notice(slot(pair), notice, at, one, other);
        }
    }

    /// Reports new doubts about a relay.
    fn tell(&mut self, relay: usize, at: Monotonic, feed: &mut Feed) {
        let watched = &mut self.relays[relay];
        let doubts = watched.follower.doubts();
        if doubts == watched.told {
            return;
        }
        for (doubt, of) in FollowerDoubt::ALL.into_iter().enumerate() {
            let new = doubts[doubt] - watched.told[doubt];
            if new > 0 && watched.named[doubt] < MOST_DOUBTS_NAMED {
                watched.named[doubt] += 1;
                told(relay, self.pairings.len(), |slot| {
                    feed.notice(slot, Notice::Doubt(of), at, new, relay as u64);
                });
            }
        }
        watched.told = doubts;
    }

    /// Ends the watch; called once, after all messages received before `at` were taken.
    fn end(&mut self, at: Monotonic, dropped: u64, feed: &mut Feed) {
        self.look(at, feed);
        for relay in 0..self.relays.len() {
            self.end_of(relay, at, feed);
        }
        for (pair, pairing) in self.pairings.iter().enumerate() {
            for (relay, decision) in pairing.left() {
                let [one, other] = numbers(pair, relay);
                feed.notice(slot(pair), Notice::Left, decision.at, one, other);
            }
            let unnamed = self.named.saturating_sub(MOST_NAMED);
            for (notice, count) in [
                (Notice::Dropped, dropped),
                (Notice::Malformed, self.malformed),
                (Notice::Unnamed, unnamed),
            ] {
                if count > 0 {
                    feed.notice(slot(pair), notice, at, count, 0);
                }
            }
        }
    }

    /// Reports the totals of a relay's doubts that have no event of their own, and a relay without any usable message.
    fn end_of(&self, relay: usize, at: Monotonic, feed: &mut Feed) {
        let watched = &self.relays[relay];
        let pairs = self.pairings.len();
        for (doubt, of) in FollowerDoubt::ALL.into_iter().enumerate() {
            if watched.named[doubt] >= MOST_DOUBTS_NAMED {
                let sum = watched.told[doubt];
                told(relay, pairs, |slot| {
                    feed.notice(slot, Notice::DoubtSum(of), at, sum, relay as u64);
                });
            }
        }
        if watched.follower.value().is_none() {
            told(relay, pairs, |slot| {
                feed.notice(slot, Notice::Never, at, 0, relay as u64);
            });
        }
    }
}

/// Numbers of a pair's relay (0 for the first of the list) and of the other relay.
fn numbers(pair: usize, relay: usize) -> [u64; 2] {
    let other = pair as u64 + 1;
    if relay == 0 { [0, other] } else { [other, 0] }
}

/// Series that a relay belongs to: the first relay belongs to all.
fn told(relay: usize, pairs: usize, tell: impl FnMut(u16)) {
    let pairs = if relay == 0 { 0..pairs } else { relay - 1..relay };
    pairs.map(slot).for_each(tell);
}

impl Account for Relays {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let Some(goose) = Frame::within(data, vlan) else {
            return false;
        };
        let Ok(frame) = goose else {
            self.malformed += 1;
            return false;
        };
        let at = arrival.heard;
        let mut is_ours = false;
        for relay in 0..self.relays.len() {
            let followed = self.relays[relay].follower.take(&frame, Heard::at(Some(at.as_ns())));
            if followed == Followed::Other {
                continue;
            }
            is_ours = true;
            self.tell(relay, at, feed);
            if let Followed::Used(Some(change)) = followed
                && change.value
            {
                self.expire(at, feed);
                self.decided(relay, at, change.is_first, feed);
            }
        }
        is_ours
    }

    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed) {
        let pairs = self.pairings.len();
        told(0, pairs, |slot| {
            feed.notice(slot, Notice::Link, at, u64::from(is_down), 0);
        });
    }

    fn deadline(&self) -> Option<Monotonic> {
        let expiries = self.relays.iter().filter_map(|relay| relay.follower.deadline_ns());
        let expiries = expiries.map(|ns| Monotonic::from_ns(ns + 1));
        let pairs = self.pairings.iter().filter_map(Pairing::deadline);
        expiries.chain(pairs).min()
    }

    fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        for relay in 0..self.relays.len() {
            if self.relays[relay].follower.expire(Heard::at(Some(now.as_ns()))) {
                self.tell(relay, now, feed);
            }
        }
        self.expire(now, feed);
    }
}

impl Relays {
    /// Takes decisions that the other relay did not follow in time.
    fn expire(&mut self, now: Monotonic, feed: &mut Feed) {
        for pair in 0..self.pairings.len() {
            while let Some(paired) = self.pairings[pair].expired(now) {
                self.account(pair, paired, feed);
            }
        }
    }
}
