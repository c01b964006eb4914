//! `triptime lab guest`: a virtual machine with this program as its first process, in which a command runs.

use crate::arguments::PageArgs;
use crate::ending;
use crate::face::FaceArgs;
use crate::failure::{Failure, say};
use crate::guest::MachineArgs;
use crate::run_file::default_file;
use crate::verdict;
use lab::place::guest::{Guest, VCPUS, show};
use lab::place::{Away, Job, Place, PlaceError, Returned};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(50);

/// Boots a virtual machine with this program as its first process, runs a command in it, and brings the run here
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The guest has no disk and no network: it is for wakeup, noise and plans that make a bed of
their own. KVM runs it where that boots the kernel. Else it is emulated, its timing is no
evidence, and no limit is passed by it.

Examples: triptime lab guest wakeup --duration 10s
          triptime lab guest --kernel vmlinuz --modules lib/modules/6.12 --host-cpus 2-3 -- qualify vm-wakeup --duration 1h
          triptime lab guest --show --nic eth1")]
pub(crate) struct GuestArgs {
    /// The command and its options, as on the command line of triptime
    #[arg(
        value_name = "WORDS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present = "show"
    )]
    words: Vec<String>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Print QEMU's command line, the same machine as a domain of libvirt, and the kernel's arguments; boot nothing
    #[arg(long)]
    show: bool,
    /// In the domain that is shown: a network card on this port, and what hands the guest all of the port
    #[arg(long, value_name = "IF", requires = "show")]
    nic: Option<String>,
    /// Run file to write [default: ./runs/TIME-guest.triptime]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    face: FaceArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &GuestArgs) -> Result<u8, Failure> {
    let spec = args.machine.spec(VCPUS)?;
    if args.show {
        verdict::write(&show(&spec, args.nic.as_deref())?)?;
        return Ok(0);
    }
    let file = args.out.clone().unwrap_or_else(|| default_file("guest"));
    if file.exists() {
        return Err(Failure::Usage(format!("{} exists already", file.display())));
    }
    // Until it is up, a signal ends this process, and the guest with it.
    let guest = Guest::boot(&spec, None)?;
    let stop = Arc::new(AtomicBool::new(false));
    ending::on_signals(&stop)?;
    say(&format_args!(
        "{}; up in {:.1} s",
        guest.describe(),
        guest.boot_time().as_secs_f64()
    ));
    if guest.is_emulated() {
        say(&format_args!("the guest is {}", guest.processor()));
    }
    for complaint in guest.complaints() {
        say(&format_args!("the guest: {complaint}"));
    }
    let job = Job {
        words: args.words.clone(),
        files: Vec::new(),
    };
    let left = attend(guest.start(&job)?, &stop)?;
    drop(guest);
    finish(left, &file)?;
    let report = verdict::read(&file, None)?;
    verdict::present(&report, &args.face, &args.pages)
}

/// Says what the command said in the guest, and puts its run file where it is to stay.
pub(super) fn finish(left: Returned, file: &Path) -> Result<(), Failure> {
    for line in left.said.lines() {
        say(&format_args!("in the guest: {}", line.trim_start_matches("triptime: ")));
    }
    keep(left, file)
}

/// Waits until the command has ended, or is told to. What it prints is printed again from its run file.
pub(super) fn attend(mut away: Box<dyn Away>, stop: &AtomicBool) -> Result<Returned, PlaceError> {
    let mut is_told = false;
    while !away.is_finished() {
        if stop.load(Ordering::Relaxed) && !is_told {
            away.stop();
            is_told = true;
        }
        std::thread::sleep(LOOK);
    }
    away.finish()
}

/// Puts the run file where it is to stay.
fn keep(left: Returned, file: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    match left.run.persist_noclobber(file) {
        Ok(()) => Ok(()),
        // Another file system: there it has to be copied.
        Err(error) => std::fs::copy(&error.path, file).map(|_| ()).map_err(failed),
    }
}
