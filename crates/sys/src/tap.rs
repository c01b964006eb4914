//! Tap interfaces: what the kernel sends over one, a program reads, and the other way round.

use crate::error::{SysError, errno_of};
use crate::link;
use crate::privilege::Capability;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The device that makes them.
const DEVICE: &str = "/dev/net/tun";

/// The far end of a tap interface, which goes when this is dropped.
#[derive(Debug)]
pub struct Tap {
    fd: OwnedFd,
}

impl Tap {
    /// Makes the interface `name` in the calling thread's network namespace. It is down; its MAC address is
    /// [`link::local_mac`] of its name. Reading and writing never wait.
    ///
    /// # Errors
    /// No `/dev/net/tun`, a name that cannot be or is taken, no `CAP_NET_ADMIN`, or what the kernel refused.
    pub fn create(name: &str) -> Result<Self, SysError> {
        link::check_name(name)?;
        let refused = |errno| SysError::or_capability(Capability::NetAdmin, "create tap", name, errno);
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open(DEVICE, flags, Mode::empty()).map_err(|errno| SysError::refused("open", DEVICE, errno))?;
        // SAFETY: an ifreq is plain integers and octets; all zeros is one.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, octet) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = libc::c_char::from_ne_bytes([octet]);
        }
        // Both flags are below 2^15.
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the descriptor is open, and TUNSETIFF reads and writes one ifreq, a local that outlives the call.
        let outcome = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if outcome < 0 {
            return Err(refused(errno_of(&std::io::Error::last_os_error())));
        }
        link::set_mac(name, link::local_mac(name))?;
        Ok(Self { fd })
    }

    /// Takes the next frame the kernel sent over the interface; its length, or `None` when there is none.
    ///
    /// # Errors
    /// What the kernel refused: `EBADFD` when the interface was removed.
    pub fn receive(&self, frame: &mut [u8]) -> Result<Option<usize>, SysError> {
        match read(&self.fd, frame) {
            Ok(octets) => Ok(Some(octets)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(errno) => Err(SysError::refused("read from", "a tap", errno)),
        }
    }

    /// Hands a frame to the kernel, as if it had come over the interface's cable.
    ///
    /// # Errors
    /// What the kernel refused: `EIO` while the interface is down.
    pub fn send(&self, frame: &[u8]) -> Result<(), SysError> {
        write(&self.fd, frame)
            .map(|_| ())
            .map_err(|errno| SysError::refused("write to", "a tap", errno))
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
