//! The test beds of a plan, one for each network.

use super::faults::{self, PlanFault};
use super::file::{Plan, PlanError};
use bed::fault::{Direction, LaneCounts, Wire};
use bed::{Bed, BedError, Management, Network};
use model::fact::SWITCH;
use model::{EventKind, Fact};
use place::{Place, PlaceSpec, up};
use probes::Directions;
use run::Recorder;
use session::SessionError;
use std::sync::{Arc, Mutex, PoisonError};

/// Group of the inventory that says over which networks was measured, and why not over others. The report reads it.
const GROUP: &str = "networks compared";

/// Where what is said of the beds is from.
const SOURCE: &str = "rtnetlink(7)";

/// Label of the series over ports of this machine.
const PORTS: &str = "nic";

/// The beds, in the plan's order.
pub(super) struct Beds {
    ways: Vec<BedOfPlan>,
    rounds: u32,
    wire: Option<FaultyWire>,
}

/// The wire of a plan with faults.
struct FaultyWire {
    wire: Arc<Wire>,
    faults: Vec<PlanFault>,
    /// What it had done when it was last looked at, by direction.
    looked_at: Mutex<[LaneCounts; 2]>,
}

/// A bed and what the series measured over it are called.
pub(super) struct BedOfPlan {
    pub(super) bed: Bed,
    /// Second part of the series' names.
    pub(super) label: String,
    /// Whether it is one of several.
    compared: bool,
    /// Whether a thread forwards frames.
    in_user_space: bool,
    /// The second network of its devices, if they have one.
    pub(super) management: Option<Management>,
    /// Where its devices are; none: in this process.
    pub(super) places: Vec<Arc<dyn Place>>,
}

impl BedOfPlan {
    /// Settings of the series: which network.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match self.compared {
            true => vec![setting("network", self.bed.name()), setting("way", self.bed.describe())],
            false => Vec::new(),
        }
    }

    /// For progress: `what`, and over which network.
    pub(super) fn doing(&self, what: &str) -> String {
        match self.network() {
            Some(network) => format!("{what} over {network}"),
            None => what.to_owned(),
        }
    }

    /// The network, where there are several.
    pub(super) fn network(&self) -> Option<&str> {
        self.compared.then(|| self.bed.name())
    }

    /// Whether a thread forwards the frames.
    pub(super) fn in_user_space(&self) -> bool {
        self.in_user_space
    }
}

impl Beds {
    /// Builds the bed of every network of the plan that is available, `ports` behind them, and says in the run what is there
    /// and what is not. In a plan that compares no networks `ports` take their place.
    ///
    /// # Errors
    /// What kept the only bed, or all of them, from being built.
    pub(super) fn build(
        plan: &Plan,
        ports: Option<Bed>,
        place: &PlaceSpec,
        recorder: &Recorder,
    ) -> Result<Self, SessionError> {
        let is_on_ports = ports.is_some();
        let mut beds = Self::without_places(plan, ports, place, recorder)?;
        beds.can_stamp(plan, place)?;
        for way in &mut beds.ways {
            way.management = managed(plan, &way.bed, is_on_ports, recorder)?;
            let ends = (Some(&way.bed), way.management.as_ref());
            way.places = up(place, ends, plan.devices(), recorder)?;
        }
        Ok(beds)
    }

