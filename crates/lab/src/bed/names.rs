//! What the ends of a bed are, and what its interfaces are called.

/// Name of the test set's interface.
pub const TEST_SET_IF: &str = "ts0";
/// Name of the device under test's interface.
pub const DEVICE_IF: &str = "dut0";
/// The switch's end of the veth pair to the test set.
pub(super) const TEST_SET_PORT: &str = "p-ts";
/// The switch's end of the veth pair to the device under test.
pub(super) const DEVICE_PORT: &str = "p-dut";

/// One of the two ends of the bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where merging units and the trip test set are.
    TestSet,
    /// Where the relay is.
    Device,
}
