//! Names of a bed's ends and of its interfaces.

/// Name of the test set's interface.
pub const TEST_SET_IF: &str = "ts0";
/// Name of the device under test's interface; of the first, if there are several.
pub const DEVICE_IF: &str = "dut0";
/// The switch's end of the veth pair to the test set.
pub(super) const TEST_SET_PORT: &str = "p-ts";
/// The switch's end of the veth pair to the device under test.
pub(super) const DEVICE_PORT: &str = "p-dut";

/// Name of the interface of device number `number`, from 0. Each has a different name, because its address is derived from it.
pub fn device_if(number: usize) -> String {
    format!("dut{number}")
}

/// The switch's end of the veth pair to that device.
pub(super) fn device_port(number: usize) -> String {
    match number {
        0 => DEVICE_PORT.to_owned(),
        _ => format!("{DEVICE_PORT}{number}"),
    }
}

/// Name of a node's interface in LAN B; `name` is its interface in LAN A.
pub(super) fn in_lan_b(name: &str) -> String {
    format!("{name}-b")
}

/// Name of that device's interface on a management network.
pub(super) fn management_if(number: usize) -> String {
    format!("mgmt{number}")
}

/// Name of the interface at the other side of it: the bridge's end of a veth pair, or a guest's tap.
pub(super) fn management_port(number: usize) -> String {
    format!("p-mgmt{number}")
}

/// Name of that device's end, if it has one: `dut`, `dut1` and so on.
pub fn device_end(number: usize) -> String {
    match number {
        0 => "dut".to_owned(),
        _ => format!("dut{number}"),
    }
}

/// One of the two ends of the bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end with merging units and the trip test set.
    TestSet,
    /// The end with the relay; the first one, if there are several devices.
    Device,
}
