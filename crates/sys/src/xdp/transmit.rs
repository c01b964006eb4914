//! Sending by an AF_XDP socket, and a sender that does nothing else.

use super::XdpOptions;
use super::mode::XdpRunning;
use super::socket::{Socket, bind_refusal};
use super::wake::wake_transmit;
use crate::error::SysError;
use crate::link;
use crate::packet::{PartialSend, TxBatch, VlanTag};
use crate::xdp::XdpRefusal;
use rustix::io::Errno;
use std::sync::Arc;

/// An Ethernet header and a VLAN tag, in octets.
const HEADER_OCTETS: usize = 14;
const TAG_OCTETS: usize = 4;

/// Sends frames on an interface, without a program on it and without receiving: the way out of an [`XdpPort`](super::XdpPort)
/// beside any way in. Frames pass no queueing discipline, and other programs on the host do not see them.
///
/// Needs `CAP_NET_RAW` only. On veth it takes less time than a packet socket (examples/rtt.rs).
#[derive(Debug)]
pub struct XdpSender {
    socket: Socket,
    name: Arc<str>,
    mac: [u8; 6],
    mtu: u32,
}

impl XdpSender {
    /// Opens a sender for frames of up to `frame_bytes` octets, `frames` at once, on transmit queue `queue` of `interface`,
    /// which must have no other AF_XDP socket.
    ///
    /// # Errors
    /// No such interface (lists those there are), not Ethernet, down, `CAP_NET_RAW` missing, `frame_bytes` above
    /// [`MOST_FRAME_BYTES`](super::MOST_FRAME_BYTES), the queue taken, or what the kernel refused.
    pub fn open(interface: &str, queue: u32, frame_bytes: usize, frames: usize) -> Result<Self, SysError> {
        let link = link::find(interface)?;
        if !link.ethernet {
            return Err(SysError::NotEthernet { name: link.name });
        }
        let name: Arc<str> = link.name.into();
        if !link.up {
            return Err(SysError::InterfaceDown { name });
        }
        let options = XdpOptions {
            ring_frames: 1,
            send_frames: frames,
            frame_bytes,
            ..XdpOptions::default()
        };
        let mut socket = Socket::new(&name, &options)?;
        // The word for copying without a program: no driver is asked for anything.
        let form = XdpRunning::Generic;
        socket
            .bind(link.index, queue, form)
            .map_err(|errno| SysError::XdpRefused {
                interface: Arc::clone(&name),
                refused: vec![XdpRefusal {
                    form,
                    why: bind_refusal(queue, form, errno),
                }],
            })?;
        Ok(Self {
            socket,
            name,
            mac: link.mac,
            mtu: link.mtu,
        })
    }

    /// The interface's hardware address when the sender was opened.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// Sends one frame: as [`XdpPort::send`](super::XdpPort::send), but a frame that is refused is not sent later either.
    ///
    /// # Errors
    /// As [`XdpPort::send`](super::XdpPort::send).
    #[inline]
    pub fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        let sent = self.socket.send(frame, self.mtu);
        sent.map_err(|errno| {
            self.socket.take_back();
            let chunk = self.socket.umem.chunk();
            refusal("send on", &self.name, errno, frame.len(), self.mtu, chunk)
        })
    }

    /// Sends a batch with as few system calls as the kernel takes (one, from Linux 6.17 on).
    ///
    /// # Errors
    /// How many frames went, and why the next one did not: as [`XdpSender::send`].
    pub fn send_all(&mut self, batch: &TxBatch) -> Result<(), PartialSend> {
        self.socket.send_all(batch, self.mtu).map_err(|(sent, errno)| {
            self.socket.take_back();
            let (octets, chunk) = (batch.frame(sent).len(), self.socket.umem.chunk());
            PartialSend {
                sent,
                cause: refusal("send on", &self.name, errno, octets, self.mtu, chunk),
            }
        })
    }
}

/// System calls in a row that take no frame along, after which the driver is taken to have no room.
const MOST_IDLE_CALLS: u32 = 1_000;

