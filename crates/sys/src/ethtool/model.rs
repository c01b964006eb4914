//! Answers of a driver. `None` stands for something that it does not say, or does not have.

use rustix::io::Errno;
use std::fmt;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The driver has nothing to say about it (`EOPNOTSUPP`).
    Unsupported,
    /// The interface, or the device behind it, went away (`ENODEV`).
    Gone,
    /// This kernel has no such question.
    NotInKernel,
    /// The kernel refused otherwise.
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

/// Driver of an interface. An empty text is one the driver leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// `igc`, `virtio_net`, `veth`.
    pub name: String,
    /// Its version; the kernel's own for most drivers.
    pub version: String,
    /// Firmware of the device.
    pub firmware: String,
    /// Where the device is, such as `0000:03:00.0`.
    pub bus: String,
}

/// Directions in which the ends may send at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplex {
    /// One at a time: collisions, and unbounded delay.
    Half,
    /// Both.
    Full,
}

/// Speed, duplex, negotiation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// In Mbit/s. `None` while there is no link, and for devices without a line.
    pub speed_mbit: Option<u32>,
    /// Duplex.
    pub duplex: Option<Duplex>,
    /// True if both are negotiated.
    pub autoneg: Option<bool>,
}

/// How interrupts are held back. Times in microseconds. `None` is a parameter that the driver does not have; over ioctl, which
/// cannot tell, that is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coalesce {
    /// Longest wait for more received frames. 1 and 3 are modes, not times, in some drivers of Intel.
    pub rx_usecs: Option<u32>,
    /// Received frames that end the wait.
    pub rx_frames: Option<u32>,
    /// As [`Coalesce::rx_usecs`], while an interrupt is being served.
    pub rx_usecs_irq: Option<u32>,
    /// As [`Coalesce::rx_frames`], while an interrupt is being served.
    pub rx_frames_irq: Option<u32>,
    /// Longest wait for more sent frames.
    pub tx_usecs: Option<u32>,
    /// Sent frames that end the wait.
    pub tx_frames: Option<u32>,
    /// As [`Coalesce::tx_usecs`], while an interrupt is being served.
    pub tx_usecs_irq: Option<u32>,
    /// As [`Coalesce::tx_frames`], while an interrupt is being served.
    pub tx_frames_irq: Option<u32>,
    /// The driver changes the receive values by the traffic.
    pub adaptive_rx: Option<bool>,
    /// The driver changes the transmit values by the traffic.
    pub adaptive_tx: Option<bool>,
}

/// Energy-efficient Ethernet (IEEE 802.3az).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Eee {
    /// Switched on at this end.
    pub enabled: Option<bool>,
    /// In use: both ends agreed.
    pub active: Option<bool>,
    /// The transmitter goes to sleep between frames.
    pub tx_lpi: Option<bool>,
    /// How long it is idle before it does, in microseconds.
    pub tx_lpi_timer_us: Option<u32>,
    /// The other end of the cable offers it.
    pub peer_offers: Option<bool>,
}

/// Pause frames (IEEE 802.3x).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pause {
    /// Negotiated with the other end.
    pub autoneg: Option<bool>,
    /// Stops sending when it is told to.
    pub rx: Option<bool>,
    /// Tells the other end to stop.
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
    /// Receive.
    pub rx: Option<u32>,
    /// Longest possible receive ring.
    pub rx_max: Option<u32>,
    /// Transmit.
    pub tx: Option<u32>,
    /// Longest possible transmit ring.
    pub tx_max: Option<u32>,
}

/// Numbers of queues by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    /// Receive only.
    pub rx: Option<u32>,
    /// Transmit only.
    pub tx: Option<u32>,
    /// Neither, such as link changes.
    pub other: Option<u32>,
    /// Receive and transmit.
    pub combined: Option<u32>,
    /// The most of [`Channels::rx`] there can be.
    pub rx_max: Option<u32>,
    /// The most of [`Channels::tx`] there can be.
    pub tx_max: Option<u32>,
    /// The most of [`Channels::other`] there can be.
    pub other_max: Option<u32>,
    /// The most of [`Channels::combined`] there can be.
    pub combined_max: Option<u32>,
}

/// How received frames are spread over queues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rss {
    /// Entries of the indirection table.
    pub entries: Option<u32>,
    /// The queues the table names, ascending. Empty: the table was not read (ioctl gives its size only).
    pub queues: Vec<u32>,
}

/// Time stamps that the interface can make, by the kernel's names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeStamping {
    /// `hardware-transmit`, `software-receive`…
    pub capabilities: Vec<String>,
    /// Ways to stamp sent frames in hardware: `off`, `on`, `onestep-sync`.
    pub tx_types: Vec<String>,
    /// Received frames that hardware can stamp: `none`, `all`, `ptpv2-event`.
    pub rx_filters: Vec<String>,
    /// Number of its PTP hardware clock: 0 is `/dev/ptp0`. `None`: it has none.
    pub phc: Option<u32>,
}
