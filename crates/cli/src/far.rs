//! Options that run the device's end on another machine.

use crate::failure::Failure;
use crate::version;
use bed::{Bed, End, Stands};
use place::far::{Address, Far, Secret};
use place::{PlaceSpec, StatedClock};
use plan::Plan;
use probes::subscribe::ClockRelation;
use probes::timesync::{TimeSync, TimeSyncConfig};
use run::Recorder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options that run the device's end on another machine.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Another machine")]
pub(crate) struct FarArgs {
    /// Run one end of each step on the machine where `triptime far` listens, reached over any network that both have. The other end is
    /// here, at the port that --nic names, in the place that --place names
    #[arg(long, value_name = "HOST[:PORT]")]
    far: Option<Address>,
    /// The end that the other machine has: device, or test-set. With test-set, the device under test is here
    #[arg(long, value_name = "END", requires = "far", default_value = "device", value_parser = end)]
    far_end: End,
    /// Secret that both ends know, in a file readable by this user alone; needed with --far
    #[arg(long, value_name = "FILE", requires = "far")]
    secret: Option<PathBuf>,
    /// Relation of the two machines' clocks: ptp:1us if both follow PTP, or none [default: the other machine is asked for its time]
    #[arg(long, value_name = "RELATION", requires = "far", value_parser = stated)]
    clock: Option<StatedClock>,
}

/// Reads the secret from this file.
///
/// # Errors
/// No file is named: a port on the loopback interface is open to every user of the machine, and a port on another one to a network.
pub(crate) fn secret(path: Option<&Path>) -> Result<Secret, Failure> {
    let path = path.ok_or_else(|| {
        Failure::Usage(
            "--secret FILE is missing: both ends need the same secret, on the loopback interface, too, where every user of this \
             machine could connect. `(umask 077; head -c 32 /dev/urandom | base64 > FILE)` makes one"
                .to_owned(),
        )
    })?;
    Ok(Secret::read(path)?)
}

fn stated(text: &str) -> Result<StatedClock, String> {
    match crate::time_sync::relation(text) {
        Ok(ClockRelation::Unknown) => Ok(StatedClock::Unknown),
        Ok(ClockRelation::Ptp {
            stated_ns: Some(ns), ..
        }) => Ok(StatedClock::Within(ns)),
        _ => Err(format!(
            "\"{text}\" does not state how far apart two machines' clocks are: write ptp:1us or none"
        )),
    }
}

fn end(text: &str) -> Result<End, String> {
    match text {
        "device" => Ok(End::Device),
        "test-set" => Ok(End::TestSet),
        _ => Err("use device or test-set".to_owned()),
    }
}

impl FarArgs {
    /// True if another machine has one end.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.far.is_some()
    }

    /// The watch over this machine's clock where both were stated to follow PTP; without it, no one-way figure could pass.
    ///
    /// # Errors
    /// The thread of the watch does not start.
    pub(crate) fn watch(&self, recorder: &mut Recorder) -> Result<Option<TimeSync>, Failure> {
        let within = match self.clock {
            Some(StatedClock::Within(ns)) if self.is_asked_for() => ns,
            _ => return Ok(None),
        };
        Ok(Some(TimeSync::start(&TimeSyncConfig::within(within), recorder)?))
    }

    /// The end that another machine has.
    pub(crate) fn end(&self) -> Option<End> {
        self.far.as_ref().map(|_| self.far_end)
    }

    /// The other machine, if it has the device's end.
    pub(crate) fn machine_of_device(&self) -> Option<String> {
        let far = self.far.as_ref().filter(|_| self.far_end == End::Device);
        far.map(ToString::to_string)
    }

    /// The plan over the one port to the other machine, and that port, with a card for guests at this end if they are here. It replaces the
    /// networks that a plan compares.
    ///
    /// # Errors
    /// A part of the plan cannot run on another machine, or a port is missing.
    pub(crate) fn bed(&self, mut plan: Plan, nic: &[String], is_guest: bool) -> Result<(Plan, Option<Bed>), Failure> {
        let refused = |why: &str| Err(Failure::Usage(format!("--far: the plan {}: {why}", plan.name)));
        if !plan.faults.is_empty() {
            return refused("the wire that makes its faults is in this machine");
        }
        if plan.devices() > 1 && self.far_end == End::Device {
            return refused("the other machine is one device, but a step has several: give each step one");
        }
        if plan.steps.iter().any(plan::Step::is_between_devices) {
            return refused(
                "the devices of a ping-pong, or the port to its relay, are on this machine: leave that step out",
            );
        }
        let bed = match (plan.needs_bed(), nic) {
            (false, []) if self.far_end == End::Device => None,
            (true, [port]) => {
                let (here, ends) = match self.far_end {
                    End::Device => (End::TestSet, 1),
                    End::TestSet => (End::Device, plan.devices()),
                };
                let stands = if is_guest {
                    Stands::Guests(ends)
                } else {
                    Stands::These(ends)
                };
                Some(Bed::to_far_machine(here, port, stands)?)
            }
            (false, []) => {
                return refused("it sends nothing, so the other machine has no end of it: leave --far-end out");
            }
            (false, _) => return refused("it sends nothing, and needs no --nic"),
            (true, _) => return refused("name the port of this machine that leads there: --nic IF"),
        };
        plan.bed = None;
        Ok((plan, bed))
    }

    /// Connects to the other machine.
    ///
    /// # Errors
    /// No program listens there, or it refuses this machine.
    pub(crate) fn place(&self) -> Result<Option<PlaceSpec>, Failure> {
        let Some(address) = &self.far else { return Ok(None) };
        let secret = secret(self.secret.as_deref())?;
        let far = Far::connect(address, &secret, &version::identity()?, self.clock)?;
        Ok(Some(PlaceSpec::Far(Arc::new(far))))
    }
}

#[cfg(test)]
mod tests {
    use super::stated;
    use place::StatedClock;

    #[test]
    fn what_is_stated_has_a_figure_or_is_nothing() {
        assert_eq!(stated("ptp:1us"), Ok(StatedClock::Within(1_000)));
        assert_eq!(stated("none"), Ok(StatedClock::Unknown));
        for wrong in ["ptp", "same-host", "", "1us"] {
            assert!(stated(wrong).is_err(), "{wrong}");
        }
    }
}
