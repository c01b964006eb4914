//! A packet port: ring, filter and socket combined.

use super::egress::Egress;
use super::ring::{Ring, RxFrame};
use super::sender::{PacketSender, refusal};
use super::socket::{NicStamps, Socket, statistics};
use super::transmit::{self, PartialSend, TxBatch};
use super::{PortOptions, RingStatistics, TxEvent, events, filter, launch};
use crate::error::{SysError, last_errno};
use crate::link::{LinkCounters, LinkStatistics};
use crate::{clock, link};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use units::Tai;

/// A socket on one interface that sends frames and receives them through a ring.
#[derive(Debug)]
pub struct PacketPort {
    // Before the descriptor, so that the mapping is dropped first.
    ring: Option<Ring>,
    fd: OwnedFd,
    name: Arc<str>,
    mac: [u8; 6],
    mtu: u32,
    egress: Egress,
    nic_stamps: NicStamps,
    tells_sent: bool,
    counters: LinkCounters,
}

impl PacketPort {
    /// Opens a port on `interface`, in the calling thread's network namespace; it stays there wherever it is used.
    ///
    /// From here on the ring receives frames: only from this interface, only those that the filter passes, and no earlier ones.
    ///
    /// # Errors
    /// There is no such interface (the error lists the existing ones), it is not Ethernet or it is down, `CAP_NET_RAW` is missing,
    /// an option is out of range, or the kernel refused for another reason.
    pub fn open(interface: &str, options: &PortOptions) -> Result<Self, SysError> {
        let link = link::find(interface)?;
        if !link.ethernet {
            return Err(SysError::NotEthernet { name: link.name });
        }
        let egress = Egress::of(&link);
        let mut program = filter::program(&options.ethertypes, options.hidden, options.udp_port)?;
        let protocol = receive_protocol(options)?;
        let name: Arc<str> = link.name.into();
        let socket = Socket::new(&name)?;
        if !link.up {
            return Err(SysError::InterfaceDown { name });
        }
        if options.qdisc_bypass {
            socket.set_packet(libc::PACKET_QDISC_BYPASS, &1_i32, "bypass the queueing discipline of")?;
        }
        if options.launch_times {
            if options.qdisc_bypass {
                return Err(SysError::Invalid {
                    what: format!("{name}: launch times are kept by the queueing discipline, which is bypassed"),
                });
            }
            socket.launch_times()?;
        }
        let receives = options.ring_frames > 0;
        let nic_stamps = socket.stamp(
            receives && options.rx_stamps,
            options.tx_stamps,
            options.hardware_stamps,
        )?;
        let mut ring = None;
        if receives {
            socket.ignore_outgoing()?;
            if options.vlan_tags {
                socket.attach(&mut program)?;
            }
            ring = Some(Ring::new(&socket, options.ring_frames, options.frame_bytes)?);
        }
        for address in &options.multicast {
            socket.join(link.index, libc::PACKET_MR_MULTICAST, *address)?;
        }
        if options.promiscuous {
            socket.join(link.index, libc::PACKET_MR_PROMISC, [0; 6])?;
        }
        socket.bind(link.index, protocol)?;
        let counters = LinkCounters::open(link.index, &name)?;
        Ok(Self {
            counters,
            ring,
            fd: socket.fd,
            name,
            mac: link.mac,
            mtu: link.mtu,
            egress,
            nic_stamps,
            tells_sent: options.tx_stamps || options.launch_times,
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

    /// Rate and shapers of the interface when the port was opened.
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        &self.name
    }

    /// Counts of the interface since it was created, also from another network namespace. Allocates nothing.
    ///
    /// # Errors
    /// The interface is gone, or the kernel refused for another reason.
    pub fn link_statistics(&mut self) -> Result<LinkStatistics, SysError> {
        self.counters.read()
    }

    /// Counters of the interface's link for another thread.
    pub fn link(&self) -> LinkCounters {
        self.counters.again()
    }

    /// Number of frames that the receive ring holds: at least as many as requested.
    pub fn ring_frames(&self) -> usize {
        self.ring.as_ref().map_or(0, Ring::slots)
    }

    /// True if the NIC stamps received frames; frames that it does not stamp still carry the kernel's stamp.
    pub fn hardware_stamps(&self) -> bool {
        self.nic_stamps.received
    }

    /// True if the NIC stamps sent frames ([`TxStage::Wire`](super::TxStage::Wire)).
    pub fn hardware_tx_stamps(&self) -> bool {
        self.nic_stamps.sent
    }

    /// True if the interface no longer exists: one system call. Neither [`PacketPort::next`] nor [`PacketPort::wait`] reports that.
    pub fn is_gone(&self) -> bool {
        super::socket::bound_to(&self.fd).is_some_and(|index| index <= 0)
    }

    /// Sends one frame (from the destination address, without FCS): one system call, which does not wait for room. Neither
    /// success nor an error allocates.
    ///
    /// # Errors
    /// [`SysError::SendQueueFull`] (see [`SysError::is_transient`]), [`SysError::FrameTooLong`], [`SysError::InterfaceDown`],
    /// [`SysError::InterfaceGone`], or another refusal of the kernel.
    #[inline]
    pub fn send(&self, frame: &[u8]) -> Result<(), SysError> {
        transmit::send(&self.fd, frame).map_err(|errno| self.send_refusal(errno, frame.len()))
    }

    /// Sends one frame that must leave at `at`: as [`PacketPort::send`]. If that is too late, the ETF queueing discipline drops it,
    /// which [`PacketPort::next_tx_event`] reports, and this function does not.
    ///
    /// # Errors
    /// The port was opened without `launch_times`, or the errors of [`PacketPort::send`].
    #[inline]
    pub fn send_at(&self, frame: &[u8], at: Tai) -> Result<(), SysError> {
        launch::send_at(&self.fd, frame, at).map_err(|errno| self.send_refusal(errno, frame.len()))
    }

    /// Takes the kernel's oldest message about sent frames: one system call, which neither waits nor allocates. There is none
    /// without `tx_stamps` and `launch_times`.
    ///
    /// Some thousands of messages can wait; the kernel drops any further ones. While one waits, [`PacketPort::wait`] does not
    /// sleep.
    ///
    /// # Errors
    /// A refusal of the kernel.
    #[inline]
    pub fn next_tx_event(&self) -> Result<Option<TxEvent>, SysError> {
        if !self.tells_sent {
            return Ok(None);
        }
        events::next(&self.fd).map_err(|errno| SysError::Refused {
            operation: "read the reports on frames sent on",
            target: Arc::clone(&self.name),
            errno,
        })
    }

    /// Ends the stamping of sent frames, and drops the reports that wait.
    pub fn end_tx_stamps(&self) {
        if !self.tells_sent {
            return;
        }
        let none = 0_u32;
        // If the kernel refuses, stamps continue to arrive and are left unread.
        let _ = crate::sockopt::set(&self.fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &none);
        while let Ok(Some(_)) = self.next_tx_event() {}
    }

    /// Sends the batch with one system call, which does not wait for room, and returns the number of frames sent: fewer than
    /// [`TxBatch::len`] if the transmit queue filled up.
    ///
    /// # Errors
    /// Not even the first frame was sent: as [`PacketPort::send`].
    #[inline]
    pub fn send_batch(&self, batch: &mut TxBatch) -> Result<usize, SysError> {
        self.send_from(batch, 0)
    }

    /// Sends the batch with as few system calls as the kernel takes.
    ///
    /// # Errors
    /// Some frames were not sent: their number, and the reason for the first of them, as [`PacketPort::send`].
    pub fn send_all(&self, batch: &mut TxBatch) -> Result<(), PartialSend> {
        let mut sent = 0;
        while sent < batch.len() {
            sent += self
                .send_from(batch, sent)
                .map_err(|cause| PartialSend { sent, cause })?;
        }
        Ok(())
    }

    fn send_from(&self, batch: &mut TxBatch, first: usize) -> Result<usize, SysError> {
        transmit::send_many(&self.fd, batch, first).map_err(|errno| self.send_refusal(errno, batch.octets(first)))
    }

    #[cold]
    fn send_refusal(&self, errno: Errno, bytes: usize) -> SysError {
        refusal(&self.name, self.mtu, errno, bytes)
    }

    /// Opens a sender through this port for another thread.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn sender(&self) -> Result<PacketSender, SysError> {
        let fd = rustix::io::fcntl_dupfd_cloexec(&self.fd, 0);
        let fd = fd.map_err(|errno| SysError::refused("share the socket of", Arc::clone(&self.name), errno))?;
        Ok(PacketSender {
            fd,
            name: Arc::clone(&self.name),
            mtu: self.mtu,
        })
    }

    /// Stamp of the frame that [`PacketPort::next`] would return, in ns on the clock that made it. The frame stays.
    #[inline]
    pub fn next_stamp_ns(&self) -> Option<i64> {
        self.ring.as_ref()?.next_stamp_ns()
    }

    /// Returns the oldest received frame not yet taken: one read of memory, no system call. Its slot returns to the kernel when the
    /// frame is dropped.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the port, which no Iterator's item can"
    )]
    pub fn next(&mut self) -> Option<RxFrame<'_>> {
        self.ring.as_mut()?.next()
    }

    /// Sleeps until a frame is in the ring, at most `timeout_ns`; returns at once if there is one already. Returns false if the
    /// time is over, a signal arrived, or a transmit event waits.
    ///
    /// # Errors
    /// [`SysError::InterfaceDown`] if the interface is down or gone, or another refusal of the kernel.
    pub fn wait(&self, timeout_ns: u64) -> Result<bool, SysError> {
        let timeout = clock::timespec(i64::try_from(timeout_ns).unwrap_or(i64::MAX));
        let timeout = libc::timespec {
            tv_sec: timeout.tv_sec,
            tv_nsec: timeout.tv_nsec,
        };
        let mut poll = libc::pollfd {
            fd: self.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one pollfd and one timespec, both locals that outlive the call; no signal mask.
        let ready = unsafe { libc::ppoll(&raw mut poll, 1, &raw const timeout, std::ptr::null()) };
        match ready {
            0 => Ok(false),
            1.. if poll.revents & libc::POLLERR != 0 => self.socket_error().map(|()| poll.revents & libc::POLLIN != 0),
            1.. => Ok(true),
            _ => match last_errno() {
                Errno::INTR => Ok(false),
                errno => Err(self.wait_refusal(errno)),
            },
        }
    }

    pub(super) fn wait_refusal(&self, errno: Errno) -> SysError {
        SysError::Refused {
            operation: "wait on",
            target: Arc::clone(&self.name),
            errno,
        }
    }

    pub(super) fn socket_error(&self) -> Result<(), SysError> {
        let errno = match rustix::net::sockopt::socket_error(&self.fd) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(errno)) | Err(errno) => errno,
        };
        let name = Arc::clone(&self.name);
        Err(match errno {
            Errno::NETDOWN | Errno::NODEV => SysError::InterfaceDown { name },
            errno => SysError::Refused {
                operation: "wait on",
                target: name,
                errno,
            },
        })
    }

    /// Number of frames received and dropped by the ring since the last call, or since the port was opened.
    ///
    /// # Errors
    /// A refusal of the kernel.
    pub fn statistics(&self) -> Result<RingStatistics, SysError> {
        let counted = statistics(&self.fd).map_err(|errno| SysError::Refused {
            operation: "read the counters of",
            target: Arc::clone(&self.name),
            errno,
        })?;
        let dropped = u64::from(counted.tp_drops);
        // The kernel counts dropped frames as received, too.
        Ok(RingStatistics {
            received: u64::from(counted.tp_packets).saturating_sub(dropped),
            dropped,
        })
    }
}

/// The protocol to bind to: 0 receives nothing. A socket bound to one EtherType needs no filter, and the kernel passes
/// the frame to that socket alone, but by then the VLAN tag is lost.
fn receive_protocol(options: &PortOptions) -> Result<u16, SysError> {
    match (options.ring_frames, options.vlan_tags, &options.ethertypes[..]) {
        (0, _, _) => Ok(0),
        (_, true, _) => Ok(libc::ETH_P_ALL as u16),
        (_, false, [ethertype]) => Ok(*ethertype),
        (_, false, ethertypes) => Err(SysError::Invalid {
            what: format!(
                "a port without VLAN tags receives exactly one EtherType, not {}",
                ethertypes.len()
            ),
        }),
    }
}

impl AsFd for PacketPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
