//! `triptime trace`: measures the transit of sampled values inside the host.

mod follow;
mod live;
mod points;

use crate::arguments::RunArgs;
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::Run;
use crate::time_sync::TimeSyncArgs;
use live::Screen;
use points::Chosen;
use probes::options::positive_duration;
use probes::subscribe::ClockRelation;
use probes::trace::{TraceConfig, Tracing};
use probes::{Directions, NicStamps, Probe, ProbeError, ReceiveStamps, SenderEnd};
use session::RunSpec;
use trace::path::GROUP;
use units::CpuList;

/// Shortest window: at its end the counts of all streams are read from the kernel.
const SHORTEST_WINDOW_NS: u64 = 1_000_000_000;

/// Options that time hops, write a run file, watch the clock or load the machine; --follow, for single sampled values, excludes them.
const NOT_WITH_FOLLOW: [&str; 21] = [
    "stamps",
    "point",
    "first",
    "show_path",
    "live",
    "record",
    "threshold",
    "out",
    "html",
    "about",
    "limits",
    "window",
    "file_budget",
    "no_flight_recorder",
    "load",
    "load_command",
    "ptp",
    "ptp_domain",
    "ptp_interval",
    "ptp_limit",
    "grandmaster",
];

/// Name of the first point if it is the NIC's stamp.
const WIRE: &str = "wire";

/// Transit of sampled values inside this host: NIC -> bridge, macvlan, tap -> virtual machine, container or application
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples: triptime trace eth1 --live
          triptime trace eth1 --point tap=vnet0:tx --point vhost=vnet0:done --threshold 100us --duration 60s
          triptime trace eth1 --show-path
          triptime trace eth1 --follow --stream MU01")]
pub(crate) struct TraceArgs {
    /// Interface where the frames arrive: the point nic
    interface: String,
    #[allow(rustdoc::broken_intra_doc_links)]
    /// A further point, in the order in which frames reach it: NAME=INTERFACE[@PID or @NAMESPACE-FILE][:EVENT], where EVENT is rx, tx,
    /// queue, gro, done, read or app (done or read) [default: the points found on the path from the interface on]
    #[arg(long, value_name = "POINT")]
    point: Vec<String>,
    /// A point before the interface receives, written as for --point. Frames can be delayed there, by a thread that serves the NIC (IF:gro)
    /// or in a queue (IF:queue)
    #[arg(long, value_name = "POINT")]
    first: Option<String>,
    /// Start with the NIC's own stamp of each frame, the point wire, before any driver: it is read where the driver hands the frame over
    #[arg(long, value_enum, default_value = "software", conflicts_with_all = ["first", "record"])]
    stamps: ReceiveStamps,
    /// Show the path from the interface on and the points on it, but trace nothing
    #[arg(long)]
    show_path: bool,
    /// Show a histogram of each hop while it runs
    #[arg(long)]
    live: bool,
    /// Keep every frame with its stamps at all points in the run file: about 2 bytes for each point
    #[arg(long)]
    record: bool,
    /// Follow N whole sampled values of each stream through the kernel, as pwru follows packets. List every tracepoint that each reached,
    /// and every function if the kernel permits it [default N: 3]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "3", conflicts_with_all = NOT_WITH_FOLLOW,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    follow: Option<u32>,
    /// Follow only this stream
    #[arg(long, value_name = "SVID", requires = "follow")]
    stream: Option<String>,
    /// Follow only sampled values with this smpCnt: one per second
    #[arg(long, value_name = "COUNT", requires = "follow")]
    smp_cnt: Option<u16>,
    /// Count durations above this, from one point to the next, as overflow, and keep them with their cause [default:
    /// the limit on the maximum, if any]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    threshold: Option<u64>,
    /// How long to trace [default: until interrupted; with --follow until all are followed, at most 10s]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    /// Maximum number of streams to track
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=2_000))]
    max_streams: u32,
    #[command(flatten)]
    time: TimeSyncArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(mut args: TraceArgs) -> Result<u8, Failure> {
    if let Some(per_stream) = args.follow {
        return follow::run(&args, per_stream);
    }
    let by_nic = args.stamps == ReceiveStamps::Hardware;
    let wire = by_nic.then(|| format!("{WIRE}={}:gro", args.interface));
    let first = args.first.as_deref().or(wire.as_deref());
    let chosen = points::choose(&args.interface, first, &args.point)?;
    if args.show_path {
        return points::show(&chosen);
    }
    points::check(&chosen)?;
    // The live view replaces the progress lines.
    args.run.quiet |= args.live;
    let mut spec = RunSpec {
        flight_recorder: args.run.explains(),
        ..args
            .run
            .spec("trace", CpuList::default(), args.duration)
            .on(&args.interface)
    };
    if args.run.window.is_none() {
        spec.run.window_ns = spec.run.window_ns.max(SHORTEST_WINDOW_NS);
    }
    let config = TraceConfig {
        points: chosen.points(),
        max_streams: args.max_streams,
        threshold_ns: args.threshold,
        record: args.record,
        window_ns: spec.run.window_ns,
        namespaces: chosen.namespaces(),
        sender: SenderEnd::default(),
    };
    ready(&config, &[], None, &args.run)?;
    let received = Directions {
        received: true,
        sent: false,
    };
    let nic = by_nic.then(|| NicStamps::take(&args.interface, received)).transpose()?;
    let mut run = Run::start(spec, args.run.clone())?;
    run.session.recorder.add_facts(chosen.facts());
    let stop = run.session.stop.of_step();
    // Durations use one clock. Only a recording that will be merged with another host's has stamps that need the watch.
    let watch = args.time.watch(ClockRelation::Unknown, &mut run.session.recorder);
    let outcome = watch.and_then(|watch| Ok((watch, config.start(nic, &mut run.session.recorder, &stop)?)));
    let outcome = outcome.and_then(|(watch, tracing)| {
        let ended = attend(&mut run, &tracing, &args, &chosen);
        stop.request();
        let summary = tracing.join()?;
        ended?;
        run.session.recorder.add_facts(summary.facts(GROUP));
        run.session.recorder.add_facts(summary.recording);
        drop(watch);
        Ok(())
    });
    run.finish(outcome.map_err(Into::into))
}

fn attend(run: &mut Run, tracing: &Tracing, args: &TraceArgs, chosen: &Chosen) -> Result<(), ProbeError> {
    let mut screen = args.live.then(|| Screen::new(chosen.hops()));
    run.runner()
        .pass(args.duration.unwrap_or(u64::MAX), "tracing", |session| {
            if let Some(screen) = &mut screen {
                screen.draw(&tracing.live().hops());
            }
            match tracing.is_finished() && !session.stop.requested() {
                // The end of tracing gives the reason.
                true => Err(ProbeError::NoTraffic("tracing ended unexpectedly".to_owned())),
                false => Ok(()),
            }
        })
}
