//! Changes of the machine during a run: settings that got another value, and guests, containers, services and threads that came or went.

use units::CpuList;

/// The part of a machine that changed. The word is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// CPUs that serve an interrupt.
    Interrupt,
    /// A setting of a network card: queues, rings, coalescing, offloads, speed, EEE.
    Nic,
    /// CPUs of a control group.
    Cpuset,
    /// A partition of CPUs, made by control groups.
    Partition,
    /// CPUs that are online, or isolated.
    Cpus,
    /// Frequency of a CPU: governor, lowest and highest, turbo.
    Frequency,
    /// An idle state of a CPU.
    Idle,
    /// The kernel's clock source.
    ClockSource,
    /// A kernel setting below `/proc/sys`, or one of memory below `/sys`.
    Sysctl,
    /// A parameter of a kernel module.
    Module,
    /// The active profile of TuneD.
    Tuned,
    /// A real-time thread of another process that may run on a judged CPU.
    RealTimeThread,
    /// A program that changes settings while it runs, such as irqbalance.
    Service,
    /// A virtual machine.
    Guest,
    /// A container.
    Container,
    /// A unit of systemd.
    Unit,
    /// A shell on a console of the machine.
    Console,
}

impl Subject {
    /// Every subject, in the order in which it is documented.
    pub const ALL: [Self; 17] = [
        Self::Interrupt,
        Self::Nic,
        Self::Cpuset,
        Self::Partition,
        Self::Cpus,
        Self::Frequency,
        Self::Idle,
        Self::ClockSource,
        Self::Sysctl,
        Self::Module,
        Self::Tuned,
        Self::RealTimeThread,
        Self::Service,
        Self::Guest,
        Self::Container,
        Self::Unit,
        Self::Console,
    ];

    /// The word in files and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupt",
            Self::Nic => "nic",
            Self::Cpuset => "cpuset",
            Self::Partition => "partition",
            Self::Cpus => "cpus",
            Self::Frequency => "frequency",
            Self::Idle => "idle",
            Self::ClockSource => "clock-source",
            Self::Sysctl => "sysctl",
            Self::Module => "module",
            Self::Tuned => "tuned",
            Self::RealTimeThread => "real-time-thread",
            Self::Service => "service",
            Self::Guest => "guest",
            Self::Container => "container",
            Self::Unit => "unit",
            Self::Console => "console",
        }
    }

    /// The subject with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subject| subject.word() == word)
    }

    /// True if a change of it gives the run a second configuration. A guest, container, service, unit or login that comes or goes is work of the host,
    /// which may change its settings.
    pub fn is_setting(self) -> bool {
        !matches!(
            self,
            Self::Service | Self::Guest | Self::Container | Self::Unit | Self::Console
        )
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The last look at which it was as before.
    pub since_ns: u64,
    /// The look that found it changed.
    pub at_ns: u64,
    /// The part of the machine.
    pub subject: Subject,
    /// Its name: `24 (eth1-rx-0)`, `kernel.timer_migration`.
    pub name: String,
    /// Its value before; `None`: it was not there.
    pub before: Option<String>,
    /// Its value after; `None`: it is no longer there.
    pub after: Option<String>,
    /// Another change or process that may have made it, as far as was seen; `None`: unknown.
    pub who: Option<String>,
    /// CPUs that it concerns; `None`: all, or not known.
    pub cpus: Option<CpuList>,
    /// Place whose own run saw it, if that is not this machine: `guest`.
    pub place: Option<String>,
}

impl Change {
    /// The change without its name: `CPU 0 -> CPU 12`, `started: pinned to CPU 3`, `ended`.
    pub fn step(&self) -> String {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("{before} -> {after}"),
            (None, Some(after)) => format!("new: {after}"),
            (Some(before), None) => format!("gone: {before}"),
            (None, None) => "changed".to_owned(),
        }
    }

    /// True if it is the same change, seen from the same kernel by another run.
    pub fn is_seen_twice(&self, other: &Self) -> bool {
        let key = |of: &Self| (of.subject, of.name.clone(), of.before.clone(), of.after.clone());
        key(self) == key(other) && self.since_ns <= other.at_ns && other.since_ns <= self.at_ns
    }
}

/// A watch for changes: when it looked, and what it could not see. A run without one was not watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeWatch {
    /// Place that was watched; `None`: this machine.
    pub place: Option<String>,
    /// The first look.
    pub from_ns: u64,
    /// The last look so far.
    pub to_ns: u64,
    /// Number of looks.
    pub looks: u64,
    /// Longest time between two looks.
    pub longest_ns: u64,
    /// CPU time of all looks.
    pub cpu_ns: u64,
    /// Changes beyond the most that a run stores.
    pub dropped: u64,
    /// Parts that could not be watched, each with the reason.
    pub unread: Vec<String>,
    /// When the facts about the machine were read a second time; `None`: they were not.
    pub audited_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::{Change, Subject};

    #[test]
    fn every_subject_has_a_word_of_its_own() {
        for subject in Subject::ALL {
            assert_eq!(Subject::from_word(subject.word()), Some(subject));
        }
        assert_eq!(Subject::from_word("weather"), None);
    }

    #[test]
    fn a_service_is_work_and_a_thread_or_an_interrupt_is_a_setting() {
        assert!(!Subject::Service.is_setting() && !Subject::Unit.is_setting());
        assert!(Subject::Interrupt.is_setting() && Subject::RealTimeThread.is_setting());
    }

    #[test]
    fn a_change_that_two_runs_saw_is_one() {
        let change = |since_ns, at_ns, after: &str| Change {
            since_ns,
            at_ns,
            subject: Subject::Interrupt,
            name: "24 (eth1)".to_owned(),
            before: Some("CPU 0".to_owned()),
            after: Some(after.to_owned()),
            who: None,
            cpus: None,
            place: None,
        };
        let one = change(10, 20, "CPU 1");
        assert!(one.is_seen_twice(&change(15, 25, "CPU 1")));
        assert!(!one.is_seen_twice(&change(21, 30, "CPU 1")), "at another time");
        assert!(!one.is_seen_twice(&change(15, 25, "CPU 2")), "to another CPU");
        assert_eq!(one.step(), "CPU 0 -> CPU 1");
    }
}
