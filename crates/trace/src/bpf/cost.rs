//! Cost of the recorder, from the kernel's own statistics.

use super::{BpfEngine, tracepoint};
use crate::error::{TraceError, with_sources};
use aya::programs::{BtfTracePoint, Program};
use aya::sys::{Stats, enable_stats};
use aya::{Btf, Ebpf};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::PoisonError;
use std::time::Duration;

/// The program that does nothing, and its tracepoint.
const NOTHING: (&str, &str) = ("on_nothing", "sched_switch");

/// Cost of the recorder over a span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Mean time in a program per run, in ns. It includes the cost of the statistics themselves, so it is an upper bound.
    pub ns_per_event: f64,
    /// The same for a program that does nothing: the cost of the statistics while they are on.
    pub statistics_ns: f64,
    /// Number of runs per second, on all CPUs together.
    pub events_per_second: f64,
    /// Largest share of one CPU's time that the programs took.
    pub share_of_a_cpu: f64,
}

/// Runs of a program, and time in it, since it was loaded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Runs {
    pub(crate) count: u64,
    pub(crate) time_ns: u64,
    /// Runs that were skipped because the program was already running on the CPU (since Linux 5.12; before: 0).
    pub(crate) missed: u64,
}

impl Runs {
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.time_ns += other.time_ns;
        self.missed += other.missed;
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            count: self.count.saturating_sub(earlier.count),
            time_ns: self.time_ns.saturating_sub(earlier.time_ns),
            missed: self.missed.saturating_sub(earlier.missed),
        }
    }

    fn mean_ns(self) -> Result<f64, TraceError> {
        match self.count {
            0 => Err(TraceError::NoStatistics("nothing happened meanwhile".to_owned())),
            count => Ok(self.time_ns as f64 / count as f64),
        }
    }
}

impl BpfEngine {
    /// Switches the kernel's statistics on for `span` and reads them.
    pub(crate) fn cost(&self, span: Duration) -> Result<Cost, TraceError> {
        let refused = |error| {
            let hint = "the kernel's eBPF statistics need CAP_SYS_ADMIN and Linux 5.8";
            TraceError::NoStatistics(format!("{}; {hint}", with_sources(&error)))
        };
        let mut ebpf = self.ebpf.lock().unwrap_or_else(PoisonError::into_inner);
        let program = nothing(&mut ebpf)?;
        let link = program.attach().map_err(|error| unknown(&error))?;
        // The statistics stay on until this is dropped.
        let statistics = enable_stats(Stats::RunTime).map_err(refused);
        let measured = statistics.and_then(|_on| measure(&ebpf, span));
        nothing(&mut ebpf)?.detach(link).map_err(|error| unknown(&error))?;
        measured
    }
}

/// Loads the program that does nothing.
pub(super) fn load(ebpf: &mut Ebpf, btf: &Btf) -> Result<(), TraceError> {
    let loaded = nothing(ebpf)?.load(NOTHING.1, btf);
    loaded.map_err(|error| TraceError::Object(with_sources(&error)))
}

/// The program that does nothing.
fn nothing(ebpf: &mut Ebpf) -> Result<&mut BtfTracePoint, TraceError> {
    tracepoint(ebpf, NOTHING.0).map_err(TraceError::Object)
}

fn measure(ebpf: &Ebpf, span: Duration) -> Result<Cost, TraceError> {
    let begin = sys::clock::monotonic();
    let before = runs(ebpf)?;
    std::thread::sleep(span);
    let after = runs(ebpf)?;
    let seconds = (sys::clock::monotonic() - begin) as f64 / 1e9;
    let [ours, nothing] = [0, 1].map(|which| after[which].since(before[which]));
    let ns_per_event = ours.mean_ns()?;
    let events_per_second = ours.count as f64 / seconds;
    Ok(Cost {
        ns_per_event,
        statistics_ns: nothing.mean_ns()?,
        events_per_second,
        share_of_a_cpu: ns_per_event * events_per_second / 1e9,
    })
}

/// Runs of the recorder's programs together, and of the program that does nothing.
fn runs(ebpf: &Ebpf) -> Result<[Runs; 2], TraceError> {
    let mut sums = [Runs::default(); 2];
    for (name, program) in ebpf.programs() {
        if let Some(runs) = program_runs(program)? {
            sums[usize::from(name == NOTHING.0)].add(runs);
        }
    }
    Ok(sums)
}

/// Runs of one program of any type; `None` if it is not loaded, for example because this kernel does not have it.
pub(crate) fn program_runs(program: &Program) -> Result<Option<Runs>, TraceError> {
    let Ok(fd) = program.fd() else { return Ok(None) };
    read_runs(fd.as_fd().as_raw_fd()).map(Some)
}

/// `run_cnt` and `run_time_ns` of a program, which the kernel shows with its descriptor.
pub(crate) fn read_runs(fd: i32) -> Result<Runs, TraceError> {
    let path = format!("/proc/self/fdinfo/{fd}");
    let text = std::fs::read_to_string(&path).map_err(|error| TraceError::file(&path, error))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse().ok())
            .ok_or_else(|| TraceError::NoStatistics(format!("{path} has no {name}")))
    };
    Ok(Runs {
        count: field("run_cnt:")?,
        time_ns: field("run_time_ns:")?,
        missed: field("recursion_misses:").unwrap_or(0),
    })
}

fn unknown(error: &dyn std::error::Error) -> TraceError {
    TraceError::NoStatistics(with_sources(error))
}
