//! Settings for boot loaders and other tools.

mod capabilities;
mod compose;
mod containers;
mod definition;
mod ini;
mod lines;
mod names;
mod playbook;
mod shares;
#[cfg(test)]
mod tests;

use std::fmt::Write;

pub(super) use names::on_one_line;

use super::harm::{harm, none_left, risks_here};
use audit::finding::{Finding, Outcome};
use audit::value::Value;
use audit::{Audit, REPEATED};

/// Name that the guide gives a TuneD profile.
const PROFILE: &str = "triptime";

/// Page size that rules use.
const GIB: &str = "1G";

/// Tools for which settings can be emitted.
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

/// Tools whose settings change a guest or a container, which leave the CPUs of this machine as they are.
const OF_OTHERS: [&str; 6] = ["vmx", "docker", "compose", "quadlet", "oci", "kubernetes"];

/// A line for a tool, with the check that contributes it.
struct EmittedLine<'a> {
    finding: &'a Finding,
    /// Texts above it, as comments.
    notes: Vec<String>,
    text: String,
}

/// A kernel setting or file, and its value.
struct Set {
    name: String,
    value: String,
}

/// Head of every `.link` file: the file replaces `99-default.link` of systemd 252, so without these lines the card would not match, or lose
/// its name.
const LINK_HEAD: [&str; 6] = [
    "[Match]",
    "Path={nic.path}",
    "[Link]",
    "NamePolicy=keep kernel database onboard slot path",
    "AlternativeNamesPolicy=database onboard slot path",
    "MACAddressPolicy=persistent",
];

/// Settings of `kind` for every finding that failed or warned; `only` these checks, or all if it is empty. Empty: none of them needs such a
/// setting.
///
/// # Errors
/// A value that a setting needs is missing, such as CPUs.
pub fn emit(audit: &Audit, only: &[String], kind: &str) -> Result<String, String> {
    let open = Open { audit, only };
    if let Some(why) = none_left(audit).filter(|_| !OF_OTHERS.contains(&kind) && open.has(kind)) {
        return Err(why.to_owned());
    }
    match kind {
        "kernel-args" => open.kernel_args(),
        "tuned" => open.tuned(),
        "ansible" => playbook::emit(&open),
        "compose" | "kubernetes" | "oci" => definition::emit(&open, kind),
        _ => open.of_lines(kind),
    }
}

/// Risks of settings for a tool whose format has no comments, each after the name of its check.
pub fn risks(audit: &Audit, only: &[String], kind: &str) -> Vec<String> {
    let open = Open { audit, only };
    let asked = open
        .findings()
        .filter(|finding| finding.rule.remedy.emit.contains_key(kind));
    let said = asked.flat_map(|finding| {
        let notes = notes(audit, finding).into_iter().skip(1);
        notes.map(|risk| format!("{}: {risk}", finding.rule.id))
    });
    let by_hand = match kind {
        "oci" => definition::by_hand(&open, kind),
        _ => Vec::new(),
    };
    said.chain(by_hand).collect()
}

/// Texts above the settings for a finding: its check, and the risks, including those on this machine.
pub(super) fn notes(audit: &Audit, finding: &Finding) -> Vec<String> {
    let here = risks_here(audit, finding)
        .into_iter()
        .map(|risk| format!("risk: {risk}"));
    finding.rule.notes().into_iter().chain(here).collect()
}

