//! The table `[matrix]` of a plan: its steps in every combination of place, network, load, management network and isolation. Also the table `[cell]`,
//! which marks a plan as one of these combinations.

use super::file::Plan;
use super::management::ManagementTable;
use super::roles::Roles;
use super::step::PlanLoad;
use super::value::Duration;
use crate::refusal::Refusal;
use bed::Network;
use bed::partition::{Partition, clean_up};
use model::Fact;
use model::fact::{CELL_ISOLATION, CELL_LOAD, CELL_MANAGEMENT, CELL_NETWORK, CELL_PLACE};
use place::PlaceKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the combination without loads, if a plan names no sets of loads.
const NO_LOAD: &str = "none";

/// Source of the facts of a cell.
const SOURCE: &str = "[cell] of the plan";

/// Ways to keep other work off the CPUs of the device under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// No isolation: only affinity and priority.
    None,
    /// A partition in this machine's control groups.
    Cpuset,
    /// The kernel was booted with `isolcpus`.
    Isolcpus,
}

impl Isolation {
    /// Its name in plans and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Cpuset => "cpuset",
            Self::Isolcpus => "isolcpus",
        }
    }
}

/// The combinations of a plan, and the number of measurements of each.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixTable {
    /// Places of the device under test; the others are compared with the first.
    #[serde(default = "native")]
    pub places: Vec<PlaceKind>,
    /// Networks between it and the test set; empty if the steps need no bed, or use the default one.
    #[serde(default)]
    pub networks: Vec<Network>,
    /// Sets of loads by name; a set can be empty.
    #[serde(default)]
    pub loads: BTreeMap<String, Vec<PlanLoad>>,
    /// Management networks in addition to the process bus, by name; an empty table means none.
    #[serde(default)]
    pub management: BTreeMap<String, ManagementTable>,
    /// Ways to keep its CPUs free.
    #[serde(default = "not_isolated")]
    pub isolation: Vec<Isolation>,
    /// Largest number of measurements of each cell.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// Longest time for all measurements together.
    #[serde(default)]
    pub budget: Option<Duration>,
}

fn native() -> Vec<PlaceKind> {
    vec![PlaceKind::Native]
}

fn not_isolated() -> Vec<Isolation> {
    vec![Isolation::None]
}

fn once() -> u32 {
    1
}

/// One combination.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Place of the device under test.
    pub place: PlaceKind,
    /// Network between it and the test set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Name of its set of loads.
    pub load: String,
    /// Name of the management network, if the matrix names any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<String>,
    /// The way to keep its CPUs free.
    pub isolation: Isolation,
}

