//! Combinations of a plan's tables that are refused. Each rule states its reason.

use super::Refusal;
use crate::faults::PlanFault;
use crate::file::Plan;
use crate::networks::Networks;
use crate::step::{PlanLoad, Step};
use probes::Need;
use sys::thread::Policy;
use units::CpuList;

/// Refuses impossible keys of the plan and of single steps.
pub(super) fn plan(plan: &Plan) -> Result<(), Refusal> {
    let refuse = |key: &str, problem: &str| Err(Refusal::of(key, problem));
    if plan.steps.is_empty() {
        return refuse("step", "no [[step]]: a plan needs at least one");
    }
    if plan.window.0 < 100_000_000 {
        return refuse(
            "window",
            "use at least 100ms: the extremes of a shorter window say nothing",
        );
    }
    if let Some(at) = plan.steps.iter().position(|step| step.common.duration.0 == 0) {
        let problem = format!("zero in step \"{}\"", plan.steps[at].name());
        return Err(Refusal::of_step(at, "duration", problem));
    }
    if plan.vcpus == Some(0) {
        return refuse("vcpus", "a guest needs at least one virtual CPU");
    }
    match plan.loads.iter().position(|load| load.there) {
        Some(at) => {
            let problem = "a load in the place of the device runs during a step: put it into [[step.load]]";
            Err(Refusal::of_one("load", at, "there", problem))
        }
        None => Ok(()),
    }
}

/// Refuses impossible loads.
pub(super) fn loads(plan: &Plan) -> Result<(), Refusal> {
    let networks = plan.bed.as_ref().map_or(1, |bed| bed.networks.len());
    let check = |load: &PlanLoad| load.check(plan.needs_bed(), networks);
    for (at, load) in plan.loads.iter().enumerate() {
        check(load).map_err(|problem| Refusal::of_one("load", at, "line", problem))?;
    }
    for (at, step) in plan.steps.iter().enumerate() {
        for load in &step.common.loads {
            check(load).map_err(|problem| Refusal::of_step(at, "load", problem))?;
        }
    }
    Ok(())
}

/// Refuses plan keys that several devices side by side do not allow.
pub(super) fn devices(plan: &Plan) -> Result<(), Refusal> {
    if plan.devices() == 1 {
        return Ok(());
    }
    if !plan.faults.is_empty() {
        return Err(Refusal::of(
            "fault",
            "the wire that makes faults has one device: give each step one relay, and no ping-pong",
        ));
    }
    let networks = plan.bed.iter().flat_map(|bed| &bed.networks);
    if let Some(network) = networks.copied().find(|network| !network.takes_several()) {
        return Err(Refusal::of(
            "bed.networks",
            format!(
                "{} has one device, but a step has several: use bridge, macvlan or openvswitch",
                network.name()
            ),
        ));
    }
    match plan.steps.iter().position(|step| step.measure.is_traced()) {
        Some(at) => Err(Refusal::of_step(
            at,
            "trace",
            "with several devices, a frame takes several paths: trace in a separate plan",
        )),
        None => Ok(()),
    }
}

/// Refuses plan keys that a relay at the one port of a plan does not allow.
pub(crate) fn relay(plan: &Plan) -> Result<(), Refusal> {
    let Some(relay) = plan.relay() else { return Ok(()) };
    let is_other = |step: &Step| step.needs_bed() && step.measure.relay().is_none();
    if let Some(at) = plan.steps.iter().position(is_other) {
        let problem = format!(
            "it is measured over a test bed, but the plan has the one port to the relay {relay}: leave this step \"{}\" out",
            plan.steps[at].name()
        );
        return Err(Refusal::of_step(at, "probe", problem));
    }
    let tables = [
        ("bed", plan.bed.is_some()),
        ("fault", !plan.faults.is_empty()),
        ("management", plan.management.is_some()),
        ("matrix", plan.matrix.is_some()),
    ];
    match tables.into_iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => Err(Refusal::of(
            key,
            format!("the network to the relay {relay} is not made by triptime: leave it out"),
        )),
        None => Ok(()),
    }
}

/// Refuses steps that cannot run side by side on any machine.
///
/// # Errors
/// The first reason, in words.
pub(super) fn beside(plan: &Plan) -> Result<(), Refusal> {
    const KEY: &str = "beside_previous";
    if plan
        .steps
        .first()
        .is_some_and(|step| step.common.beside_previous.is_beside())
    {
        return Err(Refusal::of_step(0, KEY, "there is no step before the first one"));
    }
    let mut begin = 0;
    for group in plan.groups() {
        if let Some((at, problem)) = not_beside(group, plan.lists_networks()) {
            return Err(Refusal::of_step(begin + at, KEY, problem));
        }
        begin += group.len();
    }
    Ok(())
}

