//! Where a change of the waveform begins: the first sample that departs from the one a cycle earlier.
//!
//! A rule recognises a fault some samples after its first one. So the samples before are looked at again, back to three cycles: each is
//! compared with the one a cycle earlier, in all members: a current that cannot jump begins where it was, and the voltage shows the
//! fault. The difference that was there before (noise, a frequency off the nominal) is measured in the cycle
//! before that; a departure is larger than twice that.

use crate::history::{History, Kept};
use crate::rule::MOST_MEMBERS;

/// Cycles before the recognising sample that are looked at again.
pub(crate) const CYCLES_BACK: u64 = 3;

/// Counts that are never a departure: the rounding of two samples.
const LEAST_COUNTS: i64 = 4;

/// Departures that are further apart than this part of a cycle are of two changes.
const APART: u64 = 4;

/// The begin of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Onset {
    /// The first sample that departs.
    pub(crate) index: u64,
    /// Samples right before it that never came.
    pub(crate) missing: u64,
    /// Part of the distance of two samples by which it may have begun earlier, hidden in the noise.
    pub(crate) hidden: f64,
}

/// Why no begin was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoOnset {
    /// No sample departs from the one a cycle earlier.
    NoStep,
    /// The change began before all that was looked at.
    Earlier,
    /// Too few samples came before to compare with.
    TooFew,
}

/// Looks for the begin of the change that was recognised at `newest`; `cycle` samples are a cycle.
pub(crate) fn onset(history: &History, newest: u64, cycle: u64) -> Result<Onset, NoOnset> {
    let limits = Limits::measured(history, newest - CYCLES_BACK * cycle, cycle).ok_or(NoOnset::TooFew)?;
    let oldest = newest - CYCLES_BACK * cycle;
    let mut first: Option<u64> = None;
    let mut index = newest;
    while index > oldest {
        let near = first.unwrap_or(newest);
        if near - index > cycle / APART {
            break;
        }
        if limits.departure(history, index, cycle).is_some() {
            first = Some(index);
        }
        index -= 1;
    }
    let first = first.ok_or(NoOnset::NoStep)?;
    if first - oldest <= cycle / APART {
        return Err(NoOnset::Earlier);
    }
    let missing = (1..cycle)
        .find(|back| history.get(first - back).is_some())
        .unwrap_or(cycle)
        - 1;
    Ok(Onset {
        index: first,
        missing,
        hidden: limits.hidden(history, first, cycle),
    })
}

/// The largest differences that are no departure, of each member.
struct Limits {
    counts: [i64; MOST_MEMBERS],
}

impl Limits {
    /// By the cycle before `until`, if half of it can be compared.
    fn measured(history: &History, until: u64, cycle: u64) -> Option<Self> {
        let mut compared = 0;
        let mut counts = [LEAST_COUNTS; MOST_MEMBERS];
        for index in until - cycle..until {
            let Some(now) = history.get(index) else { continue };
            let Some(before) = reference(history, index, cycle) else {
                continue;
            };
            compared += 1;
            for (member, limit) in counts.iter_mut().enumerate() {
                *limit = (*limit).max(2 * difference(now, before, member).abs());
            }
        }
        (2 * compared >= cycle).then_some(Self { counts })
    }

    /// The member that departs, and by how much, if one does.
    fn departure(&self, history: &History, index: u64, cycle: u64) -> Option<(usize, i64)> {
        let now = history.get(index)?;
        let before = reference(history, index, cycle)?;
        (0..MOST_MEMBERS).find_map(|member| {
            let by = difference(now, before, member);
            (by.abs() > self.counts[member]).then_some((member, by))
        })
    }

    /// How much of the distance of two samples the limit may hide: a change that grows as it does from its first departure to the next
    /// sample was below the limit for so long.
    fn hidden(&self, history: &History, first: u64, cycle: u64) -> f64 {
        let Some((member, by)) = self.departure(history, first, cycle) else {
            return 1.0;
        };
        let next = history.get(first + 1).zip(reference(history, first + 1, cycle));
        let grows = next
            .map_or(0, |(now, before)| difference(now, before, member) - by)
            .abs();
        let limit = self.counts[member] as f64;
        // One that does not grow has stepped to where it is.
        let slope = (grows as f64).max(by.abs() as f64);
        limit / slope
    }
}

/// The sample one cycle before, or two where that never came.
fn reference(history: &History, index: u64, cycle: u64) -> Option<&Kept> {
    history.get(index - cycle).or_else(|| history.get(index - 2 * cycle))
}

fn difference(now: &Kept, before: &Kept, member: usize) -> i64 {
    i64::from(now.values[member]) - i64::from(before.values[member])
}
