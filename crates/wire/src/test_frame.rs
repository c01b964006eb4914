//! The layer-2 test frame of the `reflect`, `talk` and `listen` probes.
//!
//! Behind an Ethernet header with EtherType 0x88B5 (IEEE local experimental 1), all big-endian:
//!
//! | octet | field | octets |
//! | --- | --- | --- |
//! | 14 | magic `TRIP` | 4 |
//! | 18 | version, 1 | 1 |
//! | 19 | kind | 1 |
//! | 20 | flags | 2 |
//! | 22 | session: a random number of the initiator | 4 |
//! | 26 | sequence number | 8 |
//! | 34 | instant of sending, ns of the sender's clock | 8 |
//! | 42 | zeros up to the length of the frame | |
//!
//! (Octets of an untagged frame.) The 28 octets from the magic on also travel as the data of other protocols' frames, so that
//! a listener can account for every one of them.

use crate::bytes::{array, be16, be32, be64};
use crate::ether::{EthernetView, Mac};
use crate::frame_error::{FrameError, Rule};

/// EtherType of test frames.
pub const ETHER_TYPE: u16 = 0x88b5;
/// Shortest frame, without frame check sequence.
pub const MIN_OCTETS: usize = 60;
/// Longest frame.
pub const MAX_OCTETS: usize = 9000;

const MAGIC: u32 = u32::from_be_bytes(*b"TRIP");
const VERSION: u8 = 1;
/// Octets from the magic to the instant of sending.
pub const HEADER: usize = 28;

mod at {
    pub(super) const VERSION: usize = 4;
    pub(super) const KIND: usize = 5;
    pub(super) const FLAGS: usize = 6;
    pub(super) const SESSION: usize = 8;
    pub(super) const SEQUENCE: usize = 12;
    pub(super) const SENT: usize = 20;
}

/// What a test frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Return it at once and measure it.
    Probe = 1,
    /// Return it, but do not measure it: finds the reflector, and wakes it after a rest.
    Hello = 2,
    /// Sleep for as many nanoseconds as the sequence number says; not returned.
    Rest = 3,
    /// One of a paced stream; not returned.
    Stream = 4,
}

/// The fields of a test frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestFrame {
    /// What it is for.
    pub kind: Kind,
    /// Free for the probe.
    pub flags: u16,
    /// The initiator's session.
    pub session: u32,
    /// Sequence number.
    pub sequence: u64,
    /// Instant of sending in ns of the sender's clock; only the sender can read it.
    pub sent_ns: u64,
}

impl TestFrame {
    /// Reads the fields of a frame, tagged or not.
    ///
    /// # Errors
    /// Not a test frame, or of another version.
    #[inline]
    pub fn parse(ethernet: &EthernetView<'_>) -> Result<Self, FrameError> {
        if ethernet.ether_type() != ETHER_TYPE {
            let rule = Rule::EtherType {
                found: ethernet.ether_type(),
                wanted: ETHER_TYPE,
            };
            return Err(FrameError::at(ethernet.payload_offset() - 2, rule));
        }
        Self::read(ethernet.payload()).map_err(|error| FrameError {
            offset: error.offset.saturating_add(ethernet.payload_offset() as u32),
            ..error
        })
    }

    /// Reads the fields at the beginning of `payload`: of a test frame, or of another protocol's data. Offsets in errors count
    /// from there.
    ///
    /// # Errors
    /// Not the fields of a test frame, or of another version.
    #[inline]
    pub fn read(payload: &[u8]) -> Result<Self, FrameError> {
        let error = |at, why| FrameError::at(at, Rule::TestFrame(why));
        if payload.len() < HEADER {
            return Err(error(payload.len(), "it ends inside its header"));
        }
        if be32(payload, 0) != MAGIC {
            return Err(error(0, "it does not begin with TRIP"));
        }
        let [version, kind] = array(payload, at::VERSION);
        if version != VERSION {
            return Err(error(
                at::VERSION,
                "it has another version: use the same release on both sides",
            ));
        }
        let kind = match kind {
            1 => Kind::Probe,
            2 => Kind::Hello,
            3 => Kind::Rest,
            4 => Kind::Stream,
            _ => return Err(error(at::KIND, "its kind is unknown")),
        };
        Ok(Self {
            kind,
            flags: be16(payload, at::FLAGS),
            session: be32(payload, at::SESSION),
            sequence: be64(payload, at::SEQUENCE),
            sent_ns: be64(payload, at::SENT),
        })
    }

