//! Networks between the two ends of a bed.

use model::fact::NO_SWITCH;
use serde::{Deserialize, Serialize};

/// Networks between test set and device under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// A veth pair with nothing in between: the lower bound for all others.
    Veth,
    /// A bridge with a veth pair to each end: containers and virtual machines on a bridge.
    Bridge,
    /// A macvlan over a veth: containers with their own address on the host's port.
    Macvlan,
    /// Two taps connected by a thread of this process: a switch in user space.
    Tap,
    /// Open vSwitch with its datapath in user space, and a veth pair to each end.
    OpenVswitch,
}

impl Network {
    /// All networks, the shortest path first.
    pub const ALL: [Self; 5] = [Self::Veth, Self::Bridge, Self::Macvlan, Self::Tap, Self::OpenVswitch];

    /// Its name in plans, series and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Veth => "veth",
            Self::Bridge => "bridge",
            Self::Macvlan => "macvlan",
            Self::Tap => "tap",
            Self::OpenVswitch => "openvswitch",
        }
    }

    /// The path from end to end in one line.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Veth => "test set ts0 - veth - dut0 device under test",
            Self::Bridge => "test set ts0 - veth - bridge - veth - dut0 device under test",
            Self::Macvlan => "test set ts0 - veth - macvlan in bridge mode dut0 device under test",
            Self::Tap => "test set ts0, a tap - switch thread in user space - tap dut0 device under test",
            Self::OpenVswitch => {
                "test set ts0 - veth - Open vSwitch, datapath in user space - veth - dut0 device under test"
            }
        }
    }

    /// Kind of switch that forwards the frames; `none` if there is nothing between the ends.
    pub(super) fn switch(self) -> &'static str {
        match self {
            Self::Veth => NO_SWITCH,
            Self::Bridge => "bridge",
            Self::Macvlan => "macvlan",
            Self::Tap => "thread in user space",
            Self::OpenVswitch => "Open vSwitch",
        }
    }

    /// The same of two LANs over this network.
    pub(super) fn switch_of_two(self) -> &'static str {
        match self {
            Self::Bridge => "two bridges, LAN A and B",
            _ => NO_SWITCH,
        }
    }

    /// The same for guests.
    pub(super) fn switch_of_guests(self) -> &'static str {
        match self {
            Self::Tap => NO_SWITCH,
            other => other.switch(),
        }
    }

    /// True if several devices under test can be side by side on it and get the same frames.
    pub fn takes_several(self) -> bool {
        matches!(self, Self::Bridge | Self::Macvlan | Self::OpenVswitch)
    }

    /// True if two of them can be the LANs of doubly attached nodes.
    pub fn takes_two_lans(self) -> bool {
        matches!(self, Self::Veth | Self::Bridge)
    }

    /// True if a thread forwards the frames; it needs a CPU on which no thread spins.
    pub fn in_user_space(self) -> bool {
        matches!(self, Self::Tap | Self::OpenVswitch)
    }
}
