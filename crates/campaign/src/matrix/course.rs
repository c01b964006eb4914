//! The measurements of a matrix, and the cells that are left out.

use crate::CampaignError;
use ::matrix::{Chosen, Here, LeftOut, Setup, State, StateError, choose, expected_ns, plan_file};
use place::PlaceKind;
use plan::{Cell, MatrixTable, Plan, Roles};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The measurements to make, and their settings.
pub struct Course {
    /// The plan, with the requested duration of each step.
    pub plan: Plan,
    /// The cells to measure, and their repetitions.
    pub chosen: Chosen,
    /// The cells that cannot be measured here.
    pub left_out: Vec<LeftOut>,
    /// Why cells with containers could not be measured at this moment; each looks again.
    pub waits: Option<String>,
    /// Time for all of it, in ns.
    pub budget_ns: Option<u64>,
    /// Largest number of measurements of each cell.
    pub repetitions: u32,
}

impl Course {
    /// The cells that can be measured here, with as many repetitions as fit into the given time or the plan's budget.
    pub fn of(plan: Plan, table: &MatrixTable, here: &Here, budget_ns: Option<u64>) -> Self {
        let mut possible: Vec<(Cell, u64)> = Vec::new();
        let mut left_out = Vec::new();
        for cell in table.cells() {
            match here.why_not(&cell) {
                Some(why) => left_out.push(LeftOut { why, cell }),
                None => possible.push((cell.clone(), expected_ns(&plan, &cell))),
            }
        }
        let budget_ns = budget_ns.or(table.budget.map(|budget| budget.0));
        Self {
            chosen: choose(&possible, budget_ns, table.repetitions),
            plan,
            left_out,
            waits: here.container_waits.clone(),
            budget_ns,
            repetitions: table.repetitions,
        }
    }

    /// A sentence about cells that could not be measured at this moment.
    pub fn waiting(&self) -> Option<String> {
        let has_containers = self.chosen.cells.iter().any(|cell| cell.place == PlaceKind::Container);
        let why = self.waits.as_ref().filter(|_| has_containers)?;
        Some(format!("containers, looked at again before each of their cells: {why}"))
    }

    /// Errors if there is nothing to measure.
    ///
    /// # Errors
    /// The reason why the first cell is left out.
    pub fn check(&self) -> Result<(), CampaignError> {
        if !self.chosen.cells.is_empty() {
            return Ok(());
        }
        let why = self
            .left_out
            .iter()
            .map(|one| format!("{}: {}", one.cell.words(), one.why));
        let no_time = self
            .chosen
            .left_out
            .iter()
            .map(|(cell, why)| format!("{}: {why}", cell.words()));
        let why = why.chain(no_time).next().unwrap_or_default();
        Err(CampaignError::Failed(format!(
            "no cell of this matrix can be measured here: {why}"
        )))
    }

    /// The state in the folder, if it belongs to this matrix, with the cells that were left out and are possible at this time; otherwise a new
    /// one.
    ///
    /// # Errors
    /// The folder has other contents.
    pub fn state(
        &self,
        (options, seed): (Vec<String>, Option<u32>),
        folder: &Path,
        roles: &Roles,
    ) -> Result<State, StateError> {
        let setup = Setup {
            plan: self.plan.text.clone(),
            options,
        };
        if let Some(mut state) = State::read(folder)? {
            state.is_of(&setup, seed, folder)?;
            // This machine may have what it lacked when the matrix began, such as a runtime.
            state.regain(&self.chosen.cells);
            return Ok(state);
        }
        let seed = seed.unwrap_or_else(another);
        let cpus = [
            "--cpus",
            &roles.measured.to_string(),
            "--housekeeping",
            &roles.housekeeping.to_string(),
        ];
        let cpus = cpus.map(str::to_owned).to_vec();
        Ok(State::begin(
            setup,
            cpus,
            self.chosen.clone(),
            self.left_out.clone(),
            (self.repetitions, seed),
        ))
    }

    /// Writes the state and the plan of each cell into the folder.
    ///
    /// # Errors
    /// The file that cannot be written, and the reason.
    pub fn write(&self, state: &State, folder: &Path) -> Result<(), CampaignError> {
        state.write(folder)?;
        for cell in &state.cells {
            let (path, text) = (plan_file(folder, cell), self.plan.of_cell(cell)?);
            let written = std::fs::write(&path, text);
            written.map_err(|error| CampaignError::Failed(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }
}

/// A new seed for each matrix.
fn another() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |since| since.subsec_nanos() ^ since.as_secs() as u32)
}
