//! Multi-frequency neutral admittance with cumulative phasor summing (PSDE).
//!
//! Formulas are those published in ABB's manuals of MFADPSDE (615, 620, REX640), method by Wahlroos and Altonen, as in our
//! reference (3.11); ranges and defaults there are from memory.

mod neutral;
mod peaks;
mod psde;
mod settings;

pub use neutral::{Cumulative, Neutral};
pub use psde::{Psde, Stabilised};
pub use settings::{OperateCurrent, OperationMode, PsdeSettings};
