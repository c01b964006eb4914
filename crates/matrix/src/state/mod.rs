//! State of a matrix, stored in its folder with the run files: `matrix.toml`.

use super::{Chosen, order};
use plan::Cell;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file in the folder of a matrix.
const FILE: &str = "matrix.toml";

/// Name and version of its format.
const SCHEMA: &str = "triptime.matrix-folder/1";

const HEAD: &str = "# Written by triptime qualify. The measurements of a matrix are in this folder, each a run file of its own; the same command\n\
                    # measures the missing runs. `triptime report --table matrix` with this folder shows what is there.\n\n";

/// Settings that must be unchanged when a matrix is continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The text of the plan.
    pub plan: String,
    /// Options of each measurement.
    pub options: Vec<String>,
}

/// A cell that is not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The reason.
    pub why: String,
    /// The cell.
    pub cell: Cell,
}

/// A failed measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Name of the cell.
    pub cell: String,
    /// Number of this measurement of the cell, from 1.
    pub round: u32,
    /// Error message of the measurement.
    pub why: String,
}

/// A matrix that is being measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    schema: String,
    /// Seed of the order.
    pub seed: u32,
    /// Time that measurements took so far, in ns.
    pub spent_ns: u64,
    /// Options that give every measurement the same CPUs.
    pub cpus: Vec<String>,
    /// Names of the cells in the order of each round.
    pub order: Vec<Vec<String>>,
    /// Settings at its start.
    pub setup: Setup,
    /// The cells that are measured.
    pub cells: Vec<Cell>,
    /// The cells that are not measured.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Failed measurements so far; each is tried again when the matrix is continued.
    #[serde(default)]
    pub failed: Vec<Failed>,
    /// Cells without a measurement because the rest of the budget was too short; each is tried again when the matrix is continued.
    #[serde(default)]
    pub over_budget: Vec<LeftOut>,
    /// Duration of the last measurement of each cell by its name, in ns: the estimates of the others follow it.
    #[serde(default)]
    pub took_ns: BTreeMap<String, u64>,
}

/// Reasons why a folder cannot be the matrix's.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The folder has other contents.
    #[error("{0}: is not empty, and not the folder of a matrix: name another one with --out")]
    Foreign(PathBuf),
    /// The folder has another matrix.
    #[error("{folder}: holds a matrix of {what}: name another folder with --out, or remove it first")]
    Other {
        /// The folder.
        folder: PathBuf,
        /// The setting that differs.
        what: &'static str,
    },
    /// The matrix is being measured by another process.
    #[error("{0}: this matrix is under way in another process: wait for its end")]
    Busy(PathBuf),
    /// The file's content is invalid.
    #[error("{file}: {why}")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Error in the file.
        why: String,
    },
    /// The folder was removed during the measurement.
    #[error(
        "{0}: was removed while the matrix was measured, with the runs in it: put it back and give the same command with --out, which goes on \
         with what is missing, or measure again"
    )]
    Removed(PathBuf),
    /// Error of the file system.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
}

impl State {
    /// A new matrix of these cells, in the order of this seed.
    pub fn begin(
        setup: Setup,
        cpus: Vec<String>,
        chosen: Chosen,
        left_out: Vec<LeftOut>,
        (repetitions, seed): (u32, u32),
    ) -> Self {
        let names: Vec<String> = chosen.cells.iter().map(Cell::name).collect();
        let order = order::rounds(names.len(), repetitions, u64::from(seed));
        let named = |round: Vec<usize>| round.into_iter().map(|at| names[at].clone()).collect();
        let without_time = chosen.left_out.into_iter().map(|(cell, why)| LeftOut { why, cell });
        Self {
            schema: SCHEMA.to_owned(),
            seed,
            spent_ns: 0,
            cpus,
            order: order.into_iter().map(named).collect(),
            setup,
            cells: chosen.cells,
            left_out: left_out.into_iter().chain(without_time).collect(),
            failed: Vec::new(),
            over_budget: Vec::new(),
            took_ns: BTreeMap::new(),
        }
    }