/// The step among these that cannot run side by side with the others, and the reason.
pub(crate) fn not_beside(group: &[Step], has_bed: bool) -> Option<(usize, String)> {
    let [first, others @ ..] = group else { return None };
    if others.is_empty() {
        return None;
    }
    let of = |step: &Step| (step.common.duration, step.common.idle);
    if let Some(at) = group.iter().position(|step| of(step) != of(first)) {
        let (one, other) = (first.name(), group[at].name());
        let problem = format!("steps \"{one}\" and \"{other}\" run side by side: give them one duration and one idle");
        return Some((at, problem));
    }
    let roams = |step: &Step| {
        let needs = step.measure.needs(&CpuList::default());
        needs
            .iter()
            .any(|need| matches!(need, Need::Policy(Policy::Deadline { .. })))
    };
    if let Some(at) = group.iter().position(roams) {
        let problem = format!(
            "a thread of a deadline policy runs on any CPU, and would also use those of the concurrent step \"{}\": \
             use fifo or rr",
            group[at].name()
        );
        return Some((at, problem));
    }
    let at = group.iter().position(Step::needs_bed).filter(|_| has_bed)?;
    let problem = "a step that compares networks measures them in turn, and cannot run side by side with others";
    Some((at, problem.to_owned()))
}

/// Refuses impossible lists of networks.
pub(super) fn networks(table: &Networks, steps: &[Step]) -> Result<(), Refusal> {
    if (table.networks.is_empty() && table.lans.is_none()) || table.rounds == 0 {
        let problem = "no network, or no round: leave [bed] out for a bridge alone";
        return Err(Refusal::of("bed", problem));
    }
    let repeated = (1..table.networks.len()).find(|at| table.networks[..*at].contains(&table.networks[*at]));
    if let Some(at) = repeated {
        let problem = format!("{} is listed twice", table.networks[at].name());
        return Err(Refusal::of("bed.networks", problem));
    }
    let thread = table.networks.iter().find(|network| network.in_user_space());
    if let Some((network, at)) = thread.zip(steps.iter().position(Step::spins)) {
        let problem = format!(
            "\"spin\" would keep the switch of {} from its CPU: leave one of them out",
            network.name()
        );
        return Err(Refusal::of_step(at, "receive", problem));
    }
    if table.times() > 1 {
        recorded_once(steps)?;
    }
    match steps.iter().any(Step::needs_bed) {
        true => Ok(()),
        false => Err(Refusal::of(
            "bed",
            "no step measures over it: add one with probe = \"reflect\"",
        )),
    }
}

/// Refuses steps that keep every frame, where they are measured more than once.
pub(crate) fn recorded_once(steps: &[Step]) -> Result<(), Refusal> {
    match steps.iter().position(|step| step.measure.stamps_kept(0) > 0) {
        Some(at) => Err(Refusal::of_step(at, "record", record_of_several())),
        None => Ok(()),
    }
}

/// Why frames of several measurements of one step are not kept.
pub(crate) fn record_of_several() -> String {
    "every frame is kept of one network in one round: leave one in bed.networks with rounds = 1, and no port of --nic beside it".to_owned()
}

/// Refuses impossible faults.
pub(super) fn faults(faults: &[PlanFault], bed: Option<&Networks>, steps: &[Step]) -> Result<(), Refusal> {
    if faults.is_empty() {
        return Ok(());
    }
    for (at, fault) in faults.iter().enumerate() {
        fault
            .check()
            .map_err(|problem| Refusal::of_one("fault", at, "kind", problem))?;
    }
    if bed.is_some() {
        let problem = "the wire that makes faults is a network of its own: leave [bed] out";
        return Err(Refusal::of("fault", problem));
    }
    if !steps.iter().any(Step::needs_bed) {
        let problem = "no step measures over the wire: add one with probe = \"reflect\"";
        return Err(Refusal::of("fault", problem));
    }
    match steps.iter().position(Step::spins) {
        Some(at) => Err(Refusal::of_step(
            at,
            "receive",
            "\"spin\" would keep the wire that makes faults from its CPU: use \"block\"",
        )),
        None => Ok(()),
    }
}

/// Refuses plan keys that a management network does not allow.
pub(super) fn management(plan: &Plan) -> Result<(), Refusal> {
    let Some(table) = &plan.management else { return Ok(()) };
    table.check("management")?;
    if table.is_none() {
        return Err(Refusal::of(
            "management.rate",
            "missing: write frames a second, or \"max\"",
        ));
    }
    if !plan.steps.iter().any(Step::needs_bed) {
        let problem = "no step measures over the test bed, whose devices it joins: leave it out";
        return Err(Refusal::of("management", problem));
    }
    match &plan.bed {
        Some(bed) if bed.networks.len() > 1 => Err(Refusal::of(
            "management",
            "a management network needs exactly one process bus at a time: leave one in bed.networks, or \
             write a [matrix], whose cells have one each",
        )),
        _ => Ok(()),
    }
}

/// Refuses series that two steps would both write.
pub(super) fn twice(steps: &[Step]) -> Result<(), Refusal> {
    let names: Vec<String> = steps.iter().map(Step::series).collect();
    match (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
        Some(at) => Err(Refusal::of_step(
            at,
            "label",
            format!(
                "two steps measure {}: give them different labels (label = \"...\")",
                names[at]
            ),
        )),
        None => Ok(()),
    }
}
