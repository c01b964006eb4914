//! Settings for what needs a boot or another tool.

mod definition;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use super::harm::harm;
use crate::audit::Audit;
use crate::audit::facts::Subject;
use crate::audit::finding::{Finding, Outcome, PartFinding};
use crate::audit::template::fill;

/// For which tools settings can be made.
pub const KINDS: [&str; 14] = [
    "kernel-args",
    "sysctl",
    "systemd",
    "tuned",
    "udev",
    "modprobe",
    "ansible",
    "libvirt",
    "vmx",
    "docker",
    "compose",
    "quadlet",
    "oci",
    "kubernetes",
];

/// A line for a tool, with the check that asks for it.
struct Line<'a> {
    finding: &'a Finding,
    text: String,
}

/// The settings of `kind` for every finding that failed or warned; `only` these checks, or all when it is empty. Empty: none of them needs such a setting.
///
/// # Errors
/// What a setting needs to be told, such as CPUs.
pub fn emit(audit: &Audit, only: &[String], kind: &str) -> Result<String, String> {
    let open = Open { audit, only };
    match kind {
        "kernel-args" => open.kernel_args(),
        "tuned" => open.tuned(),
        "ansible" => open.ansible(),
        "compose" | "kubernetes" | "oci" => definition::emit(&open, kind),
        _ => Ok(commented(&open.known_lines(kind)?, kind)),
    }
}

/// The findings that settings are made for.
struct Open<'a> {
    audit: &'a Audit,
    only: &'a [String],
}

