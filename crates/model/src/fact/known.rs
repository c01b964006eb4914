//! The facts that reports, exports and merges read back.

use super::FactOf;
use units::{Monotonic, Realtime};

/// Name of the host, by its own setting.
pub const HOST_NAME: FactOf<String> = FactOf::new("kernel", "host name");
/// Release of the kernel.
pub const KERNEL_RELEASE: FactOf<String> = FactOf::new("kernel", "release");
/// The kernel's build version.
pub const KERNEL_VERSION: FactOf<String> = FactOf::new("kernel", "version");
/// Machine architecture of the kernel.
pub const KERNEL_ARCHITECTURE: FactOf<String> = FactOf::new("kernel", "architecture");
/// Preemption model: `PREEMPT_RT`, or another.
pub const PREEMPTION: FactOf<String> = FactOf::new("kernel", "preemption model");
/// Identity of the boot: two runs with the same boot id share one clock.
pub const BOOT_ID: FactOf<String> = FactOf::new("kernel", "boot id");
/// The arguments of the booted kernel.
pub const KERNEL_LINE: FactOf<String> = FactOf::new("kernel arguments", "command line");
/// The hardware counter that the kernel's clock reads.
pub const CLOCK_SOURCE: FactOf<String> = FactOf::new("clock", "clock source");
/// Model of the CPU.
pub const CPU_MODEL: FactOf<String> = FactOf::new("cpu", "model");
/// The hypervisor that this system is a guest of.
pub const HYPERVISOR: FactOf<String> = FactOf::new("virtualisation", "hypervisor");
/// The container that this system is.
pub const CONTAINER: FactOf<String> = FactOf::new("virtualisation", "container");

/// The name that the user gave to the run: of its machine or its set-up.
pub const LABEL: FactOf<String> = FactOf::new("run", "label");
/// The plan that the run follows, by name.
pub const PLAN: FactOf<String> = FactOf::new("run", "plan");
/// The steps of the plan that the run left out because the command line chose others: `4 of 5: noise, trip`.
pub const STEPS_LEFT_OUT: FactOf<String> = FactOf::new("run", "steps left out");
/// The steps that were to run beside the one before them if possible, each with `beside` or `after`: `wakeup: beside; noise/idle: after`.
pub const STEPS_SETTLED: FactOf<String> = FactOf::new("run", "steps beside others if possible");
/// The program that measured: version, commit, build.
pub const BUILD: FactOf<String> = FactOf::new("run", "measured by");
/// Difference of the host's local time from UTC at the start of the run, such as `+01:00`.
pub const LOCAL_TIME: FactOf<String> = FactOf::new("run", "local time");

/// For a run that is one cell of a matrix: where the device under test is.
pub const CELL_PLACE: FactOf<String> = FactOf::new("cell of a matrix", "place");
/// For such a run, the network between the device under test and the test set.
pub const CELL_NETWORK: FactOf<String> = FactOf::new("cell of a matrix", "network");
/// For such a run, the name of its set of loads.
pub const CELL_LOAD: FactOf<String> = FactOf::new("cell of a matrix", "load");
/// For such a run, the name of the management network next to the process bus, if the matrix names any.
pub const CELL_MANAGEMENT: FactOf<String> = FactOf::new("cell of a matrix", "management network");
/// For such a run, the isolation that keeps its CPUs free.
pub const CELL_ISOLATION: FactOf<String> = FactOf::new("cell of a matrix", "isolation");

/// Group of the facts about kernel threads that ran on the judged CPUs of a run.
pub const KERNEL_THREADS: &str = "kernel threads";
/// The CPUs that a run judges, and why these.
pub const JUDGED_CPUS: FactOf<String> = FactOf::new("CPUs of this run", "judged");
/// Judged CPUs that a step left to another one beside it: `no wake-up on cpu 1 of the guest: it has the ping-pong`.
pub const CPUS_LEFT_OUT: FactOf<String> = FactOf::new("CPUs of this run", "left out");

/// Beginning of the names of facts about threads that can run on one CPU only: `bound to cpu 1`. The value begins with the number
/// of threads, or is `none`.
pub const BOUND: &str = "bound to";
/// Beginning of the names of facts about all other threads.
pub const UNBOUND: &str = "not bound, last on";

/// The facts of this file that the inventory of a host contains.
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

/// Kind of the switch between the two ends of a test bed, or [`NO_SWITCH`].
pub const SWITCH: FactOf<String> = FactOf::new("test bed", "switch");
/// The value of [`SWITCH`] if nothing is between the ends.
pub const NO_SWITCH: &str = "none";

/// The path of a frame inside the traced host: a tree, one line per device, two spaces per level.
pub const TRACED_WAY: FactOf<String> = FactOf::new("trace", "way");

/// When the run started, on the clock of the kernel's events: relates its instants to theirs.
pub const RUN_START: FactOf<Monotonic> = FactOf::new("flight recorder", "start of the run on CLOCK_MONOTONIC");

/// Group of the facts about the instrument itself: its clocks, measured before the run.
pub const INSTRUMENT: &str = "instrument";
/// Mean time of one reading of the slower of `CLOCK_MONOTONIC` and `CLOCK_REALTIME`, in ns.
pub const CLOCK_READING: FactOf<u64> = FactOf::new(INSTRUMENT, "reading the clock, mean");
/// Time in ns that 99 of 100 readings do not exceed.
pub const CLOCK_LONG_READING: FactOf<u64> = FactOf::new(INSTRUMENT, "reading the clock, 99 %");
/// Steps in which the clock runs, in ns.
pub const CLOCK_STEP: FactOf<u64> = FactOf::new(INSTRUMENT, "step of the clock");
/// Largest error in ns with which an instant of one of the two clocks is converted to the other.
pub const CLOCKS_APART: FactOf<u64> = FactOf::new(INSTRUMENT, "monotonic to wall clock, within");
/// Mean time of one reading of the CPU's own counter, in ns.
pub const COUNTER_READING: FactOf<u64> = FactOf::new(INSTRUMENT, "reading the time stamp counter, mean");

/// First instant of the time in which every frame was to be recorded.
pub const RECORDED_FROM: FactOf<Realtime> = FactOf::new("recording", "from");
/// Last instant of that time.
pub const RECORDED_TO: FactOf<Realtime> = FactOf::new("recording", "to");
/// Largest error of a recorded stamp against its clock, in ns.
pub const STAMP_UNCERTAINTY: FactOf<u64> = FactOf::new("recording", "uncertainty of the stamps");
