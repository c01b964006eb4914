//! Effect of a setting on this machine: measured alternately without and with the setting.

use crate::{CampaignError, Say};
use model::{RunState, RunView};
use report::comparison::{Comparison, joined};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use store::RunFile;
use tune::{Applied, Journal, Outcome, TuneStep, TunedMachine};

/// Time until a changed setting is effective everywhere: worker threads move, interrupts are rerouted.
const SETTLE: Duration = Duration::from_millis(300);

/// Default measurement when no command is given.
const WAKEUP: [&str; 5] = ["wakeup", "--duration", "10s", "--window", "1s"];

/// Labels of both sides, in the order of their comparison.
const SIDES: [&str; 2] = ["before", "after"];

/// Exit statuses of a run with a result: passed, a limit failed, undecided.
const WITH_A_RESULT: [u8; 3] = [0, 1, 3];

/// A setting to prove, and the measurement for it.
pub struct Proof<'a> {
    /// The setting.
    pub step: &'a TuneStep,
    /// Number of measurements of each side.
    pub rounds: u32,
    /// Folder of the runs.
    pub folder: &'a Path,
    /// File that stores the old values.
    pub journal: &'a Path,
    /// Command that measures, with its options; empty: wake-ups for ten seconds.
    pub command: &'a [String],
    /// Options of the default command.
    pub options: &'a [String],
    /// Set by a signal.
    pub interrupted: Arc<AtomicBool>,
    /// Reports progress.
    pub say: Say<'a>,
}

impl Proof<'_> {
    /// Measures, changes, measures, restores, and repeats this; then compares. When this returns, the machine has its original settings.
    ///
    /// # Errors
    /// A change that was not effective, a failed measurement, or an interruption.
    pub fn compare(&self) -> Result<Comparison, CampaignError> {
        let [before, after] = self.measured()?.map(|files| side(&files));
        let both = [(SIDES[0].to_owned(), before?), (SIDES[1].to_owned(), after?)];
        Ok(Comparison::of(both.to_vec()))
    }

    /// Measures both sides alternately.
    fn measured(&self) -> Result<[Vec<PathBuf>; 2], CampaignError> {
        let mut files = [Vec::new(), Vec::new()];
        for round in 0..self.rounds {
            // The starting side alternates from round to round, so that drift favours neither.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for side in order {
                let file = self.folder.join(format!("{}-{:03}.triptime", SIDES[side], round + 1));
                (self.say)(&format_args!("round {} of {}: {}", round + 1, self.rounds, SIDES[side]));
                match side {
                    0 => self.measure(SIDES[side], &file)?,
                    _ => self.changed(|| self.measure(SIDES[side], &file))?,
                }
                files[side].push(file);
                if self.interrupted.load(Ordering::Relaxed) {
                    return Err(CampaignError::Failed(format!(
                        "interrupted; every value is as before, and the runs so far are in {}",
                        self.folder.display()
                    )));
                }
            }
        }
        Ok(files)
    }

    /// Applies the step, measures, and restores the changed values; earlier changes stay.
    fn changed(&self, measure: impl FnOnce() -> Result<(), CampaignError>) -> Result<(), CampaignError> {
        let (machine, step) = (TunedMachine::live(), self.step);
        let mut journal = Journal::open(self.journal)?;
        let mark = journal.count()?;
        let applied = tune::apply(&machine, &mut journal, &step.check, &step.operations);
        let measured = match applied {
            Err(error) => Err(error.into()),
            Ok(applied) if applied.iter().any(|one| one.outcome == Outcome::Done) => {
                self.say_refused(&applied);
                thread::sleep(SETTLE);
                measure()
            }
            Ok(applied) => {
                let why = applied.first().map(ToString::to_string).unwrap_or_default();
                Err(CampaignError::Failed(format!("{}: no change held: {why}", step.check)))
            }
        };
        let undone = tune::undo_behind(&machine, &mut journal, mark)?;
        let is_stuck = |one: &&Applied| matches!(one.outcome, Outcome::Stuck(_) | Outcome::Foreign(_));
        if let Some(stuck) = undone.iter().find(is_stuck) {
            return Err(CampaignError::Failed(stuck.to_string()));
        }
        thread::sleep(SETTLE);
        measured
    }

    /// Reports changes that were refused, because the setting is then only partly applied: for example, some interrupts cannot be moved.
    fn say_refused(&self, applied: &[Applied]) {
        let refused: Vec<&Applied> = applied.iter().filter(|one| !one.holds()).collect();
        if let Some(first) = refused.first() {
            let (count, all) = (refused.len(), applied.len());
            (self.say)(&format_args!(
                "{count} of {all} changes did not hold; the first: {first}"
            ));
        }
    }

    /// One run of this program, into a new file: files of an earlier proof are never reused.
    fn measure(&self, label: &str, file: &Path) -> Result<(), CampaignError> {
        let failed = |what: String| CampaignError::Failed(format!("the measurement: {what}"));
        if file.exists() {
            return Err(CampaignError::Wrong(format!(
                "{}: exists already: name another folder with --evidence",
                file.display()
            )));
        }
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(program);
        match self.command {
            [] => command.args(WAKEUP).args(self.options),
            words => command.args(words),
        };
        command
            .args(["--summary", "--label", label, "--out"])
            .arg(file)
            .stdout(Stdio::null());
        let status = command.status().map_err(|error| failed(error.to_string()))?;
        // A failed limit is still a valid measurement.
        match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(code) if WITH_A_RESULT.contains(&code) && file.exists() => Ok(()),
            _ => Err(failed(format!(
                "triptime {} ended with {status}",
                self.command.join(" ")
            ))),
        }
    }
}

/// All rounds of a side as one run.
fn side(files: &[PathBuf]) -> Result<RunView, CampaignError> {
    let views = files
        .iter()
        .map(|file| round(file))
        .collect::<Result<Vec<_>, CampaignError>>()?;
    joined(views).ok_or_else(|| CampaignError::Failed("nothing was measured".to_owned()))
}

/// Reads a round. One that ended early, or may lack windows, proves nothing.
fn round(file: &Path) -> Result<RunView, CampaignError> {
    let view = RunFile::open(file)?.view()?;
    match view.state == RunState::Complete && view.lacks_log.is_none() && !view.series.is_empty() {
        true => Ok(view),
        false => Err(CampaignError::Failed(format!(
            "{}: this round is not complete",
            file.display()
        ))),
    }
}
