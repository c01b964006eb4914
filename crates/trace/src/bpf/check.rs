//! Whether eBPF programs can run here, and if not, why.

use crate::error::TraceError;
use std::path::Path;
use sys::privilege::{Capability, has};

/// Where the kernel keeps the description of its types.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Refuses what the kernel would refuse, with a reason.
pub(crate) fn can_run() -> Result<(), TraceError> {
    can_run_with(types_missing(), &has)
}

/// Why the running kernel does not tell its types, if it does not.
pub fn types_missing() -> Option<String> {
    std::fs::File::open(BTF).err().map(|error| error.to_string())
}

/// Whether eBPF programs can be loaded and attached by a program with these capabilities, on a kernel that tells its types or
/// does not for this reason.
///
/// # Errors
/// What is missing, and what to do.
pub fn can_run_with(types_missing: Option<String>, has: &dyn Fn(Capability) -> bool) -> Result<(), TraceError> {
    if let Some(why) = types_missing {
        return Err(TraceError::NoBtf(why));
    }
    // CAP_SYS_ADMIN holds both, as it did alone before Linux 5.8.
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

/// How many CPUs this machine can have, numbered from 0: the kernel's own CPU numbers lie below.
pub(crate) fn possible_cpus() -> u32 {
    let count = aya::util::nr_cpus().unwrap_or(1);
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// What to do when the kernel refuses a map.
pub(crate) fn memory_hint() -> &'static str {
    // Since 5.11 maps count as memory of the control group, before as locked memory of the user (bpf(2)).
    if Path::new("/proc/self/limits").exists() && counts_as_locked() {
        "; this kernel counts them as locked memory: raise RLIMIT_MEMLOCK (ulimit -l unlimited)"
    } else {
        "; they count as memory of the control group: see its memory limit"
    }
}

/// Whether this kernel, by its release, is before 5.11.
fn counts_as_locked() -> bool {
    kernel_release().is_some_and(|release| release < (5, 11))
}

/// Version and patch level of the running kernel.
pub(crate) fn kernel_release() -> Option<(u32, u32)> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split('.').map_while(|part| part.trim().parse::<u32>().ok());
    Some((numbers.next()?, numbers.next()?))
}
