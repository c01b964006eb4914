//! The end of a sequence as a breaker makes it: each pole changes over when its current and the one after it are equal.
//!
//! At that instant the current of the fault passes through zero, whatever load remains. A current that stops at any other instant makes a step that no
//! network has, and a relay may trip because of it.

use super::State;
use super::signal::{InForce, Phases};
use crate::sample::Sampling;

/// Longest time in s from the end of the last state to the last pole: the decaying component of a fault has fallen below its alternating one by then.
const LONGEST_S: f64 = 0.2;

/// Share of the larger current below which two currents count as equal.
const EQUAL: f64 = 1e-9;

/// The last state, which goes on in each phase until its pole opens.
#[derive(Debug, Clone)]
pub(super) struct Clearing<'a> {
    state: InForce<'a>,
    start_s: f64,
    /// First sample after the end of the state.
    from: u64,
    /// First sample of each phase after its pole has opened.
    opens: [u64; 3],
}

impl<'a> Clearing<'a> {
    /// The end of `state`, in force since `start_s`, and its change to `next`, in force since `end_ns`.
    pub(super) fn of(state: InForce<'a>, start_s: f64, next: &InForce<'_>, end_ns: u64, sampling: &Sampling) -> Self {
        let (rate, end_s) = (f64::from(sampling.rate), end_ns as f64 / 1e9);
        let first = sampling.first_at(end_ns);
        let last = first + (LONGEST_S * rate) as u64;
        let apart = |sample: u64| {
            let seconds = sample as f64 / rate;
            apart(&state.at(seconds - start_s), &next.at(seconds - end_s))
        };
        let mut opens = [None; 3];
        let mut before = apart(first.saturating_sub(1));
        let mut nearest = [(f64::INFINITY, first); 3];
        for sample in first..last {
            let now = apart(sample);
            for phase in 0..3 {
                if now[phase].abs() < nearest[phase].0 {
                    nearest[phase] = (now[phase].abs(), sample);
                }
                if opens[phase].is_none() && before[phase] * now[phase] <= 0.0 {
                    opens[phase] = Some(sample);
                }
            }
            if opens.iter().all(Option::is_some) {
                break;
            }
            before = now;
        }
        let mut opens: [u64; 3] = std::array::from_fn(|phase| opens[phase].unwrap_or(nearest[phase].1));
        // The voltage of a phase whose current does not change follows the last pole.
        let done = opens.into_iter().max().unwrap_or(first);
        let changes = [0, 1, 2].map(|phase| (first..=done).any(|sample| apart(sample)[phase] != 0.0));
        for (open, changes) in opens.iter_mut().zip(changes) {
            if !changes {
                *open = done;
            }
        }
        Self {
            state,
            start_s,
            from: first,
            opens,
        }
    }

    /// True if this sample is after the end of the state, and before the last pole has opened.
    pub(super) fn lasts(&self, sample: u64) -> bool {
        (self.from..self.done()).contains(&sample)
    }

    /// First sample after the last pole.
    pub(super) fn done(&self) -> u64 {
        self.opens.into_iter().max().unwrap_or(0)
    }

    /// The values of a sample `seconds` after the start of the run, if those after all poles are `after`.
    pub(super) fn mixed(&self, sample: u64, seconds: f64, after: Phases) -> Phases {
        let before = self.state.at(seconds - self.start_s);
        let is_open = |phase: usize| sample >= self.opens[phase];
        let of = |before: [f64; 3], after: [f64; 3]| {
            std::array::from_fn(|phase| if is_open(phase) { after[phase] } else { before[phase] })
        };
        Phases {
            currents_a: of(before.currents_a, after.currents_a),
            voltages_v: of(before.voltages_v, after.voltages_v),
        }
    }

    /// The state that goes on.
    pub(super) fn state(&self) -> &'a State {
        self.state.state()
    }
}

/// Differences of the currents; 0 where they are equal.
fn apart(before: &Phases, after: &Phases) -> [f64; 3] {
    std::array::from_fn(|phase| {
        let (before, after) = (before.currents_a[phase], after.currents_a[phase]);
        let off = before - after;
        if off.abs() <= EQUAL * before.abs().max(after.abs()) {
            0.0
        } else {
            off
        }
    })
}
