//! A matrix: the steps of a plan in many places, over many networks, with many loads. Each cell is measured several times, each time as a separate
//! run, in an order that favours no cell.
//!
//! This crate decides, but does not measure. The run files in the matrix's folder show which cells are done, and [`State`] stores the rest, so that
//! an interrupted matrix can be continued.

#![forbid(unsafe_code)]

mod budget;
mod folder;
mod here;
mod order;
mod state;

pub use budget::{Chosen, choose};
pub use folder::Folder;
pub use here::Here;
pub use order::rounds;
pub use state::{Failed, LeftOut, Setup, State, StateError, causes_file, plan_file, run_file};

use place::PlaceKind;
use plan::{Cell, Plan};

/// Time of a measurement in addition to its steps, in ns: the inventory, beds, the run file.
const AROUND_NS: u64 = 4_000_000_000;

/// Time of each step in addition to its duration, in ns: starting, warming up and ending its threads.
const AROUND_STEP_NS: u64 = 1_500_000_000;

/// Expected duration of one measurement of a cell, in ns, before its first measurement.
pub fn expected_ns(plan: &Plan, cell: &Cell) -> u64 {
    let place = match cell.place {
        PlaceKind::Native | PlaceKind::Far => 0,
        // Its file system and its runtime start.
        PlaceKind::Container => 3_000_000_000,
        // It boots.
        PlaceKind::Vm => 15_000_000_000,
        PlaceKind::ContainerInVm => 18_000_000_000,
    };
    plan.duration_ns() + AROUND_NS + AROUND_STEP_NS * plan.steps.len() as u64 + place
}