    /// The matrix in a folder; `None` if the folder does not exist or is empty.
    ///
    /// # Errors
    /// The folder has other contents, or its file cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, StateError> {
        let file = folder.join(FILE);
        if !file.exists() {
            let is_empty = std::fs::read_dir(folder).map_or(!folder.exists(), |mut entries| entries.next().is_none());
            return match is_empty {
                true => Ok(None),
                false => Err(StateError::Foreign(folder.to_owned())),
            };
        }
        let text = std::fs::read_to_string(&file).map_err(|error| StateError::Io {
            path: file.clone(),
            error,
        })?;
        let damaged = |why: String| StateError::Damaged {
            file: file.clone(),
            why,
        };
        let state: Self = toml::from_str(&text).map_err(|error| damaged(error.to_string().trim_end().to_owned()))?;
        match state.schema == SCHEMA {
            true => Ok(Some(state)),
            false => Err(damaged(format!(
                "its format is {}, but this version knows {SCHEMA}",
                state.schema
            ))),
        }
    }

    /// Refuses to continue with different settings.
    ///
    /// # Errors
    /// Another plan, other options, or another seed.
    pub fn is_of(&self, setup: &Setup, seed: Option<u32>, folder: &Path) -> Result<(), StateError> {
        let what = match (self.setup.plan == setup.plan, self.setup.options == setup.options, seed) {
            (false, ..) => "another plan",
            (_, false, _) => "other options",
            (_, _, Some(seed)) if seed != self.seed => "another seed",
            _ => return Ok(()),
        };
        let folder = folder.to_owned();
        Err(StateError::Other { folder, what })
    }

    /// Writes it into its folder atomically.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write(&self, folder: &Path) -> Result<(), StateError> {
        let file = folder.join(FILE);
        let text = toml::to_string(self).map_err(|error| StateError::Damaged {
            file: file.clone(),
            why: error.to_string(),
        })?;
        let placed = || {
            let mut new = tempfile::NamedTempFile::new_in(folder)?;
            new.write_all(HEAD.as_bytes())?;
            new.write_all(text.as_bytes())?;
            new.as_file().sync_all()?;
            new.persist(&file).map_err(|error| error.error)
        };
        placed().map(|_| ()).map_err(|error| StateError::Io {
            path: file.clone(),
            error,
        })
    }

    /// Missing measurements in the first `rounds` rounds, in order: number of the round from 1, and cell.
    pub fn missing(&self, rounds: u32, is_done: impl Fn(&Cell, u32) -> bool) -> Vec<(u32, Cell)> {
        let mut missing = Vec::new();
        for (round, order) in (1..=rounds).zip(&self.order) {
            let cells = order
                .iter()
                .filter_map(|name| self.cells.iter().find(|cell| cell.name() == *name));
            missing.extend(
                cells
                    .filter(|cell| !is_done(cell, round))
                    .map(|cell| (round, cell.clone())),
            );
        }
        missing
    }

    /// Takes back cells that were left out and can be measured at this time: each at the end of every round. Returns their names in words.
    pub fn regain(&mut self, possible: &[Cell]) -> Vec<String> {
        let (back, out) = std::mem::take(&mut self.left_out)
            .into_iter()
            .partition::<Vec<_>, _>(|left| possible.contains(&left.cell));
        self.left_out = out;
        for LeftOut { cell, .. } in &back {
            self.order.iter_mut().for_each(|round| round.push(cell.name()));
            self.cells.push(cell.clone());
        }
        back.into_iter().map(|left| left.cell.words()).collect()
    }

    /// Stores the reason of a failed measurement.
    pub fn fails(&mut self, cell: &Cell, round: u32, why: String) {
        self.works(cell, round);
        let cell = cell.name();
        self.failed.push(Failed { cell, round, why });
    }

    /// Stores that the rest of the budget is too short for a cell that has no measurement yet.
    pub fn leaves(&mut self, cell: &Cell, why: String) {
        self.over_budget.retain(|one| one.cell != *cell);
        self.over_budget.push(LeftOut {
            why,
            cell: cell.clone(),
        });
    }

    /// Expected duration of one measurement of a cell, in ns: that of its last one; else the longest of its kind of place, with `planned_ns` as the
    /// least; else `planned_ns`.
    pub fn expected_ns(&self, cell: &Cell, planned_ns: u64) -> u64 {
        let own = self.took_ns.get(&cell.name()).copied();
        let alike = self.cells.iter().filter(|other| other.place == cell.place);
        let longest = alike.filter_map(|other| self.took_ns.get(&other.name()).copied()).max();
        own.unwrap_or_else(|| longest.unwrap_or(planned_ns).max(planned_ns))
    }

    /// Removes that entry after a successful measurement.
    pub fn works(&mut self, cell: &Cell, round: u32) {
        let name = cell.name();
        self.over_budget.retain(|one| one.cell != *cell);
        self.failed
            .retain(|failed| (&failed.cell, failed.round) != (&name, round));
    }
}

/// Path of a cell's run: `DIR/native-bridge-none-none.2.triptime`.
pub fn run_file(folder: &Path, cell: &Cell, round: u32) -> PathBuf {
    folder.join(format!("{}.{round}.triptime", cell.name()))
}

/// Path of a cell's run for the causes of its late samples.
pub fn causes_file(folder: &Path, cell: &Cell) -> PathBuf {
    folder.join(format!("{}.causes.triptime", cell.name()))
}

/// Path of a cell's plan.
pub fn plan_file(folder: &Path, cell: &Cell) -> PathBuf {
    folder.join(format!("{}.toml", cell.name()))
}

#[cfg(test)]
mod tests;
