//! Checks if eBPF programs can run here, and gives the reason if not.

use crate::error::TraceError;
use std::path::Path;
use sys::privilege::{Capability, has};

/// The kernel's description of its types.
const BTF: &str = "/sys/kernel/btf/vmlinux";
const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// Errors, with a reason, in all cases in which the kernel would refuse.
pub(crate) fn can_run() -> Result<(), TraceError> {
    can_run_with(types_missing(), &has)
}

/// Why the running kernel does not describe its types, if it does not.
pub fn types_missing() -> Option<String> {
    std::fs::File::open(BTF).err().map(|error| error.to_string())
}

/// Checks if a program with these capabilities can load and attach eBPF programs. `types_missing` is the reason if the kernel does
/// not describe its types.
///
/// # Errors
/// A condition is missing: the condition, and advice.
pub fn can_run_with(types_missing: Option<String>, has: &dyn Fn(Capability) -> bool) -> Result<(), TraceError> {
    if let Some(why) = types_missing {
        return Err(TraceError::NoBtf(why));
    }
    // CAP_SYS_ADMIN includes both; before Linux 5.8 it was the only one.
    let needed = [Capability::Bpf, Capability::Perfmon];
    let missing: Vec<String> = needed
        .iter()
        .filter(|capability| !has(**capability) && !has(Capability::SysAdmin))
        .map(Capability::to_string)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(TraceError::MissingCapability {
        missing: missing.join(" and "),
        advice: sys::privilege::advice(&needed),
    })
}

/// Number of CPUs that this machine can have, numbered from 0: the kernel's own CPU numbers are below it.
pub(crate) fn possible_cpus() -> u32 {
    let count = aya::util::nr_cpus().unwrap_or(1);
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// First version whose programs have atomic operations that return a value, or do more than add (`BPF_FETCH`, `BPF_CMPXCHG`).
const ATOMIC_SINCE: (u32, u32) = (5, 12);
/// Text of an older kernel's verifier about these instructions, which it considers invalid.
const NOT_ATOMIC: &str = "BPF_STX uses reserved fields";

/// The kernel's refusal of a program that is needed.
pub(crate) fn program_refused(tracepoint: String, reason: String) -> TraceError {
    let release = std::fs::read_to_string(RELEASE).unwrap_or_default();
    refusal(tracepoint, reason, release.trim())
}

fn refusal(tracepoint: String, reason: String, release: &str) -> TraceError {
    // Distributions give older kernels newer verifiers, so the verifier's text counts, too.
    match reason.contains(NOT_ATOMIC) && numbers(release).is_some_and(|numbers| numbers < ATOMIC_SINCE) {
        true => TraceError::KernelTooOld {
            release: release.to_owned(),
        },
        false => TraceError::Program { tracepoint, reason },
    }
}

/// Advice if the kernel refuses a map.
pub(crate) fn memory_hint() -> &'static str {
    // Since 5.11 maps count as memory of the control group; before, as locked memory of the user (bpf(2)).
    if Path::new("/proc/self/limits").exists() && counts_as_locked() {
        "; this kernel counts them as locked memory: raise RLIMIT_MEMLOCK (ulimit -l unlimited)"
    } else {
        "; they count as memory of the control group: see its memory limit"
    }
}

/// True if this kernel's release is before 5.11.
fn counts_as_locked() -> bool {
    kernel_release().is_some_and(|release| release < (5, 11))
}

/// Version and patch level of the running kernel.
pub(crate) fn kernel_release() -> Option<(u32, u32)> {
    numbers(&std::fs::read_to_string(RELEASE).ok()?)
}

fn numbers(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split('.').map_while(|part| part.trim().parse::<u32>().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use crate::error::TraceError;

    #[test]
    fn a_kernel_that_is_too_old_is_told_from_a_program_that_is_wrong() {
        let said = "Invalid argument. Verifier output: BPF_STX uses reserved fields\nprocessed 0 insns";
        let told = |reason: &str, release| refusal("sched/sched_switch".to_owned(), reason.to_owned(), release);
        let old = told(said, "5.10.0-32-rt-amd64").to_string();
        assert!(
            old.contains("Linux 5.12") && old.contains("5.10.0-32-rt-amd64"),
            "{old}"
        );
        for (reason, release) in [(said, "6.1.0"), ("invalid mem access", "5.10.0"), (said, "")] {
            let error = told(reason, release);
            assert!(matches!(error, TraceError::Program { .. }), "{error}");
        }
    }
}
