//! One run: its file, its recorder, and everything watched during the measurement.

mod again;
mod aside;
mod cache;
mod changes;
mod claims;
pub mod flight;
mod idle;
mod links;
mod neighbours;
mod others;
mod processes;
mod watch;

use crate::spec::{Explainer, Inventory, RunSpec};
use again::First;
pub use aside::{Aside, Sealed};
use audit::parameters::Parameters;
use cache::CacheReadings;
use changes::Changes;
use flight::Flight;
use host::{Host, Hypervisor};
use idle::Idle;
use model::fact::RUN_START;
use model::{ChangeWatch, EventKind, Fact, RunState};
use others::{OthersLimits, Ours};
use place::OverHost;
use probes::ProbeError;
use run::{Explain, Recorder, RecorderOptions, Shared, Stop};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::path::Path;
use std::sync::Arc;
use store::{FilePlace, StoreError};
use trace::Tracefs;
use units::CpuList;
use watch::Watch;

/// The option that switches off explanations of late samples.
pub const NO_RECORDER: &str = "--no-flight-recorder";

/// The command that only observes.
const TRACE: &str = "trace";

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Error of the run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Error of a probe.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Refusal of the kernel.
    #[error(transparent)]
    Sys(#[from] sys::SysError),
    /// There is too little memory to lock.
    #[error("{0}")]
    Memory(String),
    /// The disk certainly has too little space.
    #[error("{0}")]
    Room(String),
    /// Error of the test bed.
    #[error(transparent)]
    Bed(#[from] bed::BedError),
    /// Error of a place of a device under test.
    #[error(transparent)]
    Place(#[from] place::PlaceError),
    /// Error of a load.
    #[error(transparent)]
    Load(#[from] bed::load::LoadError),
    /// An impossible request.
    #[error("{0}")]
    Wrong(String),
    /// Steps of a plan that failed because a link was down. All the others were measured.
    #[error("{0}")]
    StepsLost(String),
    /// Steps of a plan that failed because a place did not answer, and those after them. All before were measured.
    #[error("{0}")]
    PlaceLost(String),
    /// Error of one of the kernel's tracers.
    #[error(transparent)]
    Trace(#[from] trace::TraceError),
}

impl SessionError {
    /// True if single steps of a plan failed, and all the others were measured.
    pub(crate) fn is_of_steps(&self) -> bool {
        matches!(self, Self::StepsLost(_))
    }

    /// True if it leaves measurements of other steps.
    pub(crate) fn leaves_steps(&self) -> bool {
        matches!(self, Self::StepsLost(_) | Self::PlaceLost(_))
    }
}

impl Explainer {
    /// Makes the explainer, or returns the reason why there is none.
    fn explain(self, spec: &RunSpec) -> (Option<Box<dyn Explain>>, Option<String>) {
        match self {
            Self::Own => flight_recorder(spec),
            Self::Other(other) => (Some(other), None),
            Self::OverHost(host) => {
                let (own, why_not) = flight_recorder(spec);
                let over = own.map(|own| Box::new(OverHost::new(own, host)) as Box<dyn Explain>);
                (over, why_not)
            }
        }
    }
}

/// A run at work.
pub struct Session {
    /// Receives the samples.
    pub recorder: Recorder,
    /// Ends the run early.
    pub stop: Stop,
    place: Arc<FilePlace>,
    window_ns: u64,
    file_budget: Option<u64>,
    flight_recorder: bool,
    documents: Vec<(String, String)>,
    explainer: Option<Shared>,
    watch: Watch,
    changes: Changes,
    /// The facts about the machine at the beginning; `None` if an earlier run has them.
    first: Option<First>,
    /// CPUs that are judged.
    judged: CpuList,
    idle: Idle,
    /// True while `idle` holds a limit.
    ours: Ours,
}

impl Session {
    /// Creates the run file with the inventory in it, locks memory, holds idle states, and starts recording and watching.
    ///
    /// If the kernel refuses the last two, that is an event of the run, not an error: page faults and idle states then show in the
    /// figures, and the report says so.
    ///
    /// # Errors
    /// The run file cannot be made, or there is too little memory.
    pub(crate) fn start(spec: &mut RunSpec, stop: Stop) -> Result<Self, SessionError> {
        // Taken before memory is locked, so that the memory for the audit and the kernel's types is given back and does not count
        // for the run; and before this process is limited to its own CPUs, so that the audit sees the CPUs that it was given.
        let mut inventory = inventory(spec);
        let cards = host::nic::facts_of(&spec.interfaces);
        let first = match inventory.is_empty() {
            true => None,
            false => Some(First::of(
                [inventory.as_slice(), &cards].concat(),
                cpus_of(spec),
                &spec.interfaces,
            )),
        };
        inventory.extend(crate::instrument::facts(&spec.measured));
        let kept = keep_to(&spec.housekeeping());
        // A tracer that a killed run left on would still take time from CPUs.
        if let Ok(tracefs) = Tracefs::find() {
            tracefs.clear();
        }
        let (flight, no_flight) = std::mem::take(&mut spec.explain).explain(spec);
        sys::memory::give_back();
        if let Some(why) = crate::memory::lacking(spec.memory).filter(|_| sys::memory::can_lock()) {
            return Err(SessionError::Memory(why));
        }
        let locked = sys::memory::lock_all().map_err(|error| error.to_string());
        let explainer = flight.map(Shared::new);
        let pair = sys::clock::pair();
        let is_tracing = spec.run.command == TRACE;
        let mut writer = spec.run.create(pair.realtime)?;
        let place = writer.place();
        writer.add_facts(&inventory)?;
        writer.add_facts(&run_file(spec, place.made()))?;
        writer.add_facts(&cards)?;
        if explainer.is_some() {
            writer.add_facts(&[RUN_START.fact(Ok(pair.monotonic), "clock_gettime(2)")])?;
        }
        let options = RecorderOptions {
            start: pair.monotonic,
            window_ns: spec.run.window_ns,
            explain: explainer.clone().map(|shared| Box::new(shared) as Box<dyn Explain>),
        };
        let recorder = Recorder::start(writer, options, &stop);
        let events = recorder.events();
        for why in [kept.err(), locked.err(), no_flight].into_iter().flatten() {
            events.write(EventKind::Refused, why);
        }
        if let Some(why) = emulated() {
            events.write_at(pair.monotonic, EventKind::Emulated, why);
        }
        let ours = Ours::default();
        let idle = Idle::of(spec.hold_idle, &spec.measured, &ours, &events);
        let others = OthersLimits::new(spec.measured.clone(), Arc::clone(&ours), pair.monotonic);
        let watched = [spec.interfaces.as_slice(), &spec.ports].concat();
        // Tracing sends and receives nothing: it may run together with the measurement that it traces.
        let claimed = match is_tracing {
            true => Vec::new(),
            false => watched.clone(),
        };
        let cache = CacheReadings::new(Host::live(), spec.measured.clone(), spec.run.window_ns);
        let changes = Changes::start(events.clone(), spec.measured.clone(), watched.clone());
        let links = match spec.are_lans {
            true => spec.ports.clone(),
            false => watched,
        };
        let watch = Watch::start((events, pair.monotonic), links, claimed, (cache, others));
        Ok(Self {
            recorder,
            stop,
            place,
            window_ns: spec.run.window_ns,
            file_budget: spec.run.file_budget,
            flight_recorder: spec.flight_recorder,
            documents: spec.run.documents.clone(),
            explainer,
            watch,
            changes,
            first,
            judged: spec.measured.clone(),
            idle,
            ours,
        })
    }

    /// Treatment of idle states, held off or not, in words for the report.
    pub fn idle(&self) -> &str {
        self.idle.words()
    }

    /// Holds idle states off, or leaves them as the system has them, from now on.
    pub fn hold_idle(&mut self, hold: bool) {
        if self.idle.is_held() != hold {
            let events = self.recorder.events();
            self.idle.release(&events);
            self.idle = Idle::of(hold, &self.judged, &self.ours, &events);
        }
    }

    /// Length of a window, in ns.
    pub fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// Command-line options that give a run in another place the same settings.
    pub fn options(&self) -> Vec<String> {
        let budget = self.file_budget.map(|octets| ("--file-budget", format!("{octets}B")));
        let valued = std::iter::once(("--window", format!("{}ns", self.window_ns))).chain(budget);
        let mut words: Vec<String> = valued.flat_map(|(name, value)| [name.to_owned(), value]).collect();
        words.extend((!self.flight_recorder).then(|| NO_RECORDER.to_owned()));
        words
    }

    /// A text stored in the run: `plan`, `limits`.
    pub fn document(&self, name: &str) -> Option<&str> {
        let found = self.documents.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str())
    }

    /// Explainer of late samples, if there is one.
    pub fn explainer(&self) -> Option<Shared> {
        self.explainer.clone()
    }

    /// The path at which the run file was made.
    pub fn file(&self) -> &Path {
        self.place.made()
    }

    /// Location of the run file, wherever it is moved.
    pub fn place(&self) -> Arc<FilePlace> {
        Arc::clone(&self.place)
    }

    /// Stops watching, reads the facts about the machine again, and closes the file.
    ///
    /// # Errors
    /// The error that kept the file from being written; everything written before it is in the file.
    pub fn finish(mut self, state: RunState) -> Result<(), SessionError> {
        self.watch.stop();
        let watch = self.changes.stop();
        let events = self.recorder.events();
        self.idle.release(&events);
        let ended = sys::clock::monotonic();
        // Unlocked memory leaves more room for the audit and the report.
        sys::memory::unlock_all();
        if let Some(first) = self.first {
            self.recorder.add_last_facts(first.differences());
            let audited_ns = Some(events.at_ns(ended));
            events.changes(Vec::new(), ChangeWatch { audited_ns, ..watch });
        }
        Ok(self.recorder.finish_at(state, ended)?)
    }
}

/// Restricts the calling thread, and the threads it will start, to `cpus`. Measuring threads choose their own CPU later.
fn keep_to(cpus: &CpuList) -> Result<(), String> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(cpu as usize));
    sched_setaffinity(None, &set).map_err(|errno| format!("cannot keep the recorder to CPU {cpus}: {errno}"))
}

/// Starts the flight recorder, if one is requested; if it does not start, returns the reason.
fn flight_recorder(spec: &RunSpec) -> (Option<Box<dyn Explain>>, Option<String>) {
    if !spec.flight_recorder {
        return (None, None);
    }
    match Flight::start(spec.measured.first(), spec.osnoise) {
        Ok(flight) => (Some(Box::new(flight)), None),
        Err(error) => (None, Some(format!("late samples stay unexplained: {error}"))),
    }
}

/// A flight recorder of this machine, for the questions of a guest whose run has no session here.
///
/// # Errors
/// Why it cannot run, and the remedy.
pub fn host_explainer() -> Result<Shared, SessionError> {
    Ok(Shared::new(Box::new(Flight::start(None, false)?)))
}

/// Why no timing here is evidence, if the processor is emulated.
fn emulated() -> Option<String> {
    let found = Host::live().hypervisor().ok().filter(Hypervisor::is_emulated)?;
    Some(format!(
        "emulated: timing is no evidence ({}, {})",
        found.kind.word(),
        found.evidence.join(", ")
    ))
}

/// Facts about the machine, and results of the rules for real-time machines.
fn inventory(spec: &RunSpec) -> Vec<Fact> {
    match spec.inventory {
        Inventory::Known => Vec::new(),
        Inventory::Of(_) | Inventory::Measured => inventory_of(cpus_of(spec), &spec.interfaces),
    }
}

/// CPUs that the audit of a run judges.
fn cpus_of(spec: &RunSpec) -> CpuList {
    match &spec.inventory {
        Inventory::Of(cpus) => cpus.clone(),
        Inventory::Known | Inventory::Measured => spec.measured.clone(),
    }
}

fn inventory_of(cpus: CpuList, interfaces: &[String]) -> Vec<Fact> {
    let host = Host::live();
    let mut all = facts(&host);
    all.extend(audited(&host, cpus, interfaces));
    all
}

/// Facts about the machine and about the interfaces of a run.
fn facts_of(cpus: CpuList, interfaces: &[String]) -> Vec<Fact> {
    let mut all = inventory_of(cpus, interfaces);
    all.extend(host::nic::facts_of(interfaces));
    all
}

/// The file system and the disks of the run file: a slow one holds up what writes to it.
fn run_file(spec: &RunSpec, file: &Path) -> Vec<Fact> {
    match (&spec.inventory, file.canonicalize()) {
        (Inventory::Known, _) | (_, Err(_)) => Vec::new(),
        (_, Ok(file)) => Host::live().written_to(&file, "the run file"),
    }
}

/// Findings of the rules for real-time machines on this one, for the CPUs and interfaces of the run, with their remedies.
fn audited(host: &Host, cpus: CpuList, interfaces: &[String]) -> Vec<Fact> {
    let parameters = Parameters {
        rt_cpus: Some(cpus).filter(|cpus| !cpus.is_empty()),
        nics: interfaces.to_vec(),
        ..Parameters::default()
    };
    let audit = audit::audit(host, &parameters, &[]);
    let mut facts = audit.facts_of_run();
    facts.extend(tune::remedies(host, &audit, &parameters));
    facts
}

fn facts(host: &Host) -> Vec<Fact> {
    let mut facts = host.facts();
    let tracers = flight::tracers_fact();
    let behind = facts.iter().rposition(|fact| fact.group == tracers.group);
    facts.insert(behind.map_or(0, |last| last + 1), tracers);
    facts
}
