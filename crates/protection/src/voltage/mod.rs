//! Undervoltage (PTUV), overvoltage and residual overvoltage (PTOV).

mod curve;
mod lane;
mod ptov;
mod ptuv;
mod quantity;

pub use curve::{VoltageConstants, VoltageCurve};
pub use ptov::{Ptov, PtovSettings};
pub use ptuv::{Ptuv, PtuvSettings};
pub use quantity::VoltageQuantity;
