//! Measurement of a matrix: each cell several times, each time as a separate run in a folder.

mod course;
mod measure;
mod result;
mod rounds;

pub use course::Course;
pub use result::{of_folder, of_runs, of_state};
pub use rounds::{Rounds, RoundsEnd};
