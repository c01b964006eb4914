//! The data sets (IEEE 1588-2008, 15.5.3, and those that linuxptp adds).

use crate::bytes::{array, be16, be32, be64};
use std::fmt;

/// A signed number of 16 bits.
fn signed16(octets: &[u8], at: usize) -> i16 {
    be16(octets, at).cast_signed()
}

/// TimeInterval: ns in units of 2^-16, rounded to whole ns.
fn interval_ns(octets: &[u8], at: usize) -> i64 {
    be64(octets, at).cast_signed().saturating_add(1 << 15) >> 16
}

fn octet(octets: &[u8], at: usize) -> u8 {
    array::<1>(octets, at)[0]
}

/// Name of a clock, an EUI-64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ClockIdentity(pub [u8; 8]);

impl fmt::Display for ClockIdentity {
    /// Writes it as linuxptp does: `a28a82.fffe.af939c`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g, h, i] = self.0;
        write!(f, "{a:02x}{b:02x}{c:02x}.{d:02x}{e:02x}.{g:02x}{h:02x}{i:02x}")
    }
}

/// Name of a port: its clock and its number, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PortIdentity {
    /// The clock.
    pub clock: ClockIdentity,
    /// Port number of that clock; 0 is the daemon's own socket.
    pub port: u16,
}

impl PortIdentity {
    pub(super) const OCTETS: usize = 10;

    pub(super) fn read(octets: &[u8], at: usize) -> Self {
        Self {
            clock: ClockIdentity(array(octets, at)),
            port: be16(octets, at + 8),
        }
    }

    pub(super) fn octets(self) -> [u8; Self::OCTETS] {
        let mut octets = [0; Self::OCTETS];
        octets[..8].copy_from_slice(&self.clock.0);
        octets[8..].copy_from_slice(&self.port.to_be_bytes());
        octets
    }
}

/// Quality that a clock claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockQuality {
    /// clockClass: 6 locked to a primary reference, 7 in holdover of one, 248 default, 255 slave only.
    pub class: u8,
    /// clockAccuracy: 0x20 within 25 ns, 0x21 within 100 ns, 0x23 within 1 us; 0xFE unknown.
    pub accuracy: u8,
    /// offsetScaledLogVariance.
    pub variance: u16,
}

impl ClockQuality {
    fn read(octets: &[u8], at: usize) -> Self {
        Self {
            class: octet(octets, at),
            accuracy: octet(octets, at + 1),
            variance: be16(octets, at + 2),
        }
    }
}

/// DEFAULT_DATA_SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultData {
    /// The clock never becomes a master.
    pub slave_only: bool,
    /// Number of ports, without the daemon's own sockets.
    pub ports: u16,
    /// Quality as a master.
    pub quality: ClockQuality,
    /// Identity of the clock.
    pub identity: ClockIdentity,
    /// PTP domain.
    pub domain: u8,
}

impl DefaultData {
    pub(super) const OCTETS: usize = 20;

    pub(super) fn read(octets: &[u8]) -> Self {
        Self {
            slave_only: octet(octets, 0) & 0x02 != 0,
            ports: be16(octets, 2),
            quality: ClockQuality::read(octets, 5),
            identity: ClockIdentity(array(octets, 10)),
            domain: octet(octets, 18),
        }
    }
}

/// CURRENT_DATA_SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentData {
    /// Number of boundary clocks between this clock and the grandmaster, plus one; 0 on the grandmaster itself.
    pub steps_removed: u16,
    /// This clock minus its master, in ns.
    pub offset_ns: i64,
    /// End-to-end mean path delay in ns; 0 with the peer-to-peer mechanism, whose delay is in [`PortData`].
    pub mean_path_delay_ns: i64,
}

impl CurrentData {
    pub(super) const OCTETS: usize = 18;

    pub(super) fn read(octets: &[u8]) -> Self {
        Self {
            steps_removed: be16(octets, 0),
            offset_ns: interval_ns(octets, 2),
            mean_path_delay_ns: interval_ns(octets, 10),
        }
    }
}

