//! Rules as data: one TOML file for each group, in `crates/audit/rules`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::condition::{Condition, evaluate};
use super::facts::{Class, Facts, Subject};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Low cost, or rare.
    Minor,
    /// Costs more than a limit of this field allows.
    Major,
    /// The machine is unfit until it is changed.
    Blocker,
}

impl Severity {
    /// All severities, the gravest last.
    pub const ALL: [Self; 4] = [Self::Info, Self::Minor, Self::Major, Self::Blocker];

    /// Word for the severity in files and options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Blocker => "blocker",
        }
    }
}

/// Place where the kernel under audit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelPlace {
    /// On the hardware.
    Host,
    /// In a virtual machine.
    Guest,
}

/// Effect on the worst case that others have observed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worth {
    /// Microseconds added to the worst case; 0 if no number was published.
    pub us: f64,
    /// The observation and its source.
    pub seen: String,
}

/// Time at which a setting can be changed, and the effect of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A plain write that can be undone; drops no link and delays no CPU.
    SafeNow,
    /// Works on the running machine, but drops a link, delays CPUs, moves workers or restarts a service.
    Disruptive,
    /// A kernel argument, a module parameter or another kernel.
    Reboot,
    /// The virtual machine or container must be stopped and started.
    GuestRestart,
    /// The firmware's setup.
    Bios,
    /// A decision of the planner of the system, or another machine.
    Manual,
    /// No change is possible: an observation.
    None,
}

impl Change {
    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::SafeNow => "safe-now",
            Self::Disruptive => "disruptive",
            Self::Reboot => "reboot",
            Self::GuestRestart => "guest-restart",
            Self::Bios => "bios",
            Self::Manual => "manual",
            Self::None => "none",
        }
    }
}

/// A value to be written to a file of the kernel. `{cpu}`, `{nic}`, `{rt_cpus}`… are replaced by parts and facts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The file.
    pub to: String,
    /// Text to write.
    pub value: String,
}

/// Remedy on machines, or for parts, with a certain fact.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemedyCase {
    /// Condition of the case, over gathered facts.
    pub when: Condition,
    /// Remedy in one line.
    pub how: String,
    /// Time at which it can be changed, if that differs.
    pub change: Option<Change>,
    /// Risk of the change, if that differs.
    pub risk: Option<String>,
}

/// Remedy for a machine, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice<'a> {
    /// Time at which it can be changed.
    pub change: Change,
    /// Remedy in one line.
    pub how: &'a str,
    /// Risk of the change; empty: none known.
    pub risk: &'a str,
}

/// Remedy of a finding.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Remedy {
    /// Time at which it can be changed.
    pub change: Change,
    /// Remedy in one line, where no case holds.
    pub how: String,
    /// Remedies in its place: the first case that holds.
    #[serde(default)]
    pub cases: Vec<RemedyCase>,
    /// Risk of the change; empty: none known.
    #[serde(default)]
    pub risk: String,
    /// Writes for the running machine.
    #[serde(default)]
    pub write: Vec<Write>,
    /// Change on the running machine beyond plain writes, by its name in `tune`.
    pub action: Option<String>,
    /// Lines for other tools, by tool: `kernel-args`, `sysctl`, `systemd`, `tuned`, `udev`, `modprobe`, `libvirt`, `vmx`, `docker`,
    /// `compose`, `quadlet`, `oci`, `kubernetes`.
    #[serde(default)]
    pub emit: BTreeMap<String, Vec<String>>,
}

