//! Settings that programs read too: the socket that a series comes from, why it has no samples, and how the two clocks of a one-way
//! series agree.

/// The series that carries the events of the whole socket or capture: frames dropped, not read or not placed.
pub const SOCKET: &str = "socket";
/// The reason, in words, why a planned series has no samples.
pub const NOT_MEASURED: &str = "not measured";
/// The name that the series was meant to have, but that another series of the run already has.
pub const ANOTHER_IS: &str = "another is called";
/// The stated bound of the difference between the two clocks, in ns; or [`MEASURED`].
pub const CLOCK_UNCERTAINTY_NS: &str = "clock uncertainty (ns)";
/// The relation between the two clocks, in words.
pub const CLOCK_RELATION: &str = "clock relation";
/// Value in place of a stated uncertainty: the relation between the clocks is unknown.
pub const NOT_STATED: &str = "not stated";
/// Value in place of a stated uncertainty: it is taken from the series `clock/*` of the run.
pub const MEASURED: &str = "measured";
/// The publisher's stated share of a measured uncertainty, in ns.
pub const PUBLISHER_UNCERTAINTY_NS: &str = "publisher's clock uncertainty (ns)";
/// The place where a series was measured, by its own description: `container: runc 1.1.5, …`. Without it, the place of the run
/// itself.
pub const PLACE: &str = "place";
/// The network card of the device under test and its connection, if a place made it.
pub const CARD: &str = "network card of the device";
/// The loads of the tool's own beside the measurement, in words, or [`NO_LOAD`].
pub const LOAD: &str = "load";
/// Value of [`LOAD`] if the tool ran none.
pub const NO_LOAD: &str = "none of ours";
/// The treatment of idle states, in words.
pub const IDLE_STATES: &str = "idle states";
/// Begin of the value of [`IDLE_STATES`] if the run does not hold them off.
pub const AS_THE_SYSTEM_HAS_THEM: &str = "as the system has them";
/// CPU of the measuring thread, or `any`.
pub const CPU: &str = "cpu";
/// Longest pause in ns of a probe that sleeps now and then so that it is not throttled.
pub const PAUSES_NS: &str = "silent in pauses, at most (ns)";
/// In files from before [`PAUSES_NS`]: the length of a rest, and when rests occur, in words.
pub const REST: &str = "rest";
/// Other series of the same step on the same CPU, if there are any.
pub const SHARES_CPU: &str = "shares its cpu with";
/// For an imported series: the tool that measured it.
pub const TOOL: &str = "tool";
/// The tool whose files contain the exact maximum, and may contain nothing more.
pub const CYCLICTEST: &str = "cyclictest";
/// For trips after faults of another injector: the rule by which the start of a fault is seen.
pub const FAULT_WHERE: &str = "fault where";
/// For a capture: the source of its stamps, in words. Left out if unknown.
pub const STAMPED_BY: &str = "stamped by";
/// For a capture: the resolution of its stamps, in ns.
pub const STAMP_STEP_NS: &str = "stamps in steps of (ns)";
/// For times between stamps of two captures: [`NOT_ONE`], if nothing says that one clock made both.
pub const CAPTURE_CLOCKS: &str = "clock of both captures";
/// Value of [`CAPTURE_CLOCKS`].
pub const NOT_ONE: &str = "not known to be one";
/// The source of a series' stamps, if it is not the kernel, in words.
pub const STAMPS: &str = "time stamps";
/// Largest error of the NIC's stamps against the system clock, in ns.
pub const NIC_UNCERTAINTY_NS: &str = "NIC clock uncertainty (ns)";
/// For an imported series whose windows have no histogram: what is known of each window, in words.
pub const ONLY_MAXIMA: &str = "known of each window";
/// Counters of its kind that a series does not count, by name, because its source could not see them.
pub const NOT_COUNTED: &str = "not counted";
/// For a test of a device that may pass without reading any sampled value: [`NOT_TESTED`].
pub const SAMPLED_VALUES: &str = "sampled values";
/// Value of [`SAMPLED_VALUES`].
pub const NOT_TESTED: &str = "not tested";
/// For shots in which a relay must not trip: the proof that it could have tripped, in words.
pub const POSITIVE_CONTROL: &str = "positive control";
/// For a series of a place whose clock differs from that of the test set: their largest distance in ns, asked all through the step.
pub const CLOCK_APART_NS: &str = "clocks apart, asked through the step (ns)";
/// For a series of another machine: [`WATCHED`] or [`NOT_WATCHED`], the monitoring of that machine's clock there.
pub const CLOCK_THERE: &str = "clock of that machine";
/// Value of [`CLOCK_THERE`]: its doubts are events of the series.
pub const WATCHED: &str = "watched";
/// Value of [`CLOCK_THERE`]: nobody knows when that clock was wrong.
pub const NOT_WATCHED: &str = "not watched";
