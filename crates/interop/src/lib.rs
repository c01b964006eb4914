//! Files of other latency tools: cyclictest as input and output, sv_timestamp_logger, svtrace and an application's own maxima as input.
//!
//! [`cyclictest`] reads and writes the output of cyclictest from rt-tests. [`import`] converts it to the series and windows of a run; [`export`]
//! converts a run to other formats. The formats and their gaps are described in `docs/formats/cyclictest.md`.

#![forbid(unsafe_code)]

pub mod cyclictest;
pub mod export;
pub mod import;
pub mod logger;
pub mod maxima;
pub mod svtrace;
