//! The layer-2 test frame of the `reflect`, `talk` and `listen` probes.
//!
//! The frame follows an Ethernet header, with or without VLAN tag, with EtherType 0x88B5 (IEEE local experimental 1).
//! All fields are big-endian:
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
//! | 42 | zeros up to the length of the frame; in a farewell, first a [`Summary`] | |
//!
//! Octets are counted in an untagged frame; a VLAN tag moves all of them by 4. The 28 octets starting at the magic are
//! also sent as the data of other protocols' frames, so that a listener can account for each of those frames.

use crate::bytes::{array, be16, be32, be64};
use crate::ether::{EthernetView, Mac, VlanTag};
use crate::frame_error::{FrameError, Rule};

/// EtherType of test frames.
pub const ETHER_TYPE: u16 = 0x88b5;
/// Shortest frame, without frame check sequence.
pub const MIN_OCTETS: usize = 60;
/// Longest frame.
pub const MAX_OCTETS: usize = 9000;

const MAGIC: u32 = u32::from_be_bytes(*b"TRIP");
const VERSION: u8 = 1;
/// Octets from the magic to the instant of sending, inclusive.
pub const HEADER: usize = 28;

mod at {
    pub(super) const VERSION: usize = 4;
    pub(super) const KIND: usize = 5;
    pub(super) const FLAGS: usize = 6;
    pub(super) const SESSION: usize = 8;
    pub(super) const SEQUENCE: usize = 12;
    pub(super) const SENT: usize = 20;
}

/// The purpose of a test frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TestFrameKind {
    /// Return the frame at once and measure it.
    Probe = 1,
    /// Return the frame, but do not measure it: finds the reflector, and wakes it after a rest.
    Hello = 2,
    /// Sleep for the number of nanoseconds in the sequence number; not returned.
    Rest = 3,
    /// A frame of a paced stream; not returned.
    Stream = 4,
    /// Offers to take part; the flags state the role ([`CLAIM_EITHER`], [`CLAIM_REFLECTOR`]).
    Claim = 5,
    /// Measuring has ended; carries a [`Summary`]. The reflector answers with its own.
    Bye = 6,
}

/// Flag of a [`TestFrameKind::Probe`]: this frame counts; without it, the frame is a warm-up.
pub const COUNTS: u16 = 1;
/// Flag of a [`TestFrameKind::Claim`]: either role will do.
pub const CLAIM_EITHER: u16 = 1;
/// Flag of a [`TestFrameKind::Claim`]: this end is the reflector.
pub const CLAIM_REFLECTOR: u16 = 2;

/// The fields of a test frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestFrame {
    /// The purpose.
    pub kind: TestFrameKind,
    /// Flags, whose meaning depends on the kind.
    pub flags: u16,
    /// The initiator's session.
    pub session: u32,
    /// Sequence number.
    pub sequence: u64,
    /// Instant of sending in ns of the sender's clock; meaningful only to the sender.
    pub sent_ns: u64,
}

impl TestFrame {
    /// Reads the fields of a frame, tagged or not.
    ///
    /// # Errors
    /// Not a test frame, or another version.
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

    /// Reads the fields at the beginning of `payload`, either of a test frame or of another protocol's data. Offsets in
    /// errors count from the start of `payload`.
    ///
    /// # Errors
    /// Not a test frame, or another version.
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
            1 => TestFrameKind::Probe,
            2 => TestFrameKind::Hello,
            3 => TestFrameKind::Rest,
            4 => TestFrameKind::Stream,
            5 => TestFrameKind::Claim,
            6 => TestFrameKind::Bye,
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

    /// A whole frame of `octets` octets, limited to 60..=9000. They include a VLAN tag, which may also exceed the
    /// maximum.
    pub fn encode(&self, dst: Mac, src: Mac, tag: Option<VlanTag>, octets: usize) -> Vec<u8> {
        let octets = octets.clamp(MIN_OCTETS, MAX_OCTETS + 4 * tag.as_slice().len());
        let mut frame = Vec::with_capacity(octets);
        crate::ether::write_header(&mut frame, dst, src, tag.as_slice(), ETHER_TYPE);
        frame.extend_from_slice(&self.fields());
        frame.resize(octets, 0);
        frame
    }

    /// The fields as they are carried in a frame; [`TestFrame::read`] reads them.
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

/// A test frame to patch in place. Allocates nothing.
#[derive(Debug)]
pub struct TestFrameMut<'a> {
    frame: &'a mut [u8],
    payload: usize,
}

impl<'a> TestFrameMut<'a> {
    /// Wraps a frame made by [`TestFrame::encode`] or accepted by [`TestFrame::parse`].
    ///
    /// # Errors
    /// Not a test frame of this version.
    #[inline]
    pub fn new(frame: &'a mut [u8]) -> Result<Self, FrameError> {
        let ethernet = EthernetView::parse(frame)?;
        TestFrame::parse(&ethernet)?;
        let payload = ethernet.payload_offset();
        Ok(Self { frame, payload })
    }

    /// Sets the kind.
    #[inline]
    pub fn set_kind(&mut self, kind: TestFrameKind) {
        self.put(at::KIND, [kind as u8]);
    }

    /// Sets the destination address.
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

    /// Sets the summary of a farewell; does nothing if the frame is too short for one.
    pub fn set_summary(&mut self, summary: &Summary) {
        let fields = [
            summary.sent,
            summary.received,
            summary.duplicate,
            summary.reordered,
            summary.min_ns,
            summary.mean_ns,
            summary.max_ns,
        ];
        for (number, field) in fields.into_iter().enumerate() {
            self.put(HEADER + number * 8, field.to_be_bytes());
        }
    }

