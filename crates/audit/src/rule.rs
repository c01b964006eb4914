//! Rules as data: one TOML file for each group, in `crates/audit/rules`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::condition::Condition;
use super::facts::Class;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Costs little, or seldom.
    Minor,
    /// Costs more than a limit of this field leaves.
    Major,
    /// The machine is not fit while it is so.
    Blocker,
}

impl Severity {
    /// Every severity, the gravest last.
    pub const ALL: [Self; 4] = [Self::Info, Self::Minor, Self::Major, Self::Blocker];

    /// The word for it in files and options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Blocker => "blocker",
        }
    }
}

/// Where the kernel that is asked runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelPlace {
    /// On the hardware.
    Host,
    /// In a virtual machine.
    Guest,
}

/// How large an effect on the worst case has been seen, by others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worth {
    /// Microseconds of the worst case; 0 where nobody gives a number.
    pub us: f64,
    /// The observation and its source.
    pub seen: String,
}

/// When a setting can be changed, and what changing it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A plain write that can be taken back; no link is lost, no CPU held up.
    SafeNow,
    /// Works on the running machine, but drops a link, holds CPUs up, moves workers or restarts a service.
    Disruptive,
    /// A kernel argument, a module's parameter or another kernel.
    Reboot,
    /// The virtual machine or container must be stopped and started.
    GuestRestart,
    /// The firmware's setup.
    Bios,
    /// A decision of whoever plans the system, or another machine.
    Manual,
    /// Nothing: an observation.
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

/// A value to be written to a file of the kernel. `{cpu}`, `{nic}`, `{rt_cpus}`… stand for parts and facts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The file.
    pub to: String,
    /// The text.
    pub value: String,
}

/// How a finding is put right.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Remedy {
    /// When it can be changed.
    pub change: Change,
    /// One line for a person.
    pub how: String,
    /// Risk of the change; empty: none is known.
    #[serde(default)]
    pub risk: String,
    /// Writes on the running machine.
    #[serde(default)]
    pub write: Vec<Write>,
    /// A change on the running machine that is more than writes, by its name in `tune`.
    pub action: Option<String>,
    /// Lines for other tools, by tool: `kernel-args`, `sysctl`, `systemd`, `tuned`, `udev`, `modprobe`, `libvirt`, `vmx`, `docker`,
    /// `compose`, `quadlet`, `oci`, `kubernetes`.
    #[serde(default)]
    pub emit: BTreeMap<String, Vec<String>>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rule {
    /// Its name, as in files and options.
    pub id: String,
    /// The title: a statement that should be true.
    pub title: String,
    /// Why it matters.
    pub why: String,
    /// How much.
    pub worth: Worth,
    /// On which kernels it is asked; empty: on all.
    #[serde(default)]
    pub place: Vec<KernelPlace>,
    /// Of which parts it is asked, one after the other; none: of the machine.
    pub each: Option<Class>,
    /// When it applies; none: always.
    pub applies: Option<Condition>,
    /// Condition that must be true.
    pub wanted: Condition,
    /// The same for a person.
    pub wants: String,
    /// Condition that is not as wanted and still no failure: a warning.
    pub tolerated: Option<Condition>,
    /// How much it matters.
    pub severity: Severity,
    /// How much it matters in profiles where that differs.
    #[serde(default)]
    pub profiles: BTreeMap<String, Severity>,
    /// Causes of late samples that it cures, by their words in the run file.
    #[serde(default)]
    pub causes: Vec<String>,
    /// The facts that are shown as live; empty: those that `wanted` asks for.
    #[serde(default)]
    pub live: Vec<String>,
    /// The value that the next boot or start will set, or the last one did.
    pub booted: Option<Condition>,
    /// Sources that say so.
    pub sources: Vec<String>,
    /// Traps for people who check it by hand.
    #[serde(default)]
    pub traps: Vec<String>,
    /// How it is put right.
    pub remedy: Remedy,
}

impl Rule {
    /// How much it matters in a profile.
    pub fn severity_in(&self, profile: Option<&str>) -> Severity {
        let of_profile = profile.and_then(|profile| self.profiles.get(profile));
        of_profile.copied().unwrap_or(self.severity)
    }

    /// Texts that stand above its settings for another tool, each in a comment: its name with its title, and what can go wrong.
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

    /// Every condition in it.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let optional = [&self.applies, &self.tolerated, &self.booted];
        [&self.wanted].into_iter().chain(optional.into_iter().flatten())
    }

    /// Every fact it asks for, also those that are only shown.
    pub fn facts(&self) -> Vec<&str> {
        let of_conditions = self.conditions().flat_map(Condition::facts);
        of_conditions.chain(self.live.iter().map(String::as_str)).collect()
    }
}

/// The rules of one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The subject that they have in common.
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

/// The rules that the program carries, with the name of each group.
///
/// # Panics
/// A file is no rule file; a test reads them all.
pub fn built_in() -> Vec<(&'static str, Group)> {
    // Reading them takes longer than many an audit.
    static GROUPS: OnceLock<Vec<(&str, Group)>> = OnceLock::new();
    let read = |(name, text): &(&'static str, &str)| {
        let group = toml::from_str(text).unwrap_or_else(|error| panic!("rules/{name}.toml: {error}"));
        (*name, group)
    };
    GROUPS.get_or_init(|| FILES.iter().map(read).collect()).clone()
}

/// The profiles that any rule knows, in alphabetical order.
pub fn profiles() -> Vec<String> {
    let groups = built_in();
    let rules = groups.iter().flat_map(|(_, group)| &group.rules);
    let names: BTreeSet<String> = rules.flat_map(|rule| rule.profiles.keys().cloned()).collect();
    names.into_iter().collect()
}
