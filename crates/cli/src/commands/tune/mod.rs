//! `triptime tune`: shows and makes the changes that remedy the findings of an audit, and can undo them.

mod prove;
mod text;

use crate::commands::audit::OfArgs;
use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::verdict;
use audit::Audit;
use host::Host;
use std::path::PathBuf;
use tune::{self, Applied, JOURNAL, Journal, JournalError, Plan, Refusal, TuneStep, TunedMachine};

/// Shows the changes that would remedy the findings of an audit; with --apply makes those that are possible at run time, and can undo them
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Without an action, --plan: the exact writes and the risk of each; nothing is changed. --apply keeps every old value in a journal \
before it writes, reads each value back, and restores the old value if the new one did not take effect. --undo \
restores everything from the journal, also after a crash, except values that somebody else has set since. Settings \
last until the next boot: --emit makes them permanent. --emit libvirt with the file of a domain prints a diff for patch or git apply.

Exit status: 0 done; 1 a change did not take effect or was refused; 2 wrong usage; 3 not possible here.

Examples: triptime tune --cpus 2-3
          triptime tune rt-throttling timer-migration --cpus 2-3 --apply
          triptime tune --undo
          triptime tune timer-migration --cpus 2-3 --prove
          triptime tune irq-affinity-off-rt --cpus 2 --prove -- noise --cpus 2 --duration 20s
          triptime tune --cpus 2-3 --emit kernel-args")]
pub(crate) struct TuneArgs {
    /// Checks to remedy, by their names in the audit [default: all that failed or warned]
    #[arg(value_name = "CHECK")]
    checks: Vec<String>,
    #[command(flatten)]
    of: OfArgs,
    #[command(flatten)]
    action: ActionArgs,
    /// Make changes that are refused as traps: they can cut you off from the machine. With --undo: also restore values that somebody else
    /// has set since
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    prove: prove::ProveArgs,
    /// Folder or file for the old values
    #[arg(long, value_name = "FILE", default_value = JOURNAL)]
    journal: PathBuf,
}

/// Actions of the command; without any, the plan is shown.
#[derive(Debug, Clone, clap::Args)]
#[group(multiple = false)]
struct ActionArgs {
    /// Show the exact writes and the risk of each [default]
    #[arg(long)]
    plan: bool,
    /// Change what can be changed on the running machine
    #[arg(long, conflicts_with = "root")]
    apply: bool,
    /// Restore every value that --apply changed
    #[arg(long, conflicts_with_all = ["checks", "root"])]
    undo: bool,
    /// Measure the effect of one CHECK on this machine: in its present and its recommended state, alternately; afterwards every value is restored
    #[arg(long, conflicts_with = "root")]
    prove: bool,
    /// Print settings for a boot loader or another tool
    #[arg(long, value_name = "TOOL", value_parser = clap::builder::PossibleValuesParser::new(tune::KINDS))]
    emit: Option<String>,
}

/// Exit status: a change did not take effect or was refused.
const NOT_ALL: u8 = 1;

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &TuneArgs) -> Result<u8, Failure> {
    if args.action.undo {
        return undo(args);
    }
    check(&args.checks)?;
    let machine = args.of.machine(false)?;
    let audit = args.of.audit(&machine)?;
    if let Some(tool) = &args.action.emit {
        return emit(args, &machine, &audit, tool);
    }
    let plan = tune::plan(&machine, &audit, &args.checks);
    let refusals = tune::refusals(&machine, &audit, &args.of.parameters(), &plan);
    if args.action.prove {
        let steps: Vec<&TuneStep> = plan.steps.iter().collect();
        return prove::run(args, &audit, &steps, &refusals);
    }
    match args.action.apply {
        true => apply(args, &plan, &refusals),
        false => {
            verdict::write(&text::plan(&plan, &refusals, &args.of.words()))?;
            Ok(0)
        }
    }
}

