//! PTP management messages (IEEE 1588-2008, clause 15), as `ptp4l` answers them on its UNIX socket: requests and the
//! returned data sets.
//!
//! A message, all big-endian:
//!
//! | octet | field |
//! | --- | --- |
//! | 0 | transportSpecific (4 bits), messageType 0xD (4 bits) |
//! | 1 | minor version (4 bits), version 2 (4 bits) |
//! | 2 | messageLength |
//! | 4 | domainNumber |
//! | 20 | sourcePortIdentity: clock identity (8 octets), port number (2) |
//! | 30 | sequenceId |
//! | 32 | controlField 4, logMessageInterval 0x7F |
//! | 34 | targetPortIdentity |
//! | 44 | startingBoundaryHops, boundaryHops, actionField (4 bits), reserved |
//! | 48 | TLVs: type, length, and for a management TLV its id and data |
//!
//! `ptp4l` does not answer messages whose domain or transportSpecific differs from its own.

mod data;
mod management;
#[cfg(test)]
mod tests;

pub use data::{
    ClockIdentity, ClockQuality, CurrentData, DefaultData, GrandmasterSettings, ParentData, PortData, PortIdentity,
    PortProperties, PortState, TimeFlags, TimeProperties, TimeStatus,
};
pub use management::{Action, Content, GET_OCTETS, Id, MANAGEMENT, Refused, Reply, get};
