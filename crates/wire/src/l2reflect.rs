//! The frame of DPDK's l2reflect, a ping-pong of one frame between two stations.
//!
//! Read from the sources that Siemens proposed for DPDK (`app/l2reflect/payload.h` and `main.c`, 2020 and 2022). The frame follows an
//! untagged Ethernet header with EtherType 0x88B5. It is a C structure of the sender's memory, neither packed nor converted, so the
//! fields are those of a 64-bit little-endian machine:
//!
//! | octet | field | octets |
//! | --- | --- | --- |
//! | 14 | kind: 0 data, 1 HELO, 2 EHLO, 3 reset, 4 quit | 1 |
//! | 15 | not used | 1 |
//! | 16 | magic of a traced frame, or 0 | 8 |
//! | 24 | round trip that ends the sender's measurement, in us; 0 for none | 8 |
//! | 32 | length of the data frames that the sender wishes, FCS included (0 in the version of 2020) | 8 |
//! | 40 | marks of triptime's ends, see [`L2reflectMut::set_mark`]; l2reflect returns them unchanged | 16 |
//! | 56 | zeros up to the length of the frame | |
//!
//! The magic is not in every frame, so nothing but the EtherType and a known kind identifies the protocol. A frame that carries the
//! magic of triptime's own test frame at its place is refused: its octet 14 is no known kind.

use crate::bytes::le64;
use crate::ether::{EthernetView, Mac};
use crate::frame_error::{FrameError, Rule};
use crate::test_frame::{ETHER_TYPE, MAX_OCTETS, MIN_OCTETS};

/// Octets of the frame check sequence, which l2reflect includes in lengths.
pub const FCS: u64 = 4;

/// Longest length, FCS included, that l2reflect takes for frames without jumbo frames. Two ends on different sides of it do not play.
pub const LONGEST_STANDARD: u64 = 1500;

const MAGIC: u64 = 0xd00f_affe_affe_d00f;

mod at {
    pub(super) const MAGIC: usize = 2;
    pub(super) const BREAK: usize = 10;
    pub(super) const LENGTH: usize = 18;
    pub(super) const MARKS: usize = 26;
    pub(super) const END: usize = 42;
}

/// The purpose of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum L2reflectKind {
    /// The ball: return it at once and measure.
    Data = 0,
    /// Broadcast by an end that looks for another.
    Helo = 1,
    /// Answer to a HELO.
    Ehlo = 2,
    /// Forget the figures and find each other again.
    Reset = 3,
    /// The sender ends, and so must the receiver.
    Quit = 4,
}

/// The fields of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct L2reflectFrame {
    /// The purpose.
    pub kind: L2reflectKind,
    /// True if the frame carries the magic, at which both ends write a trace point.
    pub traced: bool,
    /// Round trip in us above which the sender ends; 0 for none.
    pub break_us: u64,
    /// Length of the data frames that the sender wishes, FCS included; 0 if it states none.
    pub length: u64,
}

impl L2reflectFrame {
    /// Reads the fields of an untagged frame.
    ///
    /// # Errors
    /// Another EtherType, a VLAN tag, a frame that is too short, or an unknown kind.
    #[inline]
    pub fn parse(ethernet: &EthernetView<'_>) -> Result<Self, FrameError> {
        let payload = ethernet.payload();
        let offset = ethernet.payload_offset();
        if ethernet.ether_type() != ETHER_TYPE {
            let rule = Rule::EtherType {
                found: ethernet.ether_type(),
                wanted: ETHER_TYPE,
            };
            return Err(FrameError::at(offset - 2, rule));
        }
        let error = |at, why| FrameError::at(offset + at, Rule::L2reflect(why));
        if ethernet.vlan().is_some() {
            return Err(error(0, "it has a VLAN tag"));
        }
        if payload.len() < at::END {
            return Err(error(payload.len(), "it ends inside its fields"));
        }
        let kind = match payload[0] {
            0 => L2reflectKind::Data,
            1 => L2reflectKind::Helo,
            2 => L2reflectKind::Ehlo,
            3 => L2reflectKind::Reset,
            4 => L2reflectKind::Quit,
            _ => return Err(error(0, "its kind is unknown")),
        };
        Ok(Self {
            kind,
            traced: le64(payload, at::MAGIC) == MAGIC,
            break_us: le64(payload, at::BREAK),
            length: le64(payload, at::LENGTH),
        })
    }

