//! A matrix: the same steps in several places, over several networks, with several loads, each cell measured several
//! times. It shows the figures of each cell in the usual form of papers, and the differences between cells.
//!
//! The inventory of a run names its cell (group `cell of a matrix`). The rounds of a cell are merged before they are
//! evaluated.

mod boots;
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
use boots::{Boot, BootsSection};
use cell::Cell;
use conclusion::Conclusion;
use differences::DifferencesSection;
use kinds::KindsSection;
use model::RunView;
use page::{CellsSection, FilesSection};
use seen::SeenSection;
use units::foreign::Show;

/// The sections of a matrix on the terminal.
const TERMINAL: [&dyn Section<Matrix>; 5] = [
    &CellsSection,
    &KindsSection,
    &DifferencesSection,
    &BootsSection,
    &SeenSection,
];

/// The sections of a matrix in the page, after its name.
const PAGE: [&dyn Section<Matrix>; 6] = [
    &CellsSection,
    &DifferencesSection,
    &BootsSection,
    &KindsSection,
    &SeenSection,
    &FilesSection,
];

/// The sections of a matrix in the document.
const DOCUMENT: [&dyn Section<Matrix>; 3] = [&CellsSection, &DifferencesSection, &BootsSection];

/// A run of a cell.
#[derive(Debug)]
pub struct Measurement {
    /// The measured run.
    pub view: RunView,
    /// Its verdicts.
    pub judgement: Judgement,
    /// True if it was made only to find causes, with the flight recorder running: its figures do not count.
    pub for_causes: bool,
}

/// A cell, or a measurement of a cell, that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// The cell.
    pub conditions: Conditions,
    /// The reason.
    pub why: String,
    /// True if it was attempted and failed; false if it was left out.
    pub is_failure: bool,
}

/// The cells, and the conclusions from them.
#[derive(Debug)]
pub struct Matrix {
    name: String,
    cells: Vec<Cell>,
    conclusions: Vec<Conclusion>,
    boots: Vec<Boot>,
}

impl Matrix {
    /// Makes a matrix from its runs, in any order, and from the missing measurements. The cells are in the order of
    /// `order`; other cells follow in the order of their runs.
    ///
    /// # Errors
    /// The name of a run that is not a cell of a matrix.
    pub fn of(name: &str, order: &[Conditions], runs: Vec<Measurement>, absent: &[Absent]) -> Result<Self, String> {
        let mut boots = Boot::of(&runs);
        boots.show();
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
            boots,
        })
    }

    /// True if a limit failed in any measurement.
    pub fn has_failed(&self) -> bool {
        self.cells.iter().any(|cell| cell.verdicts.fail > 0)
    }

    /// True if every planned measurement was made, and each verdict is a pass.
    pub fn is_passed(&self) -> bool {
        let is_passed = |cell: &Cell| cell.verdicts.inconclusive + cell.verdicts.fail == 0 && cell.failures.is_empty();
        self.cells.iter().any(|cell| cell.rounds > 0) && self.cells.iter().all(is_passed)
    }
}
