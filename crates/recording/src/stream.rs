//! Streams that sent the samples.

use crate::block::flag;
use crate::bytes::{Bytes, put_name};
use crate::error::SegmentError;
use model::{StreamId, StreamKind};
use wire::ether::Mac;

/// Largest number of streams of a recording.
pub const MAX_STREAMS: usize = 4_096;

/// A stream of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its number, to which records refer.
    pub number: u16,
    /// Name: its svID, with an addition if another stream has the same svID; at most 255 bytes.
    pub name: String,
    /// Its svID, if it differs from the name.
    pub sv_id: Option<String>,
    /// Source address, if known.
    pub source: Option<[u8; 6]>,
    /// Destination address, if known.
    pub destination: Option<[u8; 6]>,
    /// VLAN, if known and present.
    pub vid: Option<u16>,
    /// APPID, if known.
    pub appid: Option<u16>,
    /// Samples a second, at which its counter wraps. `None` while it is not known.
    pub rate: Option<u32>,
}

const HAS_DESTINATION: u8 = 1;
const HAS_VID: u8 = 2;
const HAS_APPID: u8 = 4;
const HAS_RATE: u8 = 8;
const HAS_SOURCE: u8 = 16;
const HAS_SV_ID: u8 = 32;

impl StreamInfo {
    /// A stream of which only the name is known.
    pub fn named(number: u16, name: impl Into<String>) -> Self {
        Self {
            number,
            name: name.into(),
            sv_id: None,
            source: None,
            destination: None,
            vid: None,
            appid: None,
            rate: None,
        }
    }

    /// A stream with this name and identity; its svID is kept as text.
    pub fn of(number: u16, name: String, id: &StreamId, rate: Option<u32>) -> Self {
        let sv_id = String::from_utf8_lossy(id.name()).into_owned();
        Self {
            number,
            sv_id: (name != sv_id).then_some(sv_id),
            name,
            source: id.source.map(|mac| mac.0),
            destination: id.destination.map(|mac| mac.0),
            vid: id.vid,
            appid: id.appid,
            rate,
        }
    }

    /// The known parts of its identity.
    pub fn id(&self) -> StreamId {
        StreamId {
            source: self.source.map(Mac),
            destination: self.destination.map(Mac),
            vid: self.vid,
            appid: self.appid,
            ..StreamId::named(StreamKind::SampledValues, self.sv_id().as_bytes())
        }
    }

    /// True if the known parts of both identities are equal.
    pub fn is_same(&self, other: &Self) -> bool {
        let addresses = |info: &Self| (info.source, info.destination, info.vid, info.appid);
        addresses(self) == addresses(other) && self.name == other.name && self.sv_id() == other.sv_id()
    }

    /// Its svID.
    pub fn sv_id(&self) -> &str {
        self.sv_id.as_deref().unwrap_or(&self.name)
    }

    /// The count of the sample with that number, if the rate is known.
    pub fn smp_cnt(&self, number: u64) -> Option<u64> {
        self.rate.map(|rate| number % u64::from(rate.max(1)))
    }

    /// The count of a record's first sample, from the record's number and flags.
    pub fn count(&self, number: u64, flags: u8) -> u16 {
        let turn = match self.rate.filter(|rate| *rate > 0) {
            Some(rate) if flags & (flag::UNRATED | flag::OUT_OF_RANGE) == 0 => u64::from(rate),
            _ => 1 << 16,
        };
        (number % turn) as u16
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut known = 0;
        known |= self.destination.map_or(0, |_| HAS_DESTINATION);
        known |= self.vid.map_or(0, |_| HAS_VID);
        known |= self.appid.map_or(0, |_| HAS_APPID);
        known |= self.rate.map_or(0, |_| HAS_RATE);
        known |= self.source.map_or(0, |_| HAS_SOURCE);
        known |= self.sv_id.as_ref().map_or(0, |_| HAS_SV_ID);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.push(known);
        out.extend_from_slice(&self.destination.unwrap_or_default());
        out.extend_from_slice(&self.vid.unwrap_or_default().to_le_bytes());
        out.extend_from_slice(&self.appid.unwrap_or_default().to_le_bytes());
        out.extend_from_slice(&self.rate.unwrap_or_default().to_le_bytes());
        put_name(out, &self.name);
        if let Some(source) = self.source {
            out.extend_from_slice(&source);
        }
        if let Some(sv_id) = &self.sv_id {
            put_name(out, sv_id);
        }
    }

    /// In format 1, which has neither source nor svID, these bits are not set.
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, SegmentError> {
        let number = bytes.u16()?;
        let known = bytes.u8()?;
        let destination = bytes.array()?;
        let (vid, appid, rate) = (bytes.u16()?, bytes.u16()?, bytes.u32()?);
        let has = |bit: u8| known & bit != 0;
        Ok(Self {
            number,
            name: bytes.name()?,
            source: if has(HAS_SOURCE) { Some(bytes.array()?) } else { None },
            sv_id: if has(HAS_SV_ID) { Some(bytes.name()?) } else { None },
            destination: has(HAS_DESTINATION).then_some(destination),
            vid: has(HAS_VID).then_some(vid),
            appid: has(HAS_APPID).then_some(appid),
            rate: has(HAS_RATE).then_some(rate),
        })
    }
}
