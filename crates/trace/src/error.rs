//! Errors of this crate.

use std::path::PathBuf;

/// Why the recorder cannot run, or has no answer.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The kernel has no description of its types.
    #[error(
        "/sys/kernel/btf/vmlinux: {0}: eBPF needs a kernel with CONFIG_DEBUG_INFO_BTF (Debian's, RHEL's and SEAPATH's have it), \
         and /sys mounted"
    )]
    NoBtf(String),
    /// Capabilities are missing.
    #[error("loading eBPF programs needs {missing} ({advice})")]
    MissingCapability {
        /// The missing capabilities.
        missing: String,
        /// How to give them to the running program, with everything else that the run needs.
        advice: String,
    },
    /// The kernel refused the maps.
    #[error("the kernel refused {megabytes} MiB for the recorder's rings: {reason}")]
    Memory {
        /// The requested size.
        megabytes: usize,
        /// The kernel's error, and advice.
        reason: String,
    },
    /// The kernel refused a program that the recorder needs.
    #[error("the kernel refused the eBPF program for {tracepoint}: {reason}")]
    Program {
        /// The tracepoint of the program.
        tracepoint: String,
        /// The kernel's error.
        reason: String,
    },
    /// The kernel is older than the instructions of the eBPF programs.
    #[error("eBPF needs Linux 5.12 or newer, for atomic operations that return a value; this is {release}")]
    KernelTooOld {
        /// The running release.
        release: String,
    },
    /// The embedded object does not fit this kernel, or not this build.
    #[error("the eBPF object cannot be loaded: {0}")]
    Object(String),
    /// Reading a ring failed.
    #[error("reading the recorder's ring of CPU {cpu}: {reason}")]
    Read {
        /// The CPU.
        cpu: u32,
        /// The kernel's error.
        reason: String,
    },
    /// The CPU has no ring.
    #[error("there is no CPU {cpu}: this machine has {count}")]
    NoSuchCpu {
        /// The requested CPU.
        cpu: u32,
        /// Number of possible CPUs.
        count: u32,
    },
    /// tracefs is not mounted.
    #[error(
        "tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing), or the kernel is built without tracing"
    )]
    NoTracefs,
    /// The kernel is built without a tracer.
    #[error("this kernel has no {tracer} tracer (it is built without {option}; it has: {have})")]
    NoTracer {
        /// The tracer.
        tracer: &'static str,
        /// The kernel option that provides it.
        option: &'static str,
        /// The tracers that this kernel has.
        have: String,
    },
    /// The osnoise tracer would spin on the CPUs.
    #[error(
        "osnoise would spin on every CPU itself: this kernel has no OSNOISE_WORKLOAD in osnoise/options (Linux 6.2 has it)"
    )]
    NoWorkloadOption,
    /// Another program uses a tracer whose settings apply to the whole machine.
    #[error(
        "{path} is {tracer}: somebody else uses it, and its settings apply to the whole machine (if it is left over: echo nop \
         > {path})"
    )]
    TracerBusy {
        /// The file that shows it.
        path: PathBuf,
        /// The tracer named in it.
        tracer: String,
    },
    /// A file of tracefs, /proc or /sys could not be used.
    #[error("{path}: {error}{hint}")]
    File {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        error: std::io::Error,
        /// Advice, or nothing.
        hint: &'static str,
    },
    /// Impossible observation points.
    #[error("{0}")]
    Points(String),
    /// The kernel's statistics about eBPF programs are needed, but not available.
    #[error("the cost of an event is unknown: {0}")]
    NoStatistics(String),
}

impl TraceError {
    pub(crate) fn file(path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => " (run as root)",
            _ => "",
        };
        Self::File {
            path: path.into(),
            error,
            hint,
        }
    }
}

/// An error with its sources: aya's own texts name only the outermost.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}
