//! Facts that determine how fast frames leave a port.

use crate::ethtool;
use crate::link::{self, Cbs, LinkInfo};

/// Rate of a port's wire, and its credit-based shapers, when the port was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Egress {
    /// Its shapers (tc-cbs(8)), or the reason why they are not known.
    pub shapers: Result<Vec<Cbs>, String>,
    /// Rate of the wire in Mbit/s. `None` if the driver does not report it, and for virtual interfaces, which have no wire.
    pub speed_mbit: Option<u32>,
}

impl Egress {
    /// Queries the kernel, in the calling thread's network namespace.
    pub(super) fn of(link: &LinkInfo) -> Self {
        let all = link::qdiscs(&link.name).map_err(|error| error.to_string());
        let is_hardware = link.kind.is_none();
        Self {
            shapers: all.map(|all| all.iter().filter_map(|qdisc| qdisc.cbs).collect()),
            speed_mbit: is_hardware.then(|| ethtool::speed_mbit(&link.name)).flatten(),
        }
    }
}
