//! `triptime wakeup`: timer wake-up latency per CPU.

use crate::arguments::RunArgs;
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::{Run, Start};
use probes::Probe;
use probes::options::positive_duration;
use probes::wakeup::{WakeupConfig, WakeupOptions};
use units::CpuList;

/// Timer wake-up latency: timer due -> thread running, one thread per CPU
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples: triptime wakeup --cpus 1-3 --interval 250us --duration 60s --limits substation
          triptime wakeup --cpus 2 --interval 4800/s --load scheduler@0 --duration 7d
          triptime wakeup --break-above 100us --html why.html")]
pub(crate) struct WakeupArgs {
    /// CPUs to measure, isolated ones too [default: every CPU this process may use]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long to measure [default: until interrupted]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    #[command(flatten)]
    options: WakeupOptions,
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
        flight_recorder: true,
        ..Start::probe("wakeup", cpus.clone(), args.duration)
    };
    let config = WakeupConfig {
        cpus,
        options: args.options,
        duration_ns: args.duration,
        idle: String::new(),
        label: None,
    };
    ready(&config, &[], None, &args.run)?;
    let mut run = Run::start(begin, args.run)?;
    let config = WakeupConfig {
        idle: run.session.idle().to_owned(),
        ..config
    };
    let stop = run.session.stop.of_step();
    let started = config.start((), &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    run.finish(outcome)
}
