//! Makes a certificate from run files.

use super::judged::JudgedRun;
use crate::CampaignError;
use certificate::{Certificate, SCHEMA, Statement};
use report::limits::Profile;
use report::verdict::Verdict;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The rule that every verdict of this program follows, whatever the rule of its profile.
const EVERY_RULE: &str = "A figure over its limit fails (JCGM 106:2012, 8). \
    A figure between two clocks passes only if it does not exceed its limit with the uncertainty of the clocks added, fails only if it \
    exceeds it with that uncertainty subtracted, and is undecided between. A figure that something may hide a worse value of is undecided.";

/// Statements of a certificate that nobody measured.
pub struct Statements {
    /// The user's statements about the test, by their keys.
    pub about: Map<String, Value>,
    /// Instant of the certificate, RFC 3339.
    pub issued: String,
    /// Version and build of this program.
    pub issued_by: String,
}

/// How figures near their limits were decided: the rule of each profile, once.
pub(super) fn decision_rule(rules: &[String]) -> String {
    let mut texts: Vec<&str> = rules.iter().map(String::as_str).collect();
    texts.dedup();
    texts.push(EVERY_RULE);
    texts.join(" ")
}

/// The certificate of the runs in these files, without a signature. `profile` judges them, with its text; without one, the limits kept in
/// each run do.
///
/// # Errors
/// A file that cannot be read, was not closed, or that no limits judge.
pub fn certify(
    files: &[PathBuf],
    profile: Option<&(Profile, String)>,
    statements: Statements,
) -> Result<Certificate, CampaignError> {
    let (mut runs, mut found, mut verdicts, mut rules) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let run = JudgedRun::read(file, profile)?;
        if !run.report.is_judged() {
            return Err(CampaignError::Wrong(format!(
                "{}: no limits judge this run; name a profile with --limits",
                file.display()
            )));
        }
        let certified = run.certified()?;
        found.extend(run.deviations(&certified.file));
        verdicts.push(run.report.verdict());
        rules.extend(run.report.decision_rules());
        runs.push(certified);
    }
    Ok(Certificate::new(Statement {
        schema: SCHEMA.to_owned(),
        issued: statements.issued,
        issued_by: statements.issued_by,
        verdict: Verdict::over(verdicts).word().to_owned(),
        decision_rule: decision_rule(&rules),
        about: statements.about,
        deviations: found,
        runs,
    })?)
}
