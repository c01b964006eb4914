//! The facts that reports, exports and merges read back.

use super::FactOf;
use units::{Monotonic, Realtime};

/// The name that the host gives itself.
pub const HOST_NAME: FactOf<String> = FactOf::new("kernel", "host name");
/// Release of the kernel.
pub const KERNEL_RELEASE: FactOf<String> = FactOf::new("kernel", "release");
/// How the kernel was built.
pub const KERNEL_VERSION: FactOf<String> = FactOf::new("kernel", "version");
/// Machine that the kernel is for.
pub const KERNEL_ARCHITECTURE: FactOf<String> = FactOf::new("kernel", "architecture");
/// `PREEMPT_RT`, or another.
pub const PREEMPTION: FactOf<String> = FactOf::new("kernel", "preemption model");
/// Identity of the boot: two runs with the same have one clock.
pub const BOOT_ID: FactOf<String> = FactOf::new("kernel", "boot id");
/// The counter behind the kernel's clock.
pub const CLOCK_SOURCE: FactOf<String> = FactOf::new("clock", "clock source");
/// Model of the CPU.
pub const CPU_MODEL: FactOf<String> = FactOf::new("cpu", "model");
/// The hypervisor that this system is a guest of.
pub const HYPERVISOR: FactOf<String> = FactOf::new("virtualisation", "hypervisor");
/// The container that this system is.
pub const CONTAINER: FactOf<String> = FactOf::new("virtualisation", "container");

/// The name that a run was given: of its machine or its set-up.
pub const LABEL: FactOf<String> = FactOf::new("run", "label");

/// Of a run that is one cell of a matrix: where the device under test is.
pub const CELL_PLACE: FactOf<String> = FactOf::new("cell of a matrix", "place");
/// The network that joins it to the test set.
pub const CELL_NETWORK: FactOf<String> = FactOf::new("cell of a matrix", "network");
/// Name of the set of loads beside it.
pub const CELL_LOAD: FactOf<String> = FactOf::new("cell of a matrix", "load");
/// Name of the management network beside the process bus, where the matrix names any.
pub const CELL_MANAGEMENT: FactOf<String> = FactOf::new("cell of a matrix", "management network");
/// The isolation that keeps its CPUs free.
pub const CELL_ISOLATION: FactOf<String> = FactOf::new("cell of a matrix", "isolation");

/// Group of the facts of kernel threads that ran on the judged CPUs of a run.
pub const KERNEL_THREADS: &str = "kernel threads";
/// How the names of those begin that can run on one CPU alone: `bound to cpu 1`; the value begins with how many they are, or is `none`.
pub const BOUND: &str = "bound to";
/// The same of all others.
pub const UNBOUND: &str = "not bound, last on";

/// Facts of this file that the inventory of a host has.
pub const INVENTORIED: [&FactOf<String>; 10] = [
    &HOST_NAME,
    &KERNEL_RELEASE,
    &KERNEL_VERSION,
    &KERNEL_ARCHITECTURE,
    &PREEMPTION,
    &BOOT_ID,
    &CLOCK_SOURCE,
    &CPU_MODEL,
    &HYPERVISOR,
    &CONTAINER,
];

/// The switch between the two ends of a test bed, by its kind, or [`NO_SWITCH`].
pub const SWITCH: FactOf<String> = FactOf::new("test bed", "switch");
/// The value of [`SWITCH`] where nothing is between the ends.
pub const NO_SWITCH: &str = "none";

/// The way of a frame inside the traced host: a tree, a line for each device, two spaces for each level.
pub const TRACED_WAY: FactOf<String> = FactOf::new("trace", "way");

/// When the run started on the clock of the kernel's events: places its instants among them.
pub const RUN_START: FactOf<Monotonic> = FactOf::new("flight recorder", "start of the run on CLOCK_MONOTONIC");

/// First instant from which on every frame was to be recorded.
pub const RECORDED_FROM: FactOf<Realtime> = FactOf::new("recording", "from");
/// Last such instant.
pub const RECORDED_TO: FactOf<Realtime> = FactOf::new("recording", "to");
/// How far a recorded stamp may be off on its clock, in ns.
pub const STAMP_UNCERTAINTY: FactOf<u64> = FactOf::new("recording", "uncertainty of the stamps");
