//! Publishing: an AAF frame is encoded once, and then only its counter, time and data are patched.

use super::{AAF, ETHER_TYPE, HEADER, at, bit};
use crate::ether::{self, Mac, VlanTag};

/// INT_32: samples of 32 bits (IEEE 1722-2016, 7.3.1).
const FORMAT_INT_32: u8 = 0x02;
/// 48 kHz, in the upper four bits (7.3.2).
const RATE_48_KHZ: u8 = 0x50;
/// Channels in a frame.
const CHANNELS: u8 = 2;
/// Significant bits of a sample.
const BIT_DEPTH: u8 = 32;
/// Samples of each channel in 125 us at 48 kHz.
const SAMPLES: u8 = 6;

/// The published stream: AAF PCM as SR class A carries it, 48 kHz, 2 channels, 32 bits, 6 samples of each in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AafStream {
    /// Destination address from the MAAP dynamic range, `91:e0:f0:00:00:00` to `91:e0:f0:00:fe:ff`.
    pub dst: Mac,
    /// Source.
    pub src: Mac,
    /// VLAN tags, the outer one first.
    pub tags: Vec<VlanTag>,
    /// Number that, together with the source address, forms the stream_id.
    pub unique_id: u16,
}

impl AafStream {
    /// The stream_id.
    pub fn id(&self) -> u64 {
        let [a, b, c, d, e, f] = self.src.0;
        let [high, low] = self.unique_id.to_be_bytes();
        u64::from_be_bytes([a, b, c, d, e, f, high, low])
    }
}

/// An encoded frame with silence in it. Patching allocates nothing and keeps the length.
#[derive(Debug, Clone)]
pub struct AafTemplate {
    frame: Vec<u8>,
    payload_at: usize,
}

impl AafTemplate {
    /// Octets of the stream's data.
    pub const DATA: usize = SAMPLES as usize * CHANNELS as usize * (BIT_DEPTH as usize / 8);

    /// Encodes the frame: timestamp valid but uncertain, because this program does not follow a gPTP clock.
    pub fn new(stream: &AafStream) -> Self {
        let mut frame = Vec::with_capacity(ether::HEADER + 2 * ether::TAG + HEADER + Self::DATA);
        ether::write_header(&mut frame, stream.dst, stream.src, &stream.tags, ETHER_TYPE);
        let payload_at = frame.len();
        frame.extend_from_slice(&[AAF, bit::STREAM_ID_VALID | bit::TIMESTAMP_VALID, 0, bit::UNCERTAIN]);
        frame.extend_from_slice(&stream.id().to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(&[FORMAT_INT_32, RATE_48_KHZ, CHANNELS, BIT_DEPTH]);
        frame.extend_from_slice(&(Self::DATA as u16).to_be_bytes());
        frame.extend_from_slice(&[0; 2]);
        frame.resize(payload_at + HEADER + Self::DATA, 0);
        Self { frame, payload_at }
    }

    /// The frame with its current contents, ready to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.frame
    }

    /// Sets the sequence number.
    #[inline]
    pub fn set_sequence_num(&mut self, number: u8) {
        self.put(at::SEQUENCE, [number]);
    }

    /// Sets the presentation time: gPTP time in ns, of which the lower 32 bits are carried.
    #[inline]
    pub fn set_timestamp_ns(&mut self, gptp_ns: u32) {
        self.put(at::TIMESTAMP, gptp_ns.to_be_bytes());
    }

    /// The stream's data, to write in place.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [u8] {
        self.frame.get_mut(self.payload_at + HEADER..).unwrap_or_default()
    }

    #[inline]
    fn put<const N: usize>(&mut self, at: usize, octets: [u8; N]) {
        let at = self.payload_at + at;
        if let Some(place) = self.frame.get_mut(at..at + N) {
            place.copy_from_slice(&octets);
        }
    }
}
