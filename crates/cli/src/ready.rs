//! Checks that a command can run here, before it changes anything.

use crate::arguments::RunArgs;
use crate::failure::Failure;
use bed::disturb::{leave_alone, leave_connection};
use plan::live_facts;
use probes::{Machine, Need, Probe};
use sys::privilege::{Capability, will_need};
use units::CpuList;

/// Commands without causes of late samples: for them the option --no-flight-recorder has no effect and is hidden.
pub(crate) const UNEXPLAINED: [&str; 3] = ["listen", "publish", "trip"];

/// Other probes of the command `trip`.
const OF_TRIP: [&str; 3] = ["ping_pong", "watch", "observe"];

/// Refuses a probe that cannot run here (on this interface if it uses one), or if a need in `more` is not met. Advice on a missing
/// capability names all capabilities of the command, because each `setcap` replaces the previous one.
///
/// # Errors
/// The first missing need, with its remedy.
pub(crate) fn ready<P: Probe>(
    probe: &P,
    more: &[Need],
    interface: Option<&str>,
    args: &RunArgs,
) -> Result<(), Failure> {
    if !UNEXPLAINED.contains(&P::ABOUT.name) && !OF_TRIP.contains(&P::ABOUT.name) {
        explained(args);
    }
    let machine = Machine::live();
    Need::check_all(more, &machine, interface)?;
    Ok(probe.can_run(&machine, interface)?)
}

/// Refuses to spin at real-time priority on CPUs that carry real-time work of others.
///
/// # Errors
/// The work that would wait, with a remedy.
pub(crate) fn not_to_be_disturbed(cpus: &CpuList, named: bool) -> Result<(), Failure> {
    let facts = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    leave_alone(cpus, named, &facts).map_err(|error| Failure::CouldNotMeasure(error.to_string()))
}

/// Refuses ports over which somebody is connected to this machine.
///
/// # Errors
/// The ports, with a remedy.
pub(crate) fn no_connection(ports: &[String]) -> Result<(), Failure> {
    leave_connection(ports).map_err(|error| Failure::CouldNotMeasure(format!("{error}, or add --disturb")))
}

/// Prints the capabilities that are missing to explain late samples. Without them the samples stay unexplained, and the run records that.
pub(crate) fn explained(args: &RunArgs) {
    if !args.no_flight_recorder {
        will_need(&[Capability::Bpf, Capability::Perfmon]);
    }
}
