//! `triptime wakeup`: timer wake-up latency per CPU.

use crate::arguments::{RunArgs, duration, positive_duration};
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use probes::wakeup::{WakeupConfig, start};
use sys::thread::Policy;
use units::CpuList;

/// Timer wake-up latency: timer due -> thread running, one thread per CPU
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime wakeup --cpus 1-3 --interval 250us --duration 60s --limits substation")]
pub(crate) struct WakeupArgs {
    /// CPUs to measure, isolated ones too [default: every CPU this process may use]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Time between due instants
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = positive_duration)]
    interval: u64,
    /// How long to measure [default: until interrupted]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY, deadline:RUNTIME/DEADLINE/PERIOD
    #[arg(long, default_value = "fifo:80")]
    policy: Policy,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    spin_ahead: u64,
    /// Count samples above as overflow, and keep them [default: the limit on the maximum, if any]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    threshold: Option<u64>,
    /// Leave idle states as the system has them, instead of holding /dev/cpu_dma_latency at 0
    #[arg(long)]
    default_system: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: WakeupArgs) -> Result<u8, Failure> {
    let cpus = args.cpus.unwrap_or_else(sys::thread::allowed_cpus);
    let begin = Start {
        default_system: args.default_system,
        ..Start::probe("wakeup", cpus.clone(), args.duration)
    };
    let mut run = Run::start(begin, args.run)?;
    let config = WakeupConfig {
        cpus,
        policy: args.policy,
        interval_ns: args.interval,
        spin_ahead_ns: args.spin_ahead,
        duration_ns: args.duration,
        threshold_ns: args.threshold.or_else(|| run.threshold_ns("wakeup/cpu0")),
        idle: run.session.idle().to_owned(),
    };
    let stop = run.session.stop.clone();
    let outcome = start(&config, &mut run.session.recorder, &stop).and_then(|running| run.attend(running));
    run.finish(outcome.map_err(Into::into))
}