/// PARENT_DATA_SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParentData {
    /// Port of the master that this clock follows; its own port if it follows none.
    pub parent: PortIdentity,
    /// Quality that the grandmaster claims.
    pub grandmaster_quality: ClockQuality,
    /// The grandmaster.
    pub grandmaster: ClockIdentity,
}

impl ParentData {
    pub(super) const OCTETS: usize = 32;

    pub(super) fn read(octets: &[u8]) -> Self {
        Self {
            parent: PortIdentity::read(octets, 0),
            grandmaster_quality: ClockQuality::read(octets, 19),
            grandmaster: ClockIdentity(array(octets, 24)),
        }
    }
}

/// Flags of the time scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeFlags {
    /// The last minute of this day has 61 seconds.
    pub leap_61: bool,
    /// The last minute of this day has 59 seconds.
    pub leap_59: bool,
    /// The offset from UTC is known to be correct.
    pub utc_offset_valid: bool,
    /// The time scale is TAI and not the grandmaster's own.
    pub ptp_timescale: bool,
    /// The time is traceable to a primary reference.
    pub time_traceable: bool,
    /// The frequency is traceable to a primary reference.
    pub frequency_traceable: bool,
}

impl TimeFlags {
    fn of(flags: u8) -> Self {
        let bit = |number: u8| flags & (1 << number) != 0;
        Self {
            leap_61: bit(0),
            leap_59: bit(1),
            utc_offset_valid: bit(2),
            ptp_timescale: bit(3),
            time_traceable: bit(4),
            frequency_traceable: bit(5),
        }
    }
}

/// TIME_PROPERTIES_DATA_SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeProperties {
    /// TAI minus UTC in seconds.
    pub utc_offset_s: i16,
    /// Its flags.
    pub flags: TimeFlags,
    /// timeSource: 0x20 GNSS, 0xA0 internal oscillator.
    pub source: u8,
}

impl TimeProperties {
    pub(super) const OCTETS: usize = 4;

    pub(super) fn read(octets: &[u8]) -> Self {
        Self {
            utc_offset_s: signed16(octets, 0),
            flags: TimeFlags::of(octet(octets, 2)),
            source: octet(octets, 3),
        }
    }
}

/// GRANDMASTER_SETTINGS_NP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrandmasterSettings {
    /// Quality that it announces.
    pub quality: ClockQuality,
    /// The time scale it announces.
    pub time: TimeProperties,
}

impl GrandmasterSettings {
    pub(super) const OCTETS: usize = 8;

    pub(super) fn read(octets: &[u8]) -> Self {
        let (quality, time) = octets.split_at(4);
        Self {
            quality: ClockQuality::read(quality, 0),
            time: TimeProperties::read(time),
        }
    }
}

/// The state of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PortState {
    /// The port is starting.
    Initializing,
    /// The port does not work.
    Faulty,
    /// The port is disabled.
    Disabled,
    /// The port waits for a master.
    Listening,
    /// The port is about to become a master.
    PreMaster,
    /// The port is a master.
    Master,
    /// The port is neither master nor slave, to avoid a loop.
    Passive,
    /// The port has a master, but the servo has not locked yet.
    Uncalibrated,
    /// The port follows its master, and the servo has locked.
    Slave,
    /// The port belongs to the grandmaster (linuxptp).
    Grandmaster,
    /// A number without a name.
    Unknown(u8),
}

impl PortState {
    fn of(number: u8) -> Self {
        match number {
            1 => Self::Initializing,
            2 => Self::Faulty,
            3 => Self::Disabled,
            4 => Self::Listening,
            5 => Self::PreMaster,
            6 => Self::Master,
            7 => Self::Passive,
            8 => Self::Uncalibrated,
            9 => Self::Slave,
            10 => Self::Grandmaster,
            other => Self::Unknown(other),
        }
    }
}

