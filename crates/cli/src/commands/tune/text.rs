//! Plans and results of `tune` as text.

use audit::rule::Change;
use std::fmt::Write;
use std::path::Path;
use tune::{Applied, Outcome, Plan, Refusal, TuneStep};
use units::foreign::shown;

/// Planned changes. `options` are those of the audit, for the commands in it.
pub(super) fn plan(plan: &Plan, refusals: &[Refusal], options: &str) -> String {
    let (now, later): (Vec<&TuneStep>, Vec<&TuneStep>) =
        plan.steps.iter().partition(|step| !step.operations.is_empty());
    let mut out = String::new();
    if plan.steps.is_empty() {
        return "nothing to change: no check failed or warned\n".to_owned();
    }
    if !now.is_empty() {
        out += "Can be changed on the running machine (triptime tune --apply; --undo restores):\n";
    }
    for step in now {
        let when = match step.change {
            Change::Reboot => "in part; the rest needs a reboot",
            change => change.word(),
        };
        let _ = writeln!(out, "\n  {}: {} [{when}]", step.check, step.title);
        for operation in &step.operations {
            let _ = writeln!(out, "    {}", shown(&operation.to_string()));
        }
        risk(&mut out, step);
        refused(&mut out, step, refusals);
    }
    if !later.is_empty() {
        out += "\nNeeds a boot, another tool or a decision:\n";
    }
    for step in later {
        let _ = writeln!(out, "\n  {} [{}]: {}", step.check, step.change.word(), shown(&step.how));
        if let Some(why) = &step.unclear {
            let _ = writeln!(out, "    cannot be changed now: {}", shown(why));
        }
        if !step.emitted.is_empty() {
            let command = format!("triptime tune {} {options}", step.check);
            let _ = writeln!(
                out,
                "    settings: {} --emit {}",
                shown(command.trim_end()),
                step.emitted.join("|")
            );
        }
        risk(&mut out, step);
        refused(&mut out, step, refusals);
    }
    out
}

fn refused(out: &mut String, step: &TuneStep, refusals: &[Refusal]) {
    for refusal in refusals.iter().filter(|refusal| refusal.check == step.check) {
        let _ = writeln!(out, "    refused unless --force: {}", shown(&refusal.why));
    }
}

fn risk(out: &mut String, step: &TuneStep) {
    match (step.risk.is_empty(), step.change) {
        (false, _) => {
            let _ = writeln!(out, "    risk: {}", step.risk);
        }
        (true, Change::SafeNow) => out.push_str("    risk: none is known\n"),
        (true, _) => {}
    }
}

/// Changes that were made.
pub(super) fn applied(done: &[(String, Vec<Applied>)], refusals: &[Refusal], plan: &Plan, journal: &Path) -> String {
    let mut out = String::new();
    for (check, changes) in done.iter().filter(|(_, changes)| !changes.is_empty()) {
        let _ = writeln!(out, "{check}");
        for change in changes {
            let _ = writeln!(out, "  {change}");
        }
    }
    for refusal in refusals {
        let _ = writeln!(
            out,
            "{}\n  refused: {} (--force overrides this)",
            refusal.check, refusal.why
        );
    }
    let later = plan.steps.iter().filter(|step| step.operations.is_empty()).count();
    if later > 0 {
        let _ = writeln!(
            out,
            "{later} more need a boot, another tool or a decision: triptime tune --plan"
        );
    }
    if done
        .iter()
        .flat_map(|(_, changes)| changes)
        .any(|change| change.outcome == Outcome::Done)
    {
        let _ = writeln!(
            out,
            "old values: {}; triptime tune --undo restores them",
            journal.display()
        );
    }
    if out.is_empty() {
        out.push_str("nothing to change\n");
    }
    out
}

/// Changes that were restored.
pub(super) fn undone(changes: &[Applied]) -> String {
    if changes.is_empty() {
        return "nothing to undo: no change of this boot is in the journal\n".to_owned();
    }
    changes.iter().map(|change| format!("{change}\n")).collect()
}
