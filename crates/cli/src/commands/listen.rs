//! `triptime listen`: receives paced layer-2 streams as an AVB endpoint does.

use crate::arguments::{PortArgs, RunArgs};
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::Run;
use probes::listen::{ListenConfig, port_options};
use probes::options::positive_duration;
use probes::{Framing, Port, Probe, Receive, ReceiveStamps};
use units::Period;

/// Receives paced streams as an AVB endpoint does: time between frames, late and lost ones, per stream
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example, here:            triptime listen eth1 --cpu 3 --duration 60s
and at the far end:       triptime talk eth1 --cpu 2 --spin-ahead 30us --duration 50s")]
pub(crate) struct ListenArgs {
    #[command(flatten)]
    port: PortArgs,
    /// Time between the frames of every stream: a duration (125us) or a rate (8000/s)
    #[arg(long, short, value_name = "PERIOD", default_value = "125us")]
    interval: Period,
    /// Count frames as late when they come more than this after the previous one [default: one and a half intervals]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    late_after: Option<u64>,
    /// Only streams of this framing [default: all]
    #[arg(long, value_enum)]
    framing: Option<Framing>,
    /// Maximum number of streams to track
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    max_streams: u16,
    /// Source of the time stamps of received frames: the kernel, when the driver passes a frame up, or the NIC
    #[arg(long, value_enum, default_value = "software")]
    stamps: ReceiveStamps,
    /// How to wait for frames
    #[arg(long, value_enum, default_value = "block")]
    receive: Receive,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: ListenArgs) -> Result<u8, Failure> {
    let every = ListenConfig::every(args.interval);
    let config = ListenConfig {
        late_after_ns: args.late_after.unwrap_or(every.late_after_ns),
        framing: args.framing,
        max_streams: args.max_streams,
        stamps: args.stamps,
        receive: args.receive,
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        ..every
    };
    ready(&config, &[], Some(&args.port.interface), &args.run)?;
    let options = config.stamps.asked_of(port_options(config.framing));
    let port = Port::open(&args.port.interface, &options)?;
    let spec = args
        .run
        .spec("listen", args.port.measured(), args.port.duration)
        .on(&args.port.interface);
    let mut run = Run::start(spec, args.run)?;
    let stop = run.session.stop.clone();
    let port = run.port(port, &args.port, &args.port.intent())?;
    let started = config.start(port, &mut run.session.recorder, &stop);
    let outcome = run.attend(started.map(|listening| listening.running));
    run.finish(outcome)
}
