//! Containers of an installed runtime.

mod away;
mod config;
pub(crate) mod folder;
mod freed;
mod held;
mod runtime;
#[cfg(test)]
mod tests;
mod threads;

pub use config::{ContainerSpec, HugePages, Network, config};
pub use deploy::{CAPABILITIES, PROGRAM, RUNS};
pub use held::HeldContainer;
pub use runtime::{RuntimeName, latency_device};

use super::{Away, ClockOffset, Job, Place, PlaceError, PlaceKind};
use away::Contained;
use bed::DeviceEnd;
use folder::Folder;
use host::Host;
use model::Fact;
use runtime::{Runtime, group_name, sweep_groups};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use units::CpuList;

/// First part of the names of temporary folders.
const KIND: &str = "container";

/// Real-time budget left for the machine, in us of each second.
const LEFT_US: u64 = 50_000;

/// Properties that all containers of a plan have in common.
#[derive(Debug, Clone, Default)]
pub struct Containers {
    /// The binary that runs in them; `None`: this one.
    pub program: Option<PathBuf>,
    /// Their CPUs, by the numbers of this machine: the judged ones, and one for everything else.
    pub cpus: CpuList,
    /// Number of containers side by side: they share the real-time budget, if groups have one.
    pub side_by_side: u64,
    /// The runtime that runs them; `None`: the first installed one.
    pub runtime: Option<RuntimeName>,
}

impl Containers {
    /// Describes one of them, with its CPUs, network and real-time budget.
    fn spec(&self, network: Network, runs: PathBuf) -> Result<ContainerSpec, PlaceError> {
        let program = match &self.program {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(|error| io(Path::new("/proc/self/exe"), error))?,
        };
        Ok(ContainerSpec {
            program: Some(program),
            words: Vec::new(),
            cpus: Some(self.cpus.clone()).filter(|cpus| !cpus.is_empty()),
            network,
            runs,
            // If groups have budgets, a new group has none.
            real_time_us: self.budget_us()?,
            cgroup: None,
            memory: None,
            oom_score: None,
            huge_pages: None,
            latency_device: latency_device(),
        })
    }

    /// Runtime and period, in us: an equal part for each container; `None` if groups have no budget.
    ///
    /// # Errors
    /// Other groups use all of it.
    pub fn budget_us(&self) -> Result<Option<(u64, u64)>, PlaceError> {
        let Some(left_us) = Host::live().rt_budget_left_us() else {
            return Ok(None);
        };
        match left_us.saturating_sub(LEFT_US) / self.side_by_side.max(1) {
            0 => Err(PlaceError::Busy(format!(
                "no real-time budget is left for a container: other control groups have all but {left_us} us in a second \
                 (cpu.rt_runtime_us below /sys/fs/cgroup/cpu): end their containers, or `rmdir` the groups that are empty"
            ))),
            each => Ok(Some((each, 1_000_000))),
        }
    }
}

/// A container's bed and settings. Each command runs in a new container, so that nothing has to be cleaned up between two commands.
#[derive(Debug)]
pub struct Container {
    runtime: Runtime,
    spec: ContainerSpec,
    interface: String,
    mac: [u8; 6],
    text: String,
    folder: Folder,
}

/// Number of containers that this process has started. Their control groups are called by it: two in one group would end together.
static STARTED: AtomicU32 = AtomicU32::new(0);

impl Container {
    /// Finds a runtime, and prepares the settings of the containers at this end of a bed; without an end their only interface is `lo`.
    ///
    /// # Errors
    /// There is no usable runtime.
    pub fn up(containers: &Containers, end: Option<DeviceEnd<'_>>) -> Result<Self, PlaceError> {
        let runtime = Runtime::find(containers.runtime)?;
        sweep_groups();
        let folder = folder::make(KIND).map_err(|error| io(&std::env::temp_dir(), error))?;
        let namespace = end.map(|end| match end.namespace {
            Some(namespace) => Network::Joined(namespace.path()),
            None => Network::Host,
        });
        let spec = containers.spec(namespace.unwrap_or(Network::Own), folder.path().join("runs"))?;
        Ok(Self {
            text: text(&runtime, &spec),
            interface: end.map_or_else(|| "lo".to_owned(), |end| end.interface.to_owned()),
            mac: end.map_or([0; 6], |end| end.mac),
            runtime,
            spec,
            folder,
        })
    }
}

fn text(runtime: &Runtime, spec: &ContainerSpec) -> String {
    let cpus = spec.cpus.as_ref().map(|cpus| format!(", CPUs {cpus}"));
    let budget = spec
        .real_time_us
        .map(|(runtime, period)| format!(", real-time budget {runtime} us in {period} us"));
    format!(
        "container: {runtime}, capabilities {}{}{}",
        CAPABILITIES.join(" "),
        cpus.unwrap_or_default(),
        budget.unwrap_or_default()
    )
}

fn io(path: &Path, error: std::io::Error) -> PlaceError {
    PlaceError::Io {
        path: path.to_owned(),
        error,
    }
}

impl Place for Container {
    fn kind(&self) -> PlaceKind {
        PlaceKind::Container
    }

    fn describe(&self) -> &str {
        &self.text
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    fn mac(&self) -> [u8; 6] {
        self.mac
    }

    fn cpus(&self) -> Option<CpuList> {
        None
    }

    fn clock(&self) -> Result<ClockOffset, PlaceError> {
        Ok(ClockOffset::SAME)
    }

    fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String, source: &str| Fact {
            group: "place".to_owned(),
            name: name.to_owned(),
            value: Ok(value),
            source: source.to_owned(),
        };
        let (name, settings) = self.runtime.settings(&self.spec);
        vec![
            fact("container", self.text.clone(), self.runtime.name().name()),
            fact(
                name,
                settings,
                "as given to the runtime; recommended for an application of the same kind",
            ),
        ]
    }

    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError> {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let bundle = self.folder.path().join(number.to_string());
        let runs = bundle.join("runs");
        std::fs::create_dir_all(&runs).map_err(|error| io(&runs, error))?;
        for (name, text) in &job.files {
            let path = runs.join(name);
            std::fs::write(&path, text).map_err(|error| io(&path, error))?;
        }
        let run = runs.join("run.triptime");
        let mut words = job.words.clone();
        words.extend(["--out", "/runs/run.triptime"].map(str::to_owned));
        let spec = ContainerSpec {
            words,
            runs,
            ..self.spec.clone()
        };
        let id = group_name(std::process::id(), number);
        let state = self.folder.path().join("state");
        let handle = self.runtime.prepare(&spec, &bundle, &state, &id)?;
        Ok(Box::new(Contained::start(handle, run, spec.cpus.as_ref())?))
    }
}
