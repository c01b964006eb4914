//! Files of other latency tools: cyclictest both ways, sv_timestamp_logger and svtrace as input.
//!
//! [`cyclictest`] reads and writes what cyclictest of rt-tests writes. [`import`] turns what was read into the series and
//! windows of a run; [`export`] turns a run into what can be written. The forms, and what each of them does not say, are in
//! `docs/formats/cyclictest.md`.

#![forbid(unsafe_code)]

pub mod cyclictest;
pub mod export;
pub mod import;
pub mod logger;
pub mod svtrace;
