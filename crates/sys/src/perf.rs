//! Events that a CPU counts (`perf_event_open`).

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

use crate::error::{SysError, last_errno};

/// Bytes of `struct perf_event_attr` in Linux 3.3 (`PERF_ATTR_SIZE_VER1`): later kernels accept this size, too.
const ATTR_OCTETS: u32 = 72;
/// `pinned` of the attribute's flags: the event is always counted, or a read returns end of file.
const PINNED: u64 = 1 << 2;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// An event, numbered as in `perf_event_open(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An event that the kernel counts (`PERF_TYPE_SOFTWARE`): 3 is context switches.
    Software(u64),
    /// A processor event, by its number in the processor's own manual (`PERF_TYPE_RAW`).
    Raw(u64),
}

/// A count of one event on one CPU, of all tasks there, since it was opened.
#[derive(Debug)]
pub struct Counter {
    file: File,
}

impl Counter {
    /// Starts to count.
    ///
    /// # Errors
    /// The processor or its hypervisor has no such event, or `CAP_PERFMON` is missing.
    pub fn open(event: Event, cpu: u32) -> Result<Self, SysError> {
        let (kind, config): (u32, u64) = match event {
            Event::Software(number) => (1, number),
            Event::Raw(number) => (4, number),
        };
        let mut attr = [0u64; ATTR_OCTETS as usize / 8];
        attr[0] = u64::from(kind) | u64::from(ATTR_OCTETS) << 32;
        attr[1] = config;
        attr[5] = PINNED;
        let (every_process, no_group) = (-1, -1);
        // SAFETY: the pointer is to as many bytes as the attribute's size says, which live through the call; the kernel reads them
        // and returns a descriptor.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                attr.as_ptr(),
                every_process,
                cpu as libc::c_int,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        let Some(fd) = i32::try_from(fd).ok().filter(|fd| *fd >= 0) else {
            return Err(SysError::refused(
                "count an event on",
                format!("CPU {cpu}"),
                last_errno(),
            ));
        };
        // SAFETY: the kernel just made this descriptor, and nothing else owns it.
        let file = unsafe { File::from_raw_fd(fd) };
        Ok(Self { file })
    }

    /// Number of events since the counter was opened; `None` if others use all the registers that could count it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&self) -> std::io::Result<Option<u64>> {
        let mut octets = [0; 8];
        let got = (&self.file).read(&mut octets)?;
        Ok((got == octets.len()).then(|| u64::from_ne_bytes(octets)))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::{Counter, Event};

    const CONTEXT_SWITCHES: u64 = 3;

    #[test]
    fn what_a_cpu_counts_is_read() {
        let counter = match Counter::open(Event::Software(CONTEXT_SWITCHES), 0) {
            Ok(counter) => counter,
            Err(why) => return testing::skip("what_a_cpu_counts_is_read", &why.to_string()),
        };
        let count = || counter.read().expect("a count").expect("it counts");
        let (first, began) = (count(), Instant::now());
        // If this thread is not on the first CPU, another thread is there again and again.
        while count() == first {
            assert!(began.elapsed() < Duration::from_secs(60), "the CPU runs nobody else");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn an_event_that_is_none_is_refused() {
        assert!(Counter::open(Event::Software(u64::MAX), 0).is_err());
        assert!(Counter::open(Event::Software(CONTEXT_SWITCHES), u32::MAX >> 1).is_err());
    }
}
