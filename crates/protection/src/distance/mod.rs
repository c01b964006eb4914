//! Distance protection (PDIS): six loops, mho and quadrilateral zones.

mod characteristic;
mod loops;
mod pdis;
mod poles;
mod settings;
mod still;

pub use loops::{Loop, Loops, Selection};
pub use pdis::Pdis;
pub use settings::{LoadEncroachment, MhoPolarising, PdisSettings, Shape, check_zones};
