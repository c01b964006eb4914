//! Requests on the management network of a plan: their sending CPUs, and the CPUs of a guest that they interrupt.

use super::file::Plan;
use super::inside;
use super::roles::Roles;
use super::value::{Cpus, PlanError};
use bed::Management;
use bed::load::{LoadKind, LoadSpec, ManagementLoad};
use host::CpuFacts;
use units::CpuList;

impl Plan {
    /// The CPUs of a guest that its second network card interrupts: the housekeeping CPUs unless the plan names others.
    ///
    /// # Errors
    /// A CPU that the guest does not have.
    pub(super) fn management_inside(&self) -> Result<CpuList, PlanError> {
        let word = self.management.as_ref().and_then(|table| table.cpus.as_ref());
        let own = (0..self.guest_cpus()).collect();
        inside::resolve(word.unwrap_or(&Cpus::First), &own).map_err(|problem| PlanError::Cpu {
            plan: self.name.clone(),
            problem: format!("management: {problem}"),
        })
    }

    /// The CPUs of this machine that send the requests. A device that shares this kernel also answers them there.
    pub(super) fn management_cpus(&self, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let word = self.management.as_ref().and_then(|table| table.cpus.as_ref());
        match word.filter(|_| !self.is_in_guests()) {
            Some(word) => self.resolve(word, facts, roles),
            None => Ok(roles.housekeeping.clone()),
        }
    }

    /// The CPUs that the plan names, if the device shares them with this machine.
    pub(super) fn names_management_cpus(&self) -> Option<&Cpus> {
        let word = self.management.as_ref()?.cpus.as_ref()?;
        (!self.is_in_guests()).then_some(word)
    }

    /// The management network and the CPUs of its load, in words; `None` if there is none.
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
