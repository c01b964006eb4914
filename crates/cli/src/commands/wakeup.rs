//! `triptime wakeup`: timer wake-up latency per CPU.

use crate::arguments::{RunArgs, duration, positive_duration};
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use probes::wakeup::{WakeupConfig, start};
use sys::thread::Policy;
use sys::wait::WakeClock;
use units::{CpuList, Period};

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
    /// Time between due instants: a duration (250us, 208333.3ns) or a rate (4800/s)
    #[arg(long, value_name = "PERIOD", default_value = "1ms")]
    interval: Period,
    /// How long to measure [default: until interrupted]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY, deadline:RUNTIME/DEADLINE/PERIOD
    #[arg(long, default_value = "fifo:80")]
    policy: Policy,
    /// Clock whose timers wake the threads
    #[arg(long, default_value = "monotonic")]
    clock: ClockArg,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    spin_ahead: u64,
    /// Shift the due instants of each further CPU by this much
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    distance: u64,
    /// First due instant on a full second of the clock plus OFFSET, to run beside another tool half a period apart
    #[arg(long, value_name = "OFFSET", num_args = 0..=1, default_missing_value = "0", value_parser = duration)]
    secaligned: Option<u64>,
    /// Count samples above this as overflow, and keep them [default: the limit on the maximum, if any]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    threshold: Option<u64>,
    /// End at the first sample above this, and say what held it up
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    break_above: Option<u64>,
    /// Leave idle states as the system has them, instead of holding /dev/cpu_dma_latency at 0
    #[arg(long)]
    default_system: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl WakeupArgs {
    /// How the measuring threads are scheduled.
    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// The options that every measuring command has.
    pub(crate) fn run(&self) -> &RunArgs {
        &self.run
    }
}

/// Clocks a thread can be woken by.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ClockArg {
    /// CLOCK_MONOTONIC: steps of the wall clock cannot touch it
    Monotonic,
    /// CLOCK_REALTIME
    Realtime,
    /// CLOCK_TAI, the time scale of PTP
    Tai,
}

impl From<ClockArg> for WakeClock {
    fn from(clock: ClockArg) -> Self {
        match clock {
            ClockArg::Monotonic => Self::Monotonic,
            ClockArg::Realtime => Self::Realtime,
            ClockArg::Tai => Self::Tai,
        }
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: WakeupArgs) -> Result<u8, Failure> {
    let cpus = args.cpus.unwrap_or_else(sys::thread::allowed_cpus);
    let begin = Start {
        default_system: args.default_system,
        flight_recorder: true,
        ..Start::probe("wakeup", cpus.clone(), args.duration)
    };
    let mut run = Run::start(begin, args.run)?;
    let config = WakeupConfig {
        cpus,
        policy: args.policy,
        period: args.interval,
        distance_ns: args.distance,
        second_aligned_ns: args.secaligned,
        clock: args.clock.into(),
        spin_ahead_ns: args.spin_ahead,
        duration_ns: args.duration,
        threshold_ns: args.threshold.or(args.break_above),
        break_above_ns: args.break_above,
        idle: run.session.idle().to_owned(),
        label: None,
    };
    let stop = run.session.stop.of_step();
    let outcome = start(&config, &mut run.session.recorder, &stop).and_then(|running| run.attend(running));
    run.finish(outcome.map_err(Into::into))
}
