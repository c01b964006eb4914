//! Merges the run file of a container, guest or far machine into the current run.

use model::EventKind;
use std::path::PathBuf;

/// A run that was measured in another place for this one.
#[derive(Debug, Clone)]
pub struct Adopted {
    /// Its file, closed.
    pub file: PathBuf,
    /// Name of the place: `container`. The names of its events and of the groups of its inventory begin with it.
    pub place: String,
    /// How far its `CLOCK_REALTIME` is ahead of this machine's, in ns.
    pub ahead_ns: i64,
    /// True if it is the publisher's: a doubt about its clock is one about the one-way series of this machine, too.
    pub publishes: bool,
    /// Settings added to each of its series, after their own.
    pub settings: Vec<(String, String)>,
    /// Doubts about each of its series, independent of the measured values.
    pub doubts: Vec<(EventKind, String)>,
    /// True to keep its recording of every frame, too.
    pub with_recording: bool,
}
