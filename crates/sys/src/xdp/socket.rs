//! The AF_XDP socket: its memory, its four rings, and the queue it is bound to.

use super::mode::XdpRunning;
use super::ring::Ring;
use super::umem::{self, Umem};
use super::{BusyPoll, XdpOptions};
use crate::error::{SysError, last_errno};
use crate::privilege::Capability;
use crate::sockopt;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// Maximum number of frames that can wait. They take 128 MiB of pinned memory, which other programs then lack.
const MOST_RING_FRAMES: usize = 32_768;

/// Attempts to bind to a queue that is taken: for half a second.
const BUSY_ATTEMPTS: u32 = 100;
const BUSY_REST: std::time::Duration = std::time::Duration::from_millis(5);

/// Socket options of linux/socket.h (asm-generic) that libc does not define.
const SO_PREFER_BUSY_POLL: i32 = 69;
const SO_BUSY_POLL_BUDGET: i32 = 70;

/// Socket option of linux/if_xdp.h that libc does not define (Linux 6.17): number of frames that one system call sends.
const XDP_MAX_TX_SKB_BUDGET: i32 = 9;

/// A socket with its rings, not yet bound. Rings are dropped before the memory and the descriptor.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) received: Ring<libc::xdp_desc>,
    pub(super) to_send: Ring<libc::xdp_desc>,
    pub(super) to_fill: Ring<u64>,
    pub(super) sent: Ring<u64>,
    pub(super) umem: Umem,
    pub(super) fd: OwnedFd,
    pub(super) ring_frames: u32,
    /// Send chunks that this side owns.
    pub(super) free: Vec<u64>,
    /// True if the kernel copies frames in the system call that sends them; otherwise a driver takes them at any time.
    pub(super) copies: bool,
    /// Send chunks of refused frames that the kernel still has to skip.
    pub(super) voided: Vec<u64>,
}

impl Socket {
    /// Makes a socket. The kernel owns all receive chunks, and this side the send chunks, which begin at `ring_frames`.
    pub(super) fn new(name: &Arc<str>, options: &XdpOptions) -> Result<Self, SysError> {
        let chunk = umem::chunk_for(options.frame_bytes)?;
        let ring_frames = entries(options.ring_frames)?;
        let send_frames = entries(options.send_frames)?;
        let fd = create(name)?;
        let umem = Umem::new(name, (ring_frames + send_frames) as usize, chunk)?;
        let set = |option, entries: u32| {
            sockopt::set(&fd, libc::SOL_XDP, option, &entries)
                .map_err(|errno| SysError::refused("make the AF_XDP rings of", Arc::clone(name), errno))
        };
        sockopt::set(&fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &umem.registration())
            .map_err(|errno| memory_refusal(name, errno))?;
        // The kernel shows a received frame before it shows that it took the chunk from here: until then the chunk needs two
        // places.
        let fill_places = 2 * ring_frames;
        set(libc::XDP_UMEM_FILL_RING, fill_places)?;
        set(libc::XDP_UMEM_COMPLETION_RING, send_frames)?;
        set(libc::XDP_RX_RING, ring_frames)?;
        set(libc::XDP_TX_RING, send_frames)?;
        // Older kernels send 32 with each call; newer ones send no fewer if they refuse: a batch then takes more calls.
        let _ = set(XDP_MAX_TX_SKB_BUDGET, send_frames);
        let offsets = offsets(&fd, name)?;
        let mut socket = Self {
            received: Ring::map(&fd, name, offsets.rx, libc::XDP_PGOFF_RX_RING as u64, ring_frames)?,
            to_send: Ring::map(&fd, name, offsets.tx, libc::XDP_PGOFF_TX_RING as u64, send_frames)?,
            to_fill: Ring::map(&fd, name, offsets.fr, libc::XDP_UMEM_PGOFF_FILL_RING, fill_places)?,
            sent: Ring::map(&fd, name, offsets.cr, libc::XDP_UMEM_PGOFF_COMPLETION_RING, send_frames)?,
            free: (ring_frames..ring_frames + send_frames)
                .map(|index| umem.address(index as usize))
                .collect(),
            umem,
            fd,
            ring_frames,
            copies: true,
            voided: Vec::with_capacity(send_frames as usize),
        };
        for index in 0..ring_frames as usize {
            socket.to_fill.push(socket.umem.address(index));
        }
        Ok(socket)
    }

