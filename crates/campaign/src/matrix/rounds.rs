//! The measurements of a matrix, round by round, until all are done or the time is used up.

use super::measure::{self, Ended};
use super::result::{any_failed, is_complete};
use crate::{CampaignError, Say};
use ::matrix::{Folder, State, causes_file, expected_ns, plan_file, run_file};
use plan::{Cell, Isolation, Plan};
use session::NO_RECORDER;
use session::keeper::FolderKeeper;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use units::format_ns;

/// A matrix under way.
pub struct Rounds<'a> {
    /// Its plan, with the requested duration of each step.
    pub plan: &'a Plan,
    /// Time for all of it, in ns.
    pub budget_ns: Option<u64>,
    /// The existing measurements, and their order.
    pub state: State,
    /// Their folder.
    pub folder: &'a Folder,
    /// Set by a signal.
    pub interrupted: Arc<AtomicBool>,
    /// Reports progress, if the user asked for it.
    pub tell: Say<'a>,
    /// The reason why a cell cannot be measured on this machine as it is booted; `None` if it can.
    pub why_not: &'a dyn Fn(&Cell) -> Option<String>,
    /// Keeper of the matrix's folder.
    pub keeper: FolderKeeper,
}

/// Result of the rounds.
pub enum RoundsEnd {
    /// All measurements that fit are done; with additional notes.
    Measured(Vec<String>),
    /// Interrupted earlier.
    Interrupted,
}