    /// Refuses stamps that no NIC of a bed makes, before anything is measured. One in a place looks at its own.
    fn can_stamp(&self, plan: &Plan, place: &PlaceSpec) -> Result<(), SessionError> {
        for (way, step) in self
            .ways
            .iter()
            .flat_map(|way| plan.steps.iter().map(move |step| (way, step)))
        {
            let [test_set, device] = step.measure.stamped();
            let device = match place.is_here() {
                true => device,
                false => Directions::default(),
            };
            way.bed
                .can_stamp([test_set, device])
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
        let mut beds = Self {
            ways: Vec::new(),
            rounds: networks.rounds,
            wire: None,
        };
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
        let counts = counts(&wire);
        Ok(Self {
            wire: Some(FaultyWire {
                wire,
                faults: plan.faults.clone(),
                looked_at: Mutex::new(counts),
            }),
            ..Self::only(bed, true, recorder)?
        })
    }

    /// What each fault of the plan did since this was last asked, in words; nothing in a plan without.
    pub(super) fn faults_done(&self) -> Vec<String> {
        let Some(wire) = &self.wire else { return Vec::new() };
        let now = counts(&wire.wire);
        let mut looked_at = wire.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = faults::done(&wire.faults, &looked_at, &now);
        *looked_at = now;
        texts
    }

    /// Why the wire of a plan with faults carries nothing any more, if that is so.
    pub(super) fn broken_wire(&self) -> Option<String> {
        let why = self.wire.as_ref()?.wire.broken()?;
        Some(format!("the wire that makes faults has stopped: {why}"))
    }

    /// A bed that is compared with none.
    fn only(bed: Bed, in_user_space: bool, recorder: &Recorder) -> Result<Self, SessionError> {
        recorder.events().write(EventKind::Note, bed.describe());
        recorder.add_facts(bed.nic_facts()?);
        recorder.add_facts(vec![SWITCH.fact(bed.switch(), SOURCE)]);
        let way = BedOfPlan {
            bed,
            label: "reflect".to_owned(),
            compared: false,
            in_user_space,
            management: None,
            places: Vec::new(),
        };
        Ok(Self {
            ways: vec![way],
            rounds: 1,
            wire: None,
        })
    }

    fn add(&mut self, bed: Bed, label: &str, in_user_space: bool) -> Fact {
        let fact = Fact {
            group: GROUP.to_owned(),
            name: bed.name().to_owned(),
            value: Ok(bed.describe().to_owned()),
            source: SOURCE.to_owned(),
        };
        self.ways.push(BedOfPlan {
            bed,
            label: label.to_owned(),
            compared: true,
            in_user_space,
            management: None,
            places: Vec::new(),
        });
        fact
    }

    /// What forwards between the ends, for the picture of the bed; nothing where no bed was built.
    fn switch(&self) -> Option<Fact> {
        let value = match &self.ways[..] {
            [] => return None,
            [only] => only.bed.switch(),
            ways => Ok(format!("one of {} networks", ways.len())),
        };
        Some(SWITCH.fact(value, SOURCE))
    }

    /// The way over the first bed.
    pub(super) fn first(&self) -> &BedOfPlan {
        &self.ways[0]
    }

    /// Whether a thread forwards frames on one of the ways.
    pub(super) fn in_user_space(&self) -> bool {
        self.ways.iter().any(BedOfPlan::in_user_space)
    }

    /// Every way as often as there are rounds: forwards, backwards, forwards.
    pub(super) fn in_rounds(&self) -> impl Iterator<Item = &BedOfPlan> {
        let last = self.ways.len() - 1;
        (0..self.rounds).flat_map(move |round| {
            (0..=last).map(move |at| match round % 2 {
                0 => &self.ways[at],
                _ => &self.ways[last - at],
            })
        })
    }
}

/// The management network of a bed, where the plan has one.
fn managed(plan: &Plan, bed: &Bed, is_on_ports: bool, recorder: &Recorder) -> Result<Option<Management>, SessionError> {
    if plan.management.is_none() {
        return Ok(None);
    }
    if is_on_ports {
        let problem = "management: a network that is made here is not beside ports (--nic): leave one of them out";
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

fn counts(wire: &Wire) -> [LaneCounts; 2] {
    [Direction::ToDevice, Direction::ToTestSet].map(|way| wire.counts(way))
}

fn not_available(network: Network, error: &BedError) -> Fact {
    Fact {
        group: GROUP.to_owned(),
        name: network.name().to_owned(),
        value: Err(format!("not available: {error}")),
        source: "building it".to_owned(),
    }
}
