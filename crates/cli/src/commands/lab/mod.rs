//! `triptime lab`: makes places for measurements.

mod beds;
mod carry;
mod errand;
mod guest;
mod own;
mod run;

use crate::commands::emit::{self, EmitArgs};
use crate::failure::Failure;

/// Makes places for measurements: a guest for one command, or a bed that stays up
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Exit status: 0 done; 2 wrong usage; 3 a place could not be made; of `guest` and `run`, that of the command in the guest.

Examples: triptime lab guest wakeup --duration 60s
          triptime lab up bay --place container
          triptime lab down bay")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Command {
    Guest(Box<guest::GuestArgs>),
    /// The same as `triptime emit`
    Emit(Box<EmitArgs>),
    Up(Box<beds::UpArgs>),
    /// Shows the beds that `lab up` made, and which parts of each are missing
    List,
    Run(Box<run::RunArgs>),
    Down(beds::DownArgs),
    #[command(hide = true)]
    Hold(beds::HoldArgs),
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &LabArgs) -> Result<u8, Failure> {
    match &args.command {
        Command::Guest(args) => guest::run(args),
        Command::Emit(args) => emit::run(args),
        Command::Up(args) => beds::up(args),
        Command::List => beds::list(),
        Command::Run(args) => run::run(args),
        Command::Down(args) => beds::down(args),
        Command::Hold(args) => beds::hold(args),
    }
}
