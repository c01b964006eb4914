//! An AF_XDP port: the program, the socket and its rings together.

use super::attach::{Program, bind};
use super::mode::XdpMode;
use super::socket::Socket;
use super::transmit::{refusal, vlan_of};
use super::wake::wake_receive;
use super::{XdpOptions, XdpStatistics, queues};
use crate::error::{SysError, last_errno};
use crate::link;
use crate::packet::{PacketPort, PartialSend, PortOptions, TxBatch, VlanTag};
use crate::{clock, sockopt};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// An AF_XDP socket on one receive queue of one interface.
#[derive(Debug)]
pub struct XdpPort {
    // The program is dropped first, then the socket that it delivers to.
    _program: OwnedFd,
    socket: Socket,
    /// A packet socket for the memberships, if there are any.
    _memberships: Option<PacketPort>,
    polls: bool,
    name: Arc<str>,
    mac: [u8; 6],
    mtu: u32,
    mode: XdpMode,
    rx_queues: Option<u32>,
    received: u64,
    counted: libc::xdp_statistics,
}

impl XdpPort {
    /// Opens a port on `interface`, in the calling thread's network namespace; it stays there wherever it is used.
    ///
    /// The program is attached until the port is dropped or the process ends in any way. Some NICs restart when it is attached, or
    /// with zero-copy, which takes the link down for a moment.
    ///
    /// # Errors
    /// There is no such interface (the error lists the existing ones), it is not Ethernet or it is down; `CAP_NET_RAW` (socket), or
    /// `CAP_NET_ADMIN` or `CAP_BPF` (program) is missing; an option is out of range, there is no such queue, another XDP program is
    /// attached, or the kernel refused for another reason.
    pub fn open(interface: &str, options: &XdpOptions) -> Result<Self, SysError> {
        let link = link::find_ready(interface)?;
        let name: Arc<str> = link.name.as_str().into();
        let mut socket = Socket::new(&name, options)?;
        let rx_queues = queues::receive_queues(&name);
        if rx_queues.is_some_and(|queues| options.queue >= queues) {
            return Err(SysError::Invalid {
                what: format!(
                    "{name}: no receive queue {} (it has {}, from 0)",
                    options.queue,
                    rx_queues.unwrap_or_default()
                ),
            });
        }
        if let Some(poll) = options.busy_poll {
            socket.busy_poll(&name, poll)?;
        }
        let program = Program::load(&name, &options.ethertypes, options.queue)?;
        let (attached, mode) = bind(&link, &name, &program, &mut socket, options)?;
        program.deliver(&name, options.queue, &socket.fd)?;
        Ok(Self {
            _program: attached,
            socket,
            _memberships: memberships(interface, options)?,
            polls: options.busy_poll.is_some(),
            name,
            mac: link.mac,
            mtu: link.mtu,
            mode,
            rx_queues,
            received: 0,
            // SAFETY: a structure of integers.
            counted: unsafe { std::mem::zeroed() },
        })
    }

