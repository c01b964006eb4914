//! Answers of a driver. `None` means that the driver does not report the value, or does not have it.

use rustix::io::Errno;
use std::fmt;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The driver does not support the query (`EOPNOTSUPP`).
    Unsupported,
    /// The interface, or its device, is gone (`ENODEV`).
    Gone,
    /// This kernel has no such query.
    NotInKernel,
    /// The kernel refused for another reason.
    Refused(Errno),
}

impl Silence {
    pub(super) fn of(errno: Errno) -> Self {
        match errno {
            Errno::OPNOTSUPP => Self::Unsupported,
            Errno::NODEV => Self::Gone,
            errno => Self::Refused(errno),
        }
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("the driver does not say (EOPNOTSUPP)"),
            Self::Gone => f.write_str("the interface or its device has gone (ENODEV)"),
            Self::NotInKernel => f.write_str("this kernel has no ethtool interface"),
            Self::Refused(errno) => write!(f, "the kernel refused: {errno}"),
        }
    }
}

/// Driver of an interface. An empty text means that the driver leaves it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// Name: `igc`, `virtio_net`, `veth`.
    pub name: String,
    /// Its version; the kernel's own for most drivers.
    pub version: String,
    /// Firmware of the device.
    pub firmware: String,
    /// Bus address of the device, such as `0000:03:00.0`.
    pub bus: String,
}

/// Duplex mode: one end, or both ends, may send at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplex {
    /// One end at a time: collisions, and unbounded delay.
    Half,
    /// Both ends at the same time.
    Full,
}

/// Speed, duplex, negotiation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// Speed in Mbit/s. `None` while there is no link, and for devices without a line rate.
    pub speed_mbit: Option<u32>,
    /// Duplex.
    pub duplex: Option<Duplex>,
    /// True if speed and duplex are negotiated.
    pub autoneg: Option<bool>,
}

/// How interrupts are delayed. Times in microseconds. `None` means that the driver does not have the parameter; over ioctl, which
/// cannot show that, the value is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coalesce {
    /// Longest wait for more received frames. 1 and 3 are modes, not times, in some drivers of Intel.
    pub rx_usecs: Option<u32>,
    /// Number of received frames that end the wait.
    pub rx_frames: Option<u32>,
    /// Same as [`Coalesce::rx_usecs`], while an interrupt is being served.
    pub rx_usecs_irq: Option<u32>,
    /// Same as [`Coalesce::rx_frames`], while an interrupt is being served.
    pub rx_frames_irq: Option<u32>,
    /// Longest wait for more sent frames.
    pub tx_usecs: Option<u32>,
    /// Number of sent frames that end the wait.
    pub tx_frames: Option<u32>,
    /// Same as [`Coalesce::tx_usecs`], while an interrupt is being served.
    pub tx_usecs_irq: Option<u32>,
    /// Same as [`Coalesce::tx_frames`], while an interrupt is being served.
    pub tx_frames_irq: Option<u32>,
    /// The driver adapts the receive values to the traffic.
    pub adaptive_rx: Option<bool>,
    /// The driver adapts the transmit values to the traffic.
    pub adaptive_tx: Option<bool>,
}

/// Energy-efficient Ethernet (IEEE 802.3az).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Eee {
    /// True if it is switched on at this end.
    pub enabled: Option<bool>,
    /// True if it is in use: both ends agreed.
    pub active: Option<bool>,
    /// True if the transmitter sleeps between frames.
    pub tx_lpi: Option<bool>,
    /// Idle time before the transmitter sleeps, in microseconds.
    pub tx_lpi_timer_us: Option<u32>,
    /// True if the other end of the cable offers it.
    pub peer_offers: Option<bool>,
    /// Link modes in which this end can use it, by the kernel's names.
    pub supported: Option<Vec<String>>,
    /// Link modes in which this end offers it to the other end.
    pub advertised: Option<Vec<String>>,
}

/// Pause frames (IEEE 802.3x).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pause {
    /// True if pause frames are negotiated with the other end.
    pub autoneg: Option<bool>,
    /// True if the interface stops sending when the other end asks for a pause.
    pub rx: Option<bool>,
    /// True if the interface asks the other end to pause.
    pub tx: Option<bool>,
}

/// Offloads and other features, by the kernel's names: `rx-gro`, `tx-tcp-segmentation`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features {
    /// Features that are on.
    pub active: Vec<String>,
}

/// Lengths of the rings, in frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rings {
    /// Length of the receive ring.
    pub rx: Option<u32>,
    /// Longest possible receive ring.
    pub rx_max: Option<u32>,
    /// Length of the transmit ring.
    pub tx: Option<u32>,
    /// Longest possible transmit ring.
    pub tx_max: Option<u32>,
}

/// Numbers of queues by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    /// Number of queues that receive only.
    pub rx: Option<u32>,
    /// Number of queues that transmit only.
    pub tx: Option<u32>,
    /// Number of queues for other events, such as link changes.
    pub other: Option<u32>,
    /// Number of queues that receive and transmit.
    pub combined: Option<u32>,
    /// Largest possible [`Channels::rx`].
    pub rx_max: Option<u32>,
    /// Largest possible [`Channels::tx`].
    pub tx_max: Option<u32>,
    /// Largest possible [`Channels::other`].
    pub other_max: Option<u32>,
    /// Largest possible [`Channels::combined`].
    pub combined_max: Option<u32>,
}

/// How received frames are spread over queues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rss {
    /// Number of entries in the indirection table.
    pub entries: Option<u32>,
    /// Queues in the table, ascending. Empty if the table was not read (ioctl returns only its size).
    pub queues: Vec<u32>,
}

/// Time stamps that the interface can make, by the kernel's names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeStamping {
    /// Capabilities: `hardware-transmit`, `software-receive`…
    pub capabilities: Vec<String>,
    /// Modes of hardware stamps for sent frames: `off`, `on`, `onestep-sync`.
    pub tx_types: Vec<String>,
    /// Received frames that hardware can stamp: `none`, `all`, `ptpv2-event`.
    pub rx_filters: Vec<String>,
    /// Number of its PTP hardware clock: 0 is `/dev/ptp0`. `None` if it has none.
    pub phc: Option<u32>,
}
