//! Layer-2 frames in and out of one receive queue of an interface: an `AF_XDP` socket (Linux 5.9 or newer).
//!
//! A program of a few instructions, attached to the interface as long as the port lives, passes frames of the wanted EtherTypes to
//! the socket before the kernel's stack sees them; all other frames go to the stack, so the host stays reachable.
//!
//! Differences from a [packet port](crate::packet):
//! - Other programs on the host do not see these frames (nor does a bridge), and sent frames pass no queueing discipline.
//! - Only frames of one receive queue are taken; a NIC with several queues distributes frames over them ([`XdpPort::rx_queues`]).
//! - There are no receive stamps.
//! - A VLAN tag stays in the data if the NIC leaves it there. A NIC with rx-vlan-offload removes it, and nothing reports it
//!   (measured on veth: native and generic XDP both see the tag that was sent in the data).
//! - Frames of up to [`MOST_FRAME_BYTES`] octets.
//!
//! This port is meant for NICs with zero-copy. On veth, which has none, native XDP takes longer than a packet port. Generic XDP
//! takes longer on a busy machine, and less long on a quiet one (bench/peers/rtt.py).

mod attach;
mod mode;
mod port;
mod program;
mod queues;
mod ring;
mod socket;
mod transmit;
mod umem;
mod wake;

pub use mode::{XdpMode, XdpRefusal, XdpRequest, XdpRunning};
pub use port::{XdpFrame, XdpPort};
pub use transmit::XdpSender;
pub use umem::MOST_FRAME_BYTES;

/// Options for opening an AF_XDP port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XdpOptions {
    /// EtherTypes to take, also after one or two VLAN tags; empty takes all, and then the host is not reachable over this queue. At
    /// most [`MOST_ETHERTYPES`](crate::packet::MOST_ETHERTYPES).
    pub ethertypes: Vec<u16>,
    /// Receive queue of the interface, from 0.
    pub queue: u32,
    /// Smallest number of received frames that can wait ([`XdpPort::ring_frames`] returns the real one), 1 to 32768.
    pub ring_frames: usize,
    /// Smallest number of frames that can be on their way out, 1 to 32768.
    pub send_frames: usize,
    /// Longest frame to receive, in octets from the destination address, with VLAN tags, without FCS: at most
    /// [`MOST_FRAME_BYTES`]. Longer ones are dropped and counted.
    pub frame_bytes: usize,
    /// Requested way of attaching to the driver.
    pub mode: XdpRequest,
    /// Polls the driver from [`XdpPort::next`], with one system call each time there is no frame.
    pub busy_poll: Option<BusyPoll>,
    /// Receives frames for other stations, too; ends with the port.
    pub promiscuous: bool,
    /// Multicast addresses that the NIC must pass; ends with the port.
    pub multicast: Vec<[u8; 6]>,
}

/// Preferred busy polling (`SO_PREFER_BUSY_POLL`, Linux 5.11): the kernel leaves the receive queue's interrupt off as long as the
/// port keeps polling. Takes effect if the interface has `napi_defer_hard_irqs` and `gro_flush_timeout` set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyPoll {
    /// How long one system call polls, in us (`SO_BUSY_POLL`).
    pub time_us: u32,
    /// Maximum number of frames that one system call takes from the driver (`SO_BUSY_POLL_BUDGET`).
    pub budget: u32,
}

impl Default for XdpOptions {
    /// Takes everything of queue 0, with room for 1024 frames of up to 1522 octets (with one tag), in the best available mode.
    fn default() -> Self {
        Self {
            ethertypes: Vec::new(),
            queue: 0,
            ring_frames: 1024,
            send_frames: 256,
            frame_bytes: 1522,
            mode: XdpRequest::Auto,
            busy_poll: None,
            promiscuous: false,
            multicast: Vec::new(),
        }
    }
}

/// Counts of frames since the counters were last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct XdpStatistics {
    /// Number of frames that [`XdpPort::next`] returned.
    pub received: u64,
    /// Number of frames lost because no chunk was free, or because they were longer than `frame_bytes` allows. With zero-copy the
    /// NIC drops instead, and counts in its own statistics.
    pub dropped: u64,
    /// Number of frames lost because the receive ring was full.
    pub ring_full: u64,
    /// How often the kernel found no free chunk.
    pub fill_empty: u64,
    /// Number of descriptors that the kernel refused: a defect of this library.
    pub invalid: u64,
}
