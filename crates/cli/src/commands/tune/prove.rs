//! Worth of a finding on this machine: measured with the setting as it is and as it should be, in turns.

use super::TuneArgs;
use crate::ending;
use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::verdict;
use audit::Audit;
use model::{RunState, RunView};
use report::comparison::{Comparison, joined};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::RunFile;
use tune::{self, Applied, Journal, Outcome, Refusal, TuneStep, TunedMachine};
use units::foreign;

/// Settings need a moment until they hold everywhere: workers move, interrupts are rerouted.
const SETTLE: Duration = Duration::from_millis(300);

/// Default measurement when no command is given; one for each CPU.
const WAKEUP: [&str; 5] = ["wakeup", "--duration", "10s", "--window", "1s"];

/// Options of a proof.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ProveArgs {
    /// How many times each side is measured
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000), requires = "prove")]
    rounds: u32,
    /// Folder for the runs [default: runs/TIME-prove]
    #[arg(long, value_name = "FOLDER", requires = "prove")]
    evidence: Option<PathBuf>,
    /// With --prove: what to measure, a command of triptime with its options [default: wakeup --duration 10s --window 1s]
    #[arg(last = true, value_name = "COMMAND")]
    measure: Vec<String>,
}

/// Both sides, in the order in which the runs are compared.
const SIDES: [&str; 2] = ["before", "after"];

/// Measures, changes, measures, restores, and so on; then compares.
pub(super) fn run(args: &TuneArgs, audit: &Audit, steps: &[&TuneStep], refusals: &[Refusal]) -> Result<u8, Failure> {
    let step = the_one(args, audit, steps)?;
    if let Some(refusal) = refusals
        .iter()
        .find(|refusal| refusal.check == step.check && !args.force)
    {
        return Err(Failure::Usage(format!(
            "{}: {} (--force does it all the same)",
            step.check, refusal.why
        )));
    }
    let folder = folder(args)?;
    let ended = Arc::new(AtomicBool::new(false));
    ending::on_signals(&ended)?;
    let rounds = measured(args, step, &folder, &ended)?;
    let [before, after] = rounds.map(|files| side(&files));
    let both = [("before".to_owned(), before?), ("after".to_owned(), after?)];
    let comparison = Comparison::of(both.to_vec());
    let full = format!("triptime compare --full {}", folder.join("*.triptime").display());
    verdict::write(&format!(
        "{}: {}\n{} of each in turns; before: as it is, after: as it should be\n\n{}",
        step.check,
        step.title,
        args.prove.rounds,
        comparison.answer(&foreign::shown(&full))
    ))?;
    Ok(0)
}

