//! Memory that does not fault, and a bound on the depth of idle states.

use crate::error::{SysError, errno_of};
use crate::privilege::{Capability, has_on_host};
use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use rustix::process::{Resource, getrlimit};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// Heap touched by [`lock_all`] and kept by the process. Measuring threads allocate before they measure, so this is for the threads
/// that run at the same time (recorder, report): 8 MiB holds some four hundred windows of histograms without a new page.
const HEAP_BYTES: usize = 8 << 20;

/// Size in bytes from which a block gets a mapping of its own, where that is allowed: the allocator's own initial bound
/// (mallopt(3)).
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 128 << 10;

/// Maximum number of blocks with a mapping of their own, where that is allowed (`DEFAULT_MMAP_MAX` of glibc).
const MAPPINGS: i32 = 65_536;

/// True if freed heap is kept, and no block gets a mapping of its own.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// The device that takes requests against deep idle states (Documentation/power/pm_qos_interface.rst).
const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// Locks all memory of the process, present and future, and keeps freed heap in the process, until [`unlock_all`].
///
/// From then on no page of code, stack or heap is faulted in while a thread measures. Parts of the memory cannot be unlocked, and
/// new threads get their whole stack at once: give them small stacks.
///
/// # Errors
/// [`SysError::MemoryLockLimit`] if `CAP_IPC_LOCK` is missing and `RLIMIT_MEMLOCK` is not unlimited. With any limit, the first
/// allocation beyond it would fail, and so end the process in the middle of a run.
pub fn lock_all() -> Result<(), SysError> {
    if let Some(limit) = lock_limit() {
        return Err(SysError::MemoryLockLimit {
            limit_kib: limit / 1024,
        });
    }
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)
        .map_err(|errno| SysError::refused("lock the memory of", "this process", errno))?;
    keep_freed_heap(true);
    touch_heap();
    Ok(())
}

/// True where [`lock_all`] is allowed.
pub fn can_lock() -> bool {
    lock_limit().is_none()
}

/// The number of bytes beyond which memory cannot be locked, if there is such a limit.
fn lock_limit() -> Option<u64> {
    getrlimit(Resource::Memlock)
        .current
        .filter(|_| !has_on_host(Capability::IpcLock))
}

/// Undoes [`lock_all`], and gives freed heap back, once the measurement is over.
pub fn unlock_all() {
    // An error means that it was not locked.
    let _ = munlockall();
    keep_freed_heap(false);
    give_back();
}

/// Has all threads of the process share one heap: memory freed by one thread serves the next, so the process holds the maximum in
/// use at any time and not the sum of each thread's maximum. Threads that already have a heap of their own keep it, so call this
/// before anything else.
///
/// Threads that allocate wait for each other now and then; measuring threads do not allocate.
pub fn share_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only stores a tuning value under the allocator's own lock; it is documented (mallopt(3)).
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives freed heap back to the system. Do not call it while a thread measures: the pages are faulted in again when they are
/// needed.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim takes the allocator's own locks and touches freed memory only (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Runs work whose memory must not stay with the process once it is freed, even after [`lock_all`]: its large blocks get mappings
/// of their own, which are unmapped as soon as the blocks are freed. Each unmapping interrupts the CPUs that run threads of this
/// process, so this is for work that interrupts them anyway: attaching to the kernel, or the end of a step, which also unmaps its
/// packet ring.
pub fn mapping_large_blocks<T>(work: impl FnOnce() -> T) -> T {
    if !KEEPS.load(Ordering::Relaxed) {
        return work();
    }
    map_at_most(MAPPINGS);
    let done = work();
    map_at_most(0);
    done
}

/// Stops or restarts two habits of the allocator: giving memory back, and mapping large blocks that are unmapped when freed. Both
/// interrupt every CPU that runs a thread of this process.
fn keep_freed_heap(keep: bool) {
    KEEPS.store(keep, Ordering::Relaxed);
    map_at_most(if keep { 0 } else { MAPPINGS });
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only stores a tuning value under the allocator's own lock; it is documented (mallopt(3)).
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, if keep { -1 } else { LARGE });
    }
}

#[cfg(target_env = "gnu")]
fn map_at_most(blocks: i32) {
    // SAFETY: mallopt only stores two tuning values under the allocator's own lock; both are documented (mallopt(3)).
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_MMAP_MAX, blocks);
    }
}

#[cfg(not(target_env = "gnu"))]
fn map_at_most(_: i32) {}

fn touch_heap() {
    let mut heap: Vec<u8> = Vec::with_capacity(HEAP_BYTES);
    // Written, not zero-allocated, so that every page really exists.
    heap.resize(HEAP_BYTES, 1);
    std::hint::black_box(&heap);
}

/// A lasting request that no CPU enters an idle state with a longer exit latency than given; dropping it ends the request.
#[derive(Debug)]
pub struct DmaLatency {
    // The kernel keeps the request while this file is open.
    _file: File,
}

/// Requests that no CPU enters an idle state that takes longer than `us` microseconds to leave; 0 keeps them polling.
///
/// This changes how the whole machine idles while it is held, so a run reports whether it was.
///
/// # Errors
/// [`SysError::MissingFeature`] if the device is absent (containers, some guests), else the error of opening it.
pub fn hold_dma_latency(us: i32) -> Result<DmaLatency, SysError> {
    let mut file = OpenOptions::new()
        .write(true)
        .open(DMA_LATENCY)
        .map_err(|error| dma_refusal(&error))?;
    file.write_all(&us.to_ne_bytes()).map_err(|error| dma_refusal(&error))?;
    Ok(DmaLatency { _file: file })
}

fn dma_refusal(error: &std::io::Error) -> SysError {
    match errno_of(error) {
        Errno::NOENT | Errno::NXIO | Errno::NODEV => SysError::MissingFeature {
            what: format!("hold idle states through {DMA_LATENCY}"),
            needs: "the device /dev/cpu_dma_latency; a container needs it passed in",
        },
        Errno::ACCESS | Errno::PERM => SysError::PermissionDenied {
            what: format!("open {DMA_LATENCY}"),
            remedy: "run as root, or give this user write access to it",
        },
        errno => SysError::refused("write to", DMA_LATENCY, errno),
    }
}
