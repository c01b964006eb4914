//! Lines of findings for a tool, filled in for each part and adapted to its container.

use super::{EmittedLine, LINK_HEAD, Open, containers, names, notes, shares};
use audit::facts::{Class, Subject};
use audit::finding::{Finding, PartFinding};
use audit::template::fill;
use audit::value::Why;

/// Check whose settings contain the lists of capabilities of a container.
const CAPABILITIES: &str = "ctr-capabilities";

impl<'a> Open<'a> {
    /// Lines for a tool, and reasons for leaving out settings that need unknown values.
    pub(super) fn lines(&self, kind: &str, left_out: &mut Vec<String>) -> Vec<EmittedLine<'a>> {
        let mut lines = Vec::new();
        for finding in self.findings() {
            match self.lines_of(finding, kind) {
                Ok(own) => lines.extend(own),
                Err(why) => left_out.push(format!("{}: not set: {why}", finding.rule.id)),
            }
        }
        lines
    }

    /// Lines of a finding, part by part: a section and its settings stay together. Lines that several parts share appear once.
    pub(super) fn lines_of(&self, finding: &'a Finding, kind: &str) -> Result<Vec<EmittedLine<'a>>, String> {
        let Some(texts) = finding.rule.remedy.emit.get(kind) else {
            return Ok(Vec::new());
        };
        let mut blocks: Vec<(&str, Vec<String>)> = Vec::new();
        for part in finding.open_parts() {
            let here = texts
                .iter()
                .filter(|text| kind != "sysctl" || self.has_sysctl(finding, part, text));
            let filled = here.map(|text| match self.of_part(finding, part, text) {
                Err(why) if containers::is_of_the_author(text) => Ok(format!("# by hand: {why}")),
                filled => filled,
            });
            let filled = filled.collect::<Result<Vec<String>, String>>()?;
            let block = filled.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
            let block = self.fitted(finding, part, kind, block);
            if !block.is_empty() && !blocks.iter().any(|(_, known)| *known == block) {
                blocks.push((&part.part, block));
            }
        }
        let is_told_apart = blocks.len() > 1 && finding.rule.each == Some(Class::Container);
        let texts = blocks.into_iter().flat_map(|(part, block)| {
            let heading = is_told_apart.then(|| format!("# of {part:?}"));
            heading.into_iter().chain(block)
        });
        let notes = notes(self.audit, finding);
        let line = |text| EmittedLine {
            finding,
            notes: notes.clone(),
            text,
        };
        Ok(texts.map(line).collect())
    }

    /// True unless the kernel lacks the file of a line `NAME = VALUE`.
    fn has_sysctl(&self, finding: &Finding, part: &PartFinding, text: &str) -> bool {
        let name = text.split('=').next().unwrap_or(text).trim();
        self.has_file(finding, part, &format!("/proc/sys/{}", name.replace('.', "/")))
    }

    /// True unless the kernel lacks this file of a rule: then every boot would report that it cannot be written.
    pub(super) fn has_file(&self, finding: &Finding, part: &PartFinding, path: &str) -> bool {
        let found = self.audit.facts.get(self.subject(finding, part).as_ref(), path);
        !found.is_err_and(|unknown| unknown.why == Why::Absent)
    }

    /// Lines adapted to the container that they are for.
    fn fitted(&self, finding: &Finding, part: &PartFinding, kind: &str, block: Vec<String>) -> Vec<String> {
        match self.subject(finding, part) {
            Some(subject) if finding.rule.each == Some(Class::Container) => {
                let is_led = finding.rule.id != CAPABILITIES && self.is_open(CAPABILITIES, &part.part);
                containers::fit_lines(kind, &self.audit.facts, &subject, block, !is_led)
            }
            _ => block,
        }
    }

    /// True if settings of a check for this part are emitted.
    fn is_open(&self, id: &str, part: &str) -> bool {
        let mut findings = self.findings();
        findings.any(|finding| finding.rule.id == id && finding.open_parts().any(|open| open.part == part))
    }

    pub(super) fn of_part(&self, finding: &Finding, part: &PartFinding, text: &str) -> Result<String, String> {
        let subject = self.subject(finding, part);
        names::check("", text, &self.audit.facts, subject.as_ref())?;
        let text = match text.strip_suffix(".link") {
            Some(_) => format!("{text}\n{}", LINK_HEAD.join("\n")),
            None => text.to_owned(),
        };
        fill(&text, &self.audit.facts, subject.as_ref()).map_err(|unknown| unknown.text)
    }

    /// Subject of a finding's part; `None`: the machine as a whole.
    pub(super) fn subject(&self, finding: &Finding, part: &PartFinding) -> Option<Subject> {
        let subjects = finding.rule.each.map_or(&[][..], |class| self.audit.facts.parts(class));
        let mut subject = subjects.iter().find(|known| known.name == part.part)?.clone();
        if finding.rule.each == Some(Class::Container) {
            shares::give(self.audit, &mut subject);
        }
        Some(subject)
    }
}
