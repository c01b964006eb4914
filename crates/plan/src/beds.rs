//! The test beds of a run, one for each network.

use super::faults::{self, PlanFault};
use bed::fault::{Direction, LaneCounts, Wire};
use bed::{Bed, Management};
use model::fact::SWITCH;
use model::{EventKind, Fact, setting};
use place::Place;
use run::Recorder;
use session::SessionError;
use std::sync::{Arc, Mutex, PoisonError};
use wire::redundancy::Protocol;

/// Inventory group that lists the networks measured, and the reasons why others were not. The report reads it.
pub(super) const GROUP: &str = "networks compared";

/// Source of the facts about the beds.
const SOURCE: &str = "rtnetlink(7)";

/// The beds, in the plan's order.
pub(super) struct Beds {
    pub(super) ways: Vec<BedOfPlan>,
    rounds: u32,
    wire: Option<FaultyWire>,
}

/// The wire of a plan with faults.
struct FaultyWire {
    wire: Arc<Wire>,
    faults: Vec<PlanFault>,
    /// Counts of each direction at the last look.
    looked_at: Mutex<[LaneCounts; 2]>,
}

/// A bed and the label of the series measured over it.
pub(super) struct BedOfPlan {
    pub(super) bed: Bed,
    /// Second part of the series' names.
    pub(super) label: String,
    /// True if the plan compares several beds.
    compared: bool,
    /// True if a thread forwards frames.
    in_user_space: bool,
    /// Protocol of its doubly attached nodes; `None` if they have one interface.
    pub(super) lans: Option<Protocol>,
    /// The second network of its devices, if they have one.
    pub(super) management: Option<Management>,
    /// Places of its devices; empty if they are in this process.
    pub(super) places: Vec<Arc<dyn Place>>,
    /// Place of the test set; `None` if it is in this process.
    pub(super) test_set_place: Option<Arc<dyn Place>>,
}

impl BedOfPlan {
    /// Settings of the series: the network.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut settings = match self.compared {
            true => vec![setting("network", self.bed.name()), setting("way", self.bed.describe())],
            false => Vec::new(),
        };
        settings.extend(self.card());
        settings
    }

    /// Setting of the series: the card of the first device, if a place made it.
    pub(super) fn card(&self) -> Option<(String, String)> {
        let card = self.places.first()?.card()?;
        Some((setting::CARD.to_owned(), card))
    }

    /// For progress: `what`, and the network.
    pub(super) fn doing(&self, what: &str) -> String {
        match self.network() {
            Some(network) => format!("{what} over {network}"),
            None => what.to_owned(),
        }
    }

    /// The network's label, if there are several.
    pub(super) fn network(&self) -> Option<&str> {
        self.compared.then(|| self.bed.name())
    }

    /// True if a thread forwards the frames.
    pub(super) fn in_user_space(&self) -> bool {
        self.in_user_space
    }
}

impl Beds {
    /// No beds yet, each to be measured in this many rounds.
    pub(super) fn none(rounds: u32) -> Self {
        Self {
            ways: Vec::new(),
            rounds,
            wire: None,
        }
    }

    /// The same beds over a wire that makes these faults.
    pub(super) fn over(mut self, wire: Arc<Wire>, faults: Vec<PlanFault>) -> Self {
        let looked_at = Mutex::new(counts(&wire));
        self.wire = Some(FaultyWire {
            wire,
            faults,
            looked_at,
        });
        self
    }

    /// Effect of each fault of the plan since the last call, in words; empty in a plan without faults.
    pub(super) fn faults_done(&self) -> Vec<String> {
        let Some(wire) = &self.wire else { return Vec::new() };
        let now = counts(&wire.wire);
        let mut looked_at = wire.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = faults::done(&wire.faults, &looked_at, &now);
        *looked_at = now;
        texts
    }

    /// Why the wire of a plan with faults has stopped carrying frames; `None` if it runs.
    pub(super) fn broken_wire(&self) -> Option<String> {
        let why = self.wire.as_ref()?.wire.broken()?;
        Some(format!("the wire that makes faults has stopped: {why}"))
    }

    /// The only bed of a plan that compares no networks.
    pub(super) fn only(bed: Bed, in_user_space: bool, recorder: &Recorder) -> Result<Self, SessionError> {
        recorder.events().write(EventKind::Note, bed.describe());
        recorder.add_facts(bed.nic_facts()?);
        recorder.add_facts(vec![SWITCH.fact(bed.switch(), SOURCE)]);
        let way = BedOfPlan {
            bed,
            label: "reflect".to_owned(),
            compared: false,
            in_user_space,
            lans: None,
            management: None,
            places: Vec::new(),
            test_set_place: None,
        };
        Ok(Self {
            ways: vec![way],
            rounds: 1,
            wire: None,
        })
    }

    /// The same beds, whose nodes use this protocol in two LANs.
    pub(super) fn in_two_lans(mut self, protocol: Protocol) -> Self {
        self.ways.iter_mut().for_each(|way| way.lans = Some(protocol));
        self
    }

    /// Number of measurements of one step that compares networks.
    pub(super) fn times(&self) -> u64 {
        u64::from(self.rounds) * self.ways.len() as u64
    }

    /// Adds one of several beds, and returns its description as a fact.
    pub(super) fn add(&mut self, bed: Bed, label: &str, in_user_space: bool) -> Fact {
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
            lans: None,
            management: None,
            places: Vec::new(),
            test_set_place: None,
        });
        fact
    }

    /// The part that forwards between the ends, for the picture of the bed; `None` where no bed was built.
    pub(super) fn switch(&self) -> Option<Fact> {
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

    /// True if a thread forwards frames on one of the ways.
    pub(super) fn in_user_space(&self) -> bool {
        self.ways.iter().any(BedOfPlan::in_user_space)
    }

    /// Every way once per round: forwards, backwards, forwards.
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

fn counts(wire: &Wire) -> [LaneCounts; 2] {
    [Direction::ToDevice, Direction::ToTestSet].map(|way| wire.counts(way))
}
