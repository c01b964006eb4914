//! Differential protection (PDIF) of transformers and lines.

mod characteristic;
mod group;
mod pdif;
mod saturation;

pub use characteristic::Characteristic;
pub use group::{Compensation, GroupError, VectorGroup};
pub use pdif::{Object, Pdif, PdifSettings};
