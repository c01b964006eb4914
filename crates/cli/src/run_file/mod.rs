//! Making a run: its file's place, its session, and what follows its end.

pub(crate) mod claim;
mod ended;

use crate::arguments::{PortArgs, RunArgs};
use crate::ending::{self, Hangup};
use crate::failure::{Failure, say};
use crate::keeper::{Beside, Detached, Keeper, KeeperSpec, log_of};
use crate::page;
use crate::progress::{Limits, Progress};
use crate::window;
use bed::loads::Loads;
use ended::Ending;
use model::fact::LABEL;
use model::{EventKind, RunState};
use probes::copier::{self, Capture, CaptureSpec, Extent};
use probes::{Port, ProbeError};
use report::limits::Profile;
use report::tables::Layout;
use run::{NewRun, Stop, Thresholds, remove};
use session::memory::OF_A_PROBE;
use session::preflight::{self, Intent};
use session::room::{Disk, Need};
use session::runner::{Runner, Underway};
use session::{Explainer, Inventory, Session, SessionError, SessionSpec};
use std::path::PathBuf;
use units::CpuList;

/// A run of one command: its session, and what was asked about its output.
pub(crate) struct Run {
    /// The session.
    pub(crate) session: Session,
    /// The limit profile, if any.
    pub(crate) profile: Option<Profile>,
    args: RunArgs,
    loads: Loads,
    beside: Beside,
    open_ended: bool,
    table: Option<Layout>,
    captures: Vec<Capture>,
    /// Doubts found before measuring.
    doubts: Vec<String>,
}

/// Input for the start of a command.
pub(crate) struct Start<'a> {
    /// Its name.
    pub(crate) command: &'a str,
    /// Its run file where `--out` names none; numbered where that is taken. `None`: named after the time.
    pub(crate) file: Option<PathBuf>,
    /// Limit profile when `--limits` names none.
    pub(crate) profile: Option<&'a str>,
    /// Window when `--window` gives none.
    pub(crate) window_ns: u64,
    /// Hold idle states off, though the command line does not ask for it.
    pub(crate) hold_idle: bool,
    /// Have late samples explained, unless the command line says no.
    pub(crate) flight_recorder: bool,
    /// Use the kernel's osnoise tracer beside the flight recorder.
    pub(crate) osnoise: bool,
    /// CPUs that are measured: the recorder keeps off them, if others are left.
    pub(crate) measured: CpuList,
    /// Facts of the machine to record.
    pub(crate) inventory: Inventory,
    /// CPUs of the recorder; `None`: those of this process that are not measured.
    pub(crate) recorder: Option<CpuList>,
    /// Interfaces that are measured on.
    pub(crate) interfaces: Vec<String>,
    /// Ports that a plan measures on: whoever else measures there is to know.
    pub(crate) ports: Vec<String>,
    /// More texts to keep in the run.
    pub(crate) documents: Vec<(String, String)>,
    /// Ends only when told to: then being told is no interruption.
    pub(crate) open_ended: bool,
    /// Published layout to print the result in, before the answer.
    pub(crate) table: Option<Layout>,
    /// Limits that the measurement has of itself, as a profile's TOML: beside those of the profile, or alone.
    pub(crate) own_limits: Option<String>,
    /// Explainer of late samples.
    pub(crate) explain: Explainer,
    /// The plan that it runs.
    pub(crate) plan: Option<&'a str>,
    /// How long it measures, if it has an end that is known.
    pub(crate) lasts_ns: Option<u64>,
    /// Room that it is expected to need, as far as that is known.
    pub(crate) need: Option<Need>,
    /// Octets of memory that it takes beyond what the process has when it begins.
    pub(crate) memory: u64,
    /// How it was started, unless by somebody who waits for it.
    pub(crate) detached: Option<Detached>,
    /// True if windows are due by the clock: measurements in another process come at its end.
    pub(crate) is_paced: bool,
}

