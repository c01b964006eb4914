//! A matrix: the same steps in several places, over several networks, beside several loads, each cell measured several times. What each
//! cell gave, as papers print it, and how far one differs from another.
//!
//! A run names its cell itself (group `cell of a matrix` of its inventory). Its rounds are joined before anything is said of
//! it.

mod boxes;
mod cell;
mod conclusion;
mod csv;
mod differences;
mod json;
mod kinds;
mod measure;
mod page;
mod seen;
mod sentence;
#[cfg(test)]
mod tests;
mod text;

pub use cell::Conditions;

use crate::section::Section;
use crate::verdict::Judgement;
use cell::Cell;
use conclusion::Conclusion;
use differences::DifferencesSection;
use kinds::KindsSection;
use model::RunView;
use page::{CellsSection, FilesSection};
use seen::SeenSection;
use units::foreign::Show;

/// A matrix on the terminal.
const TERMINAL: [&dyn Section<Matrix>; 4] = [&CellsSection, &KindsSection, &DifferencesSection, &SeenSection];

/// The page of a matrix, after its name.
const PAGE: [&dyn Section<Matrix>; 5] = [
    &CellsSection,
    &DifferencesSection,
    &KindsSection,
    &SeenSection,
    &FilesSection,
];

/// The document of a matrix.
const DOCUMENT: [&dyn Section<Matrix>; 2] = [&CellsSection, &DifferencesSection];

/// A run of a cell.
#[derive(Debug)]
pub struct Measurement {
    /// The measured run.
    pub view: RunView,
    /// How it was judged.
    pub judgement: Judgement,
    /// True if it was made for its causes alone, beside the flight recorder: its figures count for nothing.
    pub for_causes: bool,
}

/// A cell, or a measurement of it, that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// The cell.
    pub conditions: Conditions,
    /// Why.
    pub why: String,
    /// True if it was tried; else it was left out.
    pub is_failure: bool,
}

/// The cells, and the conclusions from them.
#[derive(Debug)]
pub struct Matrix {
    name: String,
    cells: Vec<Cell>,
    conclusions: Vec<Conclusion>,
}

impl Matrix {
    /// Of its runs in any order, and of what is not there. The cells stand in the order of `order`, and behind these in the order of
    /// their runs.
    ///
    /// # Errors
    /// The name of a run that is no cell of a matrix.
    pub fn of(name: &str, order: &[Conditions], runs: Vec<Measurement>, absent: &[Absent]) -> Result<Self, String> {
        let mut cells = cell::gather(order, runs)?;
        measure::in_one_length(&mut cells);
        for one in absent {
            cell::miss(&mut cells, one);
        }
        cells.show();
        let conclusions = conclusion::all(&cells);
        Ok(Self {
            name: name.to_owned().shown(),
            cells,
            conclusions,
        })
    }

    /// True if a limit failed in any measurement.
    pub fn has_failed(&self) -> bool {
        self.cells.iter().any(|cell| cell.verdicts.fail > 0)
    }

    /// True if all that was to be measured was, and each verdict is a pass.
    pub fn is_passed(&self) -> bool {
        let is_passed = |cell: &Cell| cell.verdicts.inconclusive + cell.verdicts.fail == 0 && cell.failures.is_empty();
        self.cells.iter().any(|cell| cell.rounds > 0) && self.cells.iter().all(is_passed)
    }
}
