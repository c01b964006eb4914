//! `triptime export`: a run in other programs' formats.

mod parquet;

use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::verdict;
use columnar::ColumnarError;
use interop::cyclictest::{Dialect, write_json, write_text};
use interop::export::cyclictest;
use interop::export::{ExportError, csv, frames, hlog, openmetrics, place, readings};
use model::fact::RUN_START;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use store::{RunFile, StoreError};
use trace::perfetto::Spike;
use units::foreign::{self, Show};

/// Forms that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The result document
    Json,
    /// One line per window and series
    Csv,
    /// One line per recorded frame: stream, smpCnt, and its instant at each point
    Frames,
    /// Cache and memory bandwidth during the run: one line per window and reading
    Readings,
    /// HdrHistogram interval log
    Hlog,
    /// cyclictest's histogram text, as up to rt-tests 2.6
    Cyclictest,
    /// cyclictest's histogram text, as since rt-tests 2.7
    #[value(name = "cyclictest-2.7")]
    Cyclictest27,
    /// The file that cyclictest writes with --json
    CyclictestJson,
    /// Figures for Prometheus, or its node_exporter's textfile collector
    Openmetrics,
    /// Findings of the role validate of ansible-vpac, as JSON: check, status, msg
    AnsibleVpac,
    /// A table that an AsciiDoc document includes, such as SEAPATH's test report
    Asciidoc,
    /// Windows and spikes, two files
    Parquet,
    /// Windows, spikes, changes, days and facts by host and day, as Parquet: a folder for the runs of many hosts
    Fleet,
    /// Kernel events around the worst samples, as JSON for ui.perfetto.dev and chrome://tracing
    Perfetto,
}

