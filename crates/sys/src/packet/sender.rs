//! Sends through the socket of a port from another thread than the one that receives.

use super::transmit;
use crate::error::SysError;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Length of an Ethernet header in octets.
const HEADER_OCTETS: usize = 14;

/// Sends through the socket of a [`PacketPort`](super::PacketPort).
#[derive(Debug)]
pub struct PacketSender {
    pub(super) fd: OwnedFd,
    pub(super) name: Arc<str>,
    pub(super) mtu: u32,
}

impl PacketSender {
    /// Same as [`PacketPort::send`](super::PacketPort::send).
    ///
    /// # Errors
    /// The errors of [`PacketPort::send`](super::PacketPort::send).
    #[inline]
    pub fn send(&self, frame: &[u8]) -> Result<(), SysError> {
        transmit::send(&self.fd, frame).map_err(|errno| refusal(&self.name, self.mtu, errno, frame.len()))
    }
}

/// Why a frame of so many bytes was not sent.
#[cold]
pub(super) fn refusal(name: &Arc<str>, mtu: u32, errno: Errno, bytes: usize) -> SysError {
    let interface = Arc::clone(name);
    match errno {
        Errno::AGAIN | Errno::NOBUFS => SysError::SendQueueFull { interface, errno },
        Errno::MSGSIZE if bytes > mtu as usize + HEADER_OCTETS => SysError::FrameTooLong { interface, bytes, mtu },
        Errno::NETDOWN => SysError::InterfaceDown { name: interface },
        // The kernel takes the interface's number from the socket.
        Errno::NXIO | Errno::NODEV => SysError::InterfaceGone { name: interface },
        errno => SysError::Refused {
            operation: "send on",
            target: interface,
            errno,
        },
    }
}