    /// A whole frame of `octets` octets without FCS, limited to 60..=9000.
    pub fn encode(&self, dst: Mac, src: Mac, octets: usize) -> Vec<u8> {
        let octets = octets.clamp(MIN_OCTETS, MAX_OCTETS);
        let mut frame = Vec::with_capacity(octets);
        crate::ether::write_header(&mut frame, dst, src, &[], ETHER_TYPE);
        frame.extend_from_slice(&[self.kind as u8, 0]);
        let magic = if self.traced { MAGIC } else { 0 };
        for field in [magic, self.break_us, self.length] {
            frame.extend_from_slice(&field.to_le_bytes());
        }
        frame.resize(octets, 0);
        frame
    }
}

/// One of the two ends: the one that serves, or the one that answers the serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L2reflectEnd {
    /// The end with the larger address, which brings the ball into play.
    Server,
    /// The other end.
    Receiver,
}

impl L2reflectEnd {
    /// The end that the station `own` is in a game against `far`. l2reflect compares the addresses as little-endian numbers, so the last
    /// octet decides first. `None` if both addresses are equal.
    pub fn of(own: Mac, far: Mac) -> Option<Self> {
        match own.0.iter().rev().cmp(far.0.iter().rev()) {
            std::cmp::Ordering::Greater => Some(Self::Server),
            std::cmp::Ordering::Less => Some(Self::Receiver),
            std::cmp::Ordering::Equal => None,
        }
    }

    fn place(self) -> usize {
        match self {
            Self::Server => at::MARKS,
            Self::Receiver => at::MARKS + 8,
        }
    }
}

/// A data frame to patch in place. Allocates nothing.
#[derive(Debug)]
pub struct L2reflectMut<'a> {
    frame: &'a mut [u8],
}

impl<'a> L2reflectMut<'a> {
    /// Wraps a frame that [`L2reflectFrame::parse`] accepts.
    ///
    /// # Errors
    /// As [`L2reflectFrame::parse`].
    #[inline]
    pub fn new(frame: &'a mut [u8]) -> Result<Self, FrameError> {
        L2reflectFrame::parse(&EthernetView::parse(frame)?)?;
        Ok(Self { frame })
    }

    /// Writes the mark of an end behind the fields of l2reflect. l2reflect returns the frame that it received with other addresses
    /// only, so an end finds its last mark in the answer to its last frame, and in no other.
    #[inline]
    pub fn set_mark(&mut self, end: L2reflectEnd, mark: u64) {
        let at = crate::ether::HEADER + end.place();
        if let Some(place) = self.frame.get_mut(at..at + 8) {
            place.copy_from_slice(&mark.to_le_bytes());
        }
    }
}

/// Reads the mark of an end from a frame that [`L2reflectFrame::parse`] accepts; 0 in a frame without marks.
#[inline]
pub fn mark(ethernet: &EthernetView<'_>, end: L2reflectEnd) -> u64 {
    let payload = ethernet.payload();
    if payload.len() < at::END {
        return 0;
    }
    le64(payload, end.place())
}

#[cfg(test)]
mod tests {
    use super::{L2reflectEnd, L2reflectFrame, L2reflectKind, L2reflectMut, mark};
    use crate::ether::{EthernetView, Mac, VlanTag};
    use crate::test_frame::{TestFrame, TestFrameKind};

    const A: Mac = Mac([2, 0, 0, 0, 0, 0xa]);
    const B: Mac = Mac([1, 0, 0, 0, 0, 0xb]);
    const HELO: L2reflectFrame = L2reflectFrame {
        kind: L2reflectKind::Helo,
        traced: false,
        break_us: 1_000_000,
        length: 64,
    };

