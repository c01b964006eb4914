//! `triptime lab run`: a command in a guest of a bed that is up.

use super::guest::{attend, finish};
use crate::arguments::PageArgs;
use crate::ending;
use crate::face::FaceArgs;
use crate::failure::Failure;
use crate::run_file::default_file;
use crate::verdict;
use lab::labs::{LabName, Labs};
use lab::place::Job;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs a command in a guest of `lab up --place vm`, and brings the run here
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A guest takes one command at a time. One whose `lab run` is ended ends too.

Examples: triptime lab run vpc wakeup --duration 10s
          triptime lab run vpc --device 1 subscribe eth0 --streams 1 --duration 10s")]
pub(crate) struct RunArgs {
    /// Name of the bed
    #[arg(value_name = "NAME", value_parser = LabName::parse)]
    name: LabName,
    /// Which of its devices
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    device: usize,
    /// Run file to write [default: ./runs/TIME-guest.triptime]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    face: FaceArgs,
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
    let file = args.out.clone().unwrap_or_else(|| default_file("guest"));
    if file.exists() {
        return Err(Failure::Usage(format!("{} exists already", file.display())));
    }
    let stop = Arc::new(AtomicBool::new(false));
    ending::on_signals(&stop)?;
    let job = Job {
        words: args.words.clone(),
        files: Vec::new(),
    };
    finish(attend(guest.run(&job)?, &stop)?, &file)?;
    let report = verdict::read(&file, None)?;
    verdict::present(&report, &args.face, &args.pages)
}
