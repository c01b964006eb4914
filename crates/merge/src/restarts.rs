//! Restarts of a stream's counter, as each run recorded them.

use super::pairing::WITHIN_NS;
use super::phase::Jump;
use std::collections::VecDeque;

/// Largest number of stored restarts; a counter with more of them within two seconds cannot identify frames. Each run records every restart, and
/// every pair of records is compared with all.
const MOST: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Restart {
    run: u8,
    at_ns: i64,
    entry: u64,
    /// True if only the time of the records shows it for certain, and not the counts.
    is_by_time: bool,
}

/// Position of two records relative to restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// There is no restart between them.
    Same,
    /// There is a restart between them.
    Apart,
    /// There is a restart between them by the order in one run, but the other run did not record it: its position there is unknown.
    Unsure,
}

/// The restarts of one stream.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    known: VecDeque<Restart>,
}

impl Restarts {
    /// Stores a restart; returns false if there is no room.
    pub(super) fn note(&mut self, run: u8, (entry, at_ns): Jump, is_by_time: bool) -> bool {
        let same = |known: &&mut Restart| known.run == run && known.entry == entry;
        if let Some(known) = self.known.iter_mut().find(same) {
            known.is_by_time |= is_by_time;
            return true;
        }
        if self.known.len() >= MOST {
            return false;
        }
        self.known.push_back(Restart {
            run,
            at_ns,
            entry,
            is_by_time,
        });
        true
    }

    /// Removes those before `before_ns`, which can no longer be between any pair.
    pub(super) fn forget(&mut self, before_ns: i64) {
        while self.known.front().is_some_and(|restart| restart.at_ns < before_ns) {
            self.known.pop_front();
        }
    }

    /// Time of the oldest one.
    pub(super) fn first_ns(&self) -> Option<i64> {
        self.known.front().map(|restart| restart.at_ns)
    }

    /// True if a restart that only the time shows is less than `within_ns` away from a time in its run.
    pub(super) fn is_near_jump(&self, run: u8, at_ns: i64, within_ns: i64) -> bool {
        let mut jumps = self.known.iter().filter(|known| known.is_by_time && known.run == run);
        jumps.any(|jump| jump.at_ns.abs_diff(at_ns) < within_ns.unsigned_abs())
    }

    /// Decides if a restart is between two records, each given by its run, its index among all records, and its time.
    pub(super) fn side(&self, a: (u8, u64, i64), b: (u8, u64, i64)) -> Side {
        let mut side = Side::Same;
        for restart in &self.known {
            let (of_a, of_b) = (self.is_after(a, restart), self.is_after(b, restart));
            if of_a.0 != of_b.0 {
                match of_a.1 && of_b.1 {
                    true => return Side::Apart,
                    false => side = Side::Unsure,
                }
            }
        }
        side
    }

    /// Returns true if a record came after a restart, and true if that is certain. In its own run the order decides; in another run the time at which
    /// that run recorded the restart; without such a time the comparison is a guess.
    fn is_after(&self, (run, entry, at_ns): (u8, u64, i64), restart: &Restart) -> (bool, bool) {
        if run == restart.run {
            return (entry >= restart.entry, true);
        }
        let own = self.known.iter().filter(|other| other.run == run);
        let apart = |other: &&Restart| other.at_ns.abs_diff(restart.at_ns);
        match own
            .min_by_key(apart)
            .filter(|other| apart(other) < WITHIN_NS.unsigned_abs())
        {
            Some(other) => (entry >= other.entry, true),
            None => (at_ns >= restart.at_ns, false),
        }
    }
}
