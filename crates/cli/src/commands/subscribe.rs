//! `triptime subscribe`: sampled-value reception.

use crate::arguments::{PortArgs, ReceiveArg, RunArgs};
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use crate::streams::{SetArgs, expected};
use probes::subscribe::{ClockRelation, SubscribeConfig, port_options, start};
use store::model::EventKind;
use streamset::Selection;
use sys::packet::PacketPort;

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
#[command(
    after_help = "Examples:\n  triptime subscribe eth1 --rate 4800 --cpu 3 --duration 60s\n  \
                  triptime subscribe eth1 --scl station.scd --cpu 3 --duration 60s"
)]
pub(crate) struct SubscribeArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    set: SetArgs,
    /// Samples a second of every stream [default: learned from where smpCnt wraps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Receiving")]
    rate: Option<u32>,
    /// How the publisher's clock relates to this machine's; without a relation there are no one-way figures
    #[arg(long, value_enum, default_value = "none", help_heading = "Receiving")]
    clock: ClockArg,
    /// Streams told apart at the most
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=2_000), help_heading = "Receiving")]
    max_streams: u16,
    /// How to wait for frames
    #[arg(long, value_enum, default_value = "block", help_heading = "Receiving")]
    receive: ReceiveArg,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: SubscribeArgs) -> Result<u8, Failure> {
    let Selection { streams, notes } = args.set.read()?.unwrap_or_default();
    let port = PacketPort::open(&args.port.interface, &port_options())?;
    let begin = Start::probe("subscribe", args.port.measured(), args.port.duration).on(&args.port.interface);
    let mut run = Run::start(begin, args.run)?;
    for note in notes {
        run.session.recorder.events().write(EventKind::Note, note);
    }
    let config = SubscribeConfig {
        rate: args.rate,
        max_streams: args.max_streams,
        expected: streams.iter().map(expected).collect(),
        clock: match args.clock {
            ClockArg::SameHost => ClockRelation::SameHost,
            ClockArg::None => ClockRelation::Unknown,
        },
        receive: args.receive.into(),
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        threshold_ns: run.threshold_ns("age/MU01"),
    };
    let stop = run.session.stop.clone();
    let port = run.port(port, &args.port, &args.port.intent())?;
    let outcome = start(&config, port, &mut run.session.recorder, &stop)
        .and_then(|subscription| run.attend(subscription.running));
    run.finish(outcome.map_err(Into::into))
}
