//! Management messages: a request for one data set, and its reply.

use super::data::{
    CurrentData, DefaultData, GrandmasterSettings, ParentData, PortData, PortIdentity, PortProperties, TimeProperties,
    TimeStatus,
};
use crate::bytes::{array, be16, slice};

/// messageType of a management message.
pub const MANAGEMENT: u8 = 0x0d;
/// Octets of a request.
pub const GET_OCTETS: usize = FIRST_TLV + 6;

const VERSION: u8 = 2;
const FIRST_TLV: usize = 48;
const TLV_MANAGEMENT: u16 = 0x0001;
const TLV_ERROR: u16 = 0x0002;
/// controlField of a management message, and the logMessageInterval of a message without an interval.
const CONTROL: u8 = 4;
const NO_INTERVAL: u8 = 0x7f;

mod at {
    pub(super) const TYPE: usize = 0;
    pub(super) const VERSION: usize = 1;
    pub(super) const LENGTH: usize = 2;
    pub(super) const DOMAIN: usize = 4;
    pub(super) const SOURCE: usize = 20;
    pub(super) const SEQUENCE: usize = 30;
    pub(super) const CONTROL: usize = 32;
    pub(super) const INTERVAL: usize = 33;
    pub(super) const TARGET: usize = 34;
    pub(super) const ACTION: usize = 46;
}

/// managementId of a data set that can be requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Id {
    /// Kind of this clock.
    Default = 0x2000,
    /// Distance from the master.
    Current = 0x2001,
    /// Master and grandmaster.
    Parent = 0x2002,
    /// The time scale.
    TimeProperties = 0x2003,
    /// State of one port.
    Port = 0x2004,
    /// Offset in whole ns, and the time it was taken (linuxptp).
    TimeStatus = 0xc000,
    /// Values that the clock announces as grandmaster (linuxptp).
    GrandmasterSettings = 0xc001,
    /// Interface and kind of time stamps of one port (linuxptp 3.0 and newer).
    PortProperties = 0xc004,
}

/// The purpose of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Requests a data set.
    Get,
    /// Answers a GET or a SET.
    Response,
    /// Answers a COMMAND.
    Acknowledge,
    /// SET, COMMAND, or a reserved number.
    Other(u8),
}

impl Action {
    fn of(number: u8) -> Self {
        match number {
            0 => Self::Get,
            2 => Self::Response,
            4 => Self::Acknowledge,
            other => Self::Other(other),
        }
    }
}

/// Message that requests a data set from every port of a clock.
pub fn get(id: Id, domain: u8, transport_specific: u8, source: PortIdentity, sequence: u16) -> [u8; GET_OCTETS] {
    let mut octets = [0; GET_OCTETS];
    octets[at::TYPE] = (transport_specific << 4) | MANAGEMENT;
    octets[at::VERSION] = VERSION;
    octets[at::LENGTH + 1] = GET_OCTETS as u8;
    octets[at::DOMAIN] = domain;
    octets[at::SOURCE..at::SOURCE + PortIdentity::OCTETS].copy_from_slice(&source.octets());
    octets[at::SEQUENCE..at::SEQUENCE + 2].copy_from_slice(&sequence.to_be_bytes());
    octets[at::CONTROL] = CONTROL;
    octets[at::INTERVAL] = NO_INTERVAL;
    octets[at::TARGET..at::TARGET + PortIdentity::OCTETS].fill(0xff);
    octets[FIRST_TLV..FIRST_TLV + 2].copy_from_slice(&TLV_MANAGEMENT.to_be_bytes());
    // The length covers only the id: the data field of a GET may be empty.
    octets[FIRST_TLV + 3] = 2;
    octets[FIRST_TLV + 4..].copy_from_slice(&(id as u16).to_be_bytes());
    octets
}

/// Why a received message is not a usable reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Fewer octets than header and management fields need, or than messageLength states.
    #[error("the message is cut: {octets} octets")]
    Cut {
        /// Octets received.
        octets: usize,
    },
    /// A PTP message of another type.
    #[error("message type {found:#x}, not a management message")]
    NotManagement {
        /// Its messageType.
        found: u8,
    },
    /// Another version of PTP.
    #[error("PTP version {found} instead of 2")]
    Version {
        /// Its version.
        found: u8,
    },
    /// A TLV goes past the end of the message.
    #[error("a TLV goes past the end of the message")]
    TlvCut,
    /// The message has neither of the two TLV types that a reply carries.
    #[error("the message has no management TLV")]
    NoTlv,
    /// The data set is shorter than its definition.
    #[error("data set {id:#06x} has only {octets} octets")]
    DataCut {
        /// Its managementId.
        id: u16,
        /// Octets received.
        octets: usize,
    },
}

