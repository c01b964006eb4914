//! `triptime publish`: sampled-value streams and GOOSE.

mod waveform;

use super::goose::GooseArgs;
use crate::arguments::{PortArgs, RunArgs};
use crate::commands::replay::{self, ReplayArgs};
use crate::failure::Failure;
use crate::lans::{DeviceOfKernel, LanArgs};
use crate::ready::ready;
use crate::routed::RoutedArgs;
use crate::run_file::Run;
use crate::streams::SetArgs;
use crate::time_sync::TimeSyncArgs;
use clap::Arg;
use model::EventKind;
use probes::options::duration;
use probes::publish::{LONGEST_FRAME, PublishConfig, PublishOptions, StreamConfig, port_options, start_all};
use probes::subscribe::ClockRelation;
use probes::{Numbers, Port, Stamps};
use session::SessionError;
use streamset::{Selection, StreamSet};
use sys::packet::PacketPort;
use sys::xdp::XdpSender;
use waveform::WaveformArgs;

/// Way of sending frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineArg {
    /// `AF_PACKET`: through the queueing discipline, visible to captures on this host
    Packet,
    /// `AF_XDP`: bypasses both, and needs a third less time for each frame
    Xdp,
}

/// Publishes sampled-value streams as merging units do, and GOOSE as relays do, and reports its own lateness
#[derive(Debug, Clone, clap::Args)]
#[command(
    mut_args(beside_a_set),
    after_help = "Examples:\n  triptime publish eth1 --streams 8 --profile F4800S2I4U4 --spin-ahead 60us --cpu 2 --duration 60s\n  \
                  triptime publish eth1 --set bays.toml --cpu 2\n  triptime publish eth1 --lan-b eth2 --streams 2 --cpu 2\n  triptime publish eth1 --routed 239.192.0.1 --sign keys.toml --streams 2 --cpu 2\n  triptime publish eth1 --scl station.scd --ied MU01 --cpu 2\n  \
                  triptime publish eth1 --scl station.scd --ied RELAY1 --goose-from-scl"
)]
pub(crate) struct PublishArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    options: PublishOptions,
    /// How frames are sent
    #[arg(long, value_enum, default_value = "packet", help_heading = "Sending")]
    engine: EngineArg,
    /// Stamp each sampled value when it leaves, by the kernel (when the driver takes it) or by the NIC, and measure from its due instant to
    /// this stamp
    #[arg(long, value_enum, default_value = "off", help_heading = "Sending")]
    stamps: Stamps,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration, help_heading = "Sending")]
    spin_ahead: u64,
    /// Keep of each sampled value when it was due and when it was handed to the kernel, for merge with the recordings of a host and a guest
    #[arg(long, help_heading = "Sending")]
    record: bool,
    #[command(flatten)]
    lans: LanArgs,
    #[command(flatten)]
    routed: RoutedArgs,
    #[command(flatten)]
    waveform: WaveformArgs,
    #[command(flatten)]
    goose: GooseArgs,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten)]
    time: TimeSyncArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Refuses options that a set of streams states itself.
fn beside_a_set(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "rate" => option.conflicts_with_all(["set", "scl"]),
        "streams" | "profile" | "asdus" | "sv_id" | "appid" | "dst" | "vlan" | "conf_rev" => {
            option.conflicts_with("source")
        }
        // An SCL file does not state these.
        "smp_synch" | "simulate" => option.conflicts_with("set"),
        _ => option,
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: PublishArgs) -> Result<u8, Failure> {
    let replayed = args.replay.replay.as_deref().filter(|_| !args.replay.on_grid);
    let replayed = replayed
        .map(|file| replay::config(file, &args.replay, args.options.rate, &args.port, args.spin_ahead))
        .transpose()?;
    let set = args.set.read(args.goose.goose_from_scl)?;
    let (streams, notes) = to_publish(&args, set.as_ref())?;
    let config = PublishConfig {
        streams,
        spin_ahead_ns: args.spin_ahead,
        stamps: args.stamps,
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        threshold_ns: None,
        record: args.record,
    };
    ready(&config, &[], Some(&args.port.interface), &args.run)?;
    if args.stamps != Stamps::Off && (replayed.is_some() || config.streams.is_empty()) {
        return Err(Failure::Usage(
            "publish: --stamps are of sampled values on their grid: not of GOOSE alone, nor of a replayed capture"
                .to_owned(),
        ));
    }
    if args.record && (replayed.is_some() || config.streams.is_empty()) {
        return Err(Failure::Usage(
            "publish: --record is of sampled values on their grid: not of GOOSE alone, nor of a replayed capture"
                .to_owned(),
        ));
    }
    if args.routed.is_given() && replayed.is_some() {
        return Err(Failure::Usage(
            "publish: a capture is replayed as it is: leave out --routed, or send its streams on their grid (--on-grid)"
                .to_owned(),
        ));
    }
    let wrapper = args.routed.wrapper(&args.port.interface)?;
    let numbers = Numbers::default();
    let port = open(&args, config.streams.len(), &numbers)?.with_wrapper(wrapper.clone());
    let (blocks, of_blocks) = args.goose.blocks(&set.unwrap_or_default(), args.options.simulate)?;
    // The capture contains the sampled values, or GOOSE if there is nothing else.
    let is_beside = blocks.is_some() && !config.streams.is_empty();
    let beside = is_beside.then(
        || match args.lans.open(&args.port.interface, &port_options(), &numbers) {
            Ok(Some(port)) => Ok(port),
            Ok(None) => Ok(PacketPort::open(&args.port.interface, &port_options())?.into()),
            Err(failure) => Err(failure),
        },
    );
    let beside = beside.transpose()?.map(|port: Port| port.with_wrapper(wrapper));
    let cpus = args.port.cpu.into_iter().chain(args.goose.goose_cpu).collect();
    let spec = args
        .run
        .spec("publish", cpus, args.port.duration)
        .on(&args.port.interface)
        .with_lan_b(args.lans.lan_b.as_deref());
    let through = DeviceOfKernel::of(&args.port.interface).map(|device| device.through());
    let mut run = Run::start(spec, args.run)?;
    if let Some(note) = through {
        run.session.recorder.events().write(EventKind::Note, note);
    }
    let port = run.port(port, &args.port, &args.port.intent())?;
    if let Some(config) = replayed {
        return replay::attend(&config, port, run);
    }
    for note in notes.into_iter().chain(of_blocks) {
        run.session.recorder.events().write(EventKind::Note, note);
    }
    let stop = run.session.stop.clone();
    let goose = blocks.map(|blocks| args.goose.config(blocks, &args.port, args.spin_ahead));
    let (sv, goose) = match (&goose, beside) {
        (Some(goose), None) => (None, Some((goose, port))),
        (Some(goose), Some(beside)) => (Some((&config, port)), Some((goose, beside))),
        (None, _) => (Some((&config, port)), None),
    };
    let watch = args.time.watch(ClockRelation::SameHost, &mut run.session.recorder);
    let outcome = watch.map_err(SessionError::from).and_then(|watch| {
        let started = start_all(sv, goose, &mut run.session.recorder, &stop);
        let outcome = run.attend(started);
        drop(watch);
        outcome
    });
    run.finish(outcome)
}

