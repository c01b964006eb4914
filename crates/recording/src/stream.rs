//! Who sent the samples.

use crate::bytes::{Bytes, put_name};
use crate::error::SegmentError;

/// Most streams of a recording.
pub const MAX_STREAMS: usize = 4_096;

/// A stream as it is known to a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its number, which records refer to.
    pub number: u16,
    /// Its svID, made unique with `#2` where another stream has the same; at most 255 octets.
    pub name: String,
    /// Destination address, where known.
    pub destination: Option<[u8; 6]>,
    /// VLAN, where known and there is one.
    pub vid: Option<u16>,
    /// APPID, where known.
    pub appid: Option<u16>,
    /// Samples a second: where its counter wraps. `None` while it is not known.
    pub rate: Option<u32>,
}

const HAS_DESTINATION: u8 = 1;
const HAS_VID: u8 = 2;
const HAS_APPID: u8 = 4;
const HAS_RATE: u8 = 8;

impl StreamInfo {
    /// A stream of which only the name is known.
    pub fn named(number: u16, name: impl Into<String>) -> Self {
        Self {
            number,
            name: name.into(),
            destination: None,
            vid: None,
            appid: None,
            rate: None,
        }
    }

    /// Whether both are the same stream, as far as they are known.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.destination, self.vid, self.appid) == (other.destination, other.vid, other.appid)
            && self.name == other.name
    }

    /// The count that the sample of that number carried, where the rate is known.
    pub fn smp_cnt(&self, number: u64) -> Option<u64> {
        self.rate.map(|rate| number % u64::from(rate.max(1)))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut known = 0;
        known |= self.destination.map_or(0, |_| HAS_DESTINATION);
        known |= self.vid.map_or(0, |_| HAS_VID);
        known |= self.appid.map_or(0, |_| HAS_APPID);
        known |= self.rate.map_or(0, |_| HAS_RATE);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.push(known);
        out.extend_from_slice(&self.destination.unwrap_or_default());
        out.extend_from_slice(&self.vid.unwrap_or_default().to_le_bytes());
        out.extend_from_slice(&self.appid.unwrap_or_default().to_le_bytes());
        out.extend_from_slice(&self.rate.unwrap_or_default().to_le_bytes());
        put_name(out, &self.name);
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, SegmentError> {
        let number = bytes.u16()?;
        let known = bytes.u8()?;
        let destination = bytes.array()?;
        let (vid, appid, rate) = (bytes.u16()?, bytes.u16()?, bytes.u32()?);
        let has = |bit: u8| known & bit != 0;
        Ok(Self {
            number,
            name: bytes.name()?,
            destination: has(HAS_DESTINATION).then_some(destination),
            vid: has(HAS_VID).then_some(vid),
            appid: has(HAS_APPID).then_some(appid),
            rate: has(HAS_RATE).then_some(rate),
        })
    }
}