    /// A whole frame of `octets`, which are brought into 60..=9000.
    pub fn encode(&self, dst: Mac, src: Mac, octets: usize) -> Vec<u8> {
        let mut frame = Vec::with_capacity(octets.clamp(MIN_OCTETS, MAX_OCTETS));
        crate::ether::write_header(&mut frame, dst, src, &[], ETHER_TYPE);
        frame.extend_from_slice(&self.fields());
        frame.resize(octets.clamp(MIN_OCTETS, MAX_OCTETS), 0);
        frame
    }

    /// The fields, to be carried in a frame: what [`TestFrame::read`] reads.
    #[inline]
    pub fn fields(&self) -> [u8; HEADER] {
        let mut octets = [0; HEADER];
        octets[..at::VERSION].copy_from_slice(&MAGIC.to_be_bytes());
        octets[at::VERSION] = VERSION;
        octets[at::KIND] = self.kind as u8;
        octets[at::FLAGS..at::SESSION].copy_from_slice(&self.flags.to_be_bytes());
        octets[at::SESSION..at::SEQUENCE].copy_from_slice(&self.session.to_be_bytes());
        octets[at::SEQUENCE..at::SENT].copy_from_slice(&self.sequence.to_be_bytes());
        octets[at::SENT..].copy_from_slice(&self.sent_ns.to_be_bytes());
        octets
    }
}

/// An untagged test frame to patch in place. Allocates nothing.
#[derive(Debug)]
pub struct TestFrameMut<'a> {
    frame: &'a mut [u8],
}

impl<'a> TestFrameMut<'a> {
    /// Wraps a frame made by [`TestFrame::encode`] or accepted by [`TestFrame::parse`].
    ///
    /// # Errors
    /// Not an untagged test frame of this version.
    #[inline]
    pub fn new(frame: &'a mut [u8]) -> Result<Self, FrameError> {
        let ethernet = EthernetView::parse(frame)?;
        if ethernet.vlan().is_some() {
            return Err(FrameError::at(12, Rule::TestFrame("it has a VLAN tag")));
        }
        TestFrame::parse(&ethernet)?;
        Ok(Self { frame })
    }

    /// Sets what the frame is for.
    #[inline]
    pub fn set_kind(&mut self, kind: Kind) {
        self.put(at::KIND, [kind as u8]);
    }

    /// Sets where it is sent to.
    #[inline]
    pub fn set_destination(&mut self, to: Mac) {
        if let Some(place) = self.frame.get_mut(..6) {
            place.copy_from_slice(&to.0);
        }
    }

    /// Sets the flags.
    #[inline]
    pub fn set_flags(&mut self, flags: u16) {
        self.put(at::FLAGS, flags.to_be_bytes());
    }

    /// Sets the sequence number.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u64) {
        self.put(at::SEQUENCE, sequence.to_be_bytes());
    }

    /// Sets the instant of sending, ns of the sender's clock.
    #[inline]
    pub fn set_sent_ns(&mut self, sent_ns: u64) {
        self.put(at::SENT, sent_ns.to_be_bytes());
    }

    #[inline]
    fn put<const N: usize>(&mut self, at: usize, octets: [u8; N]) {
        let at = crate::ether::HEADER + at;
        if let Some(place) = self.frame.get_mut(at..at + N) {
            place.copy_from_slice(&octets);
        }
    }
}

