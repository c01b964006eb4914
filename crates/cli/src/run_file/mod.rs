//! Sets up a run: the place of its file, its session, and the steps after its end.

pub(crate) mod claim;
mod ended;

use crate::arguments::{PortArgs, RunArgs};
use crate::ending::{self, Hangup};
use crate::failure::{Failure, say};
use crate::live::LiveProcess;
use crate::over_host;
use crate::page;
use crate::progress::Progress;
use crate::version;
use ended::Ending;
use model::{EventKind, RunState};
use probes::Port;
use probes::copier::{CaptureSpec, Extent};
use report::limits::Profile;
use report::tables::Layout;
use run::{NewRun, Stop, Thresholds};
use serve::Bound;
use session::detach::log_of;
use session::preflight::Intent;
use session::{RunSpec, SessionError, beside, window};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use units::CpuList;

/// A run of one command, with the options for its answer.
pub(crate) struct Run {
    run: session::Run,
    ending: Ending,
    /// Ends before the file is closed.
    live: Option<LiveProcess>,
}

impl Deref for Run {
    type Target = session::Run;

    fn deref(&self) -> &session::Run {
        &self.run
    }
}

impl DerefMut for Run {
    fn deref_mut(&mut self) -> &mut session::Run {
        &mut self.run
    }
}

/// A command's defaults for the verdict and display of its run.
#[derive(Default)]
pub(crate) struct Judged<'a> {
    /// Limit profile when `--limits` names none.
    pub(crate) profile: Option<&'a str>,
    /// Limits of the measurement itself, as a profile's TOML: used in addition to those of the profile, or alone.
    pub(crate) own_limits: Option<String>,
    /// Published layout to print the result in, before the answer.
    pub(crate) table: Option<Layout>,
}

/// Values above which samples of a series count as over the limit: the maximum that the profile allows.
pub(crate) fn thresholds(profile: Option<&Profile>) -> Thresholds {
    let Some(profile) = profile.cloned() else {
        return Thresholds::default();
    };
    Thresholds::new(move |name| profile.threshold_ns(name))
}

impl RunArgs {
    /// The run of one probe with these options; the command adds its own data.
    pub(crate) fn spec(&self, command: &str, measured: CpuList, duration_ns: Option<u64>) -> RunSpec {
        let run = NewRun {
            window_ns: self.window.unwrap_or_else(|| window::of_duration(duration_ns)),
            file_budget: Some(self.file_budget),
            ..new_run(command, self.out.clone())
        };
        RunSpec {
            label: self.label.clone(),
            build: Some(version::one_line()),
            local_time: Some(jiff::Zoned::now().strftime("%:z").to_string()),
            hold_idle: self.hold_idle,
            loads: self.loads(&beside(&measured)),
            force: self.force,
            explain: over_host::explainer(),
            ..RunSpec::probe(run, measured, duration_ns)
        }
    }

    /// True if late samples are to be explained.
    pub(crate) fn explains(&self) -> bool {
        !self.no_flight_recorder
    }
}

impl Run {
    /// Starts a run that ends early on SIGINT, SIGTERM and SIGHUP.
    pub(crate) fn start(spec: RunSpec, args: RunArgs) -> Result<Self, Failure> {
        Self::start_judged(spec, &Judged::default(), args)
    }

    /// Same as [`Run::start`], with the command's own defaults for the verdict.
    pub(crate) fn start_judged(mut spec: RunSpec, judged: &Judged<'_>, args: RunArgs) -> Result<Self, Failure> {
        page::check(args.pages.html.as_deref(), args.out.as_deref())?;
        let named = args.limits.as_deref().or(judged.profile);
        let limits = with_own(named, judged.own_limits.as_deref())?;
        let profile = limits
            .as_deref()
            .map(|text| Profile::parse(text, named.unwrap_or(&spec.run.command)))
            .transpose()?;
        for line in profile.iter().flat_map(Profile::unmatched) {
            say(&format_args!("limits: {line}"));
        }
        spec.run
            .documents
            .extend(limits.map(|text| ("limits".to_owned(), text)));
        spec.thresholds = thresholds(profile.as_ref());
        let bound = args.served.bound()?;
        let others = spec.housekeeping.clone().unwrap_or_else(|| beside(&spec.measured));
        let run = started(spec, args.quiet)?;
        let live = bound
            .map(|bound| live(&bound, &args, run.session.file(), &others))
            .transpose();
        Ok(Self {
            // The run is not measured without the page that was asked for.
            live: live.inspect_err(|_| run::remove(run.session.file()))?,
            run,
            ending: Ending {
                profile,
                args,
                table: judged.table,
            },
        })
    }

