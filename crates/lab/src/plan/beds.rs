//! The test beds of a plan, one for each network.

use super::file::Plan;
use crate::bed::{Bed, BedError, Network};
use crate::session::SessionError;
use probes::record::Recorder;
use store::model::{EventKind, Fact};

/// Group of the inventory that says over which networks was measured, and why not over others. The report reads it.
const GROUP: &str = "networks compared";

/// Label of the series over ports of this machine.
const PORTS: &str = "nic";

/// The beds, in the plan's order.
pub(super) struct Beds {
    ways: Vec<Way>,
    rounds: u32,
    in_user_space: bool,
}

/// A bed and what the series measured over it are called.
pub(super) struct Way {
    pub(super) bed: Bed,
    /// Second part of the series' names.
    pub(super) label: String,
    /// Whether it is one of several.
    compared: bool,
    /// Whether a thread forwards frames.
    in_user_space: bool,
}

impl Way {
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
    /// and what is not.
    ///
    /// # Errors
    /// What kept the only bed, or all of them, from being built.
    pub(super) fn build(plan: &Plan, ports: Option<Bed>, recorder: &Recorder) -> Result<Self, SessionError> {
        let Some(networks) = &plan.bed else {
            return Self::usual(recorder);
        };
        let mut beds = Self {
            ways: Vec::new(),
            rounds: networks.rounds,
            in_user_space: networks.networks.iter().any(|network| network.in_user_space()),
        };
        let mut facts = Vec::new();
        let mut failure = None;
        for network in &networks.networks {
            match Bed::over(*network) {
                Ok(bed) => facts.push(beds.add(bed, network.name(), network.in_user_space())),
                Err(error) => {
                    facts.push(not_available(*network, &error));
                    failure.get_or_insert(error);
                }
            }
        }
        facts.extend(ports.map(|bed| beds.add(bed, PORTS, false)));
        match failure {
            Some(error) if beds.ways.is_empty() => return Err(error.into()),
            _ => recorder.add_facts(facts),
        }
        Ok(beds)
    }

    fn usual(recorder: &Recorder) -> Result<Self, SessionError> {
        let bed = Bed::build()?;
        recorder.events().write(EventKind::Note, bed.describe());
        recorder.add_facts(bed.nic_facts()?);
        let way = Way {
            bed,
            label: "reflect".to_owned(),
            compared: false,
            in_user_space: false,
        };
        Ok(Self {
            ways: vec![way],
            rounds: 1,
            in_user_space: false,
        })
    }

    fn add(&mut self, bed: Bed, label: &str, in_user_space: bool) -> Fact {
        let fact = Fact {
            group: GROUP.to_owned(),
            name: bed.name().to_owned(),
            value: Ok(bed.describe().to_owned()),
            source: "rtnetlink(7)".to_owned(),
        };
        self.ways.push(Way {
            bed,
            label: label.to_owned(),
            compared: true,
            in_user_space,
        });
        fact
    }

    /// The first bed.
    pub(super) fn first(&self) -> &Bed {
        &self.ways[0].bed
    }

    /// Whether a thread forwards frames on one of the ways.
    pub(super) fn in_user_space(&self) -> bool {
        self.in_user_space
    }

    /// Every way as often as there are rounds: forwards, backwards, forwards.
    pub(super) fn in_rounds(&self) -> impl Iterator<Item = &Way> {
        let last = self.ways.len() - 1;
        (0..self.rounds).flat_map(move |round| {
            (0..=last).map(move |at| match round % 2 {
                0 => &self.ways[at],
                _ => &self.ways[last - at],
            })
        })
    }
}

fn not_available(network: Network, error: &BedError) -> Fact {
    Fact {
        group: GROUP.to_owned(),
        name: network.name().to_owned(),
        value: Err(format!("not available: {error}")),
        source: "building it".to_owned(),
    }
}
