//! The share of a profile's limits that a run measured. A pass of some limits is not a pass of the host.

use super::{Check, Judgement, ProfileVerdict, Verdict};
use crate::limits::Profile;
use model::RunView;
use model::fact::STEPS_LEFT_OUT;

/// The verdict in words if it is a pass of some limits only, or of some steps of the plan.
pub(crate) const PARTIAL_PASS: &str = "partial pass";

/// Number of measured limits, of one profile or several. Requirements are conditions, and do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Number of limits.
    pub limits: usize,
    /// Number of limits with a figure of at least one series.
    pub measured: usize,
    /// True if the run left out steps of its plan on purpose: then no pass of it is one of the plan.
    pub is_of_part: bool,
}

impl Coverage {
    /// The coverage of one profile, by its checks.
    pub(super) fn of(run: &RunView, profile: &Profile, checks: &[Check]) -> Self {
        let is_measured = |id: &str| {
            let mut of_limit = checks.iter().filter(|check| check.limit.id == id);
            of_limit.any(|check| check.measured.is_some())
        };
        let measured = profile.limits.iter().filter(|limit| is_measured(&limit.id));
        Self {
            limits: profile.limits.len(),
            measured: measured.count(),
            is_of_part: STEPS_LEFT_OUT.find(&run.facts).is_some(),
        }
    }

    /// True if every limit was measured, and no step of the plan was left out.
    pub fn is_whole(&self) -> bool {
        self.measured == self.limits && !self.is_of_part
    }

    /// The word used in files: `whole`, `partial`, or `none`; `none` also if there is no limit.
    pub fn word(&self) -> &'static str {
        match self.measured {
            0 => "none",
            _ if self.is_whole() => "whole",
            _ => "partial",
        }
    }

    /// Text such as `3 of 8 limits measured`.
    pub fn text(&self) -> String {
        let ending = if self.limits == 1 { "" } else { "s" };
        let part = if self.is_of_part { " in a part of the plan" } else { "" };
        format!("{} of {} limit{ending} measured{part}", self.measured, self.limits)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.limits += other.limits;
        self.measured += other.measured;
        self.is_of_part |= other.is_of_part;
    }
}

impl ProfileVerdict {
    /// True if it passes, but some of the profile's limits were not measured.
    pub fn is_partial_pass(&self) -> bool {
        self.verdict == Verdict::Pass && !self.coverage.is_whole()
    }

    /// The verdict, as text for people.
    pub fn words(&self) -> &'static str {
        words(self.verdict, self.coverage)
    }
}

fn words(verdict: Verdict, coverage: Coverage) -> &'static str {
    match verdict {
        Verdict::Pass if !coverage.is_whole() => PARTIAL_PASS,
        _ => verdict.word(),
    }
}

impl Judgement {
    /// True if it passes, but some limits were not measured.
    pub fn is_partial_pass(&self) -> bool {
        self.verdict == Verdict::Pass && !self.coverage.is_whole()
    }

    /// The verdict, as text for people: `partial pass` if some limits were not measured.
    pub fn words(&self) -> &'static str {
        words(self.verdict, self.coverage)
    }
}
