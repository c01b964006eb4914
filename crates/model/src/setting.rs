//! Settings that programs read too: from whose socket a series comes, why it has no samples, and how the two clocks of
//! a one-way series agree.

/// The series of the same socket or capture that is told what happened to all of it: frames dropped, not read or not placed.
pub const SOCKET: &str = "socket";
/// Why a series that was to be measured has no samples, in words.
pub const NOT_MEASURED: &str = "not measured";
/// The name that a series was to have, which another series of the run has.
pub const ANOTHER_IS: &str = "another is called";
/// How far the two clocks may be apart, as it was stated, in ns; or [`MEASURED`].
pub const CLOCK_UNCERTAINTY_NS: &str = "clock uncertainty (ns)";
/// How the two clocks relate, in words.
pub const CLOCK_RELATION: &str = "clock relation";
/// In place of a stated uncertainty: nothing is known of how the clocks relate.
pub const NOT_STATED: &str = "not stated";
/// In place of a stated uncertainty: it is to be taken from the series `clock/*` of the run.
pub const MEASURED: &str = "measured";
/// The publisher's share of a measured uncertainty, in ns, as it was stated.
pub const PUBLISHER_UNCERTAINTY_NS: &str = "publisher's clock uncertainty (ns)";
/// The place that a series was measured in, as it describes itself: `container: runc 1.1.5, …`. Without it, where the run itself was.
pub const PLACE: &str = "place";
/// CPU of the measuring thread, or `any`.
pub const CPU: &str = "cpu";
/// How long a probe that sleeps now and then, so as not to be throttled, is silent for it at the most, in ns.
pub const PAUSES_NS: &str = "silent in pauses, at most (ns)";
/// Of files from before [`PAUSES_NS`]: the length of a rest, and when there are some, in words.
pub const REST: &str = "rest";
/// Others of the same step that have the same CPU, where there are some.
pub const SHARES_CPU: &str = "shares its cpu with";
/// Of an imported series: the tool that measured it.
pub const TOOL: &str = "tool";
/// The tool whose files have the exact maximum, and may have no more.
pub const CYCLICTEST: &str = "cyclictest";
/// Of a capture: who made its stamps, in words. Left out where nobody says.
pub const STAMPED_BY: &str = "stamped by";
/// Of a capture: the steps that its stamps come in, in ns.
pub const STAMP_STEP_NS: &str = "stamps in steps of (ns)";
/// The maker of a series' stamps, where it is not the kernel, in words.
pub const STAMPS: &str = "time stamps";
/// How far stamps of the NIC's clock may be off on the system clock, in ns.
pub const NIC_UNCERTAINTY_NS: &str = "NIC clock uncertainty (ns)";
/// Counters of its kind that a series does not count, by name: what made it could not see them.
pub const NOT_COUNTED: &str = "not counted";
/// Of shots in which a relay is to stay quiet: how it is proved that it could have tripped, in words.
pub const POSITIVE_CONTROL: &str = "positive control";
