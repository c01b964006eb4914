//! A matrix: the steps of a plan in many places, over many networks, beside many loads. Each cell is measured several times, each time
//! as a run of its own, in an order that favours none.
//!
//! Everything here decides; nothing measures. Run files in the matrix's folder show the cells that are done, and [`State`] keeps the
//! rest, so that a matrix goes on where it was interrupted.

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

/// Time that a measurement takes beside its steps: the inventory, beds, the run file.
const AROUND_NS: u64 = 4_000_000_000;

/// Time that each step takes beside its own: threads, their warm-up, their end.
const AROUND_STEP_NS: u64 = 1_500_000_000;

/// How long one measurement of a cell is expected to take, in ns, before one was made.
pub fn expected_ns(plan: &Plan, cell: &Cell) -> u64 {
    let place = match cell.place {
        PlaceKind::Native | PlaceKind::Far => 0,
        // Its file system and its runtime.
        PlaceKind::Container => 3_000_000_000,
        // It boots.
        PlaceKind::Vm => 15_000_000_000,
        PlaceKind::ContainerInVm => 18_000_000_000,
    };
    plan.duration_ns() + AROUND_NS + AROUND_STEP_NS * plan.steps.len() as u64 + place
}