/// Findings for which settings are emitted.
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

    /// True if a finding has settings for a tool; TuneD and Ansible also take arguments, kernel settings and files of /sys.
    fn has(&self, kind: &str) -> bool {
        let takes = |tool: &String| match kind {
            "tuned" | "ansible" => [kind, "kernel-args", "sysctl"].contains(&tool.as_str()),
            _ => tool == kind,
        };
        let mut findings = self.findings();
        findings.any(|finding| finding.rule.remedy.emit.keys().any(takes))
    }

    /// Comments above settings of these kinds, or with `files` above files of /sys: each check, with its risks.
    fn notes(&self, kinds: &[&str], files: bool) -> String {
        let is_set = |finding: &'a Finding, kind| self.lines_of(finding, kind).is_ok_and(|lines| !lines.is_empty());
        let is_written = |finding: &Finding| {
            let mut writes = finding.rule.remedy.write.iter();
            let is_here = |path: &str| finding.open_parts().any(|part| self.has_file(finding, part, path));
            files && writes.any(|write| write.to.starts_with("/sys/") && is_here(&write.to))
        };
        let findings = self.findings();
        let said = findings.filter(|finding| kinds.iter().any(|kind| is_set(finding, kind)) || is_written(finding));
        said.flat_map(|finding| notes(self.audit, finding))
            .map(|note| format!("# {note}\n"))
            .collect()
    }

    /// Lines that are independent, or belong to files with sections.
    fn of_lines(&self, kind: &str) -> Result<String, String> {
        let mut left_out = Vec::new();
        let lines = self.lines(kind, &mut left_out);
        let text = match kind {
            "systemd" => ini::files(&lines),
            _ => commented(&lines, kind),
        };
        with_left_out(text, &left_out, kind)
    }

    /// Kernel arguments in one line. If two set the same thing, the first counts, from the more important finding. Arguments of the running
    /// kernel are left out, and other values of the same name are to be removed: the kernel may use either of two.
    fn arguments(&self, left_out: &mut Vec<String>) -> String {
        let mut found: Vec<String> = Vec::new();
        for line in self.lines("kernel-args", left_out) {
            for argument in line.text.split_whitespace() {
                if !found.iter().any(|known| name_of(known) == name_of(argument)) {
                    found.push(argument.to_owned());
                }
            }
        }
        let booted = match self.audit.facts.get(None, "kernel.arguments") {
            Ok(Value::List(booted)) => booted,
            _ => Vec::new(),
        };
        let of_pages = |argument: &String| REPEATED.contains(&name_of(argument).as_str());
        found.retain(|argument| of_pages(argument) || !booted.contains(argument));
        for argument in &found {
            let others: Vec<String> = match name_of(argument).as_str() {
                "hugepages" => pages_of(GIB, &booted),
                "hugepagesz" => Vec::new(),
                name => booted.iter().filter(|other| name_of(other) == name).cloned().collect(),
            };
            left_out.extend(others.iter().map(|other| {
                format!("by hand: take {other} out of the kernel's arguments: {argument} is in its place")
            }));
        }
        found.join(" ")
    }

    fn kernel_args(&self) -> Result<String, String> {
        let mut left_out = Vec::new();
        let arguments = self.arguments(&mut left_out);
        let text = match arguments.is_empty() {
            true => String::new(),
            false => format!(
                "{arguments}\n\n{}\
                 # Fedora, RHEL: grubby --update-kernel=ALL --args=\"{arguments}\"\n\
                 # Debian, Ubuntu: add them to GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub\n\
                 # systemd-boot: add them to /etc/kernel/cmdline, then kernel-install add-all\n",
                self.notes(&["kernel-args"], false)
            ),
        };
        with_left_out(text, &left_out, "kernel-args")
    }

    /// A profile: arguments, kernel settings, files of /sys, and settings for TuneD's own plugins.
    fn tuned(&self) -> Result<String, String> {
        let (mut profile, mut left_out) = (ini::File::default(), Vec::new());
        let arguments = self.arguments(&mut left_out);
        if !arguments.is_empty() {
            profile.set("bootloader", format!("cmdline_triptime=+{arguments}"));
        }
        for Set { name, value } in self.settings(&mut left_out) {
            profile.set("sysctl", format!("{name}={value}"));
        }
        for Set { name, value } in self.files(&mut left_out) {
            profile.set("sysfs", format!("{name}={value}"));
        }
        profile.add(&self.lines("tuned", &mut left_out));
        let settings = profile.text();
        let head = format!(
            "[main]\nsummary=Real-time settings found by triptime audit\n{}",
            self.included()
        );
        let text = match settings.is_empty() {
            true => String::new(),
            false => format!(
                "{}{head}\n{settings}",
                self.notes(&["kernel-args", "sysctl", "tuned"], true)
            ),
        };
        with_left_out(text, &left_out, "tuned")
    }

    /// The active profile, whose settings would otherwise be lost.
    fn included(&self) -> String {
        let is_name = |name: &&str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            *name != PROFILE && name.chars().all(is_plain)
        };
        let Ok(Value::Text(active)) = self.audit.facts.get(None, "tuned.profile") else {
            return String::new();
        };
        let names: Vec<&str> = active.split_whitespace().filter(is_name).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!("include={}\n", names.join(",")),
        }
    }

    /// Names and values of kernel settings; if a name has two values, the first counts, as for arguments.
    fn settings(&self, left_out: &mut Vec<String>) -> Vec<Set> {
        let mut found: Vec<Set> = Vec::new();
        for line in self.lines("sysctl", left_out) {
            let Some((name, value)) = line.text.split_once('=') else {
                continue;
            };
            let name = name.trim();
            if !found.iter().any(|known| known.name == name) {
                found.push(Set {
                    name: name.to_owned(),
                    value: value.trim().to_owned(),
                });
            }
        }
        found
    }

    /// Files of /sys and their values. An empty value only undoes a change since the boot, so none is needed at the next boot; it is also
    /// no value in tmpfiles.d(5).
    fn files(&self, left_out: &mut Vec<String>) -> Vec<Set> {
        let mut found = Vec::new();
        for finding in self.findings() {
            let writes = finding.rule.remedy.write.iter();
            for write in writes.filter(|write| write.to.starts_with("/sys/") && !write.value.is_empty()) {
                for part in finding
                    .open_parts()
                    .filter(|part| self.has_file(finding, part, &write.to))
                {
                    let set = self.of_part(finding, part, &write.to).and_then(|name| {
                        let value = self.of_part(finding, part, &write.value)?;
                        Ok(Set { name, value })
                    });
                    match set {
                        Ok(set) => found.push(set),
                        Err(why) => left_out.push(format!("{}: not set: {why}", finding.rule.id)),
                    }
                }
            }
        }
        found
    }
}

