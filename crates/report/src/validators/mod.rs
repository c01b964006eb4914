//! A run or an audit in the forms that other validators of this field read: findings for ansible-vpac, a table for SEAPATH's test report.
//! Both have two results where there are three: a limit in doubt is written as a failure that says its doubt, never as a pass.

mod asciidoc;
mod findings;
#[cfg(test)]
mod tests;

use crate::Report;
use crate::audit::AuditReport;
use crate::junit::case;
use model::fact::HOST_NAME;
use units::foreign::Show;

impl Report {
    /// The verdict as findings of the role `validate` of ansible-vpac: a JSON list of `check`, `status` and `msg`.
    #[must_use]
    pub fn findings(&self) -> String {
        findings::list(&case::all(&self.shown()))
    }

    /// The verdict as a table that an AsciiDoc document includes, such as SEAPATH's test report.
    #[must_use]
    pub fn asciidoc(&self) -> String {
        let report = &self.shown();
        let info = &report.run.info;
        let host = HOST_NAME
            .of(&report.run.facts)
            .unwrap_or_else(|| "unknown host".to_owned());
        let title = format!("triptime {} on {host}, run {}", info.command, info.id);
        asciidoc::table(&title, &case::all(report), report.words(), &report.sentence())
    }
}

impl AuditReport {
    /// The audit as findings of the role `validate` of ansible-vpac, without the checks that do not apply here.
    #[must_use]
    pub fn findings(&self) -> String {
        findings::list(&self.applying())
    }

    /// The audit as a table that an AsciiDoc document includes, without the checks that do not apply here.
    #[must_use]
    pub fn asciidoc(&self) -> String {
        let title = format!("triptime audit of {}", self.machine);
        asciidoc::table(&title, &self.applying(), "pass", self.summary().trim_end())
    }
}