impl Start<'_> {
    /// One probe, run by its own command on the `measured` CPUs: judged only if asked, open-ended without a duration.
    pub(crate) fn probe(command: &str, measured: CpuList, duration_ns: Option<u64>) -> Start<'_> {
        Start {
            command,
            file: None,
            profile: None,
            window_ns: window::of_duration(duration_ns),
            hold_idle: false,
            flight_recorder: false,
            osnoise: false,
            measured,
            inventory: Inventory::Measured,
            recorder: None,
            interfaces: Vec::new(),
            ports: Vec::new(),
            documents: Vec::new(),
            open_ended: duration_ns.is_none(),
            table: None,
            own_limits: None,
            explain: Explainer::Own,
            plan: None,
            lasts_ns: duration_ns,
            need: None,
            memory: OF_A_PROBE,
            detached: None,
            is_paced: KeeperSpec::is_paced(command),
        }
    }

    /// The same, on this interface: what is known of it goes into the run.
    pub(crate) fn on(mut self, interface: &str) -> Self {
        self.interfaces.push(interface.to_owned());
        self
    }
}

/// From when on the samples of series are over: above what the profile allows their maximum.
pub(crate) fn thresholds(profile: Option<&Profile>) -> Thresholds {
    let Some(profile) = profile.cloned() else {
        return Thresholds::default();
    };
    Thresholds::new(move |name| profile.threshold_ns(name))
}

impl Run {
    /// Starts a session whose run ends early on SIGINT, SIGTERM and SIGHUP.
    pub(crate) fn start(start: Start<'_>, args: RunArgs) -> Result<Self, Failure> {
        page::check(args.pages.html.as_deref(), args.out.as_deref())?;
        let profile_name = args.limits.as_deref().or(start.profile);
        let limits = with_own(profile_name, start.own_limits.as_deref())?;
        let profile = limits
            .as_deref()
            .map(|text| Profile::parse(text, profile_name.unwrap_or(start.command)))
            .transpose()?;
        for line in profile.iter().flat_map(Profile::unmatched) {
            say(&format_args!("limits: {line}"));
        }
        let mut documents = start.documents;
        documents.extend(limits.map(|text| ("limits".to_owned(), text)));
        let stop = Stop::new();
        let hangup = if start.detached.is_some() {
            Hangup::Passes
        } else {
            Hangup::Ends
        };
        ending::on_signals_but(&stop.flag(), hangup)?;
        let spec = SessionSpec {
            run: NewRun {
                window_ns: args.window.unwrap_or(start.window_ns),
                file_budget: Some(args.file_budget),
                documents,
                ..new_run_at(start.command, args.out.clone(), start.file)
            },
            hold_idle: start.hold_idle || args.hold_idle,
            flight_recorder: start.flight_recorder && !args.no_flight_recorder,
            osnoise: start.osnoise,
            measured: start.measured.clone(),
            inventory: start.inventory,
            housekeeping: start.recorder.clone().unwrap_or_else(|| beside(&start.measured)),
            interfaces: start.interfaces,
            ports: start.ports,
            memory: start.memory,
        };
        let disk = Disk::of(&spec.run.file);
        let need = start.need.or_else(|| need_of(&spec, start.lasts_ns));
        if let Some(need) = need.filter(|_| !args.force) {
            disk.refuse(&need).map_err(Failure::CouldNotMeasure)?;
        }
        let specs = args.loads(&beside(&start.measured));
        let mut session = Session::explained_by(start.explain, spec, stop)?;
        let place = session.place();
        let keeper = KeeperSpec {
            command: start.command,
            plan: start.plan,
            file: place.made(),
            window_ns: session.window_ns(),
            lasts_ns: start.lasts_ns,
            need,
            limits: Limits::of_profile(profile.as_ref()),
            detached: start.detached,
            force: args.force,
            is_paced: start.is_paced,
        };
        session.recorder.set_thresholds(thresholds(profile.as_ref()));
        let loads = match Loads::start(specs, &session.recorder.events()) {
            Ok(loads) => loads,
            Err(error) => {
                let file = session.file().to_path_buf();
                drop(session);
                remove(&file);
                return Err(SessionError::from(error).into());
            }
        };
        if let Some(label) = args.label.clone() {
            session.recorder.add_facts(vec![LABEL.fact(Ok(label), "--label")]);
        }
        session
            .recorder
            .set_settings(vec![bed::loads::setting(&loads.describe())]);
        Ok(Self {
            session,
            loads,
            beside: Beside {
                progress: Progress::new(args.quiet, profile.as_ref()),
                has_plan: keeper.plan.is_some(),
                keeper: Keeper::start(keeper),
            },
            profile,
            args,
            open_ended: start.open_ended,
            table: start.table,
            captures: Vec::new(),
            doubts: Vec::new(),
        })
    }

