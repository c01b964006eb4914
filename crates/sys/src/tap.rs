//! Tap devices: interfaces whose cable ends in this process.
//!
//! This process reads the frames that the kernel sends on the interface, and the kernel receives the frames that this process
//! writes. A test bed uses it to put a process in the place of a wire.

use crate::error::{SysError, errno_of, last_errno};
use crate::link::check_name;
use crate::privilege::Capability;
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::time::Duration;

/// The device file that makes tap devices.
const CLONE_DEVICE: &str = "/dev/net/tun";

/// A tap device. Only its descriptor keeps it alive: the interface is gone when this is dropped, or the process ends in any way.
#[derive(Debug)]
pub struct Tap {
    fd: OwnedFd,
    name: Arc<str>,
}

impl Tap {
    /// Makes the tap device `name` in the calling thread's network namespace; it stays in that namespace wherever this value is
    /// used. The interface is down, and has a carrier as soon as it is up.
    ///
    /// # Errors
    /// The name is invalid or taken, /dev/net/tun or `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
    pub fn create(name: &str) -> Result<Self, SysError> {
        Ok(Self {
            fd: attach(name, libc::IFF_NO_PI)?,
            name: name.into(),
        })
    }

    /// Opens the tap device `name` of the calling thread's network namespace, which was [left](Self::leave) there, for a hypervisor
    /// that gets the file: each frame has a virtio header before it (`IFF_VNET_HDR`), which its offloads need.
    ///
    /// # Errors
    /// Another process has it open, /dev/net/tun or `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
    pub fn for_hypervisor(name: &str) -> Result<OwnedFd, SysError> {
        attach(name, libc::IFF_NO_PI | libc::IFF_VNET_HDR)
    }

    /// Closes the device, but leaves the interface for others, such as a hypervisor, to open by its name: it is gone with its
    /// namespace.
    ///
    /// # Errors
    /// A refusal of the kernel.
    pub fn leave(self) -> Result<(), SysError> {
        // SAFETY: TUNSETPERSIST takes a number, not a pointer.
        if unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TUNSETPERSIST as _, 1) } < 0 {
            return Err(SysError::refused("leave tap", Arc::clone(&self.name), last_errno()));
        }
        Ok(())
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the oldest frame that the kernel sent on the interface, from the destination address and without FCS, and returns its
    /// length; `None` if there is none. A frame longer than `buffer` is cut. Does not wait.
    ///
    /// # Errors
    /// A refusal of the kernel.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, SysError> {
        match rustix::io::read(&self.fd, &mut *buffer) {
            Ok(length) => Ok(Some(length)),
            // EIO: the interface is down, so there is nothing to read until it is up again.
            Err(Errno::AGAIN | Errno::INTR | Errno::IO) => Ok(None),
            Err(errno) => Err(SysError::refused("read from tap", Arc::clone(&self.name), errno)),
        }
    }

    /// Has the kernel receive a frame on the interface. Returns false if the kernel did not take it, because the interface is down
    /// or its queue is full.
    ///
    /// # Errors
    /// A refusal of the kernel, such as for a frame shorter than an Ethernet header.
    pub fn write(&self, frame: &[u8]) -> Result<bool, SysError> {
        match rustix::io::write(&self.fd, frame) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::IO | Errno::NOBUFS) => Ok(false),
            Err(errno) => Err(SysError::refused("write to tap", Arc::clone(&self.name), errno)),
        }
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Waits until one of `taps` has a frame, a signal arrives, or `timeout` is over (without one, there is no time limit). A tap that
/// is down is ignored. Returns true if a tap has a frame.
///
/// # Errors
/// A refusal of the kernel.
pub fn wait_readable(taps: &[&Tap], timeout: Option<Duration>) -> Result<bool, SysError> {
    let mut polled: Vec<libc::pollfd> = taps
        .iter()
        .map(|tap| libc::pollfd {
            fd: tap.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the count given is the length of `polled`, the timeout is null or whole, both outlive the call, and no signal mask is
    // given.
    let ready = unsafe {
        libc::ppoll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            timeout,
            std::ptr::null(),
        )
    };
    if ready >= 0 {
        return Ok(polled.iter().any(|polled| polled.revents & libc::POLLIN != 0));
    }
    match last_errno() {
        Errno::INTR => Ok(false),
        errno => Err(SysError::refused("wait for", "tap devices", errno)),
    }
}

fn open_clone_device() -> Result<OwnedFd, SysError> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(CLONE_DEVICE);
    opened.map(Into::into).map_err(|error| open_refusal(errno_of(&error)))
}

fn open_refusal(errno: Errno) -> SysError {
    match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => SysError::MissingFeature {
            what: format!("open {CLONE_DEVICE}"),
            needs: "CONFIG_TUN: `modprobe tun`; a container needs the device, such as --device /dev/net/tun",
        },
        Errno::ACCESS | Errno::PERM => SysError::PermissionDenied {
            what: format!("open {CLONE_DEVICE}"),
            remedy: "give the user read and write access; in a container, allow it in the device rules",
        },
        errno => SysError::refused("open", CLONE_DEVICE, errno),
    }
}

/// Opens the tap device `name`; makes it if there is none.
fn attach(name: &str, flags: libc::c_int) -> Result<OwnedFd, SysError> {
    check_name(name)?;
    let fd = open_clone_device()?;
    let request = interface_request(name, flags);
    // SAFETY: TUNSETIFF reads and writes one ifreq, which `request` is and which outlives the call.
    if unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF as _, &raw const request) } < 0 {
        return Err(match last_errno() {
            Errno::BUSY => SysError::Invalid {
                what: format!("{name}: an interface of that name exists already"),
            },
            errno => SysError::or_capability(Capability::NetAdmin, "create tap", name, errno),
        });
    }
    Ok(fd)
}

fn interface_request(name: &str, flags: libc::c_int) -> libc::ifreq {
    // SAFETY: an ifreq is plain numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | flags) as libc::c_short;
    request
}

#[cfg(test)]
mod tests {
    use super::open_refusal;
    use crate::error::ErrorKind;
    use rustix::io::Errno;

    #[test]
    fn a_missing_device_says_what_to_do() {
        let error = open_refusal(Errno::NOENT);
        assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
        assert!(error.to_string().contains("modprobe tun"), "{error}");
        assert!(open_refusal(Errno::ACCESS).to_string().contains("/dev/net/tun"));
    }
}
