//! Layer-2 frames in and out of one interface: an `AF_PACKET` socket with a TPACKET_V2 receive ring.
//!
//! Why this form: the ring is read without a system call, and on veth it beats `recv` and native AF_XDP in copy mode
//! (`docs/measured.md`); TPACKET_V3 delivers by blocks, which a timer closes. The socket takes all
//! EtherTypes and filters in the kernel, since a socket bound to one EtherType loses the VLAN tag that SV and GOOSE carry.
//! It does not see frames sent from its own interface (`PACKET_IGNORE_OUTGOING`), which a reflector would else reflect.

mod events;
mod filter;
mod launch;
mod listeners;
mod port;
mod ring;
mod sender;
mod socket;
mod transmit;

pub use events::{LaunchError, LaunchFault, TxEvent, TxStage, TxStamp};
pub use listeners::{Listener, Process, listeners};
pub use port::PacketPort;
pub use ring::{RxFrame, RxStamp, VlanTag};
pub use sender::PacketSender;
pub use transmit::{PartialSend, TxBatch};

use crate::error::SysError;
use rustix::io::Errno;

/// How a port is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortOptions {
    /// EtherTypes to receive, also behind one or two VLAN tags; empty receives all. At most [`MOST_ETHERTYPES`].
    pub ethertypes: Vec<u16>,
    /// Receive one in 256, by chance, of the frames that may have them behind other headers: IP, further VLAN tags, redundancy tags.
    pub hidden: bool,
    /// Frames the receive ring holds at least ([`PacketPort::ring_frames`] tells how many it got); 0 makes a port that only
    /// sends, and that costs the receive path nothing.
    pub ring_frames: usize,
    /// Longest frame to receive whole, in octets from the destination address, without FCS and without a VLAN tag the kernel
    /// strips; longer ones are truncated.
    pub frame_bytes: usize,
    /// Receive frames for other stations too; ends with the port.
    pub promiscuous: bool,
    /// Multicast addresses the NIC is to pass; ends with the port.
    pub multicast: Vec<[u8; 6]>,
    /// Send past the queueing discipline (`PACKET_QDISC_BYPASS`): never together with ETF or TAPRIO.
    pub qdisc_bypass: bool,
    /// Take the NIC's own receive stamps where it makes them, instead of the kernel's: instants of the NIC's clock, which only
    /// compare with the host's clocks under PTP.
    pub hardware_stamps: bool,
    /// Have the kernel stamp frames where the driver hands them over. Without, each frame costs some 40 ns less, and its stamp
    /// is [`RxStamp::Socket`] unless someone else on the machine has frames stamped.
    pub rx_stamps: bool,
    /// Tell the outer VLAN tag of each frame. Without, exactly one EtherType must be given; frames with and without tag are
    /// received as if they had none, and each costs some 90 ns less.
    pub vlan_tags: bool,
    /// Have the kernel tell when each sent frame passes the queueing discipline and the driver, and, with `hardware_stamps`
    /// where the NIC stamps sent frames already, when it is on the wire: [`PacketPort::next_tx_event`].
    pub tx_stamps: bool,
    /// Allow [`PacketPort::send_at`]. Needs an ETF queueing discipline on `CLOCK_TAI` on the interface, and
    /// `CAP_NET_ADMIN`.
    pub launch_times: bool,
}

/// True if a send call that came to this took a number for [`TxStamp::id`].
pub fn counts(outcome: &Result<(), SysError>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(cause) => is_numbered(cause),
    }
}

/// True if a frame that was refused for `cause` took a number: the queueing discipline dropped it, after it was numbered.
fn is_numbered(cause: &SysError) -> bool {
    matches!(cause, SysError::SendQueueFull { errno, .. } if *errno == Errno::NOBUFS)
}

/// How many EtherTypes one port can filter for.
pub const MOST_ETHERTYPES: usize = filter::MOST_ETHERTYPES;

impl Default for PortOptions {
    /// Everything, with stamps and tags, in a ring of 1024 frames of up to 1518 octets, sent through the queueing discipline.
    fn default() -> Self {
        Self {
            ethertypes: Vec::new(),
            hidden: false,
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
    /// Frames put into the ring.
    pub received: u64,
    /// Frames that passed the filter and were lost because the ring was full.
    pub dropped: u64,
}