    /// Announces that this side polls, so that the kernel need not interrupt.
    pub(super) fn busy_poll(&self, name: &Arc<str>, poll: BusyPoll) -> Result<(), SysError> {
        for (option, value) in [
            (SO_PREFER_BUSY_POLL, 1),
            (libc::SO_BUSY_POLL, poll.time_us),
            (SO_BUSY_POLL_BUDGET, poll.budget),
        ] {
            sockopt::set(&self.fd, libc::SOL_SOCKET, option, &value).map_err(|errno| match errno {
                Errno::NOPROTOOPT => SysError::MissingFeature {
                    what: format!("busy polling on {name}"),
                    needs: "SO_PREFER_BUSY_POLL, Linux 5.11 or newer",
                },
                _ => SysError::or_capability(Capability::NetAdmin, "set busy polling on", Arc::clone(name), errno),
            })?;
        }
        Ok(())
    }

    /// Binds to a queue of an interface. If the queue is taken, it tries again for a while: the kernel frees the queue of a closed
    /// socket a moment later.
    pub(super) fn bind(&mut self, interface: u32, queue: u32, form: XdpRunning) -> Result<(), Errno> {
        self.copies = form != XdpRunning::ZeroCopy;
        for _ in 0..BUSY_ATTEMPTS {
            match self.bind_once(interface, queue, form) {
                Err(Errno::BUSY) => std::thread::sleep(BUSY_REST),
                outcome => return outcome,
            }
        }
        self.bind_once(interface, queue, form)
    }

    fn bind_once(&self, interface: u32, queue: u32, form: XdpRunning) -> Result<(), Errno> {
        let copying = if form == XdpRunning::ZeroCopy {
            libc::XDP_ZEROCOPY
        } else {
            libc::XDP_COPY
        };
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as libc::c_ushort,
            sxdp_flags: copying | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: interface,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let length = size_of::<libc::sockaddr_xdp>() as libc::socklen_t;
        // SAFETY: the pointer is to a whole sockaddr_xdp, and the length is its own.
        let done = unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) };
        if done == 0 { Ok(()) } else { Err(last_errno()) }
    }
}

/// Why the socket could not be bound, in words.
pub(super) fn bind_refusal(queue: u32, form: XdpRunning, errno: Errno) -> String {
    match (errno, form) {
        (Errno::OPNOTSUPP, XdpRunning::ZeroCopy) => format!("the driver has no zero-copy ({errno})"),
        (Errno::BUSY, _) => format!("receive queue {queue} has an AF_XDP socket already ({errno})"),
        (Errno::INVAL, _) => format!("there may be no receive queue {queue} ({errno})"),
        _ => errno.to_string(),
    }
}

fn entries(wanted: usize) -> Result<u32, SysError> {
    if !(1..=MOST_RING_FRAMES).contains(&wanted) {
        return Err(SysError::Invalid {
            what: format!("an AF_XDP ring of {wanted} frames: 1 to {MOST_RING_FRAMES}"),
        });
    }
    Ok(u32::try_from(wanted).unwrap_or(u32::MAX).next_power_of_two())
}

fn create(name: &Arc<str>) -> Result<OwnedFd, SysError> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(match last_errno() {
            Errno::AFNOSUPPORT => SysError::MissingFeature {
                what: format!("open an AF_XDP socket on {name}"),
                needs: "the kernel option CONFIG_XDP_SOCKETS",
            },
            errno => SysError::or_capability(Capability::NetRaw, "open an AF_XDP socket on", Arc::clone(name), errno),
        });
    }
    // SAFETY: the descriptor was just made by socket(2) and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The kernel pins the chunks, and counts them towards the limit of locked memory.
fn memory_refusal(name: &Arc<str>, errno: Errno) -> SysError {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
    match (errno, limit) {
        (Errno::NOBUFS, Some(bytes)) if !crate::privilege::has(Capability::IpcLock) => {
            SysError::MemoryLockLimit { limit_kib: bytes >> 10 }
        }
        _ => SysError::refused("register memory for frames of", Arc::clone(name), errno),
    }
}

fn offsets(fd: &OwnedFd, name: &Arc<str>) -> Result<libc::xdp_mmap_offsets, SysError> {
    let (offsets, octets) = sockopt::get(fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)
        .map_err(|errno| SysError::refused("find the AF_XDP rings of", Arc::clone(name), errno))?;
    if octets < size_of::<libc::xdp_mmap_offsets>() {
        return Err(SysError::MissingFeature {
            what: format!("an AF_XDP socket on {name}"),
            needs: "XDP_USE_NEED_WAKEUP, Linux 5.4 or newer",
        });
    }
    Ok(offsets)
}
