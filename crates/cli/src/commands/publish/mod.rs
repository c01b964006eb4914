//! `triptime publish`: sampled-value streams and GOOSE.

mod waveform;

use super::goose::GooseArgs;
use crate::arguments::{PortArgs, RunArgs};
use crate::commands::replay::{self, ReplayArgs};
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::{Run, Start};
use crate::streams::SetArgs;
use crate::time_sync::TimeSyncArgs;
use lab::session::SessionError;
use model::EventKind;
use probes::Port;
use probes::options::{appid, duration, mac, vlan};
use probes::publish::{LONGEST_FRAME, PublishConfig, StreamConfig, port_options, start_all};
use probes::subscribe::ClockRelation;
use streamset::{Content, Selection, StreamSet, StreamSpec, counted};
use sys::packet::PacketPort;
use sys::xdp::XdpSender;
use waveform::WaveformArgs;
use wire::ether::{Mac, VlanTag};
use wire::sv::Profile;

/// How frames are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineArg {
    /// `AF_PACKET`: through the queueing discipline, seen by captures on this host
    Packet,
    /// `AF_XDP`: past both, a third less time for each frame
    Xdp,
}

/// Publishes sampled-value streams as merging units do, and GOOSE as relays do, and reports its own lateness
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  triptime publish eth1 --streams 8 --profile F4800S2I4U4 --spin-ahead 60us --cpu 2 --duration 60s\n  \
                  triptime publish eth1 --set bays.toml --cpu 2\n  triptime publish eth1 --scl station.scd --ied MU01 --cpu 2\n  \
                  triptime publish eth1 --scl station.scd --ied RELAY1 --goose-from-scl"
)]
pub(crate) struct PublishArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    set: SetArgs,
    /// Number of streams [default: 1, and none with --goose]
    #[arg(long, value_name = "N", conflicts_with = "source")]
    streams: Option<u16>,
    /// Samples a second, ASDUs in a frame, currents and voltages: F4800S2I4U4, or 6I3U for F4800S2I6U3
    #[arg(long, value_name = "NAME", conflicts_with_all = ["source", "rate", "asdus"])]
    profile: Option<Profile>,
    /// Samples a second of each stream [default: 4800]
    #[arg(long, value_name = "N", conflicts_with_all = ["set", "scl"])]
    rate: Option<u32>,
    /// ASDUs in a frame
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "source")]
    asdus: u8,
    /// Prefix of the svIDs, followed by a number from 01
    #[arg(long, value_name = "TEXT", default_value = "MU", conflicts_with = "source")]
    sv_id: String,
    /// APPID
    #[arg(long, value_name = "N", default_value = "0x4000", value_parser = appid, conflicts_with = "source")]
    appid: u16,
    /// Destination of the first stream; further ones count up
    #[arg(long, value_name = "MAC", default_value = "01:0c:cd:04:00:01", value_parser = mac, conflicts_with = "source")]
    dst: Mac,
    /// 802.1Q tag: VID, or VID:PRIORITY
    #[arg(long, value_name = "VID[:PCP]", value_parser = vlan, conflicts_with = "source")]
    vlan: Option<VlanTag>,
    /// confRev
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "source")]
    conf_rev: u32,
    /// smpSynch: 0 none, 1 local, 2 global clock
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "set")]
    smp_synch: u8,
    /// Set the simulation bit
    #[arg(long, conflicts_with = "set")]
    simulate: bool,
    /// How frames are sent
    #[arg(long, value_enum, default_value = "packet", help_heading = "Sending")]
    engine: EngineArg,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration, help_heading = "Sending")]
    spin_ahead: u64,
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

/// Without another rate stated.
const USUAL_RATE: u32 = 4_800;

/// Runs the command; returns its exit status.
pub(crate) fn run(args: PublishArgs) -> Result<u8, Failure> {
    let replayed = args.replay.replay.as_deref().filter(|_| !args.replay.on_grid);
    let replayed = replayed
        .map(|file| replay::config(file, &args.replay, args.rate, &args.port, args.spin_ahead))
        .transpose()?;
    let set = args.set.read(args.goose.goose_from_scl)?;
    let (streams, notes) = to_publish(&args, set.as_ref())?;
    let config = PublishConfig {
        streams,
        spin_ahead_ns: args.spin_ahead,
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        threshold_ns: None,
    };
    ready(&config, &[], Some(&args.port.interface), &args.run)?;
    let port = open(&args, config.streams.len())?;
    let (blocks, of_blocks) = args.goose.blocks(&set.unwrap_or_default(), args.simulate)?;
    // The capture shows the sampled values, or GOOSE where there is nothing else.
    let is_beside = blocks.is_some() && !config.streams.is_empty();
    let beside = is_beside.then(|| PacketPort::open(&args.port.interface, &port_options()));
    let beside = beside.transpose()?;
    let cpus = args.port.cpu.into_iter().chain(args.goose.goose_cpu).collect();
    let begin = Start::probe("publish", cpus, args.port.duration).on(&args.port.interface);
    let mut run = Run::start(begin, args.run)?;
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
        (Some(goose), Some(beside)) => (Some((&config, port)), Some((goose, beside.into()))),
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

impl PublishArgs {
    /// How many streams of sampled values there are.
    fn stream_count(&self) -> u16 {
        self.streams.unwrap_or(u16::from(self.goose.goose.is_none()))
    }
}

/// Room for frames of a replay that are due together.
const LEAST_AT_ONCE: usize = 64;

/// The port that the engine asked for makes, for so many streams.
fn open(args: &PublishArgs, streams: usize) -> Result<Port, Failure> {
    let interface = &args.port.interface;
    let port = PacketPort::open(interface, &port_options())?;
    Ok(match args.engine {
        EngineArg::Packet => port.into(),
        EngineArg::Xdp => {
            let sender = XdpSender::open(interface, 0, LONGEST_FRAME, streams.max(LEAST_AT_ONCE))?;
            (port, sender).into()
        }
    })
}

/// The streams to publish, with what should be known about them.
fn to_publish(args: &PublishArgs, set: Option<&StreamSet>) -> Result<(Vec<StreamConfig>, Vec<String>), Failure> {
    if let Some(capture) = args.replay.replay.as_deref().filter(|_| args.replay.on_grid) {
        return Ok((replay::streams(capture, args.rate)?, Vec::new()));
    }
    let Selection { streams, notes } = streams(args, set);
    let streams = args.waveform.read(args.run.quiet)?.given_to(streams)?;
    Ok((streams, notes))
}

/// The streams of the set that is named, or so many that are alike but for their numbers.
fn streams(args: &PublishArgs, set: Option<&StreamSet>) -> Selection {
    if let Some(set) = set {
        let mut selection = set.selection.clone();
        // A stream-set file says both, and the options are refused beside it.
        if args.set.scl.is_some() {
            for stream in &mut selection.streams {
                (stream.smp_synch, stream.simulate) = (args.smp_synch, args.simulate);
            }
        }
        return selection;
    }
    let first = StreamSpec {
        destination: args.dst,
        vlan: args.vlan,
        appid: args.appid,
        conf_rev: args.conf_rev,
        smp_synch: args.smp_synch,
        simulate: args.simulate,
        rate: args.rate.unwrap_or(USUAL_RATE),
        asdus: args.asdus,
        content: Content::Channels {
            currents: 4,
            voltages: 4,
        },
        ..StreamSpec::named(&args.sv_id)
    };
    let first = match args.profile {
        Some(profile) => first.with_profile(profile),
        None => first,
    };
    Selection {
        streams: counted(&first, args.stream_count()),
        notes: Vec::new(),
    }
}
