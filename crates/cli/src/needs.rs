//! Which capabilities a command needs. Each `setcap` replaces the last, so the advice on a missing capability names all
//! of them.

use crate::Command;
use crate::arguments::{PortArgs, RunArgs};
use sys::privilege::{Capability, will_need};
use sys::thread::Policy;

/// Notes what the command needs.
pub(crate) fn note(command: &Command) {
    match command {
        Command::Qualify(args) => qualify(args.run()),
        Command::Wakeup(args) => measuring(args.policy(), Some(args.run())),
        Command::Noise(args) => measuring(args.policy(), Some(args.run())),
        Command::Reflect(args) => {
            on_port(args.port(), None);
            if args.runs_programs() {
                will_need(&[Capability::NetAdmin, Capability::Bpf]);
            }
        }
        Command::Talk(args) => on_port(args.port(), Some(args.run())),
        Command::Listen(args) => on_port(args.port(), None),
        Command::Publish(args) => on_port(args.port(), None),
        Command::Subscribe(args) => on_port(args.port(), None),
        Command::Trace(_) => will_need(&[Capability::Bpf, Capability::Perfmon, Capability::IpcLock]),
        Command::Pcap(_)
        | Command::Report(_)
        | Command::Compare(_)
        | Command::Export(_)
        | Command::Import(_)
        | Command::Merge(_) => {}
    }
}

/// A plan may build a test bed, and run every probe in it.
fn qualify(run: &RunArgs) {
    measuring(Policy::Fifo(1), Some(run));
    will_need(&[Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw]);
}

fn on_port(port: &PortArgs, run: Option<&RunArgs>) {
    measuring(port.policy, run);
    will_need(&[Capability::NetRaw]);
}

/// What a measuring thread needs; `run` of a command whose late samples are asked about.
fn measuring(policy: Policy, run: Option<&RunArgs>) {
    will_need(&[Capability::IpcLock]);
    if policy != Policy::Other {
        will_need(&[Capability::SysNice]);
    }
    if run.is_some_and(|run| !run.no_flight_recorder) {
        will_need(&[Capability::Bpf, Capability::Perfmon]);
    }
}