impl<'a> Open<'a> {
    fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        let audit: &'a Audit = self.audit;
        let only = self.only;
        audit.findings.iter().filter(move |finding| {
            let asked = only.is_empty() || only.contains(&finding.rule.id);
            let open = asked && matches!(finding.outcome, Outcome::Fail | Outcome::Warn);
            open && harm(audit, finding).is_none()
        })
    }

    fn lines(&self, kind: &str) -> Result<Vec<Line<'a>>, String> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        for finding in self.findings() {
            lines.extend(self.lines_of(finding, kind)?);
        }
        Ok(lines)
    }

    /// The lines of a finding, part by part: a section and its settings stay together. What two parts have in common stands once.
    fn lines_of(&self, finding: &'a Finding, kind: &str) -> Result<Vec<Line<'a>>, String> {
        let Some(texts) = finding.rule.remedy.emit.get(kind) else {
            return Ok(Vec::new());
        };
        let mut blocks: Vec<Vec<String>> = Vec::new();
        for part in finding.worst_parts() {
            let filled = texts.iter().map(|text| self.of_part(finding, part, text));
            let block = filled.collect::<Result<Vec<String>, String>>()?;
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        let texts = blocks.into_iter().flatten();
        Ok(texts.map(|text| Line { finding, text }).collect())
    }

    /// As [`Open::lines`]; a comment stands for a setting that needs what is not known, where others can be made.
    fn known_lines(&self, kind: &str) -> Result<Vec<Line<'a>>, String> {
        let (before, behind) = marks(kind);
        let (mut lines, mut left_out) = (Vec::new(), Vec::new());
        for finding in self.findings() {
            match self.lines_of(finding, kind) {
                Ok(own) => lines.extend(own),
                Err(why) => left_out.push((finding, why)),
            }
        }
        if let (true, Some((_, why))) = (lines.is_empty(), left_out.first()) {
            return Err(why.clone());
        }
        let notes = left_out.into_iter().map(|(finding, why)| Line {
            finding,
            text: format!("{before}not set: {why}{behind}"),
        });
        lines.extend(notes);
        Ok(lines)
    }

    /// A text for each part with the outcome of the whole.
    fn of_parts(&self, finding: &Finding, text: &str) -> Result<Vec<String>, String> {
        finding
            .worst_parts()
            .map(|part| self.of_part(finding, part, text))
            .collect()
    }

    fn of_part(&self, finding: &Finding, part: &PartFinding, text: &str) -> Result<String, String> {
        let subject = self.subject(finding, part);
        fill(text, &self.audit.facts, subject).map_err(|unknown| format!("{}: {}", finding.rule.id, unknown.text))
    }

    /// What a part of a finding is about; `None`: the machine as a whole.
    fn subject(&self, finding: &Finding, part: &PartFinding) -> Option<&'a Subject> {
        let subjects = finding.rule.each.map_or(&[][..], |class| self.audit.facts.parts(class));
        subjects.iter().find(|known| known.name == part.part)
    }

    /// The kernel arguments in one line; of two for the same thing the first counts, which comes from the finding that matters more.
    fn arguments(&self) -> Result<String, String> {
        let mut found: Vec<String> = Vec::new();
        for line in self.lines("kernel-args")? {
            for argument in line.text.split_whitespace() {
                let name = |argument: &str| argument.split('=').next().unwrap_or(argument).replace('-', "_");
                if !found.iter().any(|known| name(known) == name(argument)) {
                    found.push(argument.to_owned());
                }
            }
        }
        Ok(found.join(" "))
    }

    fn kernel_args(&self) -> Result<String, String> {
        let arguments = self.arguments()?;
        if arguments.is_empty() {
            return Ok(String::new());
        }
        Ok(format!(
            "{arguments}\n\n\
             # Fedora, RHEL: grubby --update-kernel=ALL --args=\"{arguments}\"\n\
             # Debian, Ubuntu: add them to GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub\n\
             # systemd-boot: add them to /etc/kernel/cmdline, then kernel-install add-all\n"
        ))
    }

    /// A profile: arguments, kernel settings, and files of /sys.
    fn tuned(&self) -> Result<String, String> {
        let mut out = "[main]\nsummary=Real-time settings found by triptime audit\n".to_owned();
        let arguments = self.arguments()?;
        if !arguments.is_empty() {
            let _ = write!(out, "\n[bootloader]\ncmdline_triptime=+{arguments}\n");
        }
        let sections = [("sysctl", self.settings()?), ("sysfs", self.files()?)];
        for (name, settings) in sections.iter().filter(|(_, settings)| !settings.is_empty()) {
            let _ = write!(out, "\n[{name}]\n");
            for (key, value) in settings {
                let _ = writeln!(out, "{key}={value}");
            }
        }
        let own = self.lines("tuned")?;
        if !own.is_empty() {
            let _ = write!(out, "\n{}", commented(&own, "tuned"));
        }
        Ok(out)
    }

    fn ansible(&self) -> Result<String, String> {
        let mut out = String::new();
        for (name, value) in self.settings()? {
            let _ = write!(
                out,
                "- name: Set {name}\n  ansible.posix.sysctl:\n    name: {name}\n    value: \"{value}\"\n    sysctl_file: /etc/sysctl.d/90-triptime.conf\n"
            );
        }
        for (path, value) in self.files()? {
            let _ = write!(
                out,
                "- name: Set {path}\n  ansible.builtin.lineinfile:\n    path: /etc/tmpfiles.d/90-triptime.conf\n    create: true\n    line: \"w {path} - - - - {value}\"\n"
            );
        }
        let arguments = self.arguments()?;
        if !arguments.is_empty() {
            let _ = write!(
                out,
                "- name: Set kernel arguments\n  ansible.builtin.command: grubby --update-kernel=ALL --args=\"{arguments}\"\n"
            );
        }
        Ok(out)
    }

    /// Names and values of kernel settings; of two values of one name the first counts, as with arguments.
    fn settings(&self) -> Result<Vec<(String, String)>, String> {
        let mut found: Vec<(String, String)> = Vec::new();
        for line in self.lines("sysctl")? {
            let Some((name, value)) = line.text.split_once('=') else {
                continue;
            };
            let name = name.trim();
            if !found.iter().any(|(known, _)| known == name) {
                found.push((name.to_owned(), value.trim().to_owned()));
            }
        }
        Ok(found)
    }

    /// Files of /sys and their values.
    fn files(&self) -> Result<Vec<(String, String)>, String> {
        let mut found = Vec::new();
        for finding in self.findings() {
            for write in finding
                .rule
                .remedy
                .write
                .iter()
                .filter(|write| write.to.starts_with("/sys/"))
            {
                let paths = self.of_parts(finding, &write.to)?;
                let values = self.of_parts(finding, &write.value)?;
                found.extend(paths.into_iter().zip(values));
            }
        }
        Ok(found)
    }
}

/// Lines under a comment that names the check, in the comment style of the tool.
fn commented(lines: &[Line<'_>], kind: &str) -> String {
    let (before, behind) = marks(kind);
    let mut out = String::new();
    let mut last = "";
    for line in lines {
        let rule = &line.finding.rule;
        if rule.id != last {
            for note in rule.notes() {
                let _ = writeln!(out, "{before}{note}{behind}");
            }
            last = &rule.id;
        }
        let _ = writeln!(out, "{}", line.text);
    }
    out
}

/// What stands before and behind a comment.
fn marks(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "libvirt" => ("<!-- ", " -->"),
        _ => ("# ", ""),
    }
}
