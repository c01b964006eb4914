//! Checks a fit to the first part of a run against the rest, which it has not seen.

use super::blocks::sorted;
use super::{BLOCKS_NEEDED, Gev, NoLevel};
use crate::exceedance;

/// Share of the blocks, at the start of the run, that are fitted.
const FIRST: f64 = 2.0 / 3.0;

/// Expected number of the remaining blocks over the tried level.
const EXPECTED: f64 = 3.0;

/// Confidence of the check: more blocks over the level than allowed happen by chance in one of a hundred runs.
const SURE: f64 = 0.99;

/// A level found from the first part of the blocks, and the number of remaining blocks over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldBack {
    /// Number of fitted blocks.
    pub fitted: usize,
    /// Number of blocks held back.
    pub tested: usize,
    /// The level, in ns.
    pub level_ns: f64,
    /// Average number of blocks held back that are expected over it.
    pub expected: f64,
    /// Number of blocks held back that are over it.
    pub over: usize,
}

impl HeldBack {
    /// Takes independent block maxima in order of time; `None` if the first part is too short for a fit.
    pub(super) fn of(blocks: &[f64]) -> Option<Self> {
        let fitted = (blocks.len() as f64 * FIRST) as usize;
        let (first, rest) = blocks.split_at(fitted);
        if fitted < BLOCKS_NEEDED || rest.is_empty() {
            return None;
        }
        let gev = Gev::fit(&sorted(first).ok()?);
        let level_ns = gev.return_level(rest.len() as f64 / EXPECTED);
        Some(Self {
            fitted,
            tested: rest.len(),
            level_ns,
            expected: EXPECTED,
            over: rest.iter().filter(|value| **value > level_ns).count(),
        })
    }

    /// Refuses a fit that the rest contradicts.
    pub(super) fn check(self) -> Result<Self, NoLevel> {
        let least = exceedance::interval(self.over as u64, self.tested as u64, 2.0 * SURE - 1.0).0;
        // The level itself is uncertain: up to twice as many blocks as expected are no contradiction.
        if least > 2.0 * self.expected / self.tested as f64 {
            return Err(NoLevel::HeldBack {
                over: self.over,
                tested: self.tested,
                expected: self.expected,
            });
        }
        Ok(self)
    }

    /// The result in words for a person.
    pub fn text(&self) -> String {
        format!(
            "held back: {} of the last {} blocks are over the level; a fit to the first {} expected {:.0}",
            self.over, self.tested, self.fitted, self.expected
        )
    }
}

#[cfg(test)]
mod tests {
    use super::HeldBack;
    use crate::extreme::NoLevel;
    use crate::random::Random;

    #[test]
    fn the_rest_of_a_run_is_held_against_its_first_part() {
        let mut random = Random::new(31);
        let mut blocks: Vec<f64> = (0..120).map(|_| 20_000.0 + 3_000.0 * random.exponential()).collect();
        let held = HeldBack::of(&blocks).expect("long enough");
        assert_eq!((held.fitted, held.tested, held.expected), (80, 40, 3.0));
        assert!(held.over <= 12 && held.check().is_ok(), "{held:?}");
        for value in &mut blocks[80..] {
            *value *= 3.0;
        }
        let held = HeldBack::of(&blocks).expect("long enough");
        assert!(
            matches!(held.check(), Err(NoLevel::HeldBack { over: 40, .. })),
            "{held:?}"
        );
        assert_eq!(HeldBack::of(&blocks[..74]), None);
    }
}
