//! The conditions of a measurement: test beds, loads, plans, network interfaces.

#![forbid(unsafe_code)]

pub mod bed;
pub mod fault;
pub mod load;
pub mod loads;
pub mod nic;
pub mod plan;
pub mod preflight;
pub mod runner;
pub mod session;