impl Socket {
    /// Sends one frame. `EMSGSIZE` when it does not fit, `ENOBUFS` when there is no room or the driver dropped it; a frame the
    /// driver has no room for stays queued, and the next system call takes it along.
    #[inline]
    pub(super) fn send(&mut self, frame: &[u8], mtu: u32) -> Result<(), Errno> {
        self.queue(frame, mtu)?;
        if !self.to_send.needs_wakeup() {
            return Ok(());
        }
        let woken = self.wake();
        match woken {
            // Dropped. The kernel has seen it as taken before the next frame is queued.
            Err(Errno::BUSY) if self.copies => {
                let _ = self.wake();
                Err(Errno::NOBUFS)
            }
            Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS) if !self.to_send.drained() => Ok(()),
            Err(Errno::BUSY) => Err(Errno::NOBUFS),
            outcome => outcome,
        }
    }

    /// Has the kernel take what is queued, in one system call, and takes back what it is done with: here, and not before the next
    /// frame, which is in a hurry.
    #[inline]
    fn wake(&mut self) -> Result<(), Errno> {
        let woken = wake_transmit(&self.fd);
        self.collect_sent();
        woken
    }

    /// Sends a batch; otherwise how many frames went, and why the next one did not.
    pub(super) fn send_all(&mut self, batch: &TxBatch, mtu: u32) -> Result<(), (usize, Errno)> {
        let queued =
            (0..batch.len()).try_for_each(|index| self.queue(batch.frame(index), mtu).map_err(|errno| (index, errno)));
        // Those before one that finds no room are on their way, or kept back as any other.
        let (dropped, flushed) = self.flush();
        let (count, kept) = match queued {
            Ok(()) => (batch.len(), flushed.err()),
            Err((index, errno)) => (index, Some(errno)),
        };
        match kept.or((dropped > 0).then_some(Errno::NOBUFS)) {
            None => Ok(()),
            Some(errno) => {
                let sent = count.saturating_sub(self.left() as usize + dropped);
                Err((sent.min(batch.len() - 1), errno))
            }
        }
    }

    /// Frames that are queued and were not dropped.
    fn left(&self) -> u32 {
        self.to_send.waiting().saturating_sub(self.unshown)
    }

    /// Takes back what the kernel has not taken, so that it does not leave later: see [`Ring::take_back`](super::ring::Ring). Where the
    /// kernel does not show what it has taken, frames stay, and leave with the next ones.
    fn take_back(&mut self) {
        while self.shows_taken && self.left() > 0 {
            let Some(descriptor) = self.to_send.take_back() else {
                return;
            };
            self.free.push(descriptor.addr);
        }
    }

    /// Has the kernel take what is queued; how many of them the driver dropped, and what kept the rest.
    fn flush(&mut self) -> (usize, Result<(), Errno>) {
        let (mut idle_calls, mut dropped) = (0, 0);
        while self.to_send.waiting() > 0 && self.to_send.needs_wakeup() {
            let before = self.to_send.waiting();
            let woken = self.wake();
            let is_shown = self.to_send.waiting() < before;
            if is_shown {
                self.unshown = 0;
            }
            // It ends a call with the frame it dropped.
            let is_dropped = woken == Err(Errno::BUSY) && self.copies;
            dropped += usize::from(is_dropped);
            self.unshown += u32::from(is_dropped && !is_shown);
            match woken {
                Ok(()) | Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS) => {}
                Err(errno) => return (dropped, Err(errno)),
            }
            idle_calls = if is_shown || is_dropped { 0 } else { idle_calls + 1 };
            if idle_calls > MOST_IDLE_CALLS {
                return (dropped, Err(Errno::NOBUFS));
            }
        }
        (dropped, Ok(()))
    }

    /// Puts a frame into the ring of those to be sent.
    #[inline]
    fn queue(&mut self, frame: &[u8], mtu: u32) -> Result<(), Errno> {
        if !self.fits(frame, mtu) {
            return Err(Errno::MSGSIZE);
        }
        let address = self.free_chunk().ok_or(Errno::NOBUFS)?;
        // SAFETY: the chunk came from the list of those that are with this side.
        unsafe { self.umem.write(address, frame) };
        let descriptor = libc::xdp_desc {
            addr: address,
            len: frame.len() as u32,
            options: 0,
        };
        if self.to_send.push(descriptor) {
            return Ok(());
        }
        self.free.push(address);
        Err(Errno::NOBUFS)
    }

    /// What the interface takes: its MTU with a header, and a tag if there is one, and not more than a chunk.
    #[inline]
    fn fits(&self, frame: &[u8], mtu: u32) -> bool {
        let tag = if vlan_of(frame).is_some() { TAG_OCTETS } else { 0 };
        frame.len() <= (mtu as usize + HEADER_OCTETS + tag).min(self.umem.chunk())
    }

    #[inline]
    fn free_chunk(&mut self) -> Option<u64> {
        if self.free.is_empty() {
            self.collect_sent();
        }
        self.free.pop()
    }

    /// Takes back the chunks of frames that have been sent.
    #[inline]
    fn collect_sent(&mut self) {
        while let Some(address) = self.sent.pop() {
            // Never more than there are chunks, so this does not allocate.
            self.free.push(address);
        }
    }
}

/// What a refusal of the kernel means. Does not allocate.
#[cold]
pub(super) fn refusal(
    operation: &'static str,
    name: &Arc<str>,
    errno: Errno,
    bytes: usize,
    mtu: u32,
    chunk: usize,
) -> SysError {
    let interface = Arc::clone(name);
    match errno {
        Errno::AGAIN | Errno::NOBUFS => SysError::SendQueueFull { interface, errno },
        Errno::MSGSIZE if bytes <= mtu as usize + HEADER_OCTETS => SysError::FrameBeyondChunk {
            interface,
            bytes,
            chunk,
        },
        Errno::MSGSIZE => SysError::FrameTooLong { interface, bytes, mtu },
        Errno::NETDOWN => SysError::InterfaceDown { name: interface },
        Errno::NODEV | Errno::NXIO => SysError::InterfaceGone { name: interface },
        errno => SysError::Refused {
            operation,
            target: interface,
            errno,
        },
    }
}

/// The outer VLAN tag in a frame's data.
#[inline]
pub(super) fn vlan_of(frame: &[u8]) -> Option<VlanTag> {
    let octets: [u8; 4] = *frame.get(12..)?.first_chunk()?;
    let tpid = u16::from_be_bytes([octets[0], octets[1]]);
    matches!(tpid, 0x8100 | 0x88a8).then_some(VlanTag {
        tpid,
        tci: u16::from_be_bytes([octets[2], octets[3]]),
    })
}
