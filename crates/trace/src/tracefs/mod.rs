//! Two of the kernel's own tracers, each in a separate instance of tracefs, so that no other tracing is disturbed.

mod hwlat;
mod instance;
mod line;
mod osnoise;
mod pipe;
mod tracers;

pub use hwlat::{Hwlat, HwlatSample};
pub use osnoise::Osnoise;
pub use tracers::{Tracefs, Tracer, Tracers};
