//! `triptime subscribe`: sampled-value reception and GOOSE supervision.

use super::goose::SuperviseArgs;
use crate::arguments::{PortArgs, RunArgs};
use crate::failure::Failure;
use crate::lans::{DeviceOfKernel, ReceivingLanArgs, STAMPED_BY_KERNEL};
use crate::ready::ready;
use crate::routed::ReceivingRoutedArgs;
use crate::run_file::{Judged, Run};
use crate::streams::SetArgs;
use crate::time_sync::{TimeSyncArgs, relation};
use model::EventKind;
use probes::options::duration;
use probes::subscribe::{
    ClockRelation, SubscribeConfig, SuperviseConfig, lan_limit, lan_port_options, port_options, say_unread,
};
use probes::{Port, Probe, Receive, ReceiveStamps, SenderEnd};
use session::{RunSpec, SessionError};
use streamset::Selection;
use wire::routed::Route;

/// Receives sampled values as a protection application does: loss, order, spacing and age per stream; and
/// supervises GOOSE: timeAllowedtoLive, states, repetitions, simulation, per control block
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  triptime subscribe eth1 --rate 4800 --cpu 3 --duration 60s\n  \
                  triptime subscribe eth1 --scl station.scd --cpu 3 --duration 60s\n  \
                  triptime subscribe eth1 --lan-b eth2 --cpu 3 --duration 60s\n  \
                  triptime subscribe eth1 --routed 239.192.0.1 --key keys.toml --cpu 3 --duration 60s"
)]
pub(crate) struct SubscribeArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    set: SetArgs,
    /// Samples a second of every stream [default: learned from where smpCnt wraps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Receiving")]
    rate: Option<u32>,
    /// Relation of the publisher's clock to this machine's: none, same-host, ptp (the distance of this clock from its master is measured),
    /// or ptp:UNCERTAINTY (you state how well the two agree). Without a relation there are no one-way figures
    #[arg(long, value_name = "RELATION", default_value = "none", value_parser = relation, help_heading = "Receiving")]
    clock: ClockRelation,
    /// How far the publisher's clock may be from the grandmaster, with --clock ptp; IEC 61850-9-3 allows 1us
    #[arg(long, value_name = "DURATION", default_value = "1us", value_parser = duration, help_heading = "Receiving")]
    publisher_clock: u64,
    #[command(flatten)]
    time: TimeSyncArgs,
    /// Maximum number of streams to track
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=2_000), help_heading = "Receiving")]
    max_streams: u16,
    /// Source of the time stamps of received frames: the kernel, when the driver passes a frame up, or the NIC
    #[arg(long, value_enum, default_value = "software", help_heading = "Receiving")]
    stamps: ReceiveStamps,
    /// How to wait for frames
    #[arg(long, value_enum, default_value = "block", help_heading = "Receiving")]
    receive: Receive,
    /// Keep every sample with its stamps in the run file: about 2 bytes each
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    lans: ReceivingLanArgs,
    #[command(flatten)]
    routed: ReceivingRoutedArgs,
    #[command(flatten)]
    goose: SuperviseArgs,
    #[command(flatten)]
    run: RunArgs,
}

impl SubscribeArgs {
    /// Receives at the ports of a redundant device of this kernel instead of through it, where each LAN is seen; returns a note that says so.
    fn see_through(&mut self) -> Option<String> {
        let device = DeviceOfKernel::of(&self.port.interface).filter(|_| self.lans.lan_b.is_none())?;
        let Some([a, b]) = device.both() else {
            return Some(device.through());
        };
        (self.port.interface, self.lans.lan_b) = (a.to_owned(), Some(b.to_owned()));
        Some(format!("{}: each LAN is measured at its port", device.words()))
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(mut args: SubscribeArgs) -> Result<u8, Failure> {
    let given = args.port.interface.clone();
    let seen_through = args.see_through();
    let set = args.set.read(true)?.unwrap_or_default();
    let mut control_blocks = set.expected_blocks();
    let Selection {
        mut streams,
        notes,
        left_out,
    } = set.selection;
    // The file states the destination in layer 2.
    if let Some(mac) = args.routed.group().map(Route::mac) {
        streams.iter_mut().for_each(|stream| stream.destination = mac);
        control_blocks.iter_mut().for_each(|block| block.destination = mac);
    }
    let clock = match args.clock {
        ClockRelation::Ptp { stated_ns, .. } => ClockRelation::Ptp {
            stated_ns,
            publisher_ns: args.publisher_clock,
        },
        other => other,
    };
    let config = SubscribeConfig {
        rate: args.rate,
        max_streams: args.max_streams,
        expected: streams,
        clock,
        stamps: args.stamps,
        receive: args.receive,
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        goose: SuperviseConfig {
            expected: control_blocks,
            ..args.goose.config()
        },
        threshold_ns: None,
        record: args.record,
        sender: SenderEnd::default(),
        relay: None,
        labels: Vec::new(),
    };
    ready(&config, &[], Some(&args.port.interface), &args.run)?;
    if args.lans.lan_b.is_some() && args.stamps != ReceiveStamps::Software {
        let why = match seen_through {
            Some(_) => "at the ports of a redundant device frames are stamped by the kernel: leave out --stamps",
            None => STAMPED_BY_KERNEL,
        };
        return Err(Failure::Usage(format!("subscribe: {why}")));
    }
    // The kernel passes the frames of the ports to their device, and with them the questions of switches, so the device is the member.
    let hearing = match seen_through {
        Some(_) => args.routed.hearing(&given, None)?,
        None => args.routed.hearing(&given, args.lans.lan_b.as_deref())?,
    };
    let open = || match args
        .lans
        .open(&args.port.interface, &hearing.options(lan_port_options()))?
    {
        Some(port) => Ok(hearing.at(port)),
        None => {
            let options = args.stamps.asked_of(hearing.options(port_options()));
            Port::open(&args.port.interface, &options).map(|port| hearing.at(port))
        }
    };
    // Checks before there is a run.
    drop(open()?);
    let spec = RunSpec {
        flight_recorder: args.run.explains(),
        ..args
            .run
            .spec("subscribe", args.port.measured(), args.port.duration)
            .on(&args.port.interface)
            .with_lan_b(args.lans.lan_b.as_deref())
    };
    let judged = Judged {
        own_limits: (args.lans.lan_b.is_some() && args.run.limits.is_some()).then(|| lan_limit(None)),
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    // Opened only now: frames that waited during the preparation of the run would seem late.
    let port = match open() {
        Ok(port) => port,
        Err(error) => return run.finish(Err(error.into())),
    };
    for note in notes.into_iter().chain(seen_through) {
        run.session.recorder.events().write(EventKind::Note, note);
    }
    let stop = run.session.stop.clone();
    let port = run.port(port, &args.port, &args.port.intent())?;
    // The watch looks once before the first frame is received, and once after the last.
    let watch = args.time.watch(clock, &mut run.session.recorder);
    let outcome = watch.map_err(SessionError::from).and_then(|watch| {
        let started = config.start(port, &mut run.session.recorder, &stop);
        let outcome = run.attend(started.map(|subscription| subscription.running));
        drop(watch);
        outcome
    });
    say_unread(&left_out, clock, &run.session.recorder);
    run.finish(outcome)
}