/// Turns a received frame around: destination becomes its source, source becomes `own`. Frames too short for two
/// addresses stay as they are.
#[inline]
pub fn reflect(frame: &mut [u8], own: Mac) {
    if let Some(&[_, _, _, _, _, _, a, b, c, d, e, f]) = frame.first_chunk::<12>() {
        frame[..6].copy_from_slice(&[a, b, c, d, e, f]);
        frame[6..12].copy_from_slice(&own.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{ETHER_TYPE, Kind, TestFrame, TestFrameMut, reflect};
    use crate::ether::{EthernetView, Mac, VlanTag};

    const A: Mac = Mac([2, 0, 0, 0, 0, 0xa]);
    const B: Mac = Mac([2, 0, 0, 0, 0, 0xb]);
    const FIELDS: TestFrame = TestFrame {
        kind: Kind::Probe,
        flags: 0x8001,
        session: 0xdead_beef,
        sequence: u64::MAX - 1,
        sent_ns: 42,
    };

    fn parse(frame: &[u8]) -> TestFrame {
        TestFrame::parse(&EthernetView::parse(frame).unwrap()).unwrap()
    }

    #[test]
    fn round_trip_at_every_size() {
        for (asked, octets) in [(0, 60), (60, 60), (61, 61), (1514, 1514), (9001, 9000)] {
            let frame = FIELDS.encode(B, A, asked);
            assert_eq!(frame.len(), octets);
            assert_eq!(parse(&frame), FIELDS);
        }
    }

    #[test]
    fn patching_changes_only_its_field() {
        let mut frame = FIELDS.encode(B, A, 60);
        let mut patch = TestFrameMut::new(&mut frame).unwrap();
        patch.set_sequence(7);
        patch.set_sent_ns(1 << 60);
        patch.set_kind(Kind::Rest);
        patch.set_flags(3);
        let expected = TestFrame {
            kind: Kind::Rest,
            flags: 3,
            sequence: 7,
            sent_ns: 1 << 60,
            ..FIELDS
        };
        assert_eq!(parse(&frame), expected);
        assert_eq!(frame, expected.encode(B, A, 60));
    }

    #[test]
    fn the_fields_travel_in_any_frame() {
        for kind in [Kind::Probe, Kind::Hello, Kind::Rest, Kind::Stream] {
            let fields = TestFrame { kind, ..FIELDS };
            let mut octets = fields.fields().to_vec();
            octets.push(0xff);
            assert_eq!(TestFrame::read(&octets).unwrap(), fields);
            assert!(TestFrame::read(&octets[..super::HEADER - 1]).is_err());
        }
    }

    #[test]
    fn reflecting_swaps_the_addresses() {
        let mut frame = FIELDS.encode(B, A, 60);
        reflect(&mut frame, B);
        assert_eq!(frame, FIELDS.encode(A, B, 60));
        let mut short = [1; 11];
        reflect(&mut short, B);
        assert_eq!(short, [1; 11]);
    }

    #[test]
    fn other_frames_are_refused() {
        let whole = FIELDS.encode(B, A, 60);
        for (at, octet) in [(12, 0), (14, b't'), (18, 2), (19, 0), (19, 5)] {
            let mut frame = whole.clone();
            frame[at] = octet;
            assert!(
                TestFrame::parse(&EthernetView::parse(&frame).unwrap()).is_err(),
                "octet {at}"
            );
            assert!(TestFrameMut::new(&mut frame).is_err());
        }
        for len in 14..42 {
            assert!(
                TestFrame::parse(&EthernetView::parse(&whole[..len]).unwrap()).is_err(),
                "{len} octets"
            );
        }
        assert!(TestFrame::parse(&EthernetView::parse(&whole[..42]).unwrap()).is_ok());
    }

    #[test]
    fn a_tagged_frame_is_read_but_not_patched() {
        let mut frame = Vec::new();
        crate::ether::write_header(&mut frame, B, A, &[VlanTag::new(6, false, 5)], ETHER_TYPE);
        frame.extend_from_slice(&FIELDS.encode(B, A, 60)[14..]);
        assert_eq!(parse(&frame), FIELDS);
        assert!(TestFrameMut::new(&mut frame).is_err());
    }
}
