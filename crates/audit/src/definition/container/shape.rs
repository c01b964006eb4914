//! One container as the rules see it, whatever form it was defined in.

use units::CpuList;

use crate::facts::{IntoKnown, Subject};
use crate::value::{Known, Unknown, Value};

/// The form of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Oci,
    Docker,
    Quadlet,
    Compose,
    Pod,
    KubeVirt,
    /// No definition: the container that runs, seen from inside.
    Running,
    /// Nothing that can be read.
    Broken,
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Self::Oci => "oci",
            Self::Docker => "docker",
            Self::Quadlet => "quadlet",
            Self::Compose => "compose",
            Self::Pod => "pod",
            Self::KubeVirt => "kubevirt",
            Self::Running => "running",
            Self::Broken => "unreadable",
        }
    }
}

/// Every fact of a container. Names without a value in a definition are unknown.
const NAMES: [&str; 35] = [
    // CPUs it is bound to; none: it is not.
    "ctr.cpus",
    // NUMA nodes it is bound to, as a list; empty: it is not.
    "ctr.mems",
    // True if a quota of CPU time holds it back.
    "ctr.quota",
    "ctr.capabilities",
    // Capabilities that a compose file adds, as they stand there.
    "ctr.added",
    // True where a compose file has limits of it below `deploy.resources`.
    "ctr.deploy-limits",
    // The network mode of a compose file, as it stands there; empty: none.
    "ctr.network-mode",
    // Networks of its compose file that are made elsewhere.
    "ctr.external-networks",
    "ctr.privileged",
    // True if a thread got a real-time priority that asked for one; absent: nobody tried.
    "ctr.fifo-granted",
    // True if its group has a budget for real-time threads, where the kernel gives such budgets to groups.
    "ctr.rt-budget",
    // Highest real-time priority by resource limit; 0: none.
    "ctr.rtprio",
    // True if it may lock memory without bound.
    "ctr.memlock",
    // `host`, `none`, `bridge`, `macvlan`, `sriov`…
    "ctr.network",
    "ctr.devices",
    // Limit of memory in octets; 0: none.
    "ctr.memory",
    // True if its memory may be swapped.
    "ctr.swap",
    // True if memory is reclaimed above a soft limit.
    "ctr.memory-high",
    "ctr.oom-score",
    // True where a bundle sets files of control groups of version 2.
    "ctr.unified",
    // Pages of huge page memory it asks for: `1Gi`, `2Mi`; empty: none.
    "ctr.hugepages",
    // True if something is executed in it at intervals.
    "ctr.exec-probe",
    // Its class of cache allocation; empty: none.
    "ctr.cache-class",
    // Programs in it that set clocks.
    "ctr.time-daemons",
    // Whole CPUs, requested as limited.
    "pod.whole-cpus",
    "pod.guaranteed",
    "pod.load-balancing-off",
    "pod.irqs-off",
    "vmi.dedicated-cpus",
    "vmi.isolated-emulator",
    "vmi.realtime",
    "vmi.hugepages",
    "vmi.balloon",
    "vmi.numa",
    "vmi.model",
];

/// One container.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    part: Subject,
    cpus: Option<CpuList>,
}

impl Shape {
    /// One of which nothing is known.
    pub(crate) fn new(form: Form, name: &str) -> Self {
        let mut part = Subject::new(name);
        part.set("ctr.form", form.word());
        for fact in NAMES {
            part.set_known(
                fact,
                Err(Unknown::unclear(format!("{}: this form does not tell", form.word()))),
            );
        }
        part.set_known("ctr.fifo-granted", Err(Unknown::absent("nobody tried")));
        Self { part, cpus: None }
    }

    /// One whose definition cannot be read.
    pub(crate) fn broken(name: &str, why: &str) -> Self {
        let mut shape = Self::new(Form::Broken, name);
        let unknown = || Unknown::unclear(format!("{name}: {why}"));
        shape.part.set_known("ctr.form", Err(unknown()));
        for fact in NAMES {
            shape.part.set_known(fact, Err(unknown()));
        }
        shape
    }

    /// Notes a fact.
    pub(crate) fn set(&mut self, name: &'static str, value: impl IntoKnown) {
        assert!(NAMES.contains(&name), "{name}");
        self.part.set(name, value);
    }

    /// As [`Shape::set`], unknown with this reason where there is none.
    pub(crate) fn set_or<V: Into<Value>>(&mut self, name: &'static str, value: Option<V>, why: &str) {
        let known: Known = value.map(Into::into).ok_or_else(|| Unknown::unclear(why));
        self.part.set_known(name, known);
    }

    /// CPUs as the definition writes them; nothing: bound to none.
    pub(crate) fn set_cpus(&mut self, list: Option<String>) {
        let text = list.unwrap_or_default();
        let cpus = text.trim().parse::<CpuList>();
        self.cpus = cpus.clone().ok();
        self.set(
            "ctr.cpus",
            cpus.map_err(|error| Unknown::unclear(format!("\"{text}\": {error}"))),
        );
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.part.name
    }

    /// True if it and `other` are bound to some CPU both.
    ///
    /// # Errors
    /// The CPUs of one of them are not known.
    pub(crate) fn shares_cpus_with(&self, other: &Self) -> Result<bool, Unknown> {
        let of = |shape: &Self| {
            let cpus = shape.cpus.clone();
            cpus.ok_or_else(|| Unknown::unclear(format!("the CPUs of container {} are not known", shape.name())))
        };
        let (own, others) = (of(self)?, of(other)?);
        Ok(own.iter().any(|cpu| others.contains(cpu)))
    }

    /// As a part of the machine.
    pub(crate) fn into_part(self) -> Subject {
        self.part
    }
}
