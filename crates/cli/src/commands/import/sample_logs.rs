//! Files with one line per sample, those of sv_timestamp_logger and svtrace, or per report of an application's maxima.

use super::{ClockArg, ImportArgs};
use crate::failure::Failure;
use crate::run_file::thresholds;
use interop::logger::{self, LoggerFile, LoggerOptions, Relation};
use interop::maxima::{self, MaximaLog};
use interop::svtrace;
use model::RunState;
use report::limits::Profile;
use run::{NewRun, Thresholds};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use store::RunWriter;
use units::Realtime;

/// Number of leading bytes that identify the format of a file.
const HEAD_BYTES: u64 = 4_096;

/// Length of a window of an imported recording.
const WINDOW_NS: u64 = 20_000_000_000;

/// Format of a file.
enum LogFormat {
    /// A file of sv_timestamp_logger, with its first stamp.
    Logger(i64),
    Svtrace,
    /// An application's own maxima.
    Maxima(Box<MaximaLog>),
}

/// Imports the files if they are of this kind; otherwise returns `None`.
pub(super) fn run(args: &ImportArgs, profile: Option<Profile>) -> Result<Option<u8>, Failure> {
    let usage = |why: &str| Failure::Usage(format!("import: {why}"));
    let Some(first) = args.files.first() else {
        return Ok(None);
    };
    let Some(kind) = kind(first, args.interval)? else {
        return match args.publisher {
            Some(_) => Err(usage(&format!(
                "{}: does not begin with a line of sv_timestamp_logger (iteration:svID:smpCnt:timestamp_us)",
                first.display()
            ))),
            None => Ok(None),
        };
    };
    if args.files.len() > 1 {
        return Err(usage(
            "one file of sv_timestamp_logger, of svtrace or of maxima at a time (--publisher names the other of a pair)",
        ));
    }
    let relation = relation(args)?;
    let now = sys::clock::pair().realtime;
    let (started, window_ns) = match &kind {
        LogFormat::Logger(first_ns) => (Realtime::from_ns(*first_ns), WINDOW_NS),
        LogFormat::Svtrace => (now, WINDOW_NS),
        LogFormat::Maxima(log) => (log.started, log.window_ns),
    };
    let mut run = NewRun {
        window_ns,
        ..args.judge.new_run("import", args.out.clone())?
    };
    let thresholds = thresholds(profile.as_ref());
    run.make(started, |writer| {
        writer.add_facts(args.stated().as_slice())?;
        fill(args, &kind, relation, (started, thresholds), writer)
    })?;
    args.judge.show(&run.file, profile).map(Some)
}

fn relation(args: &ImportArgs) -> Result<Relation, Failure> {
    match (args.clock, args.uncertainty) {
        (None, _) => Ok(Relation::Unknown),
        (Some(ClockArg::SameHost), None) => Ok(Relation::SameHost),
        (Some(ClockArg::Synchronised), Some(ns)) => Ok(Relation::Synchronised(ns)),
        (Some(ClockArg::SameHost), Some(_)) => Err(Failure::Usage(
            "import: --clock same-host means one clock: leave --uncertainty out".into(),
        )),
        (Some(ClockArg::Synchronised), None) => Err(Failure::Usage(
            "import: --clock synchronised: state how far apart the clocks may be (--uncertainty 1us)".into(),
        )),
    }
}

/// Returns the end of the run and its duration in ns.
fn fill(
    args: &ImportArgs,
    kind: &LogFormat,
    clock: Relation,
    (started, thresholds): (Realtime, Thresholds),
    run: &mut RunWriter,
) -> Result<(RunState, u64), Failure> {
    let path = &args.files[0];
    let wrong = |error: &dyn std::fmt::Display| Failure::Usage(format!("import: {error}"));
    let duration_ns = match kind {
        LogFormat::Maxima(log) => {
            for spec in &log.series {
                run.add_series(spec)?;
            }
            run.write(&log.batch)?;
            log.duration_ns
        }
        LogFormat::Svtrace => {
            let name = path.display().to_string();
            svtrace::import(&name, open(path)?, &thresholds, run).map_err(|error| wrong(&error))?;
            0
        }
        LogFormat::Logger(_) => {
            let options = LoggerOptions {
                rate: args.rate,
                clock,
                within_ns: args.within,
                started_ns: started.as_ns(),
                window_ns: WINDOW_NS,
                thresholds,
            };
            let imported = match &args.publisher {
                None => logger::import(logger_file(path)?, &options, run),
                Some(publisher) => logger::import_pair(logger_file(publisher)?, logger_file(path)?, &options, run),
            };
            imported.map_err(|error| wrong(&error))?.duration_ns
        }
    };
    Ok((RunState::Complete, duration_ns))
}

fn logger_file(path: &Path) -> Result<LoggerFile<File>, Failure> {
    Ok(LoggerFile {
        name: path.display().to_string(),
        source: open(path)?,
    })
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

fn kind(path: &Path, interval_ns: Option<u64>) -> Result<Option<LogFormat>, Failure> {
    let mut head = Vec::new();
    let read = open(path)?.take(HEAD_BYTES).read_to_end(&mut head);
    let wrong = |error: &dyn std::fmt::Display| Failure::Usage(format!("import: {error}"));
    read.map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    if maxima::is_log(&head) {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&format!("{name}: {error}")))?;
        let log = MaximaLog::of(&name, &text, interval_ns).map_err(|error| wrong(&error))?;
        return Ok(Some(LogFormat::Maxima(Box::new(log))));
    }
    Ok(match logger::first_stamp_ns(&head) {
        Some(first_ns) => Some(LogFormat::Logger(first_ns)),
        None => svtrace::is_record(&head).then_some(LogFormat::Svtrace),
    })
}
