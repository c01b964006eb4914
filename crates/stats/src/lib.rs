//! Statistics of latency samples: histograms, quantiles, and the claims that a number of samples supports. Pure: no clock, no file,
//! no kernel.
//!
//! Samples are whole nanoseconds. A figure that the samples do not support is `None`, never zero.

#![forbid(unsafe_code)]

pub mod claims;
pub mod comparison;
mod dependence;
pub mod exceedance;
pub mod extreme;
mod histogram;
pub mod random;
mod ranks;
pub mod stationarity;
mod summary;
pub mod uncertainty;
mod worst;

pub use histogram::{Bucket, Histogram, HistogramError, Scheduled};
pub use summary::Summary;
pub use worst::Worst;