    /// The first octets of the HELO of an l2reflect with its defaults, put together by hand from its C structure.
    const HELO_OCTETS: [u8; 40] = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0xa, 0x88, 0xb5, // addresses, EtherType
        1, 0, // kind, gap
        0, 0, 0, 0, 0, 0, 0, 0, // no magic
        0x40, 0x42, 0x0f, 0, 0, 0, 0, 0, // one second in us
        64, 0, 0, 0, 0, 0, 0, 0, // length
    ];

    fn parse(frame: &[u8]) -> Result<L2reflectFrame, crate::FrameError> {
        L2reflectFrame::parse(&EthernetView::parse(frame)?)
    }

    #[test]
    fn a_helo_has_the_octets_of_the_c_structure() {
        let frame = HELO.encode(Mac::BROADCAST, A, 0);
        assert_eq!((&frame[..40], frame.len()), (&HELO_OCTETS[..], 60));
        assert!(frame[40..].iter().all(|octet| *octet == 0));
        assert_eq!(parse(&frame), Ok(HELO));
    }

    #[test]
    fn a_traced_ball_and_every_kind_are_read_back() {
        for (number, kind) in [
            L2reflectKind::Data,
            L2reflectKind::Helo,
            L2reflectKind::Ehlo,
            L2reflectKind::Reset,
            L2reflectKind::Quit,
        ]
        .into_iter()
        .enumerate()
        {
            let ball = L2reflectFrame {
                kind,
                traced: true,
                ..HELO
            };
            let frame = ball.encode(B, A, 100);
            assert_eq!((usize::from(frame[14]), frame.len()), (number, 100));
            assert_eq!(frame[16..24], [0x0f, 0xd0, 0xfe, 0xaf, 0xfe, 0xaf, 0x0f, 0xd0]);
            assert_eq!(parse(&frame), Ok(ball));
        }
    }

    #[test]
    fn the_two_protocols_of_the_ethertype_are_told_apart() {
        let own = TestFrame {
            kind: TestFrameKind::Claim,
            flags: 0,
            session: 1,
            sequence: 2,
            sent_ns: 3,
        };
        assert!(parse(&own.encode(Mac::BROADCAST, A, None, 60)).is_err());
        let theirs = HELO.encode(Mac::BROADCAST, A, 60);
        assert!(TestFrame::parse(&EthernetView::parse(&theirs).unwrap()).is_err());
    }

    #[test]
    fn other_frames_are_refused() {
        let whole = HELO.encode(B, A, 60);
        for (at, octet) in [(12, 0), (14, 5), (14, 0xff)] {
            let mut frame = whole.clone();
            frame[at] = octet;
            assert!(parse(&frame).is_err(), "octet {at}");
            assert!(L2reflectMut::new(&mut frame).is_err());
        }
        for octets in 0..56 {
            assert!(parse(&whole[..octets]).is_err(), "{octets} octets");
        }
        assert!(parse(&whole[..56]).is_ok());
        let tagged = EthernetView::with_tag(&whole, Some(VlanTag::new(4, false, 5))).unwrap();
        assert!(L2reflectFrame::parse(&tagged).is_err());
    }

    #[test]
    fn each_end_has_its_own_mark() {
        let mut frame = HELO.encode(B, A, 60);
        let marks = |frame: &[u8]| {
            let ethernet = EthernetView::parse(frame).unwrap();
            [L2reflectEnd::Server, L2reflectEnd::Receiver].map(|end| mark(&ethernet, end))
        };
        assert_eq!(marks(&frame), [0, 0]);
        let mut patch = L2reflectMut::new(&mut frame).unwrap();
        patch.set_mark(L2reflectEnd::Server, 7);
        patch.set_mark(L2reflectEnd::Receiver, u64::MAX);
        assert_eq!(marks(&frame), [7, u64::MAX]);
        assert_eq!(parse(&frame), Ok(HELO), "the fields are as they were");
        assert_eq!(marks(&frame[..50]), [0, 0]);
    }

    #[test]
    fn the_last_octet_of_the_address_decides_first() {
        assert_eq!(L2reflectEnd::of(B, A), Some(L2reflectEnd::Server));
        assert_eq!(L2reflectEnd::of(A, B), Some(L2reflectEnd::Receiver));
        assert_eq!(L2reflectEnd::of(A, A), None);
        let (one, two) = (Mac([1, 9, 9, 9, 9, 0]), Mac([2, 9, 9, 9, 9, 0]));
        assert_eq!(
            L2reflectEnd::of(two, one),
            Some(L2reflectEnd::Server),
            "then the others"
        );
    }
}
