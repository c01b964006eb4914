//! How many limits a verdict is over, in the result document.

use crate::Report;
use crate::section::{Fields, Section, fields};
use crate::verdict::{self, ProfileVerdict};
use serde::Serialize;

#[derive(Debug, Clone, Copy, Serialize)]
struct CoverageEntry {
    limits: usize,
    measured: usize,
    coverage: &'static str,
}

impl CoverageEntry {
    fn of(coverage: verdict::Coverage) -> Self {
        Self {
            limits: coverage.limits,
            measured: coverage.measured,
            coverage: coverage.word(),
        }
    }
}

/// How many limits the verdict over all profiles is over.
pub(crate) struct Coverage;

impl Section for Coverage {
    fn json(&self, report: &Report) -> Fields {
        fields(CoverageEntry::of(report.judgement.coverage))
    }
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct ProfileEntry {
    name: String,
    verdict: &'static str,
    what: String,
    #[serde(flatten)]
    coverage: CoverageEntry,
}

pub(super) fn profiles(report: &Report) -> Vec<ProfileEntry> {
    let entry = |profile: &ProfileVerdict| ProfileEntry {
        name: profile.name.clone(),
        verdict: profile.verdict.word(),
        what: profile.what.clone(),
        coverage: CoverageEntry::of(profile.coverage),
    };
    report.judgement.profiles.iter().map(entry).collect()
}