/// The finding to prove.
fn the_one<'a>(args: &TuneArgs, audit: &Audit, steps: &[&'a TuneStep]) -> Result<&'a TuneStep, Failure> {
    let [check] = args.checks.as_slice() else {
        return Err(Failure::Usage(
            "--prove takes one CHECK: what each of several is worth could not be told".to_owned(),
        ));
    };
    let finding = audit.findings.iter().find(|finding| finding.rule.id == *check);
    let Some(step) = steps.iter().find(|step| step.check == *check) else {
        let outcome = finding.map_or("not asked", |finding| finding.outcome.word());
        return Err(Failure::CouldNotMeasure(format!(
            "{check}: nothing to prove: it came out as {outcome}"
        )));
    };
    match step.operations.is_empty() {
        false => Ok(step),
        true => Err(Failure::CouldNotMeasure(format!(
            "{check}: cannot be changed on the running machine. Measure with --label before, change it ({}), measure with --label \
             after, and hold both runs against each other with triptime compare",
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

/// Takes turns; the machine is as before when this returns, also when a measurement fails.
fn measured(args: &TuneArgs, step: &TuneStep, folder: &Path, ended: &AtomicBool) -> Result<[Vec<PathBuf>; 2], Failure> {
    let mut files = [Vec::new(), Vec::new()];
    for round in 0..args.prove.rounds {
        // The first side changes from round to round, so that drift favours none.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let file = folder.join(format!("{}-{:03}.triptime", SIDES[side], round + 1));
            say(&format_args!(
                "round {} of {}: {}",
                round + 1,
                args.prove.rounds,
                SIDES[side]
            ));
            match side {
                0 => measure(args, SIDES[side], &file)?,
                _ => changed(args, step, || measure(args, SIDES[side], &file))?,
            }
            files[side].push(file);
            if ended.load(Ordering::Relaxed) {
                return Err(Failure::CouldNotMeasure(format!(
                    "interrupted; every value is as before, and the runs so far are in {}",
                    folder.display()
                )));
            }
        }
    }
    Ok(files)
}

/// Applies the step, measures, and restores what it changed: what was applied before stays.
fn changed(args: &TuneArgs, step: &TuneStep, measure: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let machine = TunedMachine::live();
    let mut journal = Journal::open(&args.journal).map_err(|error| super::unusable(&error))?;
    let mark = journal.count().map_err(|error| super::unusable(&error))?;
    let applied = tune::apply(&machine, &mut journal, &step.check, &step.operations);
    let measured = match applied {
        Err(error) => Err(super::unusable(&error)),
        Ok(applied) if applied.iter().any(|one| one.outcome == Outcome::Done) => {
            say_refused(&applied);
            thread::sleep(SETTLE);
            measure()
        }
        Ok(applied) => {
            let why = applied.first().map(super::text::line).unwrap_or_default();
            Err(Failure::CouldNotMeasure(format!(
                "{}: no change held: {why}",
                step.check
            )))
        }
    };
    let undone = tune::undo_behind(&machine, &mut journal, mark).map_err(|error| super::unusable(&error))?;
    if let Some(stuck) = undone
        .iter()
        .find(|one| matches!(one.outcome, Outcome::Stuck(_) | Outcome::Foreign(_)))
    {
        return Err(Failure::CouldNotMeasure(super::text::line(stuck)));
    }
    thread::sleep(SETTLE);
    measured
}

/// A setting of which parts were refused is not all as it should be: an interrupt that cannot be moved stays where it is.
fn say_refused(applied: &[Applied]) {
    let refused: Vec<&Applied> = applied.iter().filter(|one| !super::holds(one)).collect();
    if let Some(first) = refused.first() {
        let (count, all, line) = (refused.len(), applied.len(), super::text::line(first));
        say(&format_args!(
            "{count} of {all} changes did not hold; the first: {line}"
        ));
    }
}

/// One run of this program, into a new file: evidence of an earlier proof is not taken for this one's.
fn measure(args: &TuneArgs, label: &str, file: &Path) -> Result<(), Failure> {
    let failed = |what: String| Failure::CouldNotMeasure(format!("the measurement: {what}"));
    if file.exists() {
        let text = format!(
            "{}: exists already: name another folder with --evidence",
            file.display()
        );
        return Err(Failure::Usage(text));
    }
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    match args.prove.measure.as_slice() {
        [] => {
            command.args(WAKEUP);
            if let Some(cpus) = args.of.cpus() {
                command.args(["--cpus", &cpus.to_string()]);
            }
        }
        words => {
            command.args(words);
        }
    }
    command
        .args(["--summary", "--label", label, "--out"])
        .arg(file)
        .stdout(Stdio::null());
    let status = command.status().map_err(|error| failed(error.to_string()))?;
    // A limit that failed is a measurement all the same.
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0 | 1 | COULD_NOT_MEASURE) if file.exists() => Ok(()),
        _ => Err(failed(format!(
            "triptime {} ended with {status}",
            args.prove.measure.join(" ")
        ))),
    }
}

/// The rounds of a side as one run.
fn side(files: &[PathBuf]) -> Result<RunView, Failure> {
    let views = files
        .iter()
        .map(|file| round(file))
        .collect::<Result<Vec<_>, Failure>>()?;
    joined(views).ok_or_else(|| Failure::CouldNotMeasure("nothing was measured".to_owned()))
}

/// A round that ended early, or of which windows may be missing, proves nothing.
fn round(file: &Path) -> Result<RunView, Failure> {
    let view = RunFile::open(file)?.view()?;
    match view.state == RunState::Complete && view.lacks_log.is_none() && !view.series.is_empty() {
        true => Ok(view),
        false => Err(Failure::CouldNotMeasure(format!(
            "{}: this round is not complete",
            file.display()
        ))),
    }
}
