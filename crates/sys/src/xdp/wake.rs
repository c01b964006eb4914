//! The two system calls that make the kernel process the rings.

use crate::error::last_errno;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::os::fd::{AsRawFd, OwnedFd};

/// Has the kernel process the send ring.
#[inline]
pub(super) fn wake_transmit(fd: &OwnedFd) -> Result<(), Errno> {
    // Not the C library's function: that one is a cancellation point, which costs two locked instructions.
    rustix::net::send(fd, &[], SendFlags::DONTWAIT).map(|_| ())
}

/// Has the kernel process the fill ring, or poll the driver; returns its error, if it refuses.
#[inline]
pub(super) fn wake_receive(fd: &OwnedFd) -> Option<Errno> {
    // SAFETY: there is no buffer to receive into, and none is needed; no pointers are followed.
    let done = unsafe {
        libc::recvfrom(
            fd.as_raw_fd(),
            std::ptr::null_mut(),
            0,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
    (done < 0).then(last_errno)
}
