//! An audit as a JUnit file: one test case for each rule that was checked.

use super::AuditReport;
use super::row::Row;
use crate::junit::Junit;
use crate::junit::case::{Case, Outcome as Ending};
use askama::Template;
use audit::finding::Outcome;

impl AuditReport {
    /// The audit as JUnit XML. A rule that failed at a severity that fails the audit is a failure; one that is unknown
    /// at such a severity is an error. Rules that warn, fail below that severity, were accepted or do not apply are
    /// skipped, with the reason.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn junit(&self) -> Result<String, askama::Error> {
        let cases = self.rows.iter().map(|row| self.case(row)).collect();
        Junit::of("audit".to_owned(), cases).render()
    }

    /// The cases of the rules that apply here.
    pub(crate) fn applying(&self) -> Vec<Case> {
        let rows = self.rows.iter().filter(|row| row.outcome != Outcome::NotApplicable);
        rows.map(|row| self.case(row)).collect()
    }

    fn case(&self, row: &Row) -> Case {
        let matters = row.severity >= self.fails_from;
        let found = format!("{}: {}; wanted {}", row.severity.word(), row.live, row.wanted);
        let ending = match row.outcome {
            Outcome::Pass => Ending::Pass,
            Outcome::Fail if matters => Ending::Failure(found),
            Outcome::Unknown if matters => Ending::Error(format!("unknown: {}", row.reason)),
            Outcome::Fail | Outcome::Warn => Ending::Skipped(found),
            Outcome::Unknown | Outcome::Waived | Outcome::NotApplicable => {
                Ending::Skipped(format!("{}: {}", row.outcome.word(), row.reason))
            }
        };
        let text = format!("{}\nwhy: {}\nhow: {} ({})", row.title, row.why, row.how, row.change);
        Case::new(&format!("triptime.audit.{}", row.group), &row.id, ending, text).measured(&row.live, &row.wanted)
    }
}
