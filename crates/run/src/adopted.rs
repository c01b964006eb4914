//! The run of a place, whose series become series of the run under way.

use model::EventKind;
use std::path::PathBuf;

/// A run that was measured elsewhere for this one.
#[derive(Debug, Clone)]
pub struct Adopted {
    /// Its file, closed.
    pub file: PathBuf,
    /// Name of the place: `container`. Its events and the groups of its inventory begin with it.
    pub place: String,
    /// Lead of its `CLOCK_REALTIME` over this machine's, in ns.
    pub ahead_ns: i64,
    /// Settings of each of its series, behind their own.
    pub settings: Vec<(String, String)>,
    /// Doubts about each of its series, whatever was measured.
    pub doubts: Vec<(EventKind, String)>,
}
