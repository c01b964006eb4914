//! `triptime reflect`: layer-2 round trip.

use crate::arguments::{PortArgs, ReceiveArg, RunArgs, duration, mac, positive_duration};
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use probes::Rest;
use probes::reflect::{ReflectConfig, Role, SHORTEST_FRAME, port_options, start};
use sys::packet::PacketPort;
use wire::ether::Mac;

/// Which end of the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RoleArg {
    /// Sends, and measures
    Initiator,
    /// Returns every frame at once
    Reflector,
}

/// Layer-2 round trip: an initiator sends, a reflector at the far end returns at once
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example, at the far end:  triptime reflect eth1 --role reflector --cpu 2
and here:                 triptime reflect eth1 --role initiator --cpu 2 --duration 60s --limits substation")]
pub(crate) struct ReflectArgs {
    #[command(flatten)]
    port: PortArgs,
    /// Which end this is
    #[arg(long, value_enum)]
    role: RoleArg,
    /// MAC address of the reflector [default: found by broadcast]
    #[arg(long, value_name = "MAC", value_parser = mac)]
    peer: Option<Mac>,
    /// Time between frames; 0 sends the next as soon as the answer is there
    #[arg(long, value_name = "DURATION", default_value = "250us", value_parser = duration)]
    interval: u64,
    /// Octets of a frame, without frame check sequence
    #[arg(long, value_name = "OCTETS", default_value_t = SHORTEST_FRAME)]
    size: usize,
    /// Count answers as late that took longer [default: one interval, or 1ms back to back]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    late_after: Option<u64>,
    /// How to wait for frames
    #[arg(long, value_enum, default_value = "spin")]
    receive: ReceiveArg,
    /// Do not rest, even if the kernel's real-time throttling will strike
    #[arg(long)]
    no_rest: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: ReflectArgs) -> Result<u8, Failure> {
    let port = PacketPort::open(&args.port.interface, &port_options(args.size))?;
    let begin = Start::probe("reflect", args.port.measured(), args.port.duration).on(&args.port.interface);
    let mut run = Run::start(begin, args.run)?;
    let one_interval = if args.interval == 0 { 1_000_000 } else { args.interval };
    let config = ReflectConfig {
        role: match args.role {
            RoleArg::Initiator => Role::Initiator,
            RoleArg::Reflector => Role::Reflector,
        },
        peer: args.peer,
        interval_ns: args.interval,
        frame_bytes: args.size,
        duration_ns: args.port.duration,
        late_after_ns: args.late_after.unwrap_or(one_interval),
        receive: args.receive.into(),
        policy: args.port.policy,
        cpu: args.port.cpu,
        rest: if args.no_rest { Rest::NONE } else { lab::plan::rest() },
        threshold_ns: run.threshold_ns("rtt/reflect"),
    };
    let stop = run.session.stop.clone();
    let outcome = start(&config, port, &mut run.session.recorder, &stop).and_then(|running| run.attend(running));
    run.finish(outcome.map_err(Into::into))
}
