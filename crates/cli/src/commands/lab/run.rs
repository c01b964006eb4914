//! `triptime lab run`: a command in a guest of a bed that is up.

use super::errand::Errand;
use crate::failure::Failure;
use lab::labs::{LabName, Labs};

/// Runs a command in a guest of `lab up --place vm`, and brings the run here
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A guest takes one command at a time, several guests of a bed each one at the same time. A command
whose `lab run` is ended ends too. Files that WORDS name are taken into the guest.

Examples: triptime lab run vpc wakeup --duration 10s
          triptime lab run vpc --device 1 relay feeder.toml eth0 --duration 1m")]
pub(crate) struct RunArgs {
    /// Name of the bed
    #[arg(value_name = "NAME", value_parser = LabName::parse)]
    name: LabName,
    /// Which of its devices
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    device: usize,
    #[command(flatten)]
    errand: Errand,
    /// The command and its options, as on the command line of triptime
    #[arg(
        value_name = "WORDS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    words: Vec<String>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    // The lock is not held while it runs: other beds come and go.
    let guest = Labs::lock()?.find(&args.name)?.guest_at(args.device)?;
    let file = args.errand.file(&format!("{}-{}", args.name, args.device))?;
    args.errand.run(&file, &args.words, |job| guest.run(job))
}