    /// The interface's hardware address when the port was opened.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// The interface's largest payload when the port was opened, in octets, without the 14 of the Ethernet header.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        &self.name
    }

    /// Number of received frames that can wait: at least as many as requested.
    pub fn ring_frames(&self) -> usize {
        self.socket.ring_frames as usize
    }

    /// The form of XDP that runs, and why no better one does.
    pub fn mode(&self) -> &XdpMode {
        &self.mode
    }

    /// Number of receive queues; `None` if the driver does not report it. If there are several, frames in another queue than the
    /// port's go to the kernel's stack and are not received here: warn the user, and have the NIC put all frames into one queue
    /// (`ethtool -L eth0 combined 1`, or a flow rule).
    pub fn rx_queues(&self) -> Option<u32> {
        self.rx_queues
    }

    /// True if the interface no longer exists: one system call.
    pub fn is_gone(&self) -> bool {
        self.socket.is_gone()
    }

    /// Sends one frame (from the destination address, without FCS): a copy into the port's memory, and one system call unless
    /// the driver needs none. Neither success nor an error allocates. Passes no queueing discipline.
    ///
    /// With zero-copy, a frame that the driver has no room for stays queued and leaves when there is room; otherwise a refused
    /// frame is not sent later.
    ///
    /// # Errors
    /// [`SysError::SendQueueFull`] (see [`SysError::is_transient`]), [`SysError::FrameTooLong`], [`SysError::InterfaceDown`], or
    /// another refusal of the kernel.
    #[inline]
    pub fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        let sent = self.socket.send(frame, self.mtu);
        sent.map_err(|errno| self.refusal("send on", errno, frame.len()))
    }

    /// Sends a batch: as [`XdpSender::send_all`](super::XdpSender::send_all), but with zero-copy, frames that the driver has no
    /// room for stay queued.
    ///
    /// # Errors
    /// Same as [`XdpSender::send_all`](super::XdpSender::send_all).
    pub fn send_all(&mut self, batch: &TxBatch) -> Result<(), PartialSend> {
        self.socket
            .send_all(batch, self.mtu)
            .map_err(|(sent, errno)| PartialSend {
                sent,
                cause: self.refusal("send on", errno, batch.frame(sent).len()),
            })
    }

    #[cold]
    fn refusal(&self, operation: &'static str, errno: Errno, bytes: usize) -> SysError {
        refusal(operation, &self.name, errno, bytes, self.mtu, self.socket.umem.chunk())
    }

    /// Returns the oldest received frame not yet taken: one read of memory, and no system call unless busy polling was requested or
    /// the driver asks for a wake-up. Its chunk returns to the kernel when the frame is dropped.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the port, which no Iterator's item can"
    )]
    pub fn next(&mut self) -> Option<XdpFrame<'_>> {
        let Some(descriptor) = self.socket.received.pop() else {
            if self.polls || self.socket.to_fill.needs_wakeup() {
                wake_receive(&self.socket.fd);
            }
            return None;
        };
        self.received += 1;
        Some(XdpFrame {
            socket: &mut self.socket,
            descriptor,
        })
    }

    /// Sleeps until there is a frame, at most `timeout_ns`; returns at once if there is one already. Returns false if the time is
    /// over or a signal arrived.
    ///
    /// # Errors
    /// [`SysError::InterfaceDown`] if the interface is down or gone once the time is over, or another refusal of the kernel.
    pub fn wait(&self, timeout_ns: u64) -> Result<bool, SysError> {
        let timeout = clock::timespec(i64::try_from(timeout_ns).unwrap_or(i64::MAX));
        let timeout = libc::timespec {
            tv_sec: timeout.tv_sec,
            tv_nsec: timeout.tv_nsec,
        };
        let mut poll = libc::pollfd {
            fd: self.socket.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one pollfd and one timespec, both locals that outlive the call; no signal mask.
        let ready = unsafe { libc::ppoll(&raw mut poll, 1, &raw const timeout, std::ptr::null()) };
        match ready {
            1.. if poll.revents & libc::POLLIN != 0 => Ok(true),
            // An interface that goes down does not end the sleep; the socket reports it on the next call.
            0.. => match wake_receive(&self.socket.fd) {
                Some(errno @ (Errno::NETDOWN | Errno::NODEV | Errno::NXIO)) => Err(self.refusal("wait on", errno, 0)),
                _ => Ok(false),
            },
            _ => match last_errno() {
                Errno::INTR => Ok(false),
                errno => Err(self.refusal("wait on", errno, 0)),
            },
        }
    }

    /// Counts of frames since the last call, or since the port was opened (`XDP_STATISTICS`).
    ///
    /// # Errors
    /// A refusal of the kernel.
    pub fn statistics(&mut self) -> Result<XdpStatistics, SysError> {
        let (now, _): (libc::xdp_statistics, _) = sockopt::get(&self.socket.fd, libc::SOL_XDP, libc::XDP_STATISTICS)
            .map_err(|errno| self.refusal("read the counters of", errno, 0))?;
        let before = std::mem::replace(&mut self.counted, now);
        let since = |now: u64, before: u64| now.saturating_sub(before);
        Ok(XdpStatistics {
            received: std::mem::take(&mut self.received),
            dropped: since(now.rx_dropped, before.rx_dropped),
            ring_full: since(now.rx_ring_full, before.rx_ring_full),
            fill_empty: since(now.rx_fill_ring_empty_descs, before.rx_fill_ring_empty_descs),
            invalid: since(now.rx_invalid_descs, before.rx_invalid_descs)
                + since(now.tx_invalid_descs, before.tx_invalid_descs),
        })
    }
}

impl AsFd for XdpPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.fd.as_fd()
    }
}

/// A received frame, in the port's memory; its chunk returns to the kernel when this is dropped.
#[derive(Debug)]
pub struct XdpFrame<'a> {
    socket: &'a mut Socket,
    descriptor: libc::xdp_desc,
}

impl XdpFrame<'_> {
    /// The frame from its destination address, without FCS, with every VLAN tag the NIC left in it.
    #[inline]
    pub fn data(&self) -> &[u8] {
        // SAFETY: the chunk came from the receive ring and returns to the kernel only when this value is dropped.
        unsafe {
            self.socket
                .umem
                .octets(self.descriptor.addr, self.descriptor.len as usize)
        }
    }

    /// The outer VLAN tag, which is in the data, too. A NIC with rx-vlan-offload removes it without a trace.
    #[inline]
    pub fn vlan(&self) -> Option<VlanTag> {
        vlan_of(self.data())
    }
}

impl Drop for XdpFrame<'_> {
    #[inline]
    fn drop(&mut self) {
        let chunk = self.socket.umem.chunk_of(self.descriptor.addr);
        let taken = self.socket.to_fill.push(chunk);
        debug_assert!(taken, "the fill ring has room for every receive chunk");
    }
}

/// Opens a packet socket for the memberships, which belong to such sockets. It receives nothing.
fn memberships(interface: &str, options: &XdpOptions) -> Result<Option<PacketPort>, SysError> {
    if !options.promiscuous && options.multicast.is_empty() {
        return Ok(None);
    }
    let holder = PortOptions {
        ring_frames: 0,
        promiscuous: options.promiscuous,
        multicast: options.multicast.clone(),
        ..PortOptions::default()
    };
    PacketPort::open(interface, &holder).map(Some)
}
