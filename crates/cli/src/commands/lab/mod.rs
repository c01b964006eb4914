//! `triptime lab`: places that are made to measure in.

mod guest;

use crate::commands::emit::{self, EmitArgs};
use crate::failure::Failure;

/// Places that are made to measure in, and gone afterwards
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Command {
    Guest(Box<guest::GuestArgs>),
    /// The same as `triptime emit`
    Emit(Box<EmitArgs>),
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &LabArgs) -> Result<u8, Failure> {
    match &args.command {
        Command::Guest(args) => guest::run(args),
        Command::Emit(args) => emit::run(args),
    }
}
