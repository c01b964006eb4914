//! Remedies for a run's machine, as the run keeps them: for each failed finding its command, else the manual step.

use model::Fact;
use model::fact::REMEDIES;

use super::harm::none_left;
use super::{TuneStep, plan, refusals};
use audit::Audit;
use audit::finding::{Finding, Outcome};
use audit::parameters::Parameters;
use audit::rule::Change;
use host::Host;

/// A fact for each failed finding that can be remedied on this machine without a harm in [`refusals`]: the command with the options of the
/// audit, or the check, then a colon and the step.
pub fn remedies(host: &Host, audit: &Audit, parameters: &Parameters) -> Vec<Fact> {
    let is_failed = |finding: &&Finding| finding.outcome == Outcome::Fail;
    let failed = audit.findings.iter().filter(is_failed);
    let failed: Vec<String> = failed.map(|finding| finding.rule.id.clone()).collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let plan = plan(host, audit, &failed);
    let refusals = refusals(host, audit, parameters, &plan);
    let is_refused = |step: &&TuneStep| refusals.iter().any(|refusal| refusal.check == step.check);
    let is_possible = |step: &&TuneStep| !is_refused(step) && (none_left(audit).is_none() || is_by_hand(audit, step));
    let steps = plan.steps.iter().filter(is_possible);
    let words = parameters.words();
    steps.map(|step| fact(step, &words)).collect()
}

/// True if no tool can do any part of it.
fn is_by_hand(audit: &Audit, step: &TuneStep) -> bool {
    let mut rules = audit.findings.iter().map(|finding| &finding.rule);
    rules.any(|rule| {
        let remedy = &rule.remedy;
        rule.id == step.check && remedy.write.is_empty() && remedy.action.is_none() && remedy.emit.is_empty()
    })
}

fn fact(step: &TuneStep, words: &[String]) -> Fact {
    let head = match way(step) {
        Some(way) => {
            let parts = ["triptime", "tune", &step.check].into_iter();
            let parts = parts.chain(words.iter().map(String::as_str)).chain(way);
            parts.collect::<Vec<_>>().join(" ")
        }
        None => step.check.clone(),
    };
    Fact {
        group: REMEDIES.to_owned(),
        name: step.check.clone(),
        value: Ok(format!("{head}: {}", step.how)),
        source: "audit".to_owned(),
    }
}

/// Options of `tune` that apply it here. Disruptive changes are only shown, with their risk. `None`: a manual step.
fn way(step: &TuneStep) -> Option<Vec<&str>> {
    let emitted = || Some(vec!["--emit", step.emitted.first()?.as_str()]);
    let live = || match (step.operations.is_empty(), step.change) {
        (true, _) => None,
        (false, Change::SafeNow) => Some(vec!["--apply"]),
        (false, _) => Some(vec!["--plan"]),
    };
    match step.change {
        Change::Reboot | Change::GuestRestart => emitted().or_else(live),
        _ => live().or_else(emitted),
    }
}

#[cfg(test)]
mod tests;