/// Refuses names of unknown checks.
fn check(checks: &[String]) -> Result<(), Failure> {
    let groups = audit::rule::built_in();
    let known: Vec<&str> = groups
        .iter()
        .flat_map(|(_, group)| &group.rules)
        .map(|rule| rule.id.as_str())
        .collect();
    match checks.iter().find(|check| !known.contains(&check.as_str())) {
        None => Ok(()),
        Some(check) => {
            let likeness = |name: &&&str| (strsim::jaro_winkler(check, name) * 1e6) as u64;
            let near = known.iter().max_by_key(likeness).unwrap_or(&"none");
            Err(Failure::Usage(format!(
                "{check}: no such check (the nearest is {near}; triptime audit --full --all lists them)"
            )))
        }
    }
}

fn emit(args: &TuneArgs, host: &Host, audit: &Audit, tool: &str) -> Result<u8, Failure> {
    let patches = match tool {
        "libvirt" => libvirt(args, host, audit),
        _ => Vec::new(),
    };
    let text = match patches.is_empty() {
        true => tune::emit(audit, &args.checks, tool),
        false => patches.into_iter().collect::<Result<String, String>>(),
    };
    let text = text.map_err(Failure::Usage)?;
    let harms = tune::harms(audit, &args.checks);
    for (check, why) in &harms {
        say(&format_args!("{check} is left out: {why}"));
    }
    match text.is_empty() {
        true if !harms.is_empty() => return Ok(NOT_ALL),
        true => say(&format_args!("no finding needs a setting for {tool}")),
        false => verdict::write(&text)?,
    }
    // JSON cannot contain comments.
    if tool == "oci" {
        let risks = tune::risks(audit, &args.checks, tool);
        risks.iter().for_each(|risk| say(risk));
    }
    Ok(0)
}

/// A diff for each domain with a readable definition; others have none.
fn libvirt(args: &TuneArgs, host: &Host, audit: &Audit) -> Vec<Result<String, String>> {
    let (files, names) = (args.of.domain_files(), args.of.domain_names());
    let of_files = files.iter().map(|path| tune::libvirt_patch(audit, &args.checks, path));
    let of_names = names
        .iter()
        .filter_map(|name| tune::libvirt_patch_of_name(host, audit, &args.checks, name));
    of_files.chain(of_names).collect()
}

fn apply(args: &TuneArgs, plan: &Plan, refusals: &[Refusal]) -> Result<u8, Failure> {
    let mut journal = Journal::open(&args.journal).map_err(|error| unusable(&error))?;
    let (machine, mut done) = (TunedMachine::live(), Vec::new());
    let is_refused = |check: &str| !args.force && refusals.iter().any(|refusal| refusal.check == check);
    let steps = plan.steps.iter().filter(|step| !is_refused(&step.check));
    for step in steps {
        let applied =
            tune::apply(&machine, &mut journal, &step.check, &step.operations).map_err(|error| unusable(&error))?;
        done.push((step.check.clone(), applied));
    }
    let refusals = if args.force { &[] } else { refusals };
    verdict::write(&text::applied(&done, refusals, plan, &args.journal))?;
    let all = done.iter().flat_map(|(_, applied)| applied);
    Ok(if refusals.is_empty() && all.clone().all(Applied::holds) {
        0
    } else {
        NOT_ALL
    })
}

fn undo(args: &TuneArgs) -> Result<u8, Failure> {
    // A dangling link counts as existing, and is refused.
    if args.journal.symlink_metadata().is_err() {
        verdict::write(&format!("nothing to undo: {} does not exist\n", args.journal.display()))?;
        return Ok(0);
    }
    let mut journal = Journal::open(&args.journal).map_err(|error| unusable(&error))?;
    let undo = if args.force { tune::undo_forced } else { tune::undo };
    let undone = undo(&TunedMachine::live(), &mut journal).map_err(|error| unusable(&error))?;
    verdict::write(&text::undone(&undone))?;
    Ok(if undone.iter().all(Applied::holds) {
        0
    } else {
        COULD_NOT_MEASURE
    })
}

fn unusable(error: &JournalError) -> Failure {
    Failure::CouldNotMeasure(error.to_string())
}