impl Remedy {
    /// Remedy for the machine of these facts, or for a part of it.
    pub fn here(&self, facts: &Facts, part: Option<&Subject>) -> Advice<'_> {
        let holds = |case: &&RemedyCase| evaluate(&case.when, facts, part) == Ok(true);
        let case = self.cases.iter().find(holds);
        Advice {
            change: case.and_then(|case| case.change).unwrap_or(self.change),
            how: case.map_or(&self.how, |case| &case.how),
            risk: case.and_then(|case| case.risk.as_ref()).unwrap_or(&self.risk),
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rule {
    /// Identifier, in files and options.
    pub id: String,
    /// The title: a statement that should be true.
    pub title: String,
    /// Reason that it matters.
    pub why: String,
    /// Severity.
    pub worth: Worth,
    /// Kernels to which it applies; empty: all.
    #[serde(default)]
    pub place: Vec<KernelPlace>,
    /// Class of parts that are checked one by one; `None`: the machine.
    pub each: Option<Class>,
    /// Condition for applying the rule; `None`: always.
    pub applies: Option<Condition>,
    /// Condition that must be true.
    pub wanted: Condition,
    /// The condition as text.
    pub wants: String,
    /// Condition that is not as wanted but tolerated: a warning instead of a failure.
    pub tolerated: Option<Condition>,
    /// Published effect.
    pub severity: Severity,
    /// Severity in profiles where it differs.
    #[serde(default)]
    pub profiles: BTreeMap<String, Severity>,
    /// Causes of late samples that it removes, by their words in the run file.
    #[serde(default)]
    pub causes: Vec<String>,
    /// Facts shown as live; empty: those in `wanted`.
    #[serde(default)]
    pub live: Vec<String>,
    /// Value that the next boot or start will set, or the last one did.
    pub booted: Option<Condition>,
    /// Sources.
    pub sources: Vec<String>,
    /// Traps in checking it by hand.
    #[serde(default)]
    pub traps: Vec<String>,
    /// Remedy.
    pub remedy: Remedy,
}

impl Rule {
    /// Severity in a profile.
    pub fn severity_in(&self, profile: Option<&str>) -> Severity {
        let of_profile = profile.and_then(|profile| self.profiles.get(profile));
        of_profile.copied().unwrap_or(self.severity)
    }

    /// Texts above its settings for another tool, each as a comment: its id with its title, and the risks.
    pub fn notes(&self) -> Vec<String> {
        let risk = &self.remedy.risk;
        let risk = (!risk.is_empty()).then(|| format!("risk: {risk}"));
        [format!("{}: {}", self.id, self.title)]
            .into_iter()
            .chain(risk)
            .collect()
    }

    /// The facts shown as live.
    pub fn live_facts(&self) -> Vec<&str> {
        if self.live.is_empty() {
            self.wanted.facts()
        } else {
            self.live.iter().map(String::as_str).collect()
        }
    }

    /// All its conditions.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let optional = [&self.applies, &self.tolerated, &self.booted];
        let cases = self.remedy.cases.iter().map(|case| &case.when);
        [&self.wanted]
            .into_iter()
            .chain(optional.into_iter().flatten())
            .chain(cases)
    }

    /// All its facts, including those that are only shown.
    pub fn facts(&self) -> Vec<&str> {
        let of_conditions = self.conditions().flat_map(Condition::facts);
        of_conditions.chain(self.live.iter().map(String::as_str)).collect()
    }
}

/// Rules of one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Common subject of the rules.
    pub title: String,
    /// The rules.
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
}

/// The files of `crates/audit/rules`, in the order of the catalogue.
const FILES: [(&str, &str); 16] = [
    ("kernel", include_str!("../rules/kernel.toml")),
    ("isolation", include_str!("../rules/isolation.toml")),
    ("scheduler", include_str!("../rules/scheduler.toml")),
    ("interrupts", include_str!("../rules/interrupts.toml")),
    ("power", include_str!("../rules/power.toml")),
    ("clock", include_str!("../rules/clock.toml")),
    ("memory", include_str!("../rules/memory.toml")),
    ("cache", include_str!("../rules/cache.toml")),
    ("network", include_str!("../rules/network.toml")),
    ("iommu", include_str!("../rules/iommu.toml")),
    ("domain", include_str!("../rules/domain.toml")),
    ("guest", include_str!("../rules/guest.toml")),
    ("vmware", include_str!("../rules/vmware.toml")),
    ("container", include_str!("../rules/container.toml")),
    ("time", include_str!("../rules/time.toml")),
    ("platform", include_str!("../rules/platform.toml")),
];

/// Embedded rules, with the name of each group.
///
/// # Panics
/// A file is not a rule file; a test reads them all.
pub fn built_in() -> Vec<(&'static str, Group)> {
    // Parsed once: parsing takes longer than many audits.
    static GROUPS: OnceLock<Vec<(&str, Group)>> = OnceLock::new();
    let read = |(name, text): &(&'static str, &str)| {
        let group = toml::from_str(text).unwrap_or_else(|error| panic!("rules/{name}.toml: {error}"));
        (*name, group)
    };
    GROUPS.get_or_init(|| FILES.iter().map(read).collect()).clone()
}

/// Profiles that any rule names, in alphabetical order.
pub fn profiles() -> Vec<String> {
    let groups = built_in();
    let rules = groups.iter().flat_map(|(_, group)| &group.rules);
    let names: BTreeSet<String> = rules.flat_map(|rule| rule.profiles.keys().cloned()).collect();
    names.into_iter().collect()
}