/// The contents of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// DEFAULT_DATA_SET.
    Default(DefaultData),
    /// CURRENT_DATA_SET.
    Current(CurrentData),
    /// PARENT_DATA_SET.
    Parent(ParentData),
    /// TIME_PROPERTIES_DATA_SET.
    TimeProperties(TimeProperties),
    /// PORT_DATA_SET.
    Port(PortData),
    /// TIME_STATUS_NP.
    TimeStatus(TimeStatus),
    /// GRANDMASTER_SETTINGS_NP.
    GrandmasterSettings(GrandmasterSettings),
    /// PORT_PROPERTIES_NP.
    PortProperties(PortProperties<'a>),
    /// The data set was refused.
    Error {
        /// managementErrorId: 2 is "no such id", 6 "not supported".
        code: u16,
        /// The data set's managementId.
        id: u16,
    },
    /// A data set that is not read here, or one without data (a GET).
    Other {
        /// Its managementId.
        id: u16,
    },
}

impl Content<'_> {}

/// A checked management message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Minor version: 0 in IEEE 1588-2008, 1 in IEEE 1588-2019.
    pub minor_version: u8,
    /// transportSpecific: 1 for gPTP (IEEE 802.1AS), else 0.
    pub transport_specific: u8,
    /// domainNumber.
    pub domain: u8,
    /// The sender.
    pub source: PortIdentity,
    /// sequenceId, copied from the request.
    pub sequence: u16,
    /// The purpose.
    pub action: Action,
    /// The contents.
    pub content: Content<'a>,
}

impl<'a> Reply<'a> {
    /// Reads a message. TLVs of unknown types are skipped, and so are octets that a newer daemon adds after the data.
    ///
    /// # Errors
    /// The first reason why the message cannot be read.
    pub fn parse(octets: &'a [u8]) -> Result<Self, Refused> {
        let length = usize::from(be16(octets, at::LENGTH));
        if octets.len() < FIRST_TLV || length < FIRST_TLV || octets.len() < length {
            return Err(Refused::Cut { octets: octets.len() });
        }
        let [kind, version] = array(octets, at::TYPE);
        if kind & 0x0f != MANAGEMENT {
            return Err(Refused::NotManagement { found: kind & 0x0f });
        }
        if version & 0x0f != VERSION {
            return Err(Refused::Version { found: version & 0x0f });
        }
        let [domain] = array(octets, at::DOMAIN);
        let [action] = array(octets, at::ACTION);
        Ok(Self {
            minor_version: version >> 4,
            transport_specific: kind >> 4,
            domain,
            source: PortIdentity::read(octets, at::SOURCE),
            sequence: be16(octets, at::SEQUENCE),
            action: Action::of(action & 0x0f),
            content: content(&octets[FIRST_TLV..length])?,
        })
    }
}

/// Reads the first TLV that carries a reply.
fn content(mut tlvs: &[u8]) -> Result<Content<'_>, Refused> {
    while !tlvs.is_empty() {
        let (kind, length) = (be16(tlvs, 0), usize::from(be16(tlvs, 2)));
        let Some(value) = tlvs.get(4..4 + length) else {
            return Err(Refused::TlvCut);
        };
        match kind {
            TLV_MANAGEMENT if length >= 2 => return data(be16(value, 0), &value[2..]),
            TLV_ERROR if length >= 4 => {
                return Ok(Content::Error {
                    code: be16(value, 0),
                    id: be16(value, 2),
                });
            }
            TLV_MANAGEMENT | TLV_ERROR => return Err(Refused::TlvCut),
            _ => tlvs = &tlvs[4 + length..],
        }
    }
    Err(Refused::NoTlv)
}

fn data(id: u16, data: &[u8]) -> Result<Content<'_>, Refused> {
    let whole = |octets: usize| match data.len() < octets {
        true => Err(Refused::DataCut { id, octets: data.len() }),
        false => Ok(data),
    };
    let known = [
        Id::Default,
        Id::Current,
        Id::Parent,
        Id::TimeProperties,
        Id::Port,
        Id::TimeStatus,
        Id::GrandmasterSettings,
        Id::PortProperties,
    ];
    let Some(known) = known.into_iter().find(|known| *known as u16 == id && !data.is_empty()) else {
        return Ok(Content::Other { id });
    };
    Ok(match known {
        Id::Default => Content::Default(DefaultData::read(whole(DefaultData::OCTETS)?)),
        Id::Current => Content::Current(CurrentData::read(whole(CurrentData::OCTETS)?)),
        Id::Parent => Content::Parent(ParentData::read(whole(ParentData::OCTETS)?)),
        Id::TimeProperties => Content::TimeProperties(TimeProperties::read(whole(TimeProperties::OCTETS)?)),
        Id::Port => Content::Port(PortData::read(whole(PortData::OCTETS)?)),
        Id::TimeStatus => Content::TimeStatus(TimeStatus::read(whole(TimeStatus::OCTETS)?)),
        Id::GrandmasterSettings => {
            Content::GrandmasterSettings(GrandmasterSettings::read(whole(GrandmasterSettings::OCTETS)?))
        }
        Id::PortProperties => {
            let fixed = PortProperties::FIXED_OCTETS;
            let name = usize::from(array::<1>(whole(fixed)?, fixed - 1)[0]);
            let whole = whole(fixed + name)?;
            Content::PortProperties(PortProperties::read(whole, slice(whole, fixed, name)))
        }
    })
}
