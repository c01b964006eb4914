//! Multi-frequency neutral admittance with cumulative phasor summing (PSDE).
//!
//! Formulas are those in ABB's manuals of MFADPSDE (615, 620, REX640), a method of Wahlroos and Altonen, as in our reference (3.11); its ranges and
//! defaults are quoted from memory.

mod neutral;
mod peaks;
mod psde;
mod settings;

pub use neutral::{Cumulative, Neutral};
pub use psde::{Psde, Stabilised};
pub use settings::{OperateCurrent, OperationMode, PsdeSettings};
