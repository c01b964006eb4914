//! Redundant networks (IEC 62439-3): the redundancy control trailer (RCT) of PRP, the tag of HSR, and supervision frames.
//!
//! A doubly attached node sends each frame twice, once into LAN A and once into LAN B (PRP), or in both directions of a ring
//! (HSR). Both copies have the same source address and sequence number, by which a receiver discards the later one.
//!
//! The size in RCT and tag counts the octets from the end of the EtherType, or of the last VLAN tag before an HSR tag, to the end
//! of the frame, RCT or tag included. VLAN tags are not counted, so bridges may add and remove them.

mod discard;
mod nodes;
mod source;
mod supervision;
mod write;

pub use discard::{Came, Discard, ENTRY_FORGET_NS, LanCounts, Received};
pub use nodes::{KnownNode, Nodes};
pub use source::Source;
pub use supervision::{Node, SUPERVISION, SUPERVISION_DST, Supervision};
pub use write::{AddError, Patch, add};

use crate::bytes::be16;
use crate::ether::EthernetView;

/// Octets of a redundancy control trailer.
pub const RCT: usize = 6;
/// Last two octets of a redundancy control trailer.
const SUFFIX: u16 = SUPERVISION;
/// The four bits before the size in an RCT: LAN A. LAN B is one more.
const LAN_A: u8 = 0xa;
/// EtherType of PTP (IEEE 1588).
const PTP: u16 = 0x88f7;
/// Octets of the payload of a frame of least length.
const LEAST_PAYLOAD: usize = 46;
/// Octets of a frame check sequence, which some captures keep.
const FCS: usize = 4;
/// Octets of a VLAN tag, whose removal leaves a frame that is padded after its RCT.
const VLAN: usize = 4;

/// One of the two networks, or of the two directions of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lan {
    /// LAN A; port A of a node in a ring.
    A,
    /// LAN B; port B of a node in a ring.
    B,
}

impl Lan {
    /// Both, in the order of their numbers.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Its letter.
    pub const fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
        }
    }

    /// 0 for A and 1 for B.
    pub const fn number(self) -> usize {
        self as usize
    }

    const fn of_bit(path: u8) -> Self {
        match path & 1 {
            0 => Self::A,
            _ => Self::B,
        }
    }
}

impl std::fmt::Display for Lan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LAN {}", self.letter())
    }
}

/// A protocol of IEC 62439-3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Parallel Redundancy Protocol: two networks.
    Prp,
    /// High-availability Seamless Redundancy: a ring.
    Hsr,
}

impl Protocol {
    /// Its abbreviation.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Prp => "PRP",
            Self::Hsr => "HSR",
        }
    }
}

/// Statements of an RCT or an HSR tag about its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Redundancy {
    /// PRP for an RCT, HSR for a tag.
    pub protocol: Protocol,
    /// The four bits before the size. PRP: 0xA or 0xB for LAN A or B. HSR: the number of the network times two, plus 1 for port B.
    pub path: u8,
    /// The size in octets (12 bits).
    pub size: u16,
    /// Sequence number of the frame, counted by its source and equal in both copies.
    pub sequence: u16,
}

impl Redundancy {
    /// Reads the HSR tag of a frame, or otherwise its RCT. `None` without either, if the size is not that of the frame, or if the
    /// frame was cut: a node treats such a frame as one from a node with a single port.
    #[inline]
    pub fn of(ethernet: &EthernetView<'_>) -> Option<Self> {
        match ethernet.hsr_fields().start {
            0 => Self::of_trailer(ethernet.payload()),
            at => Self::of_tag(ethernet.frame(), at),
        }
    }

    /// The LAN whose copy this is by its own statement.
    pub const fn lan(self) -> Lan {
        Lan::of_bit(self.path)
    }

    /// The contents of the frame of this mark: the octets after the EtherType, up to its end, without the RCT. Equal in both copies, but for
    /// [`Redundancy::equal_contents`].
    pub fn contents<'a>(self, ethernet: &EthernetView<'a>) -> &'a [u8] {
        let payload = ethernet.payload();
        let octets = match self.protocol {
            Protocol::Prp => usize::from(self.size).saturating_sub(RCT),
            Protocol::Hsr => {
                let end = ethernet.hsr_fields().start + usize::from(self.size);
                end.saturating_sub(ethernet.payload_offset())
            }
        };
        payload.get(..octets).unwrap_or(payload)
    }

    /// The contents of a frame whose copies must be equal; `None` for PTP, in which each node on the way adds its residence time.
    pub fn equal_contents<'a>(self, ethernet: &EthernetView<'a>) -> Option<&'a [u8]> {
        (ethernet.ether_type() != PTP).then(|| self.contents(ethernet))
    }

    /// Reads the tag whose fields begin at `at`. Padding may follow the counted octets.
    fn of_tag(frame: &[u8], at: usize) -> Option<Self> {
        let found = Self::read(Protocol::Hsr, be16(frame, at), be16(frame, at + 2));
        let octets = frame.len() - at;
        let size = usize::from(found.size);
        (size == octets || size + FCS == octets || size < octets && octets <= LEAST_PAYLOAD + FCS).then_some(found)
    }

    /// Reads the RCT of a frame with this payload. It ends the frame, unless a bridge has padded a short frame whose VLAN tag it
    /// removed, or a capture has kept the frame check sequence.
    fn of_trailer(payload: &[u8]) -> Option<Self> {
        let whole = payload.len();
        let is_short = whole <= LEAST_PAYLOAD + VLAN + FCS;
        let shorter = if is_short { RCT..whole } else { 0..0 };
        let ends = [whole, whole.saturating_sub(FCS)].into_iter().chain(shorter.rev());
        ends.into_iter().find_map(|end| Self::of_rct(payload, end))
    }

    /// The RCT that ends at `end` of the payload.
    #[inline]
    fn of_rct(payload: &[u8], end: usize) -> Option<Self> {
        let at = end.checked_sub(RCT)?;
        if be16(payload, at + 4) != SUFFIX {
            return None;
        }
        let found = Self::read(Protocol::Prp, be16(payload, at + 2), be16(payload, at));
        (found.path & !1 == LAN_A && usize::from(found.size) == end).then_some(found)
    }

    const fn read(protocol: Protocol, path_and_size: u16, sequence: u16) -> Self {
        Self {
            protocol,
            path: (path_and_size >> 12) as u8,
            size: path_and_size & 0x0fff,
            sequence,
        }
    }
}

#[cfg(test)]
mod tests;
