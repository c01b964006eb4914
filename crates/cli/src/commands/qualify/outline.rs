//! List of plans, and the outline of one.

use crate::failure::Failure;
use crate::verdict::write;
use host::CpuFacts;
use model::Fact;
use plan::{EMBEDDED, Plan, Roles};
use std::fmt::Write;
use units::foreign::shown;
use units::format_ns;

/// Prints the plans inside the program; returns the exit status.
pub(super) fn list() -> Result<u8, Failure> {
    let mut out = String::new();
    let width = EMBEDDED.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in EMBEDDED {
        let plan = Plan::parse(name, text)?;
        let time = format_ns(plan.whole_ns() as f64);
        let _ = writeln!(out, "{name:<width$} {time:>9}  {}", plan.what);
    }
    out.push_str("A plan of your own is a TOML file: triptime qualify site.toml. triptime qualify NAME --show shows the steps of a plan.\n");
    write(&out)?;
    Ok(0)
}

/// Prints what a plan will do here, and which kernel its guests boot if it has any; returns the exit status.
pub(super) fn show(
    (plan, part): (&Plan, Option<&Fact>),
    cpus: &CpuFacts,
    roles: &Roles,
    guests: Option<String>,
) -> Result<u8, Failure> {
    let outline = plan.outline(cpus, roles)?;
    let mut out = format!(
        "{}: {}\n{}; limits: {}\n",
        shown(&plan.name),
        shown(&plan.what),
        shown(&extent(plan)),
        shown(&plan.limits)
    );
    for line in roles.lines() {
        let _ = writeln!(out, "{line}");
    }
    list_of(&mut out, "Steps", &outline.steps);
    let left_out: Vec<String> = part.and_then(|fact| fact.value.clone().ok()).into_iter().collect();
    list_of(&mut out, "Steps of the plan left out by --step", &left_out);
    list_of(&mut out, "Loads during all of them", &outline.loads);
    list_of(
        &mut out,
        "Commands that it runs on this machine while it measures",
        &outline.actions,
    );
    let does: Vec<String> = guests.into_iter().chain(outline.does).collect();
    list_of(&mut out, "Effects on this host", &does);
    write(&out)?;
    Ok(0)
}

/// Reports that everything a plan needs is there; returns the exit status.
pub(super) fn ready() -> Result<u8, Failure> {
    write("Everything the plan needs is there. Nothing was measured.\n")?;
    Ok(0)
}

/// Such as `plan quick: 5 steps, 58.0 s of measuring`, or `plan networks: 1 step over 5 networks in 4 rounds, 80.0 s of measuring`.
pub(super) fn extent(plan: &Plan) -> String {
    let steps = plan.steps.len();
    let ending = if steps == 1 { "" } else { "s" };
    let time = format_ns(plan.whole_ns() as f64);
    let times = times(plan);
    format!(
        "plan {}: {steps} step{ending}{times}, {time} of measuring, and a few seconds around each step",
        plan.name
    )
}

/// How often a plan that compares networks measures each step; empty for one network and round.
fn times(plan: &Plan) -> String {
    let Some(bed) = plan.bed.as_ref().filter(|bed| bed.lans.is_none()) else {
        return String::new();
    };
    match (bed.networks.len(), bed.rounds) {
        (0 | 1, 1) => String::new(),
        (0 | 1, rounds) => format!(" in {rounds} rounds"),
        (networks, 1) => format!(" over {networks} networks"),
        (networks, rounds) => format!(" over {networks} networks in {rounds} rounds"),
    }
}

fn list_of(out: &mut String, heading: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "{heading}");
        lines.iter().for_each(|line| {
            // A control character in a command could hide it from the person who approves it.
            let _ = writeln!(out, "  {}", shown(line));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::list_of;

    #[test]
    fn a_command_cannot_hide_itself_behind_control_characters() {
        let mut out = String::new();
        list_of(&mut out, "Commands", &["rm x\r\u{1b}[2Ktrue\nfalse".to_owned()]);
        assert_eq!(out.lines().count(), 2, "{out:?}");
        assert!(!out.replace('\n', "").contains(char::is_control), "{out:?}");
    }
}
