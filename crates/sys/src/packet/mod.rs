//! Layer-2 frames in and out of one interface: an `AF_PACKET` socket with a TPACKET_V2 receive ring.
//!
//! Reasons for this form: the ring is read without a system call, and on veth it is faster than `recv` and than native AF_XDP in
//! copy mode (`docs/measured.md`); TPACKET_V3 delivers in blocks, which a timer closes. The socket takes all EtherTypes and filters
//! in the kernel, since a socket bound to one EtherType loses the VLAN tag of SV and GOOSE frames. It does not see frames sent from
//! its own interface (`PACKET_IGNORE_OUTGOING`); a reflector would otherwise reflect them.

mod egress;
mod either;
mod events;
mod filter;
mod launch;
mod listeners;
mod port;
mod ring;
mod sender;
mod socket;
mod transmit;

pub use egress::Egress;
pub use either::wait_either;
pub use events::{LaunchError, LaunchFault, TxEvent, TxStage, TxStamp};
pub use listeners::{Listener, Process, listeners};
pub use port::PacketPort;
pub use ring::{RxFrame, RxStamp, VlanTag};
pub use sender::PacketSender;
pub use transmit::{PartialSend, TxBatch};

use crate::error::SysError;
use rustix::io::Errno;

/// Options for opening a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortOptions {
    /// EtherTypes to receive, also after one or two VLAN tags; empty receives all. At most [`MOST_ETHERTYPES`].
    pub ethertypes: Vec<u16>,
    /// Receives one in 256, at random, of the frames that may have them after other headers: IP, further VLAN tags, redundancy
    /// tags.
    pub hidden: bool,
    /// Receives datagrams to this UDP port as well.
    pub udp_port: Option<u16>,
    /// Smallest number of frames in the receive ring ([`PacketPort::ring_frames`] returns the real one); 0 makes a port that only
    /// sends, and does not burden the receive path.
    pub ring_frames: usize,
    /// Longest frame to receive completely, in octets from the destination address, without FCS and without a VLAN tag that the
    /// kernel strips; longer ones are truncated.
    pub frame_bytes: usize,
    /// Receives frames for other stations, too; ends with the port.
    pub promiscuous: bool,
    /// Multicast addresses that the NIC must pass; ends with the port.
    pub multicast: Vec<[u8; 6]>,
    /// Sends past the queueing discipline (`PACKET_QDISC_BYPASS`): never together with ETF or TAPRIO.
    pub qdisc_bypass: bool,
    /// Uses the NIC's own receive stamps, if it makes them, instead of the kernel's: instants of the NIC's clock, which can be
    /// compared with the host's clocks only under PTP.
    pub hardware_stamps: bool,
    /// Has the kernel stamp frames where the driver delivers them. Without this, each frame costs some 40 ns less, and its stamp is
    /// [`RxStamp::Socket`], unless another program on the machine has frames stamped.
    pub rx_stamps: bool,
    /// Reports the outer VLAN tag of each frame. Without this, exactly one EtherType must be given; frames with and without a tag
    /// are received as if they had none, and each costs some 90 ns less.
    pub vlan_tags: bool,
    /// Has the kernel report when each sent frame passes the queueing discipline and the driver; with `hardware_stamps`, and if the
    /// NIC already stamps sent frames, also when it is on the wire: [`PacketPort::next_tx_event`].
    pub tx_stamps: bool,
    /// Allows [`PacketPort::send_at`]. Needs an ETF queueing discipline on `CLOCK_TAI` on the interface, and `CAP_NET_ADMIN`.
    pub launch_times: bool,
}

/// True if a send call with this outcome used up a number for [`TxStamp::id`].
pub fn counts(outcome: &Result<(), SysError>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(cause) => is_numbered(cause),
    }
}

/// True if a frame refused for `cause` used up a number: the queueing discipline dropped it after it was numbered.
fn is_numbered(cause: &SysError) -> bool {
    matches!(cause, SysError::SendQueueFull { errno, .. } if *errno == Errno::NOBUFS)
}

/// Most EtherTypes that one port can filter for.
pub const MOST_ETHERTYPES: usize = filter::MOST_ETHERTYPES;

impl Default for PortOptions {
    /// Receives everything, with stamps and tags, in a ring of 1024 frames of up to 1518 octets, and sends through the queueing
    /// discipline.
    fn default() -> Self {
        Self {
            ethertypes: Vec::new(),
            hidden: false,
            udp_port: None,
            ring_frames: 1024,
            frame_bytes: 1518,
            promiscuous: false,
            multicast: Vec::new(),
            qdisc_bypass: false,
            hardware_stamps: false,
            rx_stamps: true,
            vlan_tags: true,
            tx_stamps: false,
            launch_times: false,
        }
    }
}

/// Counts of received frames since the counters were last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RingStatistics {
    /// Number of frames put into the ring.
    pub received: u64,
    /// Number of frames that passed the filter and were lost because the ring was full.
    pub dropped: u64,
}