impl Rounds<'_> {
    /// Makes the missing measurements.
    ///
    /// # Errors
    /// The folder is gone, or a measurement could not be started.
    pub fn measure(&mut self) -> Result<RoundsEnd, CampaignError> {
        let most = u32::try_from(self.state.order.len()).unwrap_or(u32::MAX);
        for round in 1..=most {
            let missing = self.possible(round)?;
            if round > 1 && !missing.is_empty() && !self.fits(self.needed_ns(&missing)) {
                (self.tell)(&format_args!(
                    "the budget holds {} of at most {most} measurements of each cell",
                    round - 1
                ));
                break;
            }
            for (at, cell) in missing.iter().enumerate() {
                if !self.fits(self.needed_ns(std::slice::from_ref(cell))) {
                    self.leave(round, cell)?;
                    continue;
                }
                self.progress(round, (at, missing.len()), cell, &missing[at..]);
                if self.one(round, cell)? {
                    return Ok(RoundsEnd::Interrupted);
                }
            }
        }
        self.causes()
    }

    fn missing(&self, round: u32) -> Result<Vec<Cell>, CampaignError> {
        let folder = self.folder.now()?;
        let is_done = |cell: &Cell, of: u32| of != round || is_complete(&run_file(&folder, cell, of));
        let missing = self.state.missing(round, is_done);
        Ok(missing.into_iter().map(|(_, cell)| cell).collect())
    }

    /// Missing measurements that this machine can make as it is booted. A matrix that was begun before a boot with other arguments keeps the
    /// others for the next one: measured now, they would not be what their name says.
    fn possible(&mut self, round: u32) -> Result<Vec<Cell>, CampaignError> {
        let mut possible = Vec::new();
        for cell in self.missing(round)? {
            match (self.why_not)(&cell) {
                None => possible.push(cell),
                Some(why) if round == 1 => {
                    (self.tell)(&format_args!("{}: not run: {why}", cell.words()));
                    self.state.leaves(&cell, format!("not run: {why}"));
                    self.write()?;
                }
                Some(_) => {}
            }
        }
        Ok(possible)
    }

    /// Leaves out a measurement that does not fit into the rest of the budget. Earlier measurements of the cell stay.
    fn leave(&mut self, round: u32, cell: &Cell) -> Result<(), CampaignError> {
        let budget = self.budget_ns.unwrap_or(u64::MAX);
        let left = budget.saturating_sub(self.state.spent_ns);
        let [needed, left, budget] =
            [self.needed_ns(std::slice::from_ref(cell)), left, budget].map(|ns| format_ns(ns as f64));
        let why = format!("not run: budget: about {needed} needed, {left} of {budget} left");
        (self.tell)(&format_args!("{}: {why}", cell.words()));
        if round == 1 {
            self.state.leaves(cell, why);
        }
        self.write()
    }

    /// Measures a cell once; returns true if it was interrupted.
    fn one(&mut self, round: u32, cell: &Cell) -> Result<bool, CampaignError> {
        let name = run_file(Path::new(""), cell, round);
        let words = self.state.setup.options.clone();
        match self.child(cell, &name, &words)? {
            Ended::Complete => self.state.works(cell, round),
            Ended::Interrupted => return Ok(true),
            Ended::Failed(why) => {
                (self.tell)(&format_args!("{}: {why}", cell.words()));
                self.state.fails(cell, round, why);
            }
        }
        self.write()?;
        Ok(false)
    }

    /// Repeats the cells whose limits failed without a flight recorder, this time with it.
    fn causes(&mut self) -> Result<RoundsEnd, CampaignError> {
        let mut said = Vec::new();
        if !self.state.setup.options.iter().any(|option| option == NO_RECORDER) {
            // The failed runs already have their causes.
            return Ok(RoundsEnd::Measured(said));
        }
        let with: Vec<String> = self
            .state
            .setup
            .options
            .iter()
            .filter(|option| *option != NO_RECORDER)
            .cloned()
            .collect();
        for cell in self.failed()? {
            let name = causes_file(Path::new(""), &cell);
            if !self.fits(self.needed_ns(std::slice::from_ref(&cell))) {
                said.push(format!(
                    "{}: no time in the budget to look for the causes of the failed limits",
                    cell.words()
                ));
                continue;
            }
            (self.tell)(&format_args!(
                "{}: limits failed: measured again with the flight recorder, to find the causes",
                cell.words()
            ));
            match self.child(&cell, &name, &with)? {
                Ended::Complete => self.write()?,
                Ended::Interrupted => return Ok(RoundsEnd::Interrupted),
                Ended::Failed(why) => said.push(format!("{}: its causes could not be looked for: {why}", cell.words())),
            }
        }
        Ok(RoundsEnd::Measured(said))
    }

    /// Cells with a failed limit whose causes are still unknown.
    fn failed(&self) -> Result<Vec<Cell>, CampaignError> {
        let rounds = u32::try_from(self.state.order.len()).unwrap_or(u32::MAX);
        let folder = &self.folder.now()?;
        let mut failed = Vec::new();
        for cell in &self.state.cells {
            let files: Vec<PathBuf> = (1..=rounds).map(|round| run_file(folder, cell, round)).collect();
            let is_open = !is_complete(&causes_file(folder, cell));
            if is_open && (self.why_not)(cell).is_none() && any_failed(&files)? {
                failed.push(cell.clone());
            }
        }
        Ok(failed)
    }

    fn child(&mut self, cell: &Cell, name: &Path, options: &[String]) -> Result<Ended, CampaignError> {
        let mut words: Vec<String> = options.iter().chain(&self.state.cpus).cloned().collect();
        if cell.isolation != Isolation::Isolcpus {
            // Without this option a guest isolates all its CPUs except the first.
            words.push("--isolate=".to_owned());
        }
        let started = Instant::now();
        let ended = loop {
            let folder = self.folder.now()?;
            let plan = plan_file(&folder, cell);
            let ended = measure::run(self.folder, (&plan, name), &words, &self.interrupted, &mut self.keeper)?;
            // If the folder was moved before the measurement found its plan or made its file, it
            // must run again.
            if !matches!(ended, Ended::Failed(_)) || self.folder.now()? == folder {
                break ended;
            }
        };
        let took_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.state.spent_ns += took_ns;
        if matches!(ended, Ended::Complete) {
            self.state.took_ns.insert(cell.name(), took_ns);
        }
        if self.interrupted.load(Ordering::Relaxed) {
            self.write()?;
        }
        Ok(ended)
    }

    fn write(&self) -> Result<(), CampaignError> {
        Ok(self.state.write(&self.folder.now()?)?)
    }

    /// Expected duration of these cells.
    fn needed_ns(&self, cells: &[Cell]) -> u64 {
        let one = |cell: &Cell| self.state.expected_ns(cell, expected_ns(self.plan, cell));
        cells.iter().map(one).fold(0, u64::saturating_add)
    }

    fn fits(&self, ns: u64) -> bool {
        self.budget_ns
            .is_none_or(|budget| self.state.spent_ns.saturating_add(ns) <= budget)
    }

    fn progress(&mut self, round: u32, (at, of): (usize, usize), cell: &Cell, left: &[Cell]) {
        let most = u32::try_from(self.state.order.len()).unwrap_or(u32::MAX);
        let this_ns = self.needed_ns(left);
        let round_ns = self.needed_ns(&self.state.cells).max(1);
        let further = u64::from(most - round);
        let further = self.budget_ns.map_or(further, |budget| {
            let after_this = budget.saturating_sub(self.state.spent_ns + this_ns);
            further.min(after_this / round_ns)
        });
        let left_ns = this_ns + further * round_ns;
        self.keeper.begins(&cell.words(), at + 1, of, left_ns);
        let left = format_ns(left_ns as f64);
        (self.tell)(&format_args!(
            "round {round} of {}, cell {} of {of}, about {left} left: {}",
            u64::from(round) + further,
            at + 1,
            cell.words()
        ));
    }
}