    /// Prints doubts about a measurement on this port; returns the port, with its capture if one was requested. If the capture cannot be
    /// made, the run ends.
    pub(crate) fn port(&mut self, port: impl Into<Port>, args: &PortArgs, intent: &Intent) -> Result<Port, Failure> {
        let port = port.into();
        self.run.doubt(&port, intent);
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
            signal: self.run.session.recorder.spike_signal(),
        };
        Ok(self.run.captured(port, &spec)?)
    }

    /// Closes the run and reports it, unless `outcome` is that nothing was measured. Returns the exit status.
    pub(crate) fn finish(self, outcome: Result<(), SessionError>) -> Result<u8, Failure> {
        // A reader in the middle of a page would hold up the end of the file's log, and leave it beside the file.
        drop(self.live);
        let mut ended = self.run.end(outcome);
        let why = ended.keeper.why();
        let result = self.ending.report(&mut ended);
        let (status, failure) = match &result {
            Ok(status) => (*status, None),
            Err(failure) => (failure.status(), Some(failure.to_string())),
        };
        let told = (ended.state == RunState::Interrupted).then(|| "it was interrupted".to_owned());
        let complete = ended.state == RunState::Complete;
        ended.keeper.ended(status, complete, why.or(failure).or(told));
        result
    }

    /// Takes the run itself, which will not be reported.
    pub(crate) fn unreported(self) -> session::Run {
        self.run
    }

    /// Closes the run without a report. If the measurement was refused, no file is left.
    pub(crate) fn close(self, outcome: Result<(), SessionError>) -> Result<PathBuf, SessionError> {
        drop(self.live);
        self.run.close(outcome, &|text| say(&text))
    }

    /// By default the HTML report is written next to the run file.
    pub(crate) fn html_beside_the_run(&mut self) {
        let beside = self.run.session.file().with_extension("html");
        self.ending.args.pages.html.get_or_insert(beside);
    }
}

/// Starts the process of the live page, and tells its address.
fn live(bound: &Bound, args: &RunArgs, file: &Path, cpus: &CpuList) -> Result<LiveProcess, Failure> {
    let live = LiveProcess::start(bound, &args.served, file, cpus)?;
    if !args.quiet {
        say(&format_args!("live page: {}", bound.address()));
    }
    Ok(live)
}

/// Starts a run that a signal can end, and shows its progress.
pub(crate) fn started(spec: RunSpec, quiet: bool) -> Result<session::Run, Failure> {
    let stop = Stop::new();
    let hangup = if spec.detached.is_some() {
        Hangup::Passes
    } else {
        Hangup::Ends
    };
    ending::on_signals_but(&stop.flag(), hangup)?;
    let progress = Progress::new(quiet, spec.thresholds.clone());
    let aside = match spec.force && !spec.run.may_be_numbered {
        true => make_way(&spec.run.file)?,
        false => None,
    };
    let run = session::Run::start(spec, stop, Box::new(progress))?;
    if let Some(text) = aside {
        run.session.recorder.events().write(EventKind::Note, text);
    }
    run.unlisted().iter().for_each(|why| say(why));
    Ok(run)
}

/// Renames a run file of this name if a kill left it; returns a sentence about it, which is also printed.
///
/// # Errors
/// The file is a run that has ended or is still being written, or no run.
pub(crate) fn make_way(file: &Path) -> Result<Option<String>, Failure> {
    if !file.exists() {
        return Ok(None);
    }
    let aside = store::move_aside(file)?;
    let text = format!(
        "{}: a kill or a power cut left it; it is {} now",
        file.display(),
        aside.display()
    );
    say(&text);
    Ok(Some(text))
}

/// Text of a limit profile inside the binary, or of a file.
pub(crate) fn limits_text(name: &str) -> Result<String, Failure> {
    match Profile::embedded_text(name) {
        Some(text) => Ok(text.to_owned()),
        None => std::fs::read_to_string(name).map_err(|error| Failure::Usage(format!("{name}: {error}"))),
    }
}

/// The run of a command, in `out` or a file named after the time.
pub(crate) fn new_run(command: &str, out: Option<PathBuf>) -> NewRun {
    NewRun {
        may_be_numbered: out.is_none(),
        file: out.unwrap_or_else(|| default_file(command)),
        command: command.to_owned(),
        arguments: std::env::args().skip(1).collect(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        window_ns: window::LONGEST_NS,
        file_budget: None,
        documents: Vec::new(),
    }
}

/// Text of the profile that judges a run: the named one, the measurement's own limits, or the first followed by the second.
fn with_own(name: Option<&str>, own: Option<&str>) -> Result<Option<String>, Failure> {
    // Parsed separately first, so that an error names the line of the user's file.
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

/// Documents that are kept in a run, by their names.
type Documents = Vec<(String, String)>;

/// The profile that a run is to be judged by, and the document of it that is kept in the run: of a profile that was named, the
/// measurement's own limits, or both.
pub(crate) fn judged_by(name: Option<&str>, own: Option<&str>) -> Result<(Option<Profile>, Documents), Failure> {
    let text = with_own(name, own)?;
    let profile = text
        .as_deref()
        .map(|text| Profile::parse(text, name.unwrap_or("own limits")));
    let document = text.clone().map(|text| ("limits".to_owned(), text));
    Ok((profile.transpose()?, document.into_iter().collect()))
}

fn named_after_the_time(command: &str) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    PathBuf::from("runs").join(format!("{now}-{command}.triptime"))
}

/// Finds a file name after the time that neither exists nor is reserved by a detached run, which has made its log already. Names within one
/// second, the resolution of the name, are numbered.
pub(crate) fn default_file(command: &str) -> PathBuf {
    let first = named_after_the_time(command);
    let numbered = (2..100).map(|n| first.with_extension(format!("{n}.triptime")));
    let mut names = std::iter::once(first.clone()).chain(numbered);
    names
        .find(|name| !name.exists() && !log_of(name).exists())
        .unwrap_or(first)
}
