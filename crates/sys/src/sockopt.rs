//! Socket options as plain structures, for the options that rustix does not have.

use crate::error::last_errno;
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

/// A structure of integers that the kernel writes into: every bit pattern is a value.
///
/// # Safety
/// All-zero must be a valid value, and so must anything that the kernel writes.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers only.
unsafe impl Plain for libc::tpacket_stats {}
// SAFETY: integers only.
unsafe impl Plain for libc::xdp_statistics {}
// SAFETY: integers only.
unsafe impl Plain for libc::xdp_mmap_offsets {}

/// Sets an option.
pub(crate) fn set<T: Copy>(fd: &OwnedFd, level: i32, option: i32, value: &T) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the pointer is to a whole T, and the length is T's.
    let done = unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, (&raw const *value).cast(), length) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Reads an option, and the number of bytes that the kernel wrote: older kernels have shorter structures, the rest is zero.
pub(crate) fn get<T: Plain>(fd: &OwnedFd, level: i32, option: i32) -> Result<(T, usize), Errno> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the pointer is to a whole T and the length says so; T is valid whatever the kernel wrote over the zeros.
    unsafe {
        let done = libc::getsockopt(
            fd.as_raw_fd(),
            level,
            option,
            value.as_mut_ptr().cast(),
            &raw mut length,
        );
        if done == 0 {
            Ok((value.assume_init(), length as usize))
        } else {
            Err(last_errno())
        }
    }
}
