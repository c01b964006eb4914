//! Builds the test beds of a plan.

use super::beds::{Beds, GROUP};
use super::faults;
use super::file::Plan;
use super::value::PlanError;
use bed::{Bed, BedError, Management, Network};
use model::{EventKind, Fact};
use place::{PlaceSpec, up, up_for_test_set};
use probes::Directions;
use run::Recorder;
use session::SessionError;

/// Label of the series over ports of this machine.
const PORTS: &str = "nic";

impl Beds {
    /// Builds the bed of every network of the plan that is available, then adds `ports`, and records in the run which networks are available. In a
    /// plan that compares no networks, `ports` replaces them.
    ///
    /// # Errors
    /// The only bed could not be built, or none of several.
    pub(super) fn build(
        plan: &Plan,
        ports: Option<Bed>,
        (place, test_set): (&PlaceSpec, &PlaceSpec),
        recorder: &Recorder,
    ) -> Result<Self, SessionError> {
        let is_on_ports = ports.is_some();
        let mut beds = Self::without_places(plan, ports, place, recorder)?;
        beds.can_stamp(plan, place, test_set)?;
        for way in &mut beds.ways {
            way.management = managed(plan, &way.bed, is_on_ports, recorder)?;
            let ends = (Some(&way.bed), way.management.as_ref());
            way.test_set_place = up_for_test_set(test_set, &way.bed, recorder)?;
            way.places = up(place, ends, plan.devices(), recorder)?;
        }
        Ok(beds)
    }

    /// Refuses hardware stamps that no NIC of a bed can make, before anything is measured. An end in a place checks its own NIC.
    fn can_stamp(&self, plan: &Plan, place: &PlaceSpec, test_set: &PlaceSpec) -> Result<(), SessionError> {
        for (way, step) in self
            .ways
            .iter()
            .flat_map(|way| plan.steps.iter().map(move |step| (way, step)))
        {
            let [of_test_set, of_device] = step.measure.stamped();
            let here = |spec: &PlaceSpec, stamped: Directions| match spec.is_here() {
                true => stamped,
                false => Directions::default(),
            };
            way.bed
                .can_stamp([here(test_set, of_test_set), here(place, of_device)])
                .map_err(|error| PlanError::Invalid {
                    name: plan.name.clone(),
                    problem: format!(
                        "stamps = \"hardware\": {error} (`--nic IF,IF` measures over ports of this machine)"
                    ),
                })?;
        }
        Ok(())
    }

    fn without_places(
        plan: &Plan,
        mut ports: Option<Bed>,
        place: &PlaceSpec,
        recorder: &Recorder,
    ) -> Result<Self, SessionError> {
        let is_far = matches!(place, PlaceSpec::Far(_));
        if let Some(ports) = ports.take_if(|_| is_far || !plan.compares_networks()) {
            return Self::only(ports, false, recorder);
        }
        let Some(networks) = &plan.bed else {
            return match plan.faults.is_empty() {
                true => Self::only(place.bed(Network::Bridge, plan.devices())?, false, recorder),
                false => Self::faulty(plan, recorder),
            };
        };
        if let Some(lans) = networks.lans {
            let bed = Bed::over_two_lans(networks.of_lans(), plan.devices())?;
            return Ok(Self::only(bed, false, recorder)?.in_two_lans(lans.into()));
        }
        let mut beds = Self::none(networks.rounds);
        let mut facts = Vec::new();
        let mut failure = None;
        for network in &networks.networks {
            match place.bed(*network, plan.devices()) {
                Ok(bed) => facts.push(beds.add(bed, network.name(), network.in_user_space())),
                Err(error) => {
                    facts.push(not_available(*network, &error));
                    failure.get_or_insert(error);
                }
            }
        }
        facts.extend(ports.map(|bed| beds.add(bed, PORTS, false)));
        facts.extend(beds.switch());
        match failure {
            Some(error) if beds.ways.is_empty() => return Err(error.into()),
            _ => recorder.add_facts(facts),
        }
        Ok(beds)
    }

    fn faulty(plan: &Plan, recorder: &Recorder) -> Result<Self, SessionError> {
        let invalid = |problem| PlanError::Invalid {
            name: plan.name.clone(),
            problem,
        };
        let wire_faults = faults::wire_faults(&plan.faults, plan.fault_seed).map_err(invalid)?;
        let (bed, wire) = Bed::with_faults(wire_faults)?;
        Ok(Self::only(bed, true, recorder)?.over(wire, plan.faults.clone()))
    }
}

/// The management network of a bed, if the plan has one.
fn managed(plan: &Plan, bed: &Bed, is_on_ports: bool, recorder: &Recorder) -> Result<Option<Management>, SessionError> {
    if plan.management.is_none() {
        return Ok(None);
    }
    if is_on_ports {
        let problem =
            "management: triptime makes no management network if ports are given (--nic): leave one of them out";
        return Err(PlanError::Invalid {
            name: plan.name.clone(),
            problem: problem.to_owned(),
        }
        .into());
    }
    let network = Management::beside(bed, plan.management_inside()?)?;
    recorder.events().write(EventKind::Note, network.describe());
    Ok(Some(network))
}

fn not_available(network: Network, error: &BedError) -> Fact {
    Fact {
        group: GROUP.to_owned(),
        name: network.name().to_owned(),
        value: Err(format!("not available: {error}")),
        source: "building it".to_owned(),
    }
}
