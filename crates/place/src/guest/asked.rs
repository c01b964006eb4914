//! Words on the kernel command line that ask a guest for its agent. A word that ends in `=` is followed by a value.

/// Runs the agent.
pub const AGENT: &str = "triptime.agent";
/// Runs this command without a host; its words are in double quotes.
pub const RUN: &str = "triptime.run=";
/// Name of the disk for the result of [`RUN`].
pub const DISK: &str = "triptime.disk=";
/// Name of the partition with the words of a command, and space for its result.
pub const PARTITION: &str = "triptime.partition=";
/// Keeps the agent running when no host is connected.
pub const STAYS: &str = "triptime.stays";
/// The card of a management network: MAC, address and CPUs.
pub const MANAGEMENT: &str = "triptime.management=";
