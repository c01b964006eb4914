//! Certificates of runs: made from run files, and verified against them, years later if need be.

mod certify;
mod judged;
mod verify;

pub use certify::{Statements, certify};
pub use verify::{Evidenced, Found, Judged, Outcome, Question, SignatureFinding, Verified, verify};
