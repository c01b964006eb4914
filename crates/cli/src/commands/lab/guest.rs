//! `triptime lab guest`: a virtual machine with this program as its first process, which runs one command.

use super::errand::{AnsweringHost, Errand};
use super::own::taken_from;
use crate::failure::{Failure, say};
use crate::guest::MachineArgs;
use crate::verdict;
use place::Place;
use place::guest::{Guest, Joined, VCPUS, show};
use std::sync::Arc;

/// Boots a virtual machine with this program as its first process, runs a command in it, and brings the run here
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The guest has no disk and no network: it is for wakeup, noise and plans that make a bed of
their own. KVM runs it if KVM can boot the kernel. Otherwise it is emulated: then its timing is no
evidence, and no limit passes.

Examples: triptime lab guest wakeup --duration 10s
          triptime lab guest --kernel vmlinuz --modules lib/modules/6.12 --host-cpus 2-3 -- qualify vm-wakeup --duration 1h
          triptime lab guest --domain triptime wakeup --duration 10s
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
    /// In the domain that is shown: a network card on this port, and the settings that give the guest the whole port
    #[arg(long, value_name = "IF", requires = "show")]
    nic: Option<String>,
    /// Use a guest that is already running: the name of a libvirt domain, or the socket of its channel; `emit guest` writes one
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["kernel", "modules", "append", "vcpus", "isolate", "memory", "host_cpus", "accel", "icount", "serial", "show"]
    )]
    domain: Option<String>,
    #[command(flatten)]
    errand: Errand,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &GuestArgs) -> Result<u8, Failure> {
    if args.show {
        verdict::write(&show(&args.machine.spec(VCPUS)?, args.nic.as_deref())?)?;
        return Ok(0);
    }
    let (words, errand) = taken_from(&args.words, &args.errand);
    let file = errand.file("guest")?;
    // Until the guest is up, a signal ends this process and the guest that it started.
    let guest = match &args.domain {
        Some(domain) => joined(domain)?,
        None => booted(args)?,
    };
    let host = answering(&guest, &words);
    errand.run(&file, &words, host, |job| guest.start(job))
}

/// This machine's answers about late samples in the guest; `None` if none are wanted, or after a message that there are none.
fn answering(guest: &Arc<dyn Place>, words: &[String]) -> Option<AnsweringHost> {
    if words.iter().any(|word| word == "--no-flight-recorder") {
        return None;
    }
    match session::host_explainer() {
        Ok(explain) => Some(AnsweringHost {
            guest: Arc::clone(guest),
            explain,
        }),
        Err(error) => {
            say(&format_args!("this machine cannot say what stalls the guest: {error}"));
            None
        }
    }
}

/// Starts a guest for this command.
fn booted(args: &GuestArgs) -> Result<Arc<dyn Place>, Failure> {
    let spec = args.machine.spec(VCPUS)?;
    say(&format_args!("a guest with {}", spec.kernel_in_words()));
    let guest = Guest::boot(&spec, None)?;
    say(&format_args!(
        "{}; up in {:.1} s",
        guest.describe(),
        guest.boot_time().as_secs_f64()
    ));
    if guest.is_emulated() {
        say(&format_args!("the guest is {}", guest.processor()));
    }
    complain(&guest.complaints());
    Ok(Arc::new(guest))
}

/// Connects to a guest that others started.
fn joined(domain: &str) -> Result<Arc<dyn Place>, Failure> {
    let guest = Joined::new(domain)?;
    say(&format_args!("{}", guest.describe()));
    complain(guest.complaints());
    Ok(Arc::new(guest))
}

fn complain(complaints: &[String]) {
    for complaint in complaints {
        say(&format_args!("the guest: {complaint}"));
    }
}
