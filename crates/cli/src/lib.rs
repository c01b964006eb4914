//! `triptime` answers one question: will the trip arrive in time?
//!
//! This page follows one sample, from the thread that measures it to the page that a person reads. Each step
//! links to the type that handles it.
//!
//! # The path of a sample
//!
//! ```text
//!  measuring thread        recorder's thread           disk             report
//! +----------------+      +------------------+      +----------+      +--------------------+
//! | probe: 1 clock | ring | window, counters |batch | run file | read | view -> limits     |
//! | reading, 1 push| ---> | worst samples    | ---> | (SQLite) | ---> | -> verdict -> page |
//! +----------------+      +------------------+      +----------+      +--------------------+
//! ```
//!
//! 1. **A probe measures.** Its thread waits for a due instant or a frame, reads the clock, and pushes one fixed-size
//!    [record] into its [feed]. The feed is a ring for one writer and one reader, allocated before the first sample. A full
//!    ring loses the record, never the thread's time, and the loss is counted.
//! 2. **The recorder receives it.** One ordinary thread, the [recorder], empties all rings 10 to 20 times a second. A probe
//!    has [described][describe] its series, so the record's slot becomes a series with a name, a clock and a threshold.
//! 3. **The window counts it.** Each series has one open window: a [histogram], counters, smallest and largest sample. The
//!    worst samples are kept one by one. The [flight recorder][flight] shows the kernel's events around them, while these
//!    are still in its buffers.
//! 4. **The window closes.** At the end of its span (`--window`) it becomes a row of a [batch]. The [writer] puts the batch
//!    into the run file in one transaction. Written data survives `kill -9`; only the open window is lost.
//! 5. **A report reads it.** The [run file][file] returns the windows, also those of a killed run. The
//!    [view] holds the whole run as plain data. From here on nothing touches a file.
//! 6. **Limits judge it.** A [profile] states how large a figure of a series may be. The [judgement] compares, and
//!    turns a pass into `inconclusive` where something could hide a worse value: loss, overrun, a clock step.
//! 7. **A person reads it.** The [report] lays judgement, [budget] and [statistics][insight] side by side. Terminal, HTML,
//!    JSON and exports are made from it alone.
//!
//! A [session] ties steps 1 to 4 together. It creates the file, starts the recorder, and watches the machine during the run.
//! Captures, imports and merges come in at step 4: they make windows from files.
//!
//! # Where the code is
//!
//! This crate has one file per subcommand in `commands/`. The files next to it hold code that the subcommands share:
//! output, run files, progress. CONTRIBUTING.md lists the crates.
//!
//! [record]: run::FeedItem
//! [feed]: run::Feed
//! [recorder]: run::Recorder
//! [describe]: run::Describe
//! [histogram]: model::Tally
//! [flight]: trace::FlightRecorder
//! [batch]: store::Batch
//! [writer]: store::RunWriter
//! [file]: store::RunFile
//! [view]: model::RunView
//! [profile]: report::limits::Profile
//! [judgement]: report::verdict::Judgement
//! [report]: report::Report
//! [budget]: report::budget::Budget
//! [insight]: report::insight::Insight
//! [session]: session

#![forbid(unsafe_code)]

mod about;
mod again;
mod arguments;
mod commands;
mod completion;
mod ending;
mod face;
mod failure;
mod far;
mod figure;
mod guest;
mod help;
mod judge;
mod junit;
mod lans;
mod live;
mod matrix;
mod named;
mod over_host;
mod page;
mod progress;
mod ready;
mod routed;
mod run_file;
mod samples;
mod sbom;
mod streams;
mod table;
mod terminal;
mod time_sync;
mod timeline;
mod verdict;
mod version;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use commands::cpus::CpuArgs;
use failure::Failure;
use place::guest::agent;
use probes::wakeup::{WakeupConfig, WakeupOptions};
use std::process::ExitCode;

/// Measures, explains and judges whether a Linux host, virtual machine or container is fit for protection relays.
#[derive(Debug, Parser)]
#[command(
    name = "triptime",
    version,
    long_version = version::long(),
    about = "Will the trip arrive in time? Measures whether a Linux host is fit for hard-real-time substation work, shows where the time \
             goes, and gives a verdict",
    long_about = None,
    arg_required_else_help = true,
    after_help = AFTER_HELP
)]
struct Cli {
    /// In a guest: ask the host about late samples, over standard output and input
    #[arg(long, hide = true)]
    over_host: bool,
    /// Print the parts of this binary with versions, licences and checksums, and exit: as CycloneDX, or as SPDX
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "cyclonedx")]
    sbom: Option<sbom::Form>,
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Exit status: 0 done, and no limit failed; 1 a limit failed; 2 wrong usage or configuration; 3 could not measure or decide.

`triptime help output` lists the options that the measuring commands share.

Example: triptime qualify";

const NO_COMMAND: &str = "triptime needs a command, such as `triptime qualify`; `triptime --help` lists them";

const SBOM_ALONE: &str = "--sbom prints a list and exits: give it without a command";

