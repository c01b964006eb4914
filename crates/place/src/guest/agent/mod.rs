//! The first process of a guest: mounts file systems, loads modules, and then serves the host, or runs the command from the kernel command line.
//! Afterwards the guest powers off.
//!
//! | kernel argument | says |
//! | --- | --- |
//! | `triptime.agent` | that this program is to be the first process, and to listen to the host |
//! | `triptime.stays` | to wait for the next host when one has gone, instead of powering off |
//! | `triptime.run="WORDS"` | to run `triptime WORDS`, without a host |
//! | `triptime.disk=NAME` | the disk that then takes the result, such as `sdb`; without it the first one that is blank or has an earlier result |
//! | `triptime.management=MAC,ADDRESS/BITS,CPUS` | which of its cards leads to a management network, the IPv4 address that its kernel answers for there, and the CPUs that the card is to interrupt |
//! | `triptime.partition=NAME` | to run what the file `words.txt` of this partition says, and to leave the result there |

mod alone;
mod arguments;
pub(crate) mod command;
mod console;
mod machine;
mod management;
mod port;
pub(crate) mod serve;

use arguments::Arguments;
use console::say;
use rustix::system::{RebootCommand, reboot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The kernel's path of the first process in an initial RAM file system.
const FIRST: &str = "/init";

/// True if this process is the first one of a guest and the kernel command line asks for the agent. Mounts `/proc` to read it.
pub fn is_wanted() -> bool {
    let is_first = std::process::id() == 1 && std::env::args_os().next().is_some_and(|name| name == FIRST);
    is_first && machine::mount_proc().is_ok() && Arguments::live().is_some()
}

/// Runs the agent, and then powers the guest off.
pub fn run() -> ! {
    let done = catch_unwind(AssertUnwindSafe(work));
    match done {
        Ok(Ok(())) => {}
        Ok(Err(why)) => say(&format!("the guest ends: {why}")),
        Err(_) => say("the guest ends: a bug in triptime, see above"),
    }
    rustix::fs::sync();
    if let Err(errno) = reboot(RebootCommand::PowerOff) {
        say(&format!("cannot power off: {errno}"));
    }
    // If the first process ended, the kernel would panic.
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn work() -> Result<(), String> {
    let arguments = Arguments::live().ok_or("the kernel command line does not ask for it")?;
    let mut complaints = machine::mount_others();
    complaints.extend(machine::load_modules());
    complaints.extend(machine::not_isolated());
    let (card, unreadable) = match arguments.management {
        Some(Ok(card)) => (Some(card), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    complaints.extend(unreadable);
    let interface = machine::interface_up(card.as_ref().map(|card| card.mac)).unwrap_or_else(|why| {
        complaints.push(why);
        None
    });
    let management = card.and_then(|card| card.up(&mut complaints));
    for complaint in &complaints {
        say(complaint);
    }
    match (arguments.partition, arguments.run) {
        (Some(partition), _) => alone::run_from(&partition),
        (None, Some(words)) => alone::run(&words, arguments.disk.as_deref()),
        (None, None) => serve::serve(
            &port::open()?,
            &machine::greeting(interface, management, complaints),
            arguments.stays,
        ),
    }
}
