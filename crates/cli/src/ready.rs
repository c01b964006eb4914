//! Tells whether a command can run here, before anything is touched.

use crate::arguments::RunArgs;
use crate::failure::Failure;
use bed::disturb::{leave_alone, leave_connection};
use plan::live_facts;
use probes::{Machine, Need, Probe};
use sys::privilege::{Capability, will_need};
use units::CpuList;

/// Commands whose late samples are not asked about: for them the option that every measuring command has says nothing.
pub(crate) const UNEXPLAINED: [&str; 3] = ["listen", "publish", "trip"];

/// Other probes of the command `trip`.
const OF_TRIP: [&str; 2] = ["ping_pong", "watch"];

/// Refuses a probe that cannot run here, on this interface if it measures on one, and `more` that is not met. Advice on a capability that
/// is missing names all that the command takes: each `setcap` replaces the last.
///
/// # Errors
/// The first need that is missing, and what to do.
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

/// Refuses to spin at real-time priority on CPUs that carry others' real-time work.
///
/// # Errors
/// The work that would wait, and what to do.
pub(crate) fn not_to_be_disturbed(cpus: &CpuList, named: bool) -> Result<(), Failure> {
    let facts = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    leave_alone(cpus, named, &facts).map_err(|error| Failure::CouldNotMeasure(error.to_string()))
}

/// Refuses to use ports by which somebody is connected to this machine.
///
/// # Errors
/// The ports, and what to do.
pub(crate) fn no_connection(ports: &[String]) -> Result<(), Failure> {
    leave_connection(ports).map_err(|error| Failure::CouldNotMeasure(format!("{error}, or say --disturb")))
}

/// Notes the capabilities that explaining late samples takes. Without it they stay unexplained, and the run says so.
pub(crate) fn explained(args: &RunArgs) {
    if !args.no_flight_recorder {
        will_need(&[Capability::Bpf, Capability::Perfmon]);
    }
}
