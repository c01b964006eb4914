//! The two system calls that make the kernel look at the rings.

use crate::error::last_errno;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::os::fd::{AsRawFd, OwnedFd};

/// Has the kernel look at the send ring.
#[inline]
pub(super) fn wake_transmit(fd: &OwnedFd) -> Result<(), Errno> {
    // Not the C library's: there it is a point where a thread can be cancelled, which costs two locked instructions.
    rustix::net::send(fd, &[], SendFlags::DONTWAIT).map(|_| ())
}

/// Has the kernel look at the fill ring, or poll the driver; what it says, if it refuses.
#[inline]
pub(super) fn wake_receive(fd: &OwnedFd) -> Option<Errno> {
    // SAFETY: no room to receive into, and none needed; no pointers are followed.
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
