//! The machine's purpose, as given by the user: CPUs, interfaces, workload. Rules see it as facts.

use std::path::PathBuf;
use std::time::Duration;

use units::{CpuList, shell};

use super::planned::PlannedTask;

/// Behaviour of real-time threads on their CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workload {
    /// They wake up for each cycle and sleep again.
    #[default]
    Periodic,
    /// They never sleep.
    BusyPoll,
}

impl Workload {
    /// The word for it in rules and options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Periodic => "periodic",
            Self::BusyPoll => "busy-poll",
        }
    }
}

/// Audited parts, and the purpose of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters {
    /// CPUs for real-time work; `None`: those that are kept free of the kernel's work.
    pub rt_cpus: Option<CpuList>,
    /// Interfaces of the process bus and of PTP.
    pub nics: Vec<String>,
    /// libvirt domains: XML files, or names of domains of this machine.
    pub domains: Vec<String>,
    /// VMware virtual machines: `.vmx` or OVF files.
    pub vmx: Vec<PathBuf>,
    /// Facts about the ESXi host below them: the output of its commands in one file.
    pub esxi: Option<PathBuf>,
    /// Containers: definition files, or ids of containers of this machine.
    pub containers: Vec<String>,
    /// Real-time tasks that will run, with policy and CPUs.
    pub tasks: Vec<PlannedTask>,
    /// Time for which kernel counters are watched; with `None`, or a recorded tree, rates are unknown.
    pub observe: Option<Duration>,
    /// Behaviour of the real-time threads.
    pub workload: Workload,
    /// Profile that sets the severities: `substation`, `avb`…; `None`: those of the rules.
    pub profile: Option<String>,
}

impl Parameters {
    /// The same as options of `triptime audit` and `triptime tune`, quoted for a shell; without `observe`, which keeps its default.
    pub fn words(&self) -> Vec<String> {
        let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
        let listed: [(&str, Vec<String>); 7] = [
            ("cpus", self.rt_cpus.iter().map(CpuList::to_string).collect()),
            ("nic", self.nics.clone()),
            ("domain", self.domains.clone()),
            ("vmx", paths(&self.vmx)),
            ("esxi", paths(self.esxi.as_slice())),
            ("container", self.containers.clone()),
            ("task", self.tasks.iter().map(PlannedTask::to_string).collect()),
        ];
        let listed = listed
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |value| (*name, value.as_str())));
        let workload = Some(("workload", self.workload.word())).filter(|_| self.workload != Workload::default());
        let profile = self.profile.iter().map(|profile| ("profile", profile.as_str()));
        let all = listed.chain(workload).chain(profile);
        all.flat_map(|(name, value)| [format!("--{name}"), shell::word(value).into_owned()])
            .collect()
    }
}