impl Cell {
    /// Name of the cell, also used in its file names: `native-bridge-memory-none`.
    pub fn name(&self) -> String {
        let network = self.network.map(Network::name);
        let parts = [
            Some(self.place.name()),
            network,
            Some(&self.load),
            self.management.as_deref(),
            Some(self.isolation.name()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("-")
    }

    /// Display name: `native over bridge, load memory, isolation none`.
    pub fn words(&self) -> String {
        let over = self.network.map(|network| format!(" over {}", network.name()));
        let management = self
            .management
            .as_ref()
            .map(|name| format!(", management network {name}"));
        format!(
            "{}{}, load {}{}, isolation {}",
            self.place.name(),
            over.unwrap_or_default(),
            self.load,
            management.unwrap_or_default(),
            self.isolation.name()
        )
    }

    /// Its place as a table shows it: with the runtime that the user named for its containers, so that those of two runtimes are two places.
    pub fn place_with(&self, runtime: Option<&str>) -> String {
        let place = self.place.name();
        match runtime.filter(|_| self.place.has_container()) {
            Some(runtime) => format!("{place} ({runtime})"),
            None => place.to_owned(),
        }
    }

    /// Facts about the cell that are recorded in its run, whose containers have the runtime that the user named.
    pub fn facts(&self, runtime: Option<&str>) -> Vec<Fact> {
        let known = |value: &str| Ok(value.to_owned());
        let network = self
            .network
            .map(|network| CELL_NETWORK.fact(known(network.name()), SOURCE));
        let mut facts = vec![CELL_PLACE.fact(known(&self.place_with(runtime)), SOURCE)];
        facts.extend(network);
        facts.push(CELL_LOAD.fact(known(&self.load), SOURCE));
        let management = self.management.as_ref();
        facts.extend(management.map(|name| CELL_MANAGEMENT.fact(known(name), SOURCE)));
        facts.push(CELL_ISOLATION.fact(known(self.isolation.name()), SOURCE));
        facts
    }
}

impl MatrixTable {
    /// Every combination, in the order of the plan: places first, empty sets of loads before the others, and no management network before the others.
    pub fn cells(&self) -> Vec<Cell> {
        let networks: Vec<Option<Network>> = match &self.networks[..] {
            [] => vec![None],
            some => some.iter().copied().map(Some).collect(),
        };
        let mut cells = Vec::new();
        for place in &self.places {
            for network in &networks {
                for (load, management) in self.beside() {
                    cells.extend(self.isolation.iter().map(|isolation| Cell {
                        place: *place,
                        network: *network,
                        load: load.to_owned(),
                        management: management.map(str::to_owned),
                        isolation: *isolation,
                    }));
                }
            }
        }
        cells
    }

    /// Combinations of each set of loads with each management network.
    fn beside(&self) -> Vec<(&str, Option<&str>)> {
        let managements = self.management_names();
        let with = |load| managements.iter().map(move |management| (load, *management));
        self.load_names().into_iter().flat_map(with).collect()
    }

    /// Names of the management networks: empty ones first, then by name; `None` alone if the matrix names none.
    fn management_names(&self) -> Vec<Option<&str>> {
        let names = none_first(self.management.iter().map(|(name, table)| (name, table.is_none())));
        match names.is_empty() {
            true => vec![None],
            false => names.into_iter().map(Some).collect(),
        }
    }

    /// Names of the sets of loads: empty ones first, then by name.
    pub fn load_names(&self) -> Vec<&str> {
        let names = none_first(self.loads.iter().map(|(name, set)| (name, set.is_empty())));
        match names.is_empty() {
            true => vec![NO_LOAD],
            false => names,
        }
    }

    /// Refuses names that cannot be part of a file name.
    pub(super) fn check_names(&self) -> Result<(), Refusal> {
        let loads = self.loads.keys().map(|name| ("loads", name));
        let managements = self.management.keys().map(|name| ("management", name));
        match loads.chain(managements).find(|(_, name)| !is_plain(name)) {
            Some((key, name)) => Err(Refusal::of(
                format!("matrix.{key}"),
                format!("\"{name}\" is part of the names of files: use small letters, digits and _"),
            )),
            None => Ok(()),
        }
    }
}

/// The names, empty entries first.
fn none_first<'a>(names: impl Iterator<Item = (&'a String, bool)>) -> Vec<&'a str> {
    let mut names: Vec<(&str, bool)> = names.map(|(name, is_none)| (name.as_str(), is_none)).collect();
    names.sort_by_key(|(_, is_none)| !is_none);
    names.into_iter().map(|(name, _)| name).collect()
}

fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    !name.is_empty() && name.chars().all(is_plain)
}

impl Plan {
    /// The partition for the measurement of a cell; `None` if it uses none. Leftovers of a killed measurement's partition are removed in any case.
    ///
    /// # Errors
    /// A control group that cannot be made or removed, and the reason.
    pub fn partition(&self, roles: &Roles) -> Result<Option<Partition>, units::Refusal> {
        let is_of_cell = self
            .cell
            .as_ref()
            .is_some_and(|cell| cell.isolation == Isolation::Cpuset);
        match is_of_cell && !self.place.is_in_guest() {
            true => Partition::make(&roles.measured).map(Some),
            false => clean_up().map(|()| None),
        }
    }
}

#[cfg(test)]
mod tests;