impl fmt::Display for PortState {
    /// Writes the name from the standard.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Initializing => "INITIALIZING",
            Self::Faulty => "FAULTY",
            Self::Disabled => "DISABLED",
            Self::Listening => "LISTENING",
            Self::PreMaster => "PRE_MASTER",
            Self::Master => "MASTER",
            Self::Passive => "PASSIVE",
            Self::Uncalibrated => "UNCALIBRATED",
            Self::Slave => "SLAVE",
            Self::Grandmaster => "GRAND_MASTER",
            Self::Unknown(number) => return write!(f, "state {number}"),
        })
    }
}

/// PORT_DATA_SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortData {
    /// The port.
    pub identity: PortIdentity,
    /// Its state.
    pub state: PortState,
    /// Mean path delay to the neighbour in ns; 0 with the end-to-end mechanism.
    pub peer_delay_ns: i64,
    /// Interval between Sync messages as a power of 2, in seconds.
    pub log_sync_interval: i8,
    /// Number of Announce intervals without a message after which the master counts as lost.
    pub announce_timeout: u8,
    /// Interval between Announce messages as a power of 2, in seconds.
    pub log_announce_interval: i8,
    /// delayMechanism: 1 end-to-end, 2 peer-to-peer.
    pub delay_mechanism: u8,
    /// versionNumber.
    pub version: u8,
}

impl PortData {
    pub(super) const OCTETS: usize = 26;

    pub(super) fn read(octets: &[u8]) -> Self {
        Self {
            identity: PortIdentity::read(octets, 0),
            state: PortState::of(octet(octets, 10)),
            peer_delay_ns: interval_ns(octets, 12),
            log_announce_interval: octet(octets, 20).cast_signed(),
            announce_timeout: octet(octets, 21),
            log_sync_interval: octet(octets, 22).cast_signed(),
            delay_mechanism: octet(octets, 23),
            version: octet(octets, 25) & 0x0f,
        }
    }

    /// True if the port measures the delay to its neighbour (peer-to-peer) instead of the delay to its master.
    pub fn peer_to_peer(&self) -> bool {
        self.delay_mechanism == 2
    }
}

/// TIME_STATUS_NP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeStatus {
    /// This clock minus its master, in ns, as of the last Sync message.
    pub master_offset_ns: i64,
    /// Arrival time of that message in ns of the clock that stamps it; changes with every Sync message.
    pub ingress_ns: i64,
    /// Frequency offset of the grandmaster, in units of 2^-41; positive if it runs faster.
    pub rate_offset: i32,
    /// There is a grandmaster, and it is another clock.
    pub grandmaster_present: bool,
    /// The grandmaster.
    pub grandmaster: ClockIdentity,
}

impl TimeStatus {
    pub(super) const OCTETS: usize = 50;

    pub(super) fn read(octets: &[u8]) -> Self {
        Self {
            master_offset_ns: be64(octets, 0).cast_signed(),
            ingress_ns: be64(octets, 8).cast_signed(),
            rate_offset: be32(octets, 16).cast_signed(),
            grandmaster_present: be32(octets, 38) != 0,
            grandmaster: ClockIdentity(array(octets, 42)),
        }
    }
}

/// PORT_PROPERTIES_NP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortProperties<'a> {
    /// The port.
    pub identity: PortIdentity,
    /// Its state.
    pub state: PortState,
    /// Kind of time stamps: 0 software, any other value the network card's.
    pub timestamping: u8,
    /// The interface.
    pub interface: &'a [u8],
}

impl<'a> PortProperties<'a> {
    /// Octets up to and including the length of the interface name.
    pub(super) const FIXED_OCTETS: usize = 13;

    pub(super) fn read(octets: &[u8], interface: &'a [u8]) -> Self {
        Self {
            identity: PortIdentity::read(octets, 0),
            state: PortState::of(octet(octets, 10)),
            timestamping: octet(octets, 11),
            interface,
        }
    }
}
