//! Settings for what needs a boot or another tool.

use std::fmt::Write;

use crate::audit::Audit;
use crate::audit::finding::{Finding, Outcome};
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
        _ => Ok(commented(&open.lines(kind)?, kind)),
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
            asked && matches!(finding.outcome, Outcome::Fail | Outcome::Warn)
        })
    }

    fn lines(&self, kind: &str) -> Result<Vec<Line<'a>>, String> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        for finding in self.findings() {
            let texts = finding.rule.remedy.emit.get(kind).into_iter().flatten();
            for text in texts {
                for filled in self.of_parts(finding, text)? {
                    if !lines.iter().any(|line| line.text == filled) {
                        lines.push(Line { finding, text: filled });
                    }
                }
            }
        }
        Ok(lines)
    }

    /// A text for each part with the outcome of the whole.
    fn of_parts(&self, finding: &Finding, text: &str) -> Result<Vec<String>, String> {
        let subjects = finding.rule.each.map_or(&[][..], |class| self.audit.facts.parts(class));
        let filled = finding.worst_parts().map(|part| {
            let subject = subjects.iter().find(|known| known.name == part.part);
            fill(text, &self.audit.facts, subject).map_err(|unknown| format!("{}: {}", finding.rule.id, unknown.text))
        });
        filled.collect()
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

    /// Names and values of kernel settings.
    fn settings(&self) -> Result<Vec<(String, String)>, String> {
        let lines = self.lines("sysctl")?;
        let pairs = lines.iter().filter_map(|line| line.text.split_once('='));
        Ok(pairs
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect())
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

/// Lines under a comment that names the check, in the comment style of the tool; JSON has none.
fn commented(lines: &[Line<'_>], kind: &str) -> String {
    let (before, behind) = match kind {
        "oci" => return lines.iter().map(|line| format!("{}\n", line.text)).collect(),
        "libvirt" => ("<!-- ", " -->"),
        _ => ("# ", ""),
    };
    let mut out = String::new();
    let mut last = "";
    for line in lines {
        let rule = &line.finding.rule;
        if rule.id != last {
            let _ = writeln!(out, "{before}{}: {}{behind}", rule.id, rule.title);
            last = &rule.id;
        }
        let _ = writeln!(out, "{}", line.text);
    }
    out
}