    #[inline]
    fn put<const N: usize>(&mut self, at: usize, octets: [u8; N]) {
        let at = self.payload + at;
        if let Some(place) = self.frame.get_mut(at..at + N) {
            place.copy_from_slice(&octets);
        }
    }
}

/// The counts of one end, in a [`TestFrameKind::Bye`]: round trips for the initiator, arrivals for the reflector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Frames sent that count.
    pub sent: u64,
    /// Number of them that arrived, each counted once.
    pub received: u64,
    /// Number of repeated arrivals.
    pub duplicate: u64,
    /// Number of frames that arrived after a later one.
    pub reordered: u64,
    /// Shortest time in ns; 0 when nothing was measured.
    pub min_ns: u64,
    /// Mean time in ns.
    pub mean_ns: u64,
    /// Longest time in ns.
    pub max_ns: u64,
}

const SUMMARY: usize = 56;

/// Octets of a [`TestFrameKind::Bye`] without VLAN tag, including its summary.
pub const BYE_OCTETS: usize = crate::ether::HEADER + HEADER + SUMMARY;

impl Summary {
    /// Reads the summary of a farewell; `None` if the frame is too short.
    pub fn parse(ethernet: &EthernetView<'_>) -> Option<Self> {
        let body = ethernet.payload().get(HEADER..HEADER + SUMMARY)?;
        let field = |number: usize| be64(body, number * 8);
        Some(Self {
            sent: field(0),
            received: field(1),
            duplicate: field(2),
            reordered: field(3),
            min_ns: field(4),
            mean_ns: field(5),
            max_ns: field(6),
        })
    }
}

/// Turns a received frame around: the destination becomes its source address, the source becomes `own`. Frames too
/// short for two addresses are left unchanged.
#[inline]
pub fn reflect(frame: &mut [u8], own: Mac) {
    if let Some(&[_, _, _, _, _, _, a, b, c, d, e, f]) = frame.first_chunk::<12>() {
        frame[..6].copy_from_slice(&[a, b, c, d, e, f]);
        frame[6..12].copy_from_slice(&own.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{BYE_OCTETS, Summary, TestFrame, TestFrameKind, TestFrameMut, reflect};
    use crate::ether::{EthernetView, Mac, VlanTag};

    const A: Mac = Mac([2, 0, 0, 0, 0, 0xa]);
    const B: Mac = Mac([2, 0, 0, 0, 0, 0xb]);
    const FIELDS: TestFrame = TestFrame {
        kind: TestFrameKind::Probe,
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
            let frame = FIELDS.encode(B, A, None, asked);
            assert_eq!(frame.len(), octets);
            assert_eq!(parse(&frame), FIELDS);
        }
    }

    #[test]
    fn patching_changes_only_its_field() {
        let mut frame = FIELDS.encode(B, A, None, 60);
        let mut patch = TestFrameMut::new(&mut frame).unwrap();
        patch.set_sequence(7);
        patch.set_kind(TestFrameKind::Rest);
        patch.set_flags(3);
        let expected = TestFrame {
            kind: TestFrameKind::Rest,
            flags: 3,
            sequence: 7,
            ..FIELDS
        };
        assert_eq!(parse(&frame), expected);
        assert_eq!(frame, expected.encode(B, A, None, 60));
    }

    #[test]
    fn the_fields_travel_in_any_frame() {
        for kind in [
            TestFrameKind::Probe,
            TestFrameKind::Hello,
            TestFrameKind::Rest,
            TestFrameKind::Stream,
        ] {
            let fields = TestFrame { kind, ..FIELDS };
            let mut octets = fields.fields().to_vec();
            octets.push(0xff);
            assert_eq!(TestFrame::read(&octets).unwrap(), fields);
            assert!(TestFrame::read(&octets[..super::HEADER - 1]).is_err());
        }
    }

    #[test]
    fn reflecting_swaps_the_addresses() {
        let mut frame = FIELDS.encode(B, A, None, 60);
        reflect(&mut frame, B);
        assert_eq!(frame, FIELDS.encode(A, B, None, 60));
        let mut short = [1; 11];
        reflect(&mut short, B);
        assert_eq!(short, [1; 11]);
    }

    #[test]
    fn other_frames_are_refused() {
        let whole = FIELDS.encode(B, A, None, 60);
        for (at, octet) in [(12, 0), (14, b't'), (18, 2), (19, 0), (19, 7)] {
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
    fn a_tagged_frame_is_patched_as_well() {
        let tag = VlanTag::new(6, false, 5);
        let mut frame = FIELDS.encode(B, A, Some(tag), 64);
        assert_eq!(frame.len(), 64);
        TestFrameMut::new(&mut frame).unwrap().set_sequence(9);
        assert_eq!(parse(&frame), TestFrame { sequence: 9, ..FIELDS });
        assert_eq!(EthernetView::parse(&frame).unwrap().vlan(), Some(tag));
    }

    #[test]
    fn a_summary_is_read_back_and_one_cut_short_is_none() {
        let summary = Summary {
            sent: 1_000,
            received: 990,
            duplicate: 3,
            reordered: u64::MAX,
            min_ns: 1_080,
            mean_ns: 1_260,
            max_ns: 37_000,
        };
        let bye = TestFrame {
            kind: TestFrameKind::Bye,
            ..FIELDS
        };
        let mut frame = bye.encode(B, A, None, BYE_OCTETS);
        TestFrameMut::new(&mut frame).unwrap().set_summary(&summary);
        let ethernet = EthernetView::parse(&frame).unwrap();
        assert_eq!(
            (TestFrame::parse(&ethernet), Summary::parse(&ethernet)),
            (Ok(bye), Some(summary))
        );
        let cut = EthernetView::parse(&frame[..90]).unwrap();
        assert_eq!(Summary::parse(&cut), None);
    }
}
