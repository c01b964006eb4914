//! `triptime subscribe`: sampled-value reception.

use crate::arguments::{ReceiveArg, RunArgs, positive_duration};
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use probes::subscribe::{ClockRelation, SubscribeConfig, port_options, start};
use sys::packet::PacketPort;
use sys::thread::Policy;

/// How the publisher's clock relates to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ClockArg {
    /// The publisher runs on this machine
    SameHost,
    /// Not known: no one-way figures
    None,
}

/// Receives sampled values as a protection application does: loss, order, spacing and age per stream
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime subscribe eth1 --rate 4800 --cpu 3 --duration 60s")]
pub(crate) struct SubscribeArgs {
    /// Interface
    interface: String,
    /// Samples a second of every stream [default: learned from where smpCnt wraps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    rate: Option<u32>,
    /// How long to receive [default: until interrupted]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    /// How the publisher's clock relates to this machine's; without a relation there are no one-way figures
    #[arg(long, value_enum, default_value = "none")]
    clock: ClockArg,
    /// Streams told apart at the most
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=2_000))]
    max_streams: u16,
    /// How to wait for frames
    #[arg(long, value_enum, default_value = "block")]
    receive: ReceiveArg,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY
    #[arg(long, default_value = "fifo:60")]
    policy: Policy,
    /// CPU to run on
    #[arg(long)]
    cpu: Option<u32>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: SubscribeArgs) -> Result<u8, Failure> {
    let port = PacketPort::open(&args.interface, &port_options())?;
    let begin = Start::probe("subscribe", args.cpu.into_iter().collect(), args.duration);
    let mut run = Run::start(begin, args.run)?;
    let config = SubscribeConfig {
        rate: args.rate,
        max_streams: args.max_streams,
        clock: match args.clock {
            ClockArg::SameHost => ClockRelation::SameHost,
            ClockArg::None => ClockRelation::Unknown,
        },
        receive: args.receive.into(),
        duration_ns: args.duration,
        policy: args.policy,
        cpu: args.cpu,
        threshold_ns: run.threshold_ns("age/MU01"),
    };
    let stop = run.session.stop.clone();
    let outcome = start(&config, port, &mut run.session.recorder, &stop)
        .and_then(|subscription| run.attend(subscription.running));
    run.finish(outcome.map_err(Into::into))
}
