//! `triptime talk`: sends one frame per interval, as an AVB endpoint does.

use crate::arguments::{PortArgs, RunArgs};
use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::ready::ready;
use crate::run_file::Run;
use probes::listen::{self, ListenConfig, Listening};
use probes::talk::search::{Outcome, Search};
use probes::talk::{TalkConfig, TalkOptions, port_options};
use probes::{Port, Probe, SenderEnd, Stamps};
use session::preflight::Intent;
use session::runner::{Ends, Side};
use session::{RunSpec, SessionError};
use units::CpuList;

/// Default duration of each step of a search.
const SEARCH_STEP_NS: u64 = 5_000_000_000;

/// Lateness above which a search counts a frame as late: its spin-ahead was too short for the wake-up.
const SEARCH_LATE_NS: u64 = 1_000;

/// Sends one frame each interval, as an AVB endpoint does, and measures how late each one is; counts late and missed
/// ones
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples: triptime talk eth1 --cpu 2 --spin-ahead 30us --duration 60s --limits avb
          triptime talk eth1 --cpu 2 --search
          triptime talk eth1 --cpu 2 --listen eth2 --listen-cpu 3 --duration 60s
          triptime talk eth1 --cpu 2 --spin-ahead 30us --stamps hardware --duration 60s
          triptime talk eth1 --framing avtp --vlan 2:3 --interval 8000/s")]
pub(crate) struct TalkArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    options: TalkOptions,
    /// Let the etf queueing discipline send each frame at its due instant (SO_TXTIME); refused if the interface has none
    #[arg(long)]
    launch_time: bool,
    /// Stamp each frame when it leaves, by the kernel (when the driver takes it) or by the NIC, and measure from its due instant to this stamp
    #[arg(long, value_enum, default_value = "off")]
    stamps: Stamps,
    /// Self-test: listen on this interface in the same run
    #[arg(long, value_name = "INTERFACE", conflicts_with = "search")]
    listen: Option<String>,
    /// CPU of the self-test's listener
    #[arg(long, value_name = "CPU", requires = "listen")]
    listen_cpu: Option<u32>,
    /// Find the smallest spin-ahead with no late frame, in steps of --duration (5s)
    #[arg(long, conflicts_with_all = ["spin_ahead", "launch_time", "stamps"])]
    search: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &TalkArgs) -> Result<u8, Failure> {
    check(args)?;
    let config = config(args);
    ready(&config, &[], Some(&args.port.interface), &args.run)?;
    let options = config.stamps.asked_of(port_options(args.launch_time));
    let port = Port::open(&args.port.interface, &options)?;
    let measured: CpuList = args.port.cpu.into_iter().chain(args.listen_cpu).collect();
    let ends = args.port.duration.or(args.search.then_some(SEARCH_STEP_NS));
    let spec = RunSpec {
        flight_recorder: !args.search && args.run.explains(),
        ..args.run.spec("talk", measured, ends).on(&args.port.interface)
    };
    let mut run = Run::start(spec, args.run.clone())?;
    if args.search {
        // Each step opens a port of its own.
        drop(port);
        return search(&config, &args.port.interface, run);
    }
    let intent = Intent {
        launch_times: args.launch_time,
        ..args.port.intent()
    };
    let port = run.port(port, &args.port, &intent)?;
    let outcome = match &args.listen {
        Some(interface) => self_test(&config, port, interface, args.listen_cpu, &mut run),
        None => {
            let stop = run.session.stop.clone();
            let started = config.start(port, &mut run.session.recorder, &stop);
            run.attend(started.map(|talking| talking.running))
        }
    };
    run.finish(outcome)
}

/// Refuses options that exclude each other.
fn check(args: &TalkArgs) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::Usage(format!("talk: {why}")));
    if args.search && args.run.limits.is_some() {
        return refuse(
            "--search tries spin-aheads that are too short: judge the one it finds with --spin-ahead and --limits"
                .into(),
        );
    }
    args.options.check().or_else(refuse)?;
    let interface = &args.port.interface;
    // Only the loopback interface receives its own frames.
    if args.listen.as_ref() == Some(interface) && interface != "lo" {
        return refuse(format!(
            "--listen {interface} names the port that sends, which does not receive its own frames: name the port where \
             they arrive"
        ));
    }
    Ok(())
}

fn config(args: &TalkArgs) -> TalkConfig {
    let asked = args.options.config();
    let talker = TalkConfig {
        launch_time: args.launch_time,
        stamps: args.stamps,
        duration_ns: args.port.duration,
        policy: args.port.policy,
        cpu: args.port.cpu,
        ..asked
    };
    match args.search {
        // Most frames of a search are late on purpose, so no causes are recorded.
        true => TalkConfig {
            late_after_ns: args.options.late_after.unwrap_or(SEARCH_LATE_NS),
            threshold_ns: None,
            ..talker
        },
        false => talker,
    }
}

/// Runs both ends in one run: the listener starts first, to be ready for the first frame.
fn self_test(
    config: &TalkConfig,
    port: Port,
    interface: &str,
    cpu: Option<u32>,
    run: &mut Run,
) -> Result<(), SessionError> {
    let listener = ListenConfig {
        framing: Some(config.framing),
        stamps: config.stamps.received(),
        policy: config.policy,
        cpu,
        ..ListenConfig::every(config.period)
    };
    let far = Port::open(
        interface,
        &listener.stamps.asked_of(listen::port_options(listener.framing)),
    )?;
    // The listener ends after the talker, also when a signal ends the talker.
    let listening_stop = run::Stop::new();
    let Listening { running, .. } = listener.start(far, &mut run.session.recorder, &listening_stop)?;
    let stop = run.session.stop.clone();
    let talking = config.start(port, &mut run.session.recorder, &stop);
    let near = talking
        .map(|talking| Side::Here(talking.running))
        .map_err(SessionError::from);
    let far = Side::Here(running);
    let ends = Ends::of(near, far, &listening_stop, SenderEnd::default(), &run.session)?;
    run.attend(Ok(ends))
}

/// Tries spin-aheads in steps; the last one found is the answer.
fn search(config: &TalkConfig, interface: &str, mut run: Run) -> Result<u8, Failure> {
    let mut search = Search::within(config.period.whole_ns());
    let stop = run.session.stop.clone();
    let mut outcome = Ok(());
    while let Some(spin_ahead_ns) = search.next().filter(|_| outcome.is_ok() && !stop.requested()) {
        let step = TalkConfig {
            spin_ahead_ns,
            label: Some(format!("spin-ahead={}us", spin_ahead_ns / 1_000)),
            duration_ns: Some(config.duration_ns.unwrap_or(SEARCH_STEP_NS)),
            ..config.clone()
        };
        outcome = one_step(&step, interface, &mut run).map(|found| search.note(found));
    }
    let ended_early = stop.requested();
    let status = run.finish(outcome)?;
    let found = search.found().filter(|_| !ended_early);
    Ok(if found.is_some() { status } else { COULD_NOT_MEASURE })
}

fn one_step(config: &TalkConfig, interface: &str, run: &mut Run) -> Result<Outcome, SessionError> {
    let port = Port::open(interface, &port_options(false))?;
    let stop = run.session.stop.clone();
    let talking = config.start(port, &mut run.session.recorder, &stop)?;
    run.attend(Ok(talking.running))?;
    let totals = talking.totals;
    Ok(Outcome {
        spin_ahead_ns: config.spin_ahead_ns,
        sent: totals.sent(),
        late: totals.late() + totals.missed(),
        max_ns: totals.max_ns(),
    })
}