#[derive(Debug, clap::Subcommand)]
enum Command {
    Qualify(Box<commands::qualify::QualifyArgs>),
    Status(commands::status::StatusArgs),
    Stop(commands::stop::StopArgs),
    /// Timer wake-up latency: timer due -> thread running, one thread per CPU
    #[command(after_help = "\
Examples: triptime wakeup --cpus 1-3 --interval 250us --duration 60s --limits substation
          triptime wakeup --cpus 2 --interval 4800/s --load hackbench@0 --duration 7d
          triptime wakeup --break-above 100us --html why.html")]
    Wakeup(CpuArgs<WakeupOptions>),
    Cyclictest(Box<commands::cyclictest::CyclictestArgs>),
    LatencyTest(Box<commands::latency_test::LatencyTestArgs>),
    Noise(commands::noise::NoiseArgs),
    Reflect(commands::reflect::ReflectArgs),
    Talk(commands::talk::TalkArgs),
    Listen(commands::listen::ListenArgs),
    Publish(Box<commands::publish::PublishArgs>),
    Subscribe(commands::subscribe::SubscribeArgs),
    Trace(commands::trace::TraceArgs),
    Relay(commands::relay::RelayArgs),
    Trip(Box<commands::trip::TripArgs>),
    Sentinel(commands::sentinel::SentinelArgs),
    Capacity(Box<commands::capacity::CapacityArgs>),
    Calibrate(commands::calibrate::CalibrateArgs),
    Site(commands::site::SiteArgs),
    Audit(Box<commands::audit::AuditArgs>),
    Tune(Box<commands::tune::TuneArgs>),
    Emit(Box<commands::emit::EmitArgs>),
    Pcap(commands::pcap::PcapArgs),
    Report(commands::report::ReportArgs),
    Serve(commands::serve::ServeArgs),
    Compare(commands::compare::CompareArgs),
    Certify(commands::certify::CertifyArgs),
    Verify(commands::verify::VerifyArgs),
    Export(commands::export::ExportArgs),
    Import(commands::import::ImportArgs),
    Merge(commands::merge::MergeArgs),
    Lab(commands::lab::LabArgs),
    Far(commands::far::FarEndArgs),
    Manual(commands::manual::ManualArgs),
    #[command(hide = true)]
    Device(commands::device::DeviceArgs),
    #[command(hide = true)]
    Output(help::TopicArgs),
}

/// The command line for parsing, help and completions.
fn command_line() -> clap::Command {
    let hide = |command: clap::Command| command.mut_arg("no_flight_recorder", |option| option.hide(true));
    let command = ready::UNEXPLAINED
        .iter()
        .fold(Cli::command(), |cli, name| cli.mut_subcommand(name, hide));
    command.mut_subcommand("trip", |trip| {
        trip.mut_arg("duration", |option| {
            option
                .help("Begin no shot after this long; with --observe, end after it [default: all shots; until stopped]")
        })
    })
}

fn parse() -> Result<(Cli, ArgMatches), clap::Error> {
    let matches = help::examples_first(help::folded(command_line())).try_get_matches()?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// Entry point: reads the arguments and runs the command; returns the exit status that `triptime help` describes.
#[must_use]
pub fn main() -> ExitCode {
    if agent::is_wanted() {
        agent::run();
    }
    completion::answer(command_line);
    // Before any thread starts. A run locks the memory of the heaps, and keeps it locked to its end.
    sys::memory::share_heap();
    ending::outlive_the_file_size_limit();
    let (cli, matches) = match parse() {
        Ok(parsed) => parsed,
        Err(message) => return failure::show_usage(&message),
    };
    if cli.over_host {
        over_host::allow();
    }
    let status = match (cli.command, cli.sbom) {
        (Some(command), None) => junit::around(&matches, || run(command)),
        (None, Some(form)) => sbom::print(form),
        (Some(_), Some(_)) => {
            return failure::show_usage(&command_line().error(ErrorKind::ArgumentConflict, SBOM_ALONE));
        }
        (None, None) => return failure::show_usage(&command_line().error(ErrorKind::MissingSubcommand, NO_COMMAND)),
    };
    ExitCode::from(status.unwrap_or_else(|failure| failure.show()))
}

/// Runs the command; returns its exit status.
fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Qualify(args) => commands::qualify::run(*args),
        Command::Status(args) => commands::status::run(&args),
        Command::Stop(args) => commands::stop::run(&args),
        Command::Wakeup(args) => commands::cpus::run::<WakeupConfig>(&args),
        Command::Cyclictest(args) => commands::cyclictest::run(&args),
        Command::LatencyTest(args) => commands::latency_test::run(&args),
        Command::Noise(args) => commands::noise::run(args),
        Command::Reflect(args) => commands::reflect::run(args),
        Command::Talk(args) => commands::talk::run(&args),
        Command::Listen(args) => commands::listen::run(args),
        Command::Publish(args) => commands::publish::run(*args),
        Command::Subscribe(args) => commands::subscribe::run(args),
        Command::Trace(args) => commands::trace::run(args),
        Command::Relay(args) => commands::relay::run(args),
        Command::Trip(args) => commands::trip::run(*args),
        Command::Sentinel(args) => commands::sentinel::run(&args),
        Command::Capacity(args) => commands::capacity::run(&args),
        Command::Calibrate(args) => commands::calibrate::run(&args),
        Command::Site(args) => commands::site::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Emit(args) => commands::emit::run(&args),
        Command::Pcap(args) => Ok(commands::pcap::run(
            &args,
            &mut std::io::stdout().lock(),
            &mut std::io::stderr().lock(),
        )),
        Command::Report(args) => commands::report::run(&args),
        Command::Serve(args) => commands::serve::run(args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Certify(args) => commands::certify::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Lab(args) => commands::lab::run(&args),
        Command::Far(args) => commands::far::run(&args),
        Command::Manual(args) => commands::manual::run(&args, command_line()),
        Command::Device(args) => commands::device::run(args),
        Command::Output(_) => help::show_topic(command_line()),
    }
}
