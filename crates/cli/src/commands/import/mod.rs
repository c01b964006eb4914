//! `triptime import`: turns another tool's measurements into a run.

mod sample_logs;

use crate::failure::Failure;
use crate::judge::JudgeArgs;
use crate::run_file::thresholds;
use interop::cyclictest::{self, Bucket};
use interop::import::{DOCUMENT, Import, Source};
use model::fact::LABEL;
use model::{Fact, RunState};
use probes::options::positive_duration;
use run::NewRun;
use std::path::{Path, PathBuf};
use store::StoreError;

/// Unit of the buckets in a histogram text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BucketArg {
    /// Microseconds, cyclictest's default
    #[value(name = "1us")]
    Microsecond,
    /// Nanoseconds, cyclictest's -N
    #[value(name = "1ns")]
    Nanosecond,
}

/// Relation between the clocks of two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ClockArg {
    /// Both files were stamped by one clock
    SameHost,
    /// Two clocks kept together, as by PTP; state how well with --uncertainty
    Synchronised,
}

/// Turns files of cyclictest, sv_timestamp_logger or svtrace, or an application's log of its own maxima, into a run
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Events of the run report rebuilt parts (skipped periods) and unknown ones.

Example: triptime import cyclictest.json --limits substation
         triptime import histogram.txt --interval 200us --out runs/before.triptime
         triptime import maxima.csv --limits substation
         triptime import ts_subscriber.txt --publisher ts_publisher.txt --clock synchronised --uncertainty 1us")]
pub(crate) struct ImportArgs {
    /// Files of one machine, each a window of the run, one after the other
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Time between due instants, or time that a report of maxima covers, if the file does not state it
    #[arg(long, short, value_name = "DURATION", value_parser = positive_duration)]
    interval: Option<u64>,
    /// Width of a bucket, which histogram text does not state [default: 1us]
    #[arg(long, value_enum)]
    bucket: Option<BucketArg>,
    /// The publisher's file of sv_timestamp_logger. FILE is then the subscriber's, and each sample's latency is
    /// the difference of both
    #[arg(long, value_name = "FILE")]
    publisher: Option<PathBuf>,
    /// Relation between the clocks of both files. Without it, the report shows their difference and judges nothing by it
    #[arg(long, value_enum, requires = "publisher")]
    clock: Option<ClockArg>,
    /// How far apart two synchronised clocks may be
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, requires = "clock")]
    uncertainty: Option<u64>,
    /// Longest time between the two stamps of a sample; less than half a turn of smpCnt
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "100ms")]
    within: u64,
    /// Samples a second of every stream of sv_timestamp_logger's file [default: learned from where smpCnt wraps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    rate: Option<u32>,
    /// Name of the machine or set-up that was measured, under which tables and comparisons show the run
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Run file to write [default: ./runs/TIME-import.triptime]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    judge: JudgeArgs,
}

impl ImportArgs {
    /// The stated name of what was measured, as a fact of the run.
    fn stated(&self) -> Option<Fact> {
        self.label
            .as_ref()
            .map(|label| LABEL.fact(Ok(label.clone()), "--label"))
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &ImportArgs) -> Result<u8, Failure> {
    let profile = args.judge.profile(args.out.as_deref())?;
    if let Some(status) = sample_logs::run(args, profile.clone())? {
        return Ok(status);
    }
    let sources = args.files.iter().map(|file| source(file, args.bucket));
    let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
    let import = Import::of(&sources, args.interval, &thresholds(profile.as_ref()))
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut run = NewRun {
        window_ns: import.window_ns,
        ..args.judge.new_run("import", args.out.clone())?
    };
    write(&mut run, &import, args.stated().as_slice())?;
    args.judge.show(&run.file, profile)
}

fn source(file: &Path, bucket: Option<BucketArg>) -> Result<Source, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
    let octets = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let bucket = bucket.map(|bucket| match bucket {
        BucketArg::Microsecond => Bucket::Microsecond,
        BucketArg::Nanosecond => Bucket::Nanosecond,
    });
    Ok(Source {
        file: file.display().to_string(),
        measurement: cyclictest::read(&octets, bucket).map_err(|error| wrong(error.to_string()))?,
    })
}

/// Writes the run.
fn write(run: &mut NewRun, import: &Import, stated: &[Fact]) -> Result<(), StoreError> {
    let started = import.started.unwrap_or_else(sys::clock::realtime);
    run.make(started, |writer| {
        writer.add_facts(&import.facts)?;
        writer.add_facts(stated)?;
        writer.put_document(DOCUMENT, &import.document)?;
        for spec in &import.series {
            writer.add_series(spec)?;
        }
        writer.write(&import.batch)?;
        let state = if import.stopped_early {
            RunState::Interrupted
        } else {
            RunState::Complete
        };
        Ok((state, import.duration_ns))
    })
}
