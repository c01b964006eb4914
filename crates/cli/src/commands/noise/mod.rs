//! `triptime noise`: time taken from a spinning thread, per CPU.

mod hwlat;

use crate::arguments::RunArgs;
use crate::failure::Failure;
use crate::ready::{not_to_be_disturbed, ready};
use crate::run_file::{Judged, Run};
use probes::noise::{NoiseConfig, NoiseOptions};
use probes::options::positive_duration;
use probes::{CpuProbe, OnCpus, Probe};
use session::RunSpec;
use session::preflight::rest;
use units::CpuList;

/// Time stolen from a spinning CPU: interrupts, softirqs, other threads, the hypervisor, firmware
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
It takes the whole of each measured CPU while it runs. Use it only on CPUs that will be dedicated.

Examples: triptime noise --cpus 2-3 --duration 60s
          triptime noise --cpus 2 --gaps-above 500ns --threshold 20us --html noise.html
          triptime noise --cpus 2-3 --duration 60s --hwlat 60s")]
pub(crate) struct NoiseArgs {
    /// CPUs to measure, including isolated ones [default: every CPU this process may use except the first]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long to measure [default: until interrupted]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    #[command(flatten)]
    options: NoiseOptions,
    /// First run the kernel's hwlat tracer for this long. It disables the interrupts of these CPUs for a part of each second, and looks for
    /// gaps caused by firmware or hypervisor
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    hwlat: Option<u64>,
    /// Spin even on CPUs that carry other real-time threads, virtual CPUs or interrupt threads of a network interface in use: these wait
    /// during the run
    #[arg(long)]
    disturb: bool,
    /// Accepted without effect; cyclictest needs it to leave idle states as the system has them
    #[arg(long, hide = true, conflicts_with = "hold_idle")]
    default_system: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl NoiseArgs {
    /// The same options, given in other words.
    pub(crate) fn of(
        cpus: CpuList,
        duration_ns: Option<u64>,
        options: NoiseOptions,
        disturb: bool,
        run: RunArgs,
    ) -> Self {
        Self {
            cpus: Some(cpus),
            duration: duration_ns,
            options,
            hwlat: None,
            disturb,
            default_system: false,
            run,
        }
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: NoiseArgs) -> Result<u8, Failure> {
    measure(args, None)
}

/// Measures with these options; returns the exit status. `own_limits` are limits of the measurement itself, as a profile's TOML.
pub(crate) fn measure(args: NoiseArgs, own_limits: Option<String>) -> Result<u8, Failure> {
    let is_named = args.cpus.is_some();
    let cpus = args.cpus.unwrap_or_else(all_but_the_first);
    if NoiseConfig::occupies(&args.options) && !args.disturb {
        not_to_be_disturbed(&cpus, is_named)?;
    }
    let spec = RunSpec {
        flight_recorder: args.run.explains(),
        osnoise: true,
        ..args.run.spec("noise", cpus.clone(), args.duration)
    };
    let mut config = NoiseConfig {
        options: args.options,
        on: OnCpus {
            duration_ns: args.duration,
            rest: rest(),
            ..OnCpus::of(cpus.clone())
        },
    };
    ready(&config, &[], None, &args.run)?;
    if args.hwlat.is_some() {
        hwlat::check()?;
    }
    let judged = Judged {
        own_limits,
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    let seen = match args.hwlat {
        Some(ns) => hwlat::look(&mut run, &cpus, config.options.gaps_above, ns).map(Some),
        None => Ok(None),
    };
    let outcome = seen.and_then(|seen| {
        if let Some(seen) = seen {
            run.session.recorder.add_setting("hwlat", seen);
        }
        run.session.idle().clone_into(&mut config.on.idle);
        let stop = run.session.stop.clone();
        let started = config.start((), &mut run.session.recorder, &stop);
        run.attend(started)
    });
    run.finish(outcome)
}

/// The first CPU keeps the recorder running; it is measured too when it is the only one.
fn all_but_the_first() -> CpuList {
    let allowed = sys::thread::allowed_cpus();
    let others = allowed.without(&allowed.first().into_iter().collect());
    if others.is_empty() { allowed } else { others }
}
