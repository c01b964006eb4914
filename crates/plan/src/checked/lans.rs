//! Rules of a plan whose nodes are doubly attached.

use crate::file::Plan;
use crate::networks::{Lans, Networks};
use crate::refusal::Refusal;
use crate::value::PlanError;
use place::PlaceKind;

/// Refuses plan keys that two LANs do not allow, and steps that need them and have one.
pub(super) fn lans(plan: &Plan) -> Result<(), Refusal> {
    let Some(bed) = plan.bed.as_ref().filter(|bed| bed.lans.is_some()) else {
        return without(plan);
    };
    check(bed)?;
    for (at, step) in plan.steps.iter().enumerate() {
        step.measure
            .in_two_lans()
            .map_err(|(key, problem)| Refusal::of_step(at, key, problem))?;
    }
    if plan.place != PlaceKind::Native {
        let problem =
            "a container or guest gets one interface of the bed, and a doubly attached node needs two: leave it out";
        return Err(Refusal::of("place", problem));
    }
    if plan.devices() > 1 && !bed.of_lans().takes_several() {
        return Err(Refusal::of(
            "bed.networks",
            "veth has one device, but a step has several: use bridge",
        ));
    }
    Ok(())
}

fn check(bed: &Networks) -> Result<(), Refusal> {
    let refuse = |key: &str, problem: &str| Err(Refusal::of(key, problem));
    if bed.rounds != 1 || bed.networks.len() > 1 {
        return refuse(
            "bed.lans",
            "both LANs are of one network, measured once: name one in bed.networks, and no rounds",
        );
    }
    match bed.of_lans().takes_two_lans() {
        true => Ok(()),
        false => refuse(
            "bed.networks",
            "each LAN is a bridge or a veth pair: write bridge or veth, or leave it out",
        ),
    }
}

fn without(plan: &Plan) -> Result<(), Refusal> {
    match plan.steps.iter().position(|step| step.measure.needs_two_lans()) {
        Some(at) => Err(Refusal::of_step(
            at,
            "lan_fault",
            "the bed has one LAN: add lans = \"prp\" to [bed]",
        )),
        None => Ok(()),
    }
}

impl Plan {
    /// Protocol of the doubly attached nodes of the plan; `None` if its nodes have one interface.
    pub fn lans(&self) -> Option<Lans> {
        self.bed.as_ref().and_then(|bed| bed.lans)
    }

    /// Refuses what the command line adds to a plan of doubly attached nodes: another place, or ports of this machine.
    ///
    /// # Errors
    /// The option that two LANs do not allow.
    pub fn check_beside_lans(&self, place: PlaceKind, has_ports: bool) -> Result<(), PlanError> {
        let problem = match (self.lans(), place, has_ports) {
            (None, ..) | (_, PlaceKind::Native, false) => return Ok(()),
            (_, _, true) => "--nic and --far name one port of each end",
            (_, _, false) => "--place: a container or guest gets one interface of the bed",
        };
        Err(PlanError::Invalid {
            name: self.name.clone(),
            problem: format!(
                "{problem}, and the nodes of this plan are doubly attached (bed.lans): leave the option out, or measure real LANs with \
                 `trip IF --lan-b IF`"
            ),
        })
    }

    /// True if the plan names networks that are measured in turn.
    pub(crate) fn lists_networks(&self) -> bool {
        self.bed.is_some() && self.lans().is_none()
    }
}