/// Name of a kernel argument; the kernel treats `-` and `_` alike.
fn name_of(argument: &str) -> String {
    argument.split('=').next().unwrap_or(argument).replace('-', "_")
}

/// Appends comments with the omitted settings to a text; if the text is empty, the first reason is returned.
fn with_left_out(text: String, left_out: &[String], kind: &str) -> Result<String, String> {
    if let (true, Some(why)) = (text.is_empty(), left_out.first()) {
        return Err(why.clone());
    }
    let (before, behind) = marks(kind);
    let mut notes: Vec<String> = Vec::new();
    for why in left_out {
        let note = format!("{before}{}{behind}\n", comment(why, kind));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(text + &notes.concat())
}

/// Lines below a comment that names the check, in the tool's comment style.
fn commented(lines: &[EmittedLine<'_>], kind: &str) -> String {
    let (before, behind) = marks(kind);
    let mut out = String::new();
    let mut last = "";
    for line in lines {
        let rule = &line.finding.rule;
        if rule.id != last {
            for note in &line.notes {
                let _ = writeln!(out, "{before}{}{behind}", comment(note, kind));
            }
            last = &rule.id;
        }
        let _ = writeln!(out, "{}", line.text);
    }
    out
}

/// Arguments that reserve pages of one size: a number belongs to the size before it, else to the default size (Linux:
/// kernel-parameters.txt). If a size is repeated, the kernel ignores the second one and the number after it (mm/hugetlb.c of 6.12:
/// hugepagesz_setup, hugepages_setup).
fn pages_of(size: &str, arguments: &[String]) -> Vec<String> {
    let default = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("default_hugepagesz="));
    let (mut current, mut found) = (default.unwrap_or("2M"), Vec::new());
    for argument in arguments {
        match argument.split_once('=') {
            Some(("hugepagesz", of)) => {
                current = of;
                found.extend(of.eq_ignore_ascii_case(size).then(|| argument.clone()));
            }
            Some(("hugepages", _)) if current.eq_ignore_ascii_case(size) => found.push(argument.clone()),
            _ => {}
        }
    }
    found
}

/// A text that is safe in a comment: on one line, and in XML without two adjacent hyphens, which would end it.
fn comment(text: &str, kind: &str) -> String {
    let text = on_one_line(text);
    match kind {
        "libvirt" => text.replace("--", "- -"),
        _ => text,
    }
}

/// Marks before and after a comment.
fn marks(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "libvirt" => ("<!-- ", " -->"),
        _ => ("# ", ""),
    }
}
