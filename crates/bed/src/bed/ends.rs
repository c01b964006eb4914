//! The ends of a bed, for commands that are to run there.

use super::{Bed, End, EndInterface};
use std::path::PathBuf;
use sys::netns::NetNs;

/// Where a command runs at an end: the network namespace, if it is another than this process's, and the interface there.
pub type Seat = (Option<PathBuf>, String);

impl Bed {
    /// Where commands run at the test set, or at each of the devices. Namespaces can be entered as long as the bed lives.
    pub fn seats(&self, end: End) -> Vec<Seat> {
        let seat = |end: &EndInterface| (end.namespace.as_ref().map(NetNs::path), end.interface.clone());
        match end {
            End::TestSet => vec![seat(&self.test_set)],
            End::Device => self.devices.iter().map(seat).collect(),
        }
    }
}
