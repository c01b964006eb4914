//! The conditions of a measurement: test beds, loads, plans.

#![forbid(unsafe_code)]

pub mod bed;
mod cpu_list;
pub mod detach;
pub mod disturb;
pub mod fault;
pub mod kthreads;
pub mod labs;
pub mod load;
pub mod loads;
pub mod matrix;
pub mod memory;
pub mod partition;
pub mod place;
pub mod plan;
pub mod preflight;
mod processes;
pub mod room;
pub mod roster;
pub mod runner;
pub mod session;
