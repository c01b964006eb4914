//! `triptime publish`: sampled-value streams.

mod waveform;

use crate::arguments::{PortArgs, RunArgs, appid, duration, mac, vlan};
use crate::commands::replay::{self, ReplayArgs};
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use probes::Port;
use probes::publish::{LONGEST_FRAME, PublishConfig, StreamConfig, port_options, start};
use sys::packet::PacketPort;
use sys::xdp::XdpSender;
use waveform::WaveformArgs;
use wire::ether::{Mac, VlanTag};

/// How frames are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineArg {
    /// `AF_PACKET`: through the queueing discipline, seen by captures on this host
    Packet,
    /// `AF_XDP`: past both, a third less time for each frame
    Xdp,
}

/// Publishes sampled-value streams as merging units do, and reports its own lateness
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Example: triptime publish eth1 --streams 8 --rate 4800 --spin-ahead 60us --cpu 2 --duration 60s"
)]
pub(crate) struct PublishArgs {
    #[command(flatten)]
    port: PortArgs,
    /// Number of streams
    #[arg(long, value_name = "N", default_value_t = 1)]
    streams: u16,
    /// Samples a second of each stream [default: 4800]
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// ASDUs in a frame
    #[arg(long, value_name = "N", default_value_t = 1)]
    asdus: u8,
    /// svID of the streams: this and a number from 01
    #[arg(long, value_name = "TEXT", default_value = "MU")]
    sv_id: String,
    /// APPID
    #[arg(long, value_name = "N", default_value = "0x4000", value_parser = appid)]
    appid: u16,
    /// Destination of the first stream; further ones count up
    #[arg(long, value_name = "MAC", default_value = "01:0c:cd:04:00:01", value_parser = mac)]
    dst: Mac,
    /// 802.1Q tag: VID, or VID:PRIORITY
    #[arg(long, value_name = "VID[:PCP]", value_parser = vlan)]
    vlan: Option<VlanTag>,
    /// confRev
    #[arg(long, value_name = "N", default_value_t = 1)]
    conf_rev: u32,
    /// smpSynch: 0 none, 1 local, 2 global clock
    #[arg(long, value_name = "N", default_value_t = 2)]
    smp_synch: u8,
    /// Set the simulation bit
    #[arg(long)]
    simulate: bool,
    /// How frames are sent
    #[arg(long, value_enum, default_value = "packet")]
    engine: EngineArg,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    spin_ahead: u64,
    #[command(flatten)]
    waveform: WaveformArgs,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Without another rate stated.
const USUAL_RATE: u32 = 4_800;

/// Runs the command; returns its exit status.
pub(crate) fn run(args: PublishArgs) -> Result<u8, Failure> {
    let replayed = args.replay.replay.as_deref();
    let replayed = replayed
        .map(|file| replay::config(file, &args.replay, args.rate, &args.port, args.spin_ahead))
        .transpose()?;
    let streams = streams(&args)?;
    let port = open(&args)?;
    let begin = Start::probe("publish", args.port.measured(), args.port.duration).on(&args.port.interface);
    let mut run = Run::start(begin, args.run)?;
    let port = run.port(port, &args.port, &args.port.intent())?;
    if let Some(config) = replayed {
        return replay::attend(config, port, run);
    }
    let config = PublishConfig {
        streams,
        spin_ahead_ns: args.spin_ahead,
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        threshold_ns: run.threshold_ns("publish/lateness"),
    };
    let stop = run.session.stop.clone();
    let outcome = start(&config, port, &mut run.session.recorder, &stop).and_then(|running| run.attend(running));
    run.finish(outcome.map_err(Into::into))
}

/// Room for frames of a replay that are due together.
const LEAST_AT_ONCE: usize = 64;

/// The port that the engine asked for makes.
fn open(args: &PublishArgs) -> Result<Port, Failure> {
    let interface = &args.port.interface;
    let port = PacketPort::open(interface, &port_options())?;
    Ok(match args.engine {
        EngineArg::Packet => port.into(),
        EngineArg::Xdp => {
            let at_once = usize::from(args.streams).max(LEAST_AT_ONCE);
            let sender = XdpSender::open(interface, 0, LONGEST_FRAME, at_once)?;
            (port, sender).into()
        }
    })
}

/// The streams, alike but for their number and the phase of what they measure.
fn streams(args: &PublishArgs) -> Result<Vec<StreamConfig>, Failure> {
    let rate = args.rate.unwrap_or(USUAL_RATE);
    let mut waveforms = args.waveform.read(args.run.quiet)?;
    let numbered = |number| {
        let stream = StreamConfig {
            sv_id: args.sv_id.clone(),
            dat_set: None,
            destination: args.dst,
            vlan: args.vlan,
            appid: args.appid,
            conf_rev: args.conf_rev,
            smp_synch: args.smp_synch,
            simulate: args.simulate,
            rate,
            asdus: args.asdus,
            waveform: waveforms.of(rate, number)?,
            ahead: 0,
        };
        Ok(stream.numbered(number))
    };
    (0..args.streams).map(numbered).collect()
}
