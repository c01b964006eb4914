//! Commands that measure CPUs and need nothing else, such as `triptime wakeup`.

use crate::arguments::RunArgs;
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::{Judged, Run};
use probes::options::positive_duration;
use probes::{CpuProbe, OnCpus};
use session::preflight::rest;
use session::{RunSpec, Session, SessionError};
use units::CpuList;

/// Options of a command that measures CPUs, with those of its probe.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CpuArgs<O: clap::Args> {
    /// CPUs to measure, including isolated ones [default: every CPU this process may use]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long to measure [default: until interrupted]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    #[command(flatten)]
    options: O,
    /// Accepted without effect: cyclictest needs it to leave idle states as the system has them.
    #[arg(long, hide = true, conflicts_with = "hold_idle")]
    default_system: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl<O: clap::Args> CpuArgs<O> {
    /// The same options, given in other words.
    pub(crate) fn of(cpus: CpuList, duration_ns: Option<u64>, options: O, run: RunArgs) -> Self {
        Self {
            cpus: Some(cpus),
            duration: duration_ns,
            options,
            default_system: false,
            run,
        }
    }

    /// The CPUs to measure.
    fn cpus(&self) -> CpuList {
        self.cpus.clone().unwrap_or_else(sys::thread::allowed_cpus)
    }
}

/// The probe with these settings, for use with or without a session.
fn probe<P: CpuProbe>(args: &CpuArgs<P::Options>, session: Option<&Session>) -> P {
    let on = OnCpus {
        duration_ns: args.duration,
        idle: session.map(|session| session.idle().to_owned()).unwrap_or_default(),
        rest: rest(),
        ..OnCpus::of(args.cpus())
    };
    P::told(args.options.clone(), on)
}

/// Runs the command; returns its exit status.
pub(crate) fn run<P: CpuProbe>(args: &CpuArgs<P::Options>) -> Result<u8, Failure> {
    let (run, outcome) = measured::<P>(args, None)?;
    run.finish(outcome)
}

/// Measures with these options; returns the run and its outcome. `own_limits` are limits of the measurement itself, as a profile's TOML.
pub(crate) fn measured<P: CpuProbe>(
    args: &CpuArgs<P::Options>,
    own_limits: Option<String>,
) -> Result<(Run, Result<(), SessionError>), Failure> {
    ready(&probe::<P>(args, None), &[], None, &args.run)?;
    let spec = RunSpec {
        flight_recorder: args.run.explains(),
        ..args.run.spec(P::ABOUT.name, args.cpus(), args.duration)
    };
    let judged = Judged {
        own_limits,
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run.clone())?;
    let probe = probe::<P>(args, Some(&run.session));
    let stop = run.session.stop.of_step();
    let started = probe.start((), &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    Ok((run, outcome))
}
