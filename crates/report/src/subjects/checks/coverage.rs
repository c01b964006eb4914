//! Verdicts over profiles, and the number of limits that each covers, in the result document.

use crate::Report;
use crate::section::{Fields, Section};
use crate::verdict::{self, ProfileVerdict};
use serde::Serialize;
use std::io;

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

/// Number of limits that the verdict over all profiles covers.
pub(crate) struct CoverageSection;

impl Section for CoverageSection {
    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let coverage = CoverageEntry::of(report.judgement.coverage);
        fields.field("limits", coverage.limits)?;
        fields.field("measured", coverage.measured)?;
        fields.field("coverage", coverage.coverage)?;
        match report.judgement.untested {
            Some(text) => fields.field("untested", text),
            None => Ok(()),
        }
    }
}

/// The verdict of each profile.
pub(crate) struct ProfilesSection;

impl Section for ProfilesSection {
    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("profiles", profiles(report))
    }
}

#[derive(Debug, Clone, Serialize)]
struct ProfileEntry {
    name: String,
    verdict: &'static str,
    what: String,
    #[serde(flatten)]
    coverage: CoverageEntry,
}

fn profiles(report: &Report) -> Vec<ProfileEntry> {
    let entry = |profile: &ProfileVerdict| ProfileEntry {
        name: profile.name.clone(),
        verdict: profile.verdict.word(),
        what: profile.what.clone(),
        coverage: CoverageEntry::of(profile.coverage),
    };
    report.judgement.profiles.iter().map(entry).collect()
}
