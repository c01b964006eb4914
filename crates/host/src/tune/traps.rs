//! Combinations that cost more than they bring, or take the machine away from whoever tunes it.

use units::CpuList;

use super::operation::Target;
use super::plan::{Plan, Step};
use crate::Host;
use crate::audit::Audit;
use crate::audit::parameters::{Parameters, Workload};
use crate::audit::value::Value;

/// Why a step is not taken unless told so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The check.
    pub check: String,
    /// Why.
    pub why: String,
}

/// The steps of a plan that would do more harm than good.
pub fn refusals(host: &Host, audit: &Audit, parameters: &Parameters, plan: &Plan) -> Vec<Refusal> {
    let carrier = carrier(host);
    let steps = plan.steps.iter().filter(|step| !step.operations.is_empty());
    let found = steps.filter_map(|step| {
        let why = trap(audit, parameters, step, carrier.as_deref())?;
        Some(Refusal {
            check: step.check.clone(),
            why,
        })
    });
    found.collect()
}

fn trap(audit: &Audit, parameters: &Parameters, step: &Step, carrier: Option<&str>) -> Option<String> {
    let of = |name| match audit.facts.get(None, name) {
        Ok(Value::Cpus(cpus)) => Some(cpus),
        _ => None,
    };
    let (rt_cpus, others) = (of("rt_cpus")?, of("hk_cpus")?);
    if others.is_empty() {
        return Some("every CPU online is set aside for real-time work: none is left for everything else".to_owned());
    }
    let writes = |path: &str| {
        step.operations
            .iter()
            .any(|one| one.target == Target::File(path.to_owned()) && one.value == "-1")
    };
    if writes("/proc/sys/kernel/sched_rt_runtime_us") && parameters.workload == Workload::BusyPoll {
        let free: CpuList = ["cpus.isolated", "cpus.partitions"]
            .into_iter()
            .filter_map(of)
            .flat_map(|cpus| cpus.iter().collect::<Vec<_>>())
            .collect();
        let shared = rt_cpus.without(&free);
        if rt_cpus.is_empty() || !shared.is_empty() {
            return Some(format!(
                "without the real-time budget, a thread that spins takes its CPU for good, and CPU {} is not kept free for it",
                if rt_cpus.is_empty() { &others } else { &shared }
            ));
        }
    }
    let carrier = carrier.filter(|name| touches(step, name))?;
    Some(format!("{carrier} carries the connection to this machine"))
}

/// Whether a step changes files of an interface.
fn touches(step: &Step, interface: &str) -> bool {
    let folder = format!("/net/{interface}/");
    step.operations
        .iter()
        .any(|one| matches!(&one.target, Target::File(path) if path.contains(&folder)))
}

/// The interface of the default route: who is connected from elsewhere comes through it.
fn carrier(host: &Host) -> Option<String> {
    let table = host.reader.text("/proc/net/route").ok()?;
    let default = table
        .lines()
        .skip(1)
        .find(|line| line.split_whitespace().nth(1) == Some("00000000"))?;
    default.split_whitespace().next().map(str::to_owned)
}
