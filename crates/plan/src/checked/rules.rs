//! Combinations of a plan's tables that are refused. Each rule says so in words.

use crate::faults::{PlanFault, wire_faults};
use crate::file::Plan;
use crate::networks::Networks;
use crate::step::Step;
use probes::Need;
use sys::thread::Policy;
use units::CpuList;

/// Refuses loads that cannot be.
pub(super) fn loads(plan: &Plan) -> Result<(), String> {
    let networks = plan.bed.as_ref().map_or(1, |bed| bed.networks.len());
    let of_steps = plan.steps.iter().flat_map(|step| &step.common.loads);
    let mut all = plan.loads.iter().chain(of_steps);
    all.try_for_each(|load| load.check(plan.needs_bed(), networks))
}

/// Refuses what several devices side by side cannot be with, in words.
pub(super) fn devices(plan: &Plan) -> Result<(), String> {
    if plan.devices() == 1 {
        return Ok(());
    }
    if !plan.faults.is_empty() {
        return Err("fault: the wire that makes faults has one device: give each step one relay".into());
    }
    let networks = plan.bed.iter().flat_map(|bed| &bed.networks);
    if let Some(network) = networks.copied().find(|network| !network.takes_several()) {
        return Err(format!(
            "bed.networks: {} has one device, and a step has several relays: use bridge, macvlan or openvswitch",
            network.name()
        ));
    }
    match plan.steps.iter().any(|step| step.measure.is_traced()) {
        true => {
            Err("trace = true: beside several relays a frame has several ways: make a plan of its own of it".into())
        }
        false => Ok(()),
    }
}

/// Refuses steps that cannot run side by side on any machine.
///
/// # Errors
/// The first reason, in words.
pub(super) fn beside(plan: &Plan) -> Result<(), String> {
    if plan.steps.first().is_some_and(|step| step.common.beside_previous) {
        return Err("beside_previous: the first step has none before it".to_owned());
    }
    for group in plan.groups().filter(|group| group.len() > 1) {
        let of = |step: &Step| (step.common.duration, step.common.idle);
        let first = &group[0];
        if let Some(other) = group.iter().find(|step| of(step) != of(first)) {
            return Err(format!(
                "steps \"{}\" and \"{}\" run side by side: give them one duration and one idle",
                first.name(),
                other.name()
            ));
        }
        let roams = |step: &&Step| {
            let needs = step.measure.needs(&CpuList::default());
            needs
                .iter()
                .any(|need| matches!(need, Need::Policy(Policy::Deadline { .. })))
        };
        if let Some(step) = group.iter().find(roams) {
            return Err(format!(
                "beside_previous: a thread of a deadline policy runs on any CPU, and would take those of the steps beside \"{}\": \
                 use fifo or rr",
                step.name()
            ));
        }
        if plan.bed.is_some() && group.iter().any(Step::needs_bed) {
            return Err(
                "beside_previous: a step that compares networks measures them in turn, and nothing beside it"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// Refuses compared networks that cannot be.
pub(super) fn networks(table: &Networks, steps: &[Step]) -> Result<(), String> {
    if table.networks.is_empty() || table.rounds == 0 {
        return Err("bed: no network, or no round: leave [bed] out for a bridge alone".into());
    }
    let repeated = (1..table.networks.len()).find(|at| table.networks[..*at].contains(&table.networks[*at]));
    if let Some(at) = repeated {
        return Err(format!("bed.networks: {} is listed twice", table.networks[at].name()));
    }
    let thread = table.networks.iter().find(|network| network.in_user_space());
    if let Some(network) = thread.filter(|_| steps.iter().any(Step::spins)) {
        return Err(format!(
            "receive = \"spin\" would keep the switch of {} from its CPU: leave one of them out",
            network.name()
        ));
    }
    match steps.iter().any(Step::needs_bed) {
        true => Ok(()),
        false => Err("bed: no step measures over it: add one with probe = \"reflect\"".into()),
    }
}

/// Refuses faults that cannot be.
pub(super) fn faults(faults: &[PlanFault], bed: Option<&Networks>, steps: &[Step]) -> Result<(), String> {
    if faults.is_empty() {
        return Ok(());
    }
    wire_faults(faults, 0)?;
    if bed.is_some() {
        return Err("fault: the wire that makes faults is a network of its own: leave [bed] out".into());
    }
    if !steps.iter().any(Step::needs_bed) {
        return Err("fault: no step measures over the wire: add one with probe = \"reflect\"".into());
    }
    match steps.iter().any(Step::spins) {
        true => Err("receive = \"spin\" would keep the wire that makes faults from its CPU: use \"block\"".into()),
        false => Ok(()),
    }
}

/// Refuses what a plan with such a network cannot be, in words.
pub(super) fn management(plan: &Plan) -> Result<(), String> {
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

/// Series that two steps would both write.
pub(super) fn twice(steps: &[Step]) -> Option<String> {
    let names: Vec<String> = steps.iter().map(Step::series).collect();
    let again = (1..names.len()).find(|at| names[..*at].contains(&names[*at]))?;
    Some(names[again].clone())
}
