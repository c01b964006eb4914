//! The table `[management]` of a plan: a second network of the devices under test, and the traffic on it.

use super::file::{Cpus, Plan, PlanError};
use super::inside;
use super::roles::Roles;
use super::step::Step;
use bed::Management;
use bed::load::{LoadKind, LoadSpec, ManagementLoad, Rate};
use host::CpuFacts;
use serde::Deserialize;
use units::CpuList;

/// A management network beside the process bus, and what is on it. Without any key there is none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagementTable {
    /// Frames a second to each device.
    #[serde(default)]
    rate: Option<Rate>,
    /// Octets of a frame without FCS.
    #[serde(default)]
    bytes: Option<u64>,
    /// Which CPUs of the device handle them; those that keep house if none are named.
    #[serde(default)]
    cpus: Option<Cpus>,
}

impl ManagementTable {
    /// Whether there is no such network.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What cannot be of the table called `name`, in words.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        if self.rate.is_none() && !self.is_none() {
            return Err(format!("{name}.rate is missing: write frames a second, or \"max\""));
        }
        let wrong = self.bytes.map(|bytes| (bytes, ManagementLoad::check_bytes(bytes)));
        match wrong {
            Some((bytes, Err(rule))) => Err(format!("{name}.bytes = {bytes}: {rule}")),
            _ => Ok(()),
        }
    }

    fn bytes(&self) -> usize {
        let bytes = self.bytes.and_then(|bytes| usize::try_from(bytes).ok());
        bytes.unwrap_or(ManagementLoad::BYTES)
    }

    /// What is on it, in words: `500 frames/s of 1514 octets to each device, answered by its kernel`.
    pub fn words(&self) -> String {
        match self.rate {
            None => "no such network".to_owned(),
            Some(rate) => format!(
                "{rate} of {} octets to each device, answered by its kernel",
                self.bytes()
            ),
        }
    }
}

/// What a plan with such a network cannot be, in words.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    let Some(table) = &plan.management else { return Ok(()) };
    table.check("management")?;
    if table.is_none() {
        return Err("management.rate is missing: write frames a second, or \"max\"".into());
    }
    if !plan.steps.iter().any(Step::needs_bed) {
        return Err("management: no step measures over the test bed, whose devices it joins: leave it out".into());
    }
    match &plan.bed {
        Some(bed) if bed.networks.len() > 1 => Err(
            "management: beside one process bus at a time: leave one in bed.networks, or write a [matrix], whose cells have one each"
                .into(),
        ),
        _ => Ok(()),
    }
}

impl Plan {
    /// The CPUs of a guest that its second card interrupts: where a well-kept one has it unless the plan says otherwise.
    ///
    /// # Errors
    /// A CPU that the guest has not.
    pub(super) fn management_inside(&self) -> Result<CpuList, PlanError> {
        let word = self.management.as_ref().and_then(|table| table.cpus.as_ref());
        let own = (0..self.guest_cpus()).collect();
        inside::resolve(word.unwrap_or(&Cpus::First), &own).map_err(|problem| PlanError::Cpu {
            plan: self.name.clone(),
            problem: format!("management: {problem}"),
        })
    }

    /// The CPUs of this machine that its requests are sent from. Where the device shares this kernel, it answers them there, too.
    pub(super) fn management_cpus(&self, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let word = self.management.as_ref().and_then(|table| table.cpus.as_ref());
        match word.filter(|_| !self.is_in_guests()) {
            Some(word) => self.resolve(word, facts, roles),
            None => Ok(roles.housekeeping.clone()),
        }
    }

    /// CPUs that it names itself, where the device shares them with this machine.
    pub(super) fn names_management_cpus(&self) -> Option<&Cpus> {
        let word = self.management.as_ref()?.cpus.as_ref()?;
        (!self.is_in_guests()).then_some(word)
    }

    /// What it is and where it runs, in words; nothing where there is none.
    pub(super) fn management_words(&self, facts: &CpuFacts, roles: &Roles) -> Result<Option<String>, PlanError> {
        let Some(table) = &self.management else { return Ok(None) };
        let seat = match self.is_in_guests() {
            true => format!("{} of the guest", self.management_inside()?),
            false => self.management_cpus(facts, roles)?.to_string(),
        };
        Ok(Some(format!("management network: {}, on cpu {seat}", table.words())))
    }

    /// The loads of the network, one for each device, each on one of the CPUs in turn.
    pub(super) fn management_loads(
        &self,
        network: &Management,
        facts: &CpuFacts,
        roles: &Roles,
    ) -> Result<Vec<LoadSpec>, PlanError> {
        let Some((table, rate)) = self.management.as_ref().and_then(|table| Some((table, table.rate?))) else {
            return Ok(Vec::new());
        };
        let cpus: Vec<u32> = self.management_cpus(facts, roles)?.iter().collect();
        let ways = network.ways().into_iter().zip(cpus.iter().cycle());
        let load = |(way, cpu): (_, &u32)| LoadSpec {
            kind: LoadKind::Management(ManagementLoad {
                rate,
                bytes: table.bytes(),
                way,
            }),
            cpus: CpuList::from_iter([*cpu]),
        };
        Ok(ways.map(load).collect())
    }
}

#[cfg(test)]
mod tests;
