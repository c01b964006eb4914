//! Facts of the inventory.

/// How the value of a fact begins that cannot be on this machine, such as `not applicable: a veth has no PHY`. It is known, and
/// no limit can be held against it.
pub const NOT_APPLICABLE: &str = "not applicable";

/// One fact of the inventory. A fact that could not be read says why: unknown is not empty and not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Group to show it under, such as `kernel` or `cpu`.
    pub group: String,
    /// Its name in the group, such as `release`.
    pub name: String,
    /// What was read, or why nothing could be.
    pub value: Result<String, String>,
    /// Where it was read from, such as `/proc/cmdline`.
    pub source: String,
}
