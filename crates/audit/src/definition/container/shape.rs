//! One container in the form that the rules use, whatever its definition.

use units::CpuList;

use crate::facts::{IntoKnown, Subject};
use crate::value::{Known, Unknown, Value};

/// Form of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Oci,
    Docker,
    Quadlet,
    Compose,
    Pod,
    KubeVirt,
    /// No definition: the running container, seen from inside.
    Running,
    /// No readable definition.
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

/// All facts of a container. Names that a definition leaves out are unknown.
const NAMES: [&str; 47] = [
    // CPUs it is bound to; empty: not bound.
    "ctr.cpus",
    // NUMA nodes it is bound to, as a list; empty: not bound.
    "ctr.mems",
    // True if a quota of CPU time limits it.
    "ctr.quota",
    "ctr.capabilities",
    // Capabilities that the definition adds and drops, as written, by keys or as arguments of the engine.
    "ctr.added",
    "ctr.dropped",
    // The ones among them that stand in arguments.
    "ctr.argument-added",
    "ctr.argument-dropped",
    // True if the engine refuses a capability that is added and dropped.
    "ctr.refuses-both",
    // Reasons why the engine does not start it with these lists; empty: none.
    "ctr.refused",
    // Sets of capabilities of a bundle, each as `effective CAP_KILL CAP_CHOWN`.
    "ctr.capability-sets",
    // Resource limits of a bundle, each as `RLIMIT_NOFILE SOFT HARD`.
    "ctr.rlimits",
    // True if a compose file sets limits below `deploy.resources`.
    "ctr.deploy-limits",
    // Network mode of a compose file, as written; empty: none.
    "ctr.network-mode",
    // Networks of its compose file that are made elsewhere.
    "ctr.external-networks",
    "ctr.privileged",
    // True if a thread that asked for a real-time priority got it; absent: not tried.
    "ctr.fifo-granted",
    // True if its group has a budget for real-time threads, on kernels that give groups such budgets.
    "ctr.rt-budget",
    // Highest real-time priority by resource limit; 0: none.
    "ctr.rtprio",
    // True if it may lock unlimited memory.
    "ctr.memlock",
    // `host`, `none`, `bridge`, `macvlan`, `sriov`…
    "ctr.network",
    "ctr.devices",
    // Memory limit in bytes; 0: none.
    "ctr.memory",
    // The same as a size to write: unknown without a limit.
    "ctr.kept-memory",
    // True if its memory may be swapped.
    "ctr.swap",
    // True if memory above a soft limit is reclaimed.
    "ctr.memory-high",
    "ctr.oom-score",
    // True if a bundle sets files of control groups of version 2.
    "ctr.unified",
    // Sizes of the huge pages it requests: `1Gi`, `2Mi`; empty: none.
    "ctr.hugepages",
    // True if a command runs in it at intervals.
    "ctr.exec-probe",
    // Probes of a pod that run a command: `livenessProbe`.
    "pod.exec-probes",
    // Its class of cache allocation; empty: none.
    "ctr.cache-class",
    // Programs in it that set clocks.
    "ctr.time-daemons",
    // Number of whole CPUs with request equal to limit.
    "pod.whole-cpus",
    // Whole CPUs that cover its limit, its limit of memory and its runtime class, to write: unknown where there is none.
    "pod.cpus",
    "pod.memory",
    "pod.runtime-class",
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
    /// A container about which nothing is known.
    pub(crate) fn new(form: Form, name: &str) -> Self {
        let mut part = Subject::new(name);
        part.set("ctr.form", form.word());
        for fact in NAMES {
            part.set_known(
                fact,
                Err(Unknown::unclear(format!(
                    "{}: this kind of definition does not contain it",
                    form.word()
                ))),
            );
        }
        part.set_known("ctr.fifo-granted", Err(Unknown::absent("not tried")));
        part.set("ctr.refused", Vec::<String>::new());
        Self { part, cpus: None }
    }

    /// A container with an unreadable definition.
    pub(crate) fn broken(name: &str, why: &str) -> Self {
        let mut shape = Self::new(Form::Broken, name);
        let unknown = || Unknown::unclear(format!("{name}: {why}"));
        shape.part.set_known("ctr.form", Err(unknown()));
        for fact in NAMES {
            shape.part.set_known(fact, Err(unknown()));
        }
        shape
    }

    /// Stores a fact.
    pub(crate) fn set(&mut self, name: &'static str, value: impl IntoKnown) {
        assert!(NAMES.contains(&name), "{name}");
        self.part.set(name, value);
    }

    /// Same as [`Shape::set`]; unknown with this reason if there is no value.
    pub(crate) fn set_or<V: Into<Value>>(&mut self, name: &'static str, value: Option<V>, why: &str) {
        let known: Known = value.map(Into::into).ok_or_else(|| Unknown::unclear(why));
        self.part.set_known(name, known);
    }

    /// Limit of memory in bytes; 0: none. `None`: what the definition contains is not a size.
    pub(crate) fn set_memory(&mut self, octets: Option<f64>) {
        self.set_or("ctr.memory", octets, "the limit of memory is not a size");
        let kept = octets.filter(|octets| *octets > 0.0).map(f64::ceil);
        self.set_or(
            "ctr.kept-memory",
            kept,
            "the definition sets no limit of memory: give memory and swap one limit that is enough for the container",
        );
    }

    /// Capabilities that the definition adds and drops, by keys and as arguments.
    pub(crate) fn set_changes(&mut self, keys: [&[String]; 2], arguments: [Vec<String>; 2]) {
        let [added, dropped] = arguments;
        self.set("ctr.added", [keys[0], &added].concat());
        self.set("ctr.dropped", [keys[1], &dropped].concat());
        self.set("ctr.argument-added", added);
        self.set("ctr.argument-dropped", dropped);
    }

    /// CPUs in the notation of the definition; empty: not bound.
    pub(crate) fn set_cpus(&mut self, list: Option<String>) {
        let text = list.unwrap_or_default();
        let cpus = text.trim().parse::<CpuList>();
        self.cpus = cpus.clone().ok();
        self.set(
            "ctr.cpus",
            cpus.map_err(|error| Unknown::unclear(format!("\"{text}\": {error}"))),
        );
    }

    /// Name of the container.
    pub(crate) fn name(&self) -> &str {
        &self.part.name
    }

    /// True if both containers are bound to a common CPU.
    ///
    /// # Errors
    /// The CPUs of one of them are unknown.
    pub(crate) fn shares_cpus_with(&self, other: &Self) -> Result<bool, Unknown> {
        let unknown = || Unknown::unclear(format!("the CPUs of container {} are not known", other.name()));
        self.is_on(other.cpus.as_ref().ok_or_else(unknown)?)
    }

    /// True if it is bound to one of these CPUs.
    ///
    /// # Errors
    /// Its CPUs are unknown.
    pub(crate) fn is_on(&self, cpus: &CpuList) -> Result<bool, Unknown> {
        let unknown = || Unknown::unclear(format!("the CPUs of container {} are not known", self.name()));
        let own = self.cpus.as_ref().ok_or_else(unknown)?;
        Ok(own.iter().any(|cpu| cpus.contains(cpu)))
    }

    /// The container as a part of the machine.
    pub(crate) fn into_part(self) -> Subject {
        self.part
    }
}
