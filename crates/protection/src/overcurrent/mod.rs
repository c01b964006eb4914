//! Overcurrent: inverse and definite time (PTOC), instantaneous (PIOC); of phases, residual and negative sequence; directional.

mod curve;
mod lane;
mod pioc;
mod psof;
mod ptoc;
mod quantity;

pub use curve::{Constants, Curve};
pub use pioc::{Pioc, PiocSettings};
pub use psof::{Psof, PsofSettings};
pub use ptoc::{Ptoc, PtocDirection, PtocSettings, Reset};
pub use quantity::CurrentQuantity;
