//! `triptime`: will the trip arrive in time?
//!
//! One file per subcommand in `commands/`; what they share (output, run files, progress) in the files beside this one.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod ending;
mod failure;
mod needs;
mod page;
mod progress;
mod run_file;
mod streams;
mod time_sync;
mod verdict;

use clap::{CommandFactory, FromArgMatches, Parser};
use std::process::ExitCode;

/// Measures, explains and judges whether a Linux host, virtual machine or container is fit for protection relays.
#[derive(Debug, Parser)]
#[command(name = "triptime", version, about, long_about = None, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit status: 0 done, and no limit failed; 1 a limit failed; 2 wrong usage or configuration; 3 could not measure or decide.

Example: triptime qualify";

#[derive(Debug, clap::Subcommand)]
enum Command {
    Qualify(commands::qualify::QualifyArgs),
    Wakeup(commands::wakeup::WakeupArgs),
    Noise(commands::noise::NoiseArgs),
    Reflect(commands::reflect::ReflectArgs),
    Talk(commands::talk::TalkArgs),
    Listen(commands::listen::ListenArgs),
    Publish(Box<commands::publish::PublishArgs>),
    Subscribe(commands::subscribe::SubscribeArgs),
    Trace(commands::trace::TraceArgs),
    Pcap(commands::pcap::PcapArgs),
    Report(commands::report::ReportArgs),
    Compare(commands::compare::CompareArgs),
    Export(commands::export::ExportArgs),
    Import(commands::import::ImportArgs),
    Merge(commands::merge::MergeArgs),
}

/// Commands whose late samples are not asked about: for them the option that every measuring command has says nothing.
const WITHOUT_FLIGHT_RECORDER: [&str; 2] = ["listen", "publish"];

fn parse() -> Result<Cli, clap::Error> {
    let hide = |command: clap::Command| command.mut_arg("no_flight_recorder", |option| option.hide(true));
    let command = WITHOUT_FLIGHT_RECORDER
        .iter()
        .fold(Cli::command(), |cli, name| cli.mut_subcommand(name, hide));
    Cli::from_arg_matches(&command.try_get_matches()?)
}

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(message) => return failure::show_usage(&message),
    };
    needs::note(&cli.command);
    let status = match cli.command {
        Command::Qualify(args) => commands::qualify::run(args),
        Command::Wakeup(args) => commands::wakeup::run(args),
        Command::Noise(args) => commands::noise::run(args),
        Command::Reflect(args) => commands::reflect::run(args),
        Command::Talk(args) => commands::talk::run(&args),
        Command::Listen(args) => commands::listen::run(args),
        Command::Publish(args) => commands::publish::run(*args),
        Command::Subscribe(args) => commands::subscribe::run(args),
        Command::Trace(args) => commands::trace::run(args),
        Command::Pcap(args) => Ok(commands::pcap::run(
            &args,
            &mut std::io::stdout().lock(),
            &mut std::io::stderr().lock(),
        )),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
    };
    ExitCode::from(status.unwrap_or_else(|failure| failure.show()))
}
