//! AVTP stream frames (IEEE 1722-2016): the common stream header, and AAF PCM frames to publish.
//!
//! After the Ethernet header with EtherType 0x22F0, all big-endian (IEEE 1722-2016, 4.4.4 and 7.2):
//!
//! | octet | bits | field |
//! | --- | --- | --- |
//! | 0 | 8 | subtype |
//! | 1 | 1, 3, 1, 2, 1 | sv (stream_id valid), version, mr (media clock restart), format specific, tv (timestamp valid) |
//! | 2 | 8 | sequence_num: counts the frames of the stream |
//! | 3 | 7, 1 | format specific, tu (timestamp uncertain) |
//! | 4 | 64 | stream_id: MAC address of the talker and a number |
//! | 12 | 32 | avtp_timestamp: presentation time, gPTP time in ns modulo 2^32 |
//! | 16 | 32 | format specific |
//! | 20 | 16 | stream_data_length |
//! | 22 | 16 | format specific |
//! | 24 | | the stream's data |
//!
//! Only subtypes with this header are streams here. Control protocols (ADP, AECP, ACMP, MAAP) and the formats with another
//! header (CRF, NTSCF) are refused as such.

mod template;
#[cfg(test)]
mod tests;

pub use template::{AafStream, AafTemplate};

use crate::bytes::{array, be16, be32, be64, slice};
use crate::ether::EthernetView;
use crate::frame_error::{FrameError, Rule};

/// EtherType of AVTP.
pub const ETHER_TYPE: u16 = 0x22f0;
/// Octets of the common stream header.
pub const HEADER: usize = 24;
/// Subtype of the AVTP audio format.
pub const AAF: u8 = 0x02;

/// Subtypes that begin with the common stream header (IEEE 1722-2016, table 6): IEC 61883, MMA, AAF, CVF, TSCF, SVF, RVF,
/// AEF_CONTINUOUS, VSF_STREAM, EF_STREAM.
const STREAM_SUBTYPES: [u8; 10] = [0x00, 0x01, AAF, 0x03, 0x05, 0x06, 0x07, 0x6e, 0x6f, 0x7f];

mod at {
    pub(super) const FLAGS: usize = 1;
    pub(super) const SEQUENCE: usize = 2;
    pub(super) const UNCERTAIN: usize = 3;
    pub(super) const STREAM_ID: usize = 4;
    pub(super) const TIMESTAMP: usize = 12;
    pub(super) const FORMAT: usize = 16;
    pub(super) const LENGTH: usize = 20;
}

mod bit {
    pub(super) const STREAM_ID_VALID: u8 = 0x80;
    pub(super) const VERSION: u8 = 0x70;
    pub(super) const RESTART: u8 = 0x08;
    pub(super) const TIMESTAMP_VALID: u8 = 0x01;
    pub(super) const UNCERTAIN: u8 = 0x01;
}

/// A stream frame with a complete header of the known version, and with all of its data.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    octets: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Checks a frame, tagged or not.
    ///
    /// # Errors
    /// Not AVTP, no stream, another version, or cut.
    #[inline]
    pub fn parse(ethernet: &EthernetView<'a>) -> Result<Self, FrameError> {
        if ethernet.ether_type() != ETHER_TYPE {
            let rule = Rule::EtherType {
                found: ethernet.ether_type(),
                wanted: ETHER_TYPE,
            };
            return Err(FrameError::at(ethernet.payload_offset() - 2, rule));
        }
        let octets = ethernet.payload();
        let error = |at, why| Err(FrameError::at(ethernet.payload_offset() + at, Rule::Avtp(why)));
        let Some(subtype) = octets.first() else {
            return error(0, "it ends before its subtype");
        };
        if !STREAM_SUBTYPES.contains(subtype) {
            return error(0, "its subtype has no stream header");
        }
        if octets.len() < HEADER {
            return error(octets.len(), "it ends inside its header");
        }
        if octets[at::FLAGS] & bit::VERSION != 0 {
            return error(at::FLAGS, "its version is not 0");
        }
        if usize::from(be16(octets, at::LENGTH)) > octets.len() - HEADER {
            return error(at::LENGTH, "stream_data_length goes past the end of the frame");
        }
        Ok(Self { octets })
    }

    /// Format of the stream's data: 0x02 is AAF.
    pub fn subtype(&self) -> u8 {
        array::<1>(self.octets, 0)[0]
    }

    /// The stream_id; `None` if the frame marks it as not valid.
    pub fn stream_id(&self) -> Option<u64> {
        let valid = self.flag(at::FLAGS, bit::STREAM_ID_VALID);
        valid.then(|| be64(self.octets, at::STREAM_ID))
    }

    /// Media clock restart: toggles each time the talker's media clock restarts.
    pub fn restart(&self) -> bool {
        self.flag(at::FLAGS, bit::RESTART)
    }

    /// Counts the frames of the stream, modulo 256.
    pub fn sequence_num(&self) -> u8 {
        array::<1>(self.octets, at::SEQUENCE)[0]
    }

    /// Presentation time: gPTP time in ns modulo 2^32; `None` if the frame marks it as not valid.
    pub fn timestamp_ns(&self) -> Option<u32> {
        let valid = self.flag(at::FLAGS, bit::TIMESTAMP_VALID);
        valid.then(|| be32(self.octets, at::TIMESTAMP))
    }

    /// True if the talker was not sure of its gPTP time.
    pub fn timestamp_uncertain(&self) -> bool {
        self.flag(at::UNCERTAIN, bit::UNCERTAIN)
    }

    /// The format-specific octets 16 to 19; their meaning depends on the subtype.
    pub fn format(&self) -> [u8; 4] {
        array(self.octets, at::FORMAT)
    }

    /// The stream's data, without padding.
    pub fn data(&self) -> &'a [u8] {
        slice(self.octets, HEADER, usize::from(be16(self.octets, at::LENGTH)))
    }

    fn flag(&self, at: usize, mask: u8) -> bool {
        array::<1>(self.octets, at)[0] & mask != 0
    }
}