/// Room for frames of a replay that are due together.
const LEAST_AT_ONCE: usize = 64;

/// Opens the port of the requested engine, for this number of streams.
fn open(args: &PublishArgs, streams: usize, numbers: &Numbers) -> Result<Port, Failure> {
    let interface = &args.port.interface;
    if args.lans.lan_b.is_some() && (args.engine != EngineArg::Packet || args.stamps != Stamps::Off) {
        return Err(Failure::Usage(
            "publish: two LANs are sent to by AF_PACKET, without stamps: leave out --engine and --stamps, or --lan-b"
                .to_owned(),
        ));
    }
    if let Some(port) = args.lans.open(interface, &port_options(), numbers)? {
        return Ok(port);
    }
    Ok(match args.engine {
        EngineArg::Packet => Port::open(interface, &args.stamps.asked_of(port_options()))?,
        EngineArg::Xdp if args.stamps != Stamps::Off => {
            return Err(Failure::Usage(
                "publish: AF_XDP has no time stamps here: leave --stamps out, or use --engine packet".to_owned(),
            ));
        }
        EngineArg::Xdp => {
            let port = PacketPort::open(interface, &port_options())?;
            let sender = XdpSender::open(interface, 0, LONGEST_FRAME, streams.max(LEAST_AT_ONCE))?;
            (port, sender).into()
        }
    })
}

/// The streams to publish, with notes about them.
fn to_publish(args: &PublishArgs, set: Option<&StreamSet>) -> Result<(Vec<StreamConfig>, Vec<String>), Failure> {
    if let Some(capture) = args.replay.replay.as_deref().filter(|_| args.replay.on_grid) {
        return Ok((replay::streams(capture, args.options.rate)?, Vec::new()));
    }
    let Selection {
        streams,
        mut notes,
        left_out,
    } = streams(args, set);
    let left_out = left_out.into_iter().filter(|left| left.is_sampled_values);
    notes.extend(left_out.map(|left| format!("{}: left out", left.why)));
    let streams = args.waveform.read(args.run.quiet)?.given_to(streams)?;
    Ok((streams, notes))
}

/// The streams of the named set, or `count` streams that differ only in their numbers.
fn streams(args: &PublishArgs, set: Option<&StreamSet>) -> Selection {
    let Some(set) = set else {
        return Selection {
            streams: args.options.specs(u16::from(args.goose.goose.is_none())),
            ..Selection::default()
        };
    };
    let mut selection = set.selection.clone();
    // A stream-set file states both, so the options are refused with it.
    if args.set.scl.is_some() {
        for stream in &mut selection.streams {
            (stream.smp_synch, stream.simulate) = (args.options.smp_synch, args.options.simulate);
        }
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::PublishArgs;
    use clap::error::ErrorKind;
    use clap::{Args, Command};
    use probes::publish::PublishOptions;

    /// Options of the streams; the flag is true if an SCL file leaves the value open.
    const OPTIONS: [(&str, bool); 11] = [
        ("--streams=2", false),
        ("--profile=F4800S2I4U4", false),
        ("--rate=4000", false),
        ("--asdus=2", false),
        ("--sv-id=BAY", false),
        ("--appid=0x4001", false),
        ("--dst=01:0c:cd:04:00:05", false),
        ("--vlan=5", false),
        ("--conf-rev=3", false),
        ("--smp-synch=1", true),
        ("--simulate", true),
    ];

    fn refused(set: &str, option: &str) -> bool {
        let command = PublishArgs::augment_args(Command::new("publish"));
        let parsed = command.try_get_matches_from(["publish", "eth1", set, option]);
        parsed.is_err_and(|error| error.kind() == ErrorKind::ArgumentConflict)
    }

    #[test]
    fn a_set_of_streams_says_itself_what_they_are() {
        let all = PublishOptions::augment_args(Command::new("options"));
        assert_eq!(all.get_arguments().count(), OPTIONS.len(), "each is here");
        for (option, is_open) in OPTIONS {
            assert!(refused("--set=bays.toml", option), "{option}");
            assert_eq!(refused("--scl=bay.scd", option), !is_open, "{option}");
        }
    }
}