    /// Says what makes a measurement on this port questionable; returns the port with its capture, if one is asked for. When
    /// that cannot be made, the run is over.
    pub(crate) fn port(&mut self, port: impl Into<Port>, args: &PortArgs, intent: &Intent) -> Result<Port, Failure> {
        let port = port.into();
        let events = self.session.recorder.events();
        self.doubts = preflight::doubts(port.interface(), intent);
        self.doubts.extend(port.doubt());
        for doubt in &self.doubts {
            events.write(EventKind::Note, format!("before measuring: {doubt}"));
        }
        let Some(path) = args.capture.capture.clone() else {
            return Ok(port);
        };
        let spec = CaptureSpec {
            path,
            extent: match args.capture.capture_all {
                true => Extent::All,
                false => Extent::Around(args.capture.capture_around),
            },
            interface: port.interface().to_owned(),
            application: format!("triptime {}", env!("CARGO_PKG_VERSION")),
            signal: self.session.recorder.spike_signal(),
        };
        let (copier, capture) = copier::start(&spec).map_err(|error| {
            // Nothing was measured yet.
            remove(self.session.file());
            Failure::Usage(error.to_string())
        })?;
        self.captures.push(capture);
        Ok(port.with_copier(Some(copier)))
    }

    /// Closes the captures and says what is in them.
    fn close_captures(&mut self) {
        if self.captures.is_empty() {
            return;
        }
        // A spike among the last samples is to be around in the capture too.
        self.session.recorder.settle();
        let events = self.session.recorder.events();
        for capture in self.captures.drain(..) {
            match capture.finish() {
                Ok(captured) => events.write(EventKind::Note, captured.to_string()),
                Err(error) => events.write(EventKind::Refused, error.to_string()),
            }
        }
    }

    /// Runner for the probes: waits for them beside the loads, and shows progress.
    pub(crate) fn runner(&mut self) -> Runner<'_> {
        Runner {
            session: &mut self.session,
            loads: &mut self.loads,
            show: &mut self.beside,
            position: None,
        }
    }

    /// Waits for what was started, if it was.
    pub(crate) fn attend<'a>(&mut self, started: Result<impl Underway + 'a, ProbeError>) -> Result<(), SessionError> {
        self.runner().attend("measuring", vec![Box::new(started?)])
    }

    /// Closes the run without a report; its file. When something was refused, no file is left.
    pub(crate) fn close(mut self, outcome: Result<(), SessionError>) -> Result<PathBuf, SessionError> {
        let state = self.end(&outcome);
        let place = self.session.place();
        let closed = outcome.and(self.session.finish(state));
        let file = ended::found(&place);
        if closed.is_err() {
            remove(&file);
        }
        self.beside.keeper.ended(0, state == RunState::Complete, None);
        closed.map(|()| file)
    }

    /// Ends what runs beside the measurement; says in the run whether it came to its end.
    fn end(&mut self, outcome: &Result<(), SessionError>) -> RunState {
        self.beside.progress.clear();
        self.beside.keeper.finishing(&self.session);
        self.loads.stop(&self.session.recorder.events());
        self.close_captures();
        if outcome.is_ok() && (self.open_ended || !self.session.stop.requested()) {
            return RunState::Complete;
        }
        let why = outcome.as_ref().err().map(ToString::to_string);
        let why = self.beside.keeper.why().or(why);
        if !self.beside.keeper.has_told() {
            let events = self.session.recorder.events();
            events.write(EventKind::Interrupted, why.unwrap_or_else(|| "ended early".into()));
        }
        RunState::Interrupted
    }

    /// Closes the run and reports it, unless `outcome` says that nothing was measured. Returns the exit status.
    pub(crate) fn finish(mut self, outcome: Result<(), SessionError>) -> Result<u8, Failure> {
        let state = self.end(&outcome);
        let Beside { keeper, .. } = self.beside;
        let used_up = keeper.used_up().map(str::to_owned);
        let why = keeper.why();
        let ended = Ending {
            session: self.session,
            profile: self.profile,
            args: self.args,
            table: self.table,
            doubts: self.doubts,
            used_up,
        };
        let result = ended.report(outcome, state);
        let (status, failure) = match &result {
            Ok(status) => (*status, None),
            Err(failure) => (failure.status(), Some(failure.to_string())),
        };
        let told = (state == RunState::Interrupted).then(|| "it was told to end".to_owned());
        keeper.ended(status, state == RunState::Complete, why.or(failure).or(told));
        result
    }

    /// Unless told where, the HTML report goes beside the run file.
    pub(crate) fn html_beside_the_run(&mut self) {
        let beside = self.session.file().with_extension("html");
        self.args.pages.html.get_or_insert(beside);
    }
}

