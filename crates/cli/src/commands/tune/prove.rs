//! `triptime tune --prove`: measures the effect of a finding on this machine.

use super::TuneArgs;
use crate::ending;
use crate::failure::{Failure, say};
use crate::terminal;
use crate::verdict;
use audit::Audit;
use campaign::proof::Proof;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};
use tune::{Refusal, TuneStep};
use units::foreign;

/// Options of a proof.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ProveArgs {
    /// How many times each state is measured
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000), requires = "prove")]
    rounds: u32,
    /// Folder for the runs [default: runs/TIME-prove]
    #[arg(long, value_name = "FOLDER", requires = "prove")]
    evidence: Option<PathBuf>,
    /// With --prove: the measurement, a command of triptime with its options [default: wakeup --duration 10s --window 1s]
    #[arg(last = true, value_name = "COMMAND")]
    measure: Vec<String>,
}

/// Measures both sides in turns, and compares them; returns the exit status.
pub(super) fn run(args: &TuneArgs, audit: &Audit, steps: &[&TuneStep], refusals: &[Refusal]) -> Result<u8, Failure> {
    let step = the_one(args, audit, steps)?;
    if let Some(refusal) = refusals
        .iter()
        .find(|refusal| refusal.check == step.check && !args.force)
    {
        return Err(Failure::Usage(format!(
            "{}: {} (--force overrides this)",
            step.check, refusal.why
        )));
    }
    let folder = folder(args)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    ending::on_signals(&interrupted)?;
    let cpus = args.of.cpus();
    let proof = Proof {
        step,
        rounds: args.prove.rounds,
        folder: &folder,
        journal: &args.journal,
        command: &args.prove.measure,
        options: &cpus.map_or_else(Vec::new, |cpus| vec!["--cpus".to_owned(), cpus.to_string()]),
        interrupted,
        say: &say,
    };
    let comparison = proof.compare()?;
    let full = format!("triptime compare --full {}", folder.join("*.triptime").display());
    verdict::write(&format!(
        "{}: {}\n{} of each, alternately; before: the present state, after: the recommended one\n\n{}",
        step.check,
        step.title,
        args.prove.rounds,
        comparison.answer(terminal::size(), &foreign::shown(&full))
    ))?;
    Ok(0)
}

/// The finding to prove.
fn the_one<'a>(args: &TuneArgs, audit: &Audit, steps: &[&'a TuneStep]) -> Result<&'a TuneStep, Failure> {
    let [check] = args.checks.as_slice() else {
        return Err(Failure::Usage(
            "--prove accepts one CHECK: the effects of several could not be separated".to_owned(),
        ));
    };
    let finding = audit.findings.iter().find(|finding| finding.rule.id == *check);
    let Some(step) = steps.iter().find(|step| step.check == *check) else {
        let outcome = finding.map_or("not asked", |finding| finding.outcome.word());
        return Err(Failure::CouldNotMeasure(format!(
            "{check}: nothing to prove: its outcome is {outcome}"
        )));
    };
    match step.operations.is_empty() {
        false => Ok(step),
        true => Err(Failure::CouldNotMeasure(format!(
            "{check}: cannot be changed on the running machine. Measure with --label before, change it ({}), measure with --label \
             after, and compare both runs with triptime compare",
            step.how
        ))),
    }
}

fn folder(args: &TuneArgs) -> Result<PathBuf, Failure> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let folder = args
        .prove
        .evidence
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("runs/{seconds}-prove")));
    std::fs::create_dir_all(&folder).map_err(|error| Failure::Usage(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}
