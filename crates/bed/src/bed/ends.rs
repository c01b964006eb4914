//! The ends of a bed, for commands that run there.

use super::{Bed, End, EndInterface};
use std::path::PathBuf;
use sys::netns::NetNs;

/// Location of a command at an end: the network namespace, if it differs from this process's, and the interface there.
pub type Seat = (Option<PathBuf>, String);

impl Bed {
    /// Locations of commands at the test set, or at each device. The namespaces can be entered as long as the bed exists.
    pub fn seats(&self, end: End) -> Vec<Seat> {
        let seat = |end: &EndInterface| (end.namespace.as_ref().map(NetNs::path), end.interface.clone());
        match end {
            End::TestSet => self.test_set.iter().map(seat).collect(),
            End::Device => self.devices.iter().map(seat).collect(),
        }
    }
}