/// Writes a run in another program's format
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime export runs/20261121T020000-qualify.triptime --format csv > windows.csv")]
pub(crate) struct ExportArgs {
    /// Run file
    run: PathBuf,
    /// Form to write
    #[arg(long, value_enum)]
    format: Format,
    /// File to write, replaced as a whole [default: standard output]; parquet makes FILE.windows.parquet and FILE.spikes.parquet, or
    /// windows.parquet and spikes.parquet in a directory; fleet takes a directory, and adds the run to those in it
    #[arg(long, alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Reason for an export to end early.
enum Unwritten {
    /// The output refused the data.
    Output(io::Error),
    /// Anything else.
    Other(Failure),
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &ExportArgs) -> Result<u8, Failure> {
    let run = verdict::open(&args.run)?;
    let contradicts = !verdict::say_contradictions(&run.view()?).is_empty();
    let whole = if contradicts || run.lacks_log().is_some() {
        COULD_NOT_MEASURE
    } else {
        0
    };
    Ok(export(args, &run)?.max(whole))
}

/// Writes the form; returns the exit status for the output.
fn export(args: &ExportArgs, run: &RunFile) -> Result<u8, Failure> {
    if args.format == Format::Parquet {
        return parquet::two_files(run, args.out.as_deref());
    }
    if args.format == Format::Fleet {
        return parquet::fleet(run, args.out.as_deref());
    }
    let Some(path) = &args.out else {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = write(args, run, &mut out).and_then(|status| out.flush().map(|()| status).map_err(Into::into));
        return match written {
            Err(Unwritten::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
            other => ended(other, Path::new("standard output")),
        };
    };
    let mut status = 0;
    let written = place(path, |out| {
        status = write(args, run, out)?;
        Ok(())
    });
    ended(written.map(|()| status), path)
}

/// Returns the exit status: "could not measure" if a part of the run is missing from its file.
fn write(args: &ExportArgs, run: &RunFile, mut out: &mut dyn Write) -> Result<u8, Unwritten> {
    match args.format {
        Format::Json => verdict::read(&args.run, None)?.write_json(out)?,
        Format::Csv => csv(run, &mut out)?,
        Format::Frames => {
            let missing = frames(run, &mut out)?.said();
            for what in &missing {
                say(what);
            }
            if !missing.is_empty() {
                return Ok(COULD_NOT_MEASURE);
            }
        }
        Format::Readings => readings(run, &mut out)?,
        Format::Hlog => hlog(run, &mut out)?,
        Format::Cyclictest => write_text(&cyclictest::measurement(run)?, Dialect::AllRows, &mut out)?,
        Format::Cyclictest27 => write_text(&cyclictest::measurement(run)?, Dialect::SparseRows, &mut out)?,
        Format::CyclictestJson => write_json(&cyclictest::measurement(run)?, &mut out)?,
        Format::Openmetrics => openmetrics(&verdict::read(&args.run, None)?, &mut out)?,
        Format::AnsibleVpac => out.write_all(verdict::read(&args.run, None)?.findings().as_bytes())?,
        Format::Asciidoc => out.write_all(verdict::read(&args.run, None)?.asciidoc().as_bytes())?,
        Format::Perfetto => trace::perfetto::write(&flights(run)?, &mut out)?,
        Format::Parquet => return Err(Failure::Usage(parquet::TWO_FILES.into()).into()),
        Format::Fleet => return Err(Failure::Usage(parquet::A_FOLDER.into()).into()),
    }
    Ok(0)
}

/// The worst samples with the kernel's events around them.
fn flights(run: &RunFile) -> Result<Vec<Spike>, Failure> {
    let none =
        || Failure::CouldNotMeasure("no flight recorder ran: there are no events around the samples to show".into());
    let start = RUN_START.of(&run.facts()?).ok_or_else(none)?;
    let mut all = Vec::new();
    for (id, spec) in run.series()? {
        let spikes = run.spikes(id)?;
        for flight in run.flights(id)? {
            let Some(spike) = spikes.iter().find(|spike| spike.at_ns == flight.at_ns) else {
                continue;
            };
            let events = trace::flight::decode(&flight.bytes).map_err(|error| {
                Failure::CouldNotMeasure(format!("{}: a flight of {}: {error}", run.path().display(), spec.name))
            })?;
            let to = start + i64::try_from(flight.at_ns).unwrap_or(i64::MAX / 2);
            all.push(Spike {
                series: foreign::shown(&spec.name).into_owned(),
                cpu: spike.cpu.unwrap_or(0),
                from: to - spike.value_ns,
                to,
                explanation: spike.explanation.shown(),
                events,
            });
        }
    }
    Ok(all)
}

/// The exit status of an export to `path`.
fn ended<T>(written: Result<T, Unwritten>, path: &Path) -> Result<T, Failure> {
    let path = path.display();
    match written {
        Ok(done) => Ok(done),
        Err(Unwritten::Other(failure)) => Err(failure),
        Err(Unwritten::Output(error)) => match error.kind() {
            // A path that cannot exist is a mistake in the command line; a full disk is not.
            ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
                Err(Failure::Usage(format!("{path}: {error}")))
            }
            _ => Err(Failure::CouldNotMeasure(format!("{path}: cannot export: {error}"))),
        },
    }
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<Failure> for Unwritten {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self::Other(error.into())
    }
}

impl From<ExportError> for Unwritten {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => error.into(),
            ExportError::Write(error) => error.into(),
            none @ ExportError::NoRecording => Self::Other(Failure::CouldNotMeasure(none.to_string())),
        }
    }
}

impl From<cyclictest::RunError> for Unwritten {
    fn from(error: cyclictest::RunError) -> Self {
        match error {
            cyclictest::RunError::Store(error) => error.into(),
            other => Self::Other(Failure::Usage(other.to_string())),
        }
    }
}

impl From<ColumnarError> for Unwritten {
    fn from(error: ColumnarError) -> Self {
        match error {
            ColumnarError::Store(error) => error.into(),
            ColumnarError::Write(error) => error.into(),
            ColumnarError::Parquet(error) => Self::Other(Failure::CouldNotMeasure(format!("cannot export: {error}"))),
        }
    }
}
