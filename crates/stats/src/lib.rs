//! Statistics of latency samples: histograms, quantiles, and what a number of samples proves. Pure: no clock, no file, no
//! kernel.
//!
//! Samples are whole nanoseconds. A figure that the samples do not support is `None`, never zero.

#![forbid(unsafe_code)]

pub mod exceedance;
mod histogram;
mod summary;
pub mod windows;

pub use histogram::{Bucket, Histogram, HistogramError};
pub use summary::Summary;
