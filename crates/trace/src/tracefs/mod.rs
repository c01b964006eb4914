//! Two of the kernel's own tracers, each in an instance of tracefs that is ours: it disturbs nobody else's tracing.

mod hwlat;
mod instance;
mod line;
mod osnoise;
mod pipe;
mod tracers;

pub use hwlat::{Hwlat, HwlatSample};
pub use osnoise::Osnoise;
pub use tracers::{Tracefs, Tracer, Tracers};
