//! Sends frames through an AF_XDP socket; contains a sender that does not receive.

use super::XdpOptions;
use super::attach::in_words;
use super::mode::XdpRunning;
use super::socket::{Socket, bind_refusal};
use super::wake::{wake_receive, wake_transmit};
use crate::error::SysError;
use crate::link;
use crate::packet::{PartialSend, TxBatch, VlanTag};
use crate::xdp::XdpRefusal;
use rustix::io::Errno;
use std::sync::Arc;

/// Lengths of an Ethernet header and of a VLAN tag, in octets.
const HEADER_OCTETS: usize = 14;
const TAG_OCTETS: usize = 4;

/// Sends frames on an interface, without a program on it and without receiving: like an [`XdpPort`](super::XdpPort), but combined
/// with any way of receiving. Frames pass no queueing discipline, and other programs on the host do not see them.
///
/// Needs `CAP_NET_RAW` only. On veth it takes less time than a packet socket (bench/peers/rtt.py).
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
    /// There is no such interface (the error lists the existing ones), it is not Ethernet or it is down, `CAP_NET_RAW` is missing,
    /// `frame_bytes` is above [`MOST_FRAME_BYTES`](super::MOST_FRAME_BYTES), the queue is taken, or the kernel refused for another
    /// reason.
    pub fn open(interface: &str, queue: u32, frame_bytes: usize, frames: usize) -> Result<Self, SysError> {
        let link = link::find_ready(interface)?;
        let name: Arc<str> = link.name.into();
        let options = XdpOptions {
            ring_frames: 1,
            send_frames: frames,
            frame_bytes,
            ..XdpOptions::default()
        };
        let mut socket = Socket::new(&name, &options)?;
        // This form copies and needs no program: nothing is required of the driver.
        let form = XdpRunning::Generic;
        socket
            .bind(link.index, queue, form)
            .map_err(|errno| SysError::XdpRefused {
                interface: Arc::clone(&name),
                why: in_words(&[XdpRefusal {
                    form,
                    why: bind_refusal(queue, form, errno),
                }]),
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

    /// Sends one frame: as [`XdpPort::send`](super::XdpPort::send), but a refused frame is never sent later.
    ///
    /// # Errors
    /// Same as [`XdpPort::send`](super::XdpPort::send).
    #[inline]
    pub fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        let sent = self.socket.send(frame, self.mtu);
        sent.map_err(|errno| self.refusal(errno, frame.len()))
    }

    /// Sends a batch with as few system calls as the kernel takes (one, from Linux 6.17 on).
    ///
    /// # Errors
    /// Some frames were not sent: the number sent, and the reason for the next one, as [`XdpSender::send`].
    pub fn send_all(&mut self, batch: &TxBatch) -> Result<(), PartialSend> {
        let sent = self.socket.send_all(batch, self.mtu);
        sent.map_err(|(sent, errno)| PartialSend {
            sent,
            cause: self.refusal(errno, batch.frame(sent).len()),
        })
    }

    #[cold]
    fn refusal(&self, errno: Errno, octets: usize) -> SysError {
        refusal("send on", &self.name, errno, octets, self.mtu, self.socket.umem.chunk())
    }
}

/// A length that no chunk has: the kernel skips descriptors with it.
const TOO_LONG: u32 = u32::MAX;

/// Number of successive system calls that take no frame, after which the driver is considered full.
const MOST_IDLE_CALLS: u32 = 1_000;

/// Result for queued frames.
struct Flushed {
    /// Number of frames that the driver dropped.
    dropped: usize,
    /// Number of frames that the kernel has not taken.
    left: usize,
    /// Why it has not taken them.
    stopped: Option<Errno>,
}

impl Socket {
    /// True if the interface is gone: the kernel unbinds the socket of a removed interface.
    pub(super) fn is_gone(&self) -> bool {
        matches!(wake_receive(&self.fd), Some(Errno::NODEV | Errno::NXIO))
    }

    /// Sends one frame. `EMSGSIZE` if it does not fit, `ENOBUFS` if there is no room or the driver dropped it. A refused frame is
    /// not sent later, except with zero-copy: there the driver takes frames at any time, and a frame that it has no room for stays
    /// queued.
    #[inline]
    pub(super) fn send(&mut self, frame: &[u8], mtu: u32) -> Result<(), Errno> {
        self.settle()?;
        self.queue(frame, mtu)?;
        if !self.to_send.needs_wakeup() {
            return Ok(());
        }
        match self.wake() {
            Ok(()) => Ok(()),
            Err(errno) => self.refused(errno),
        }
    }

    /// Handles the case that the first system call has not taken the one queued frame.
    #[cold]
    fn refused(&mut self, errno: Errno) -> Result<(), Errno> {
        if !self.copies {
            return match errno {
                Errno::AGAIN | Errno::BUSY | Errno::NOBUFS => Ok(()),
                errno => Err(errno),
            };
        }
        let flushed = self.flush(1, Err(errno));
        match flushed.stopped.or((flushed.dropped > 0).then_some(Errno::NOBUFS)) {
            None => Ok(()),
            Some(errno) => Err(errno),
        }
    }

    /// Has the kernel take the queued frames, in one system call, and collects the chunks of sent ones. Collecting them here, and
    /// not before the next frame, does not delay that frame.
    #[inline]
    fn wake(&mut self) -> Result<(), Errno> {
        let woken = wake_transmit(&self.fd);
        self.collect_sent();
        woken
    }

    /// Sends a batch. On an error returns the number of frames sent, and why another one was not.
    pub(super) fn send_all(&mut self, batch: &TxBatch, mtu: u32) -> Result<(), (usize, Errno)> {
        self.settle().map_err(|errno| (0, errno))?;
        let queued =
            (0..batch.len()).try_for_each(|index| self.queue(batch.frame(index), mtu).map_err(|errno| (index, errno)));
        let waiting = self.to_send.waiting();
        let flushed = match waiting > 0 && self.to_send.needs_wakeup() {
            true => {
                let woken = self.wake();
                self.flush(waiting, woken)
            }
            false => Flushed {
                dropped: 0,
                left: 0,
                stopped: None,
            },
        };
        let (count, unqueued) = match queued {
            Ok(()) => (batch.len(), None),
            Err((index, errno)) => (index, Some(errno)),
        };
        match unqueued
            .or(flushed.stopped)
            .or((flushed.dropped > 0).then_some(Errno::NOBUFS))
        {
            None => Ok(()),
            Some(errno) => Err((
                count
                    .saturating_sub(flushed.left + flushed.dropped)
                    .min(batch.len() - 1),
                errno,
            )),
        }
    }

    /// Has the kernel take the queued frames. `waiting` frames were queued before the system call that ended with `woken`; makes
    /// more calls until none is left or it is clear that the kernel takes none. Remaining frames are not sent later.
    fn flush(&mut self, mut waiting: u32, mut woken: Result<(), Errno>) -> Flushed {
        // A call that only dropped a frame does not show that the kernel took it; a later call does.
        let (mut dropped, mut unshown, mut idle_calls) = (0, 0, 0);
        let stopped = loop {
            let before = std::mem::replace(&mut waiting, self.to_send.waiting());
            let is_shown = waiting < before;
            // The kernel ends a call at a frame that the driver dropped.
            let is_dropped = woken == Err(Errno::BUSY) && self.copies;
            dropped += usize::from(is_dropped);
            unshown = if is_shown { 0 } else { unshown + u32::from(is_dropped) };
            idle_calls = if is_shown || is_dropped { 0 } else { idle_calls + 1 };
            match woken {
                Ok(()) | Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS) => {}
                Err(errno) => break Some(errno),
            }
            if waiting == 0 || !self.to_send.needs_wakeup() {
                break None;
            }
            if idle_calls > MOST_IDLE_CALLS {
                break Some(Errno::NOBUFS);
            }
            woken = self.wake();
        };
        // Before Linux 6.17 the kernel shows what it took only when it has taken all frames: if it stopped within a batch, some of
        // the frames counted as left were sent.
        let left = waiting.saturating_sub(unshown) as usize;
        if self.copies && stopped.is_some() {
            self.void();
        }
        Flushed { dropped, left, stopped }
    }

    /// Makes frames that the kernel has not taken invalid, so that it skips them when it takes frames again. If the ring's end were
    /// moved back instead, the kernel would have an end beyond it.
    fn void(&mut self) {
        let (voided, free) = (&mut self.voided, &self.free);
        self.to_send.change_waiting(|descriptor| {
            let is_new = std::mem::replace(&mut descriptor.len, TOO_LONG) != TOO_LONG;
            // A chunk that is back was taken, although the kernel has not shown it.
            if is_new && !free.contains(&descriptor.addr) {
                voided.push(descriptor.addr);
            }
        });
    }

    /// Has the kernel skip the remaining refused frames. Does nothing if no frame was refused.
    #[inline]
    fn settle(&mut self) -> Result<(), Errno> {
        if !self.copies || (self.voided.is_empty() && self.to_send.drained()) {
            return Ok(());
        }
        self.go_over_refused()
    }

    #[cold]
    fn go_over_refused(&mut self) -> Result<(), Errno> {
        // One in each call, and one more call that shows it.
        for _ in 0..self.to_send.waiting() + 2 {
            if self.to_send.drained() {
                break;
            }
            match self.wake() {
                Ok(()) | Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS) => {}
                Err(errno) => return Err(errno),
            }
        }
        if !self.to_send.drained() {
            return Err(Errno::NOBUFS);
        }
        self.collect_sent();
        self.reclaim();
        Ok(())
    }

    /// Collects the chunks of invalidated frames. Some kernels return them, like those of frames taken without showing it; others
    /// do not. So this is done only when the kernel can hold no other chunk.
    fn reclaim(&mut self) {
        if self.free.len() + self.voided.len() == self.to_send.entries() {
            self.free.append(&mut self.voided);
        }
    }

    /// Puts a frame into the send ring.
    #[inline]
    fn queue(&mut self, frame: &[u8], mtu: u32) -> Result<(), Errno> {
        if !self.fits(frame, mtu) {
            return Err(Errno::MSGSIZE);
        }
        let address = self.free_chunk().ok_or(Errno::NOBUFS)?;
        // SAFETY: the chunk came from the list of chunks that this side owns.
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

    /// True if the interface takes the frame: up to its MTU plus header, and tag if there is one, and not more than a chunk.
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

    /// Collects the chunks of sent frames.
    #[inline]
    fn collect_sent(&mut self) {
        while let Some(address) = self.sent.pop() {
            // Never more than there are chunks, so this does not allocate.
            self.free.push(address);
            if !self.voided.is_empty() {
                self.voided.retain(|voided| *voided != address);
            }
        }
    }
}

/// The error for a refusal of the kernel. Does not allocate.
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
