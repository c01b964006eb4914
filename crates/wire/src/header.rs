//! The 8 octets after the EtherType that SV and GOOSE share: APPID, Length, Reserved1, Reserved2.

use crate::ber::Reader;
use crate::bytes::be16;
use crate::ether::EthernetView;
use crate::frame_error::{FrameError, Rule};

/// Octets from APPID to Reserved2.
pub const OCTETS: usize = 8;
/// Largest APDU, in octets, of an Ethernet frame without jumbo size: 1500 minus this header.
pub const MAX_APDU: usize = 1500 - OCTETS;
/// Offset of Reserved1, counted from the octet after the EtherType.
pub(crate) const RESERVED1_AT: usize = 4;

/// APPID, Length, Reserved1, Reserved2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Application identifier: SV 0x4000..=0x7FFF, GOOSE 0x0000..=0x3FFF, trip GOOSE 0x8000..=0xBFFF.
    pub appid: u16,
    /// Octets from APPID to the end of the APDU.
    pub length: u16,
    /// Bit 15 is the simulate bit S; bits 11..0 are the length of an IEC 62351-6 extension after the APDU.
    pub reserved1: u16,
    /// 0 without security.
    pub reserved2: u16,
}

impl Header {
    /// The simulate bit: the frame comes from a test set.
    pub const SIMULATE: u16 = 0x8000;

    /// True when the simulate bit S is set.
    pub const fn simulate(&self) -> bool {
        self.reserved1 & Self::SIMULATE != 0
    }

    /// Octets of the extension after the APDU that Reserved1 announces: the authentication value of IEC 62351-6. 0 without security, and
    /// for a message that came over UDP, whose session has its signature.
    pub const fn extension_octets(&self) -> u16 {
        self.reserved1 & 0x0fff
    }

    /// The error if Length includes octets after the APDU, where the reader is. Length may include an IEC 62351-6
    /// extension of the length that Reserved1 announces.
    #[inline]
    pub(crate) fn octets_after_apdu(&self, reader: &Reader<'_>) -> Option<FrameError> {
        let octets = reader.bytes().len() - reader.position();
        let extension = usize::from(self.extension_octets());
        let wrong = octets != 0 && octets != extension;
        wrong.then(|| reader.error(reader.position(), Rule::OctetsAfterApdu { octets: octets as u32 }))
    }

    /// Reads the four fields of a frame. They are complete but not checked.
    ///
    /// # Errors
    /// Another EtherType, or fewer than 8 octets.
    #[inline]
    pub fn read(ethernet: &EthernetView<'_>, ether_type: u16) -> Result<Self, FrameError> {
        if ethernet.ether_type() != ether_type {
            let rule = Rule::EtherType {
                found: ethernet.ether_type(),
                wanted: ether_type,
            };
            return Err(FrameError::at(ethernet.payload_offset() - 2, rule));
        }
        if let Some(header) = ethernet.header_of_message() {
            return Ok(header);
        }
        let payload = ethernet.payload();
        if payload.len() < OCTETS {
            return Err(FrameError::at(ethernet.frame().len(), Rule::HeaderCut));
        }
        Ok(Self {
            appid: be16(payload, 0),
            length: be16(payload, 2),
            reserved1: be16(payload, RESERVED1_AT),
            reserved2: be16(payload, 6),
        })
    }

    /// The octets that Length covers, starting at APPID. Ethernet padding after them is left out.
    ///
    /// # Errors
    /// Length is below 8 or reaches beyond the frame, or nothing follows the header.
    #[inline]
    pub fn pdu<'a>(&self, ethernet: &EthernetView<'a>) -> Result<&'a [u8], FrameError> {
        let error = |rule| FrameError::at(ethernet.payload_offset() + 2, rule);
        let payload = ethernet.payload();
        let length = usize::from(self.length);
        if length < OCTETS {
            return Err(error(Rule::LengthBelowHeader { length: self.length }));
        }
        if length == OCTETS {
            return Err(error(Rule::NoApdu));
        }
        let available = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        payload.get(..length).ok_or_else(|| {
            error(Rule::LengthBeyondFrame {
                length: self.length,
                available,
            })
        })
    }

    /// Appends the header; Length is computed from the octets of the APDU, which must be at most [`MAX_APDU`].
    pub(crate) fn write(out: &mut Vec<u8>, appid: u16, reserved1: u16, reserved2: u16, apdu: &[u8]) {
        assert!(apdu.len() <= MAX_APDU);
        let length = (OCTETS + apdu.len()) as u16;
        for field in [appid, length, reserved1, reserved2] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        out.extend_from_slice(apdu);
    }
}

/// Reason why a message cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string outside its limits.
    #[error("{field} has {octets} octets; it must have {wanted}")]
    Text {
        /// The field.
        field: crate::Field,
        /// Its octets.
        octets: usize,
        /// The allowed values.
        wanted: &'static str,
    },
    /// More VLAN tags than a view can return.
    #[error("{0} VLAN tags; at most 2 are supported")]
    Tags(usize),
    /// No ASDU, or more than the limit.
    #[error("{0} ASDUs; a frame carries 1 to {max}", max = crate::limits::MAX_ASDUS)]
    Asdus(usize),
    /// seqData is empty, or does not consist of whole members.
    #[error("seqData has {0} octets; it must have 4 or a multiple of 4")]
    SeqData(usize),
    /// The simulate bit and the simulation flag disagree; a subscriber drops such a frame.
    #[error("the simulate bit is set, but simulation is false")]
    SimulationMismatch,
    /// Data nested too deeply.
    #[error("data nested more than {} levels deep", crate::limits::MAX_NESTING)]
    Nesting,
    /// A value that its type cannot encode.
    #[error("{field}: {octets} octets; it must have {wanted}")]
    Value {
        /// The type of the value.
        field: crate::Field,
        /// Its octets.
        octets: usize,
        /// The allowed values.
        wanted: &'static str,
    },
    /// A data type that cannot be written as raw octets under this tag.
    #[error("tag {0} is not a data type that can be written as raw octets")]
    OtherTag(crate::ber::Tag),
    /// Longer than an Ethernet frame can carry.
    #[error("the APDU has {0} octets; an Ethernet frame carries at most {MAX_APDU}")]
    TooLong(usize),
}