/// Room that a probe with an end will need: a series at least, and one for each measured CPU.
fn need_of(spec: &SessionSpec, lasts_ns: Option<u64>) -> Option<Need> {
    let series = spec.measured.len().max(1) as u64;
    Some(Need {
        budget: spec.run.file_budget.unwrap_or(0),
        ..Need::of(series, lasts_ns?, spec.run.window_ns)
    })
}

/// The CPUs of this process that are not measured; all of them when none is left.
fn beside(measured: &CpuList) -> CpuList {
    let allowed = sys::thread::allowed_cpus();
    let others = allowed.without(measured);
    if others.is_empty() { allowed } else { others }
}

fn limits_text(name: &str) -> Result<String, Failure> {
    match Profile::embedded_text(name) {
        Some(text) => Ok(text.to_owned()),
        None => std::fs::read_to_string(name).map_err(|error| Failure::Usage(format!("{name}: {error}"))),
    }
}

/// The run of a command, in `out` or a file named after the time.
pub(crate) fn new_run(command: &str, out: Option<PathBuf>) -> NewRun {
    new_run_at(command, out, None)
}

/// The same, in `usual` or the first of its numbers that is free where `out` names no file.
fn new_run_at(command: &str, out: Option<PathBuf>, usual: Option<PathBuf>) -> NewRun {
    NewRun {
        may_be_numbered: out.is_none(),
        file: out.or(usual).unwrap_or_else(|| default_file(command)),
        command: command.to_owned(),
        arguments: std::env::args().skip(1).collect(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        window_ns: window::LONGEST_NS,
        file_budget: None,
        documents: Vec::new(),
    }
}

/// The text of the profile that judges a run: the one that was named, the measurement's own limits, or the first with the second behind it.
fn with_own(name: Option<&str>, own: Option<&str>) -> Result<Option<String>, Failure> {
    // Read as it is first: what is wrong with it is said of its own lines.
    name.map(Profile::find).transpose()?;
    let named = name.map(limits_text).transpose()?;
    Ok(match (named, own) {
        (Some(named), Some(own)) => Some(format!("{named}\n{own}")),
        (None, Some(own)) => Some(format!(
            "name = \"own limits\"\nwhat = \"What the measurement itself requires\"\n\n{own}"
        )),
        (named, None) => named,
    })
}

/// Document kept in a run for the limits that it is to be judged by.
pub(crate) fn limits_document(name: Option<&str>) -> Result<Vec<(String, String)>, Failure> {
    let text = name.map(limits_text).transpose()?;
    Ok(text.map(|text| ("limits".to_owned(), text)).into_iter().collect())
}

fn named_after_the_time(command: &str) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    PathBuf::from("runs").join(format!("{now}-{command}.triptime"))
}

/// A file named after the time that is not there yet, and that no detached run waits to make: that one has its log already. Within a second,
/// which is the unit of the name, it is numbered.
pub(crate) fn default_file(command: &str) -> PathBuf {
    let first = named_after_the_time(command);
    let numbered = (2..100).map(|n| first.with_extension(format!("{n}.triptime")));
    let mut names = std::iter::once(first.clone()).chain(numbered);
    names
        .find(|name| !name.exists() && !log_of(name).exists())
        .unwrap_or(first)
}
