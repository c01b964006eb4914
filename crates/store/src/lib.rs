//! The run file: one SQLite database per run. The only crate that knows SQL.

#![forbid(unsafe_code)]

pub mod model;
