//! Supervision frames, by which each node of a redundant network announces itself every two seconds.

use crate::bytes::{array, be16};
use crate::ether::{EthernetView, Mac, write_header};
use crate::frame_error::{FrameError, Rule};

/// EtherType of supervision frames.
pub const SUPERVISION: u16 = 0x88fb;
/// Destination of supervision frames; a network may use another last octet.
pub const SUPERVISION_DST: Mac = Mac([0x01, 0x15, 0x4e, 0, 1, 0]);

/// TLV of a redundancy box, after that of the node for which it stands.
const RED_BOX: u8 = 30;
/// Octets of a MAC address.
const MAC: usize = 6;
/// Octets from the EtherType to the first TLV.
const HEAD: usize = 4;
/// Octets of a frame of least length.
const LEAST_FRAME: usize = 60;

/// The sort of a node by the first TLV of its supervision frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A PRP node that discards duplicates.
    PrpDiscard,
    /// A PRP node that accepts duplicates.
    PrpAccept,
    /// An HSR node before edition 2, which announces itself.
    HsrAnnounce,
    /// An HSR node.
    Hsr,
}

impl Node {
    const ALL: [(u8, Self); 4] = [
        (20, Self::PrpDiscard),
        (21, Self::PrpAccept),
        (22, Self::HsrAnnounce),
        (23, Self::Hsr),
    ];

    fn of(number: u8) -> Option<Self> {
        let found = Self::ALL.iter().find(|(of, _)| *of == number);
        found.map(|(_, node)| *node)
    }

    fn number(self) -> u8 {
        let found = Self::ALL.iter().find(|(_, node)| *node == self);
        found.map_or(0, |(number, _)| *number)
    }

    /// Every sort.
    pub const EVERY: [Self; 4] = [Self::PrpDiscard, Self::PrpAccept, Self::HsrAnnounce, Self::Hsr];

    /// Its description in a report.
    pub const fn words(self) -> &'static str {
        match self {
            Self::PrpDiscard => "PRP node, discards duplicates",
            Self::PrpAccept => "PRP node, accepts duplicates",
            Self::HsrAnnounce => "HSR node of edition 1",
            Self::Hsr => "HSR node",
        }
    }
}

/// Contents of a supervision frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supervision {
    /// SupPath: four bits.
    pub path: u8,
    /// SupVersion: 1 since edition 2 (12 bits).
    pub version: u16,
    /// SupSequenceNumber.
    pub sequence: u16,
    /// Sort of the node.
    pub node: Node,
    /// Address of the node that is announced; that of the sender, unless a redundancy box sends it.
    pub mac: Mac,
    /// Address of the redundancy box that sends the frame for the node.
    pub red_box: Option<Mac>,
}

impl Supervision {
    /// Reads a supervision frame, after its HSR tag or before its RCT. Further TLVs are skipped.
    ///
    /// # Errors
    /// The frame has another EtherType, ends too early, or does not begin with the TLV of a node.
    pub fn parse(ethernet: &EthernetView<'_>) -> Result<Self, FrameError> {
        let start = ethernet.payload_offset();
        let (found, payload) = (ethernet.ether_type(), ethernet.payload());
        if found != SUPERVISION {
            let wanted = SUPERVISION;
            return Err(FrameError::at(start - 2, Rule::EtherType { found, wanted }));
        }
        let error = |at: usize, why| FrameError::at(start + at, Rule::Supervision(why));
        let [number, octets] = *payload
            .get(HEAD..HEAD + 2)
            .and_then(|tlv| tlv.first_chunk())
            .ok_or_else(|| error(payload.len(), "it ends before its first TLV"))?;
        let node = Node::of(number).ok_or_else(|| error(HEAD, "its first TLV is not that of a node"))?;
        let octets = usize::from(octets);
        if octets < MAC || payload.len() < HEAD + 2 + MAC {
            return Err(error(HEAD + 1, "the TLV of its node has no address"));
        }
        // HSR of edition 1 states 12 octets, of which only 6 are sent.
        let value = if node == Node::HsrAnnounce || node == Node::Hsr {
            MAC
        } else {
            octets
        };
        Ok(Self {
            path: payload.first().map_or(0, |octet| octet >> 4),
            version: be16(payload, 0) & 0x0fff,
            sequence: be16(payload, 2),
            node,
            mac: Mac(array(payload, HEAD + 2)),
            red_box: red_box(payload, HEAD + 2 + value),
        })
    }

    /// Encodes the frame from `src`, without RCT or HSR tag, padded to the least length.
    pub fn encode(&self, src: Mac) -> Vec<u8> {
        let mut frame = Vec::with_capacity(LEAST_FRAME + super::RCT);
        write_header(&mut frame, SUPERVISION_DST, src, &[], SUPERVISION);
        let path_and_version = u16::from(self.path & 0x0f) << 12 | (self.version & 0x0fff);
        frame.extend_from_slice(&path_and_version.to_be_bytes());
        frame.extend_from_slice(&self.sequence.to_be_bytes());
        for (number, mac) in [(self.node.number(), Some(self.mac)), (RED_BOX, self.red_box)] {
            if let Some(Mac(octets)) = mac {
                frame.extend_from_slice(&[number, MAC as u8]);
                frame.extend_from_slice(&octets);
            }
        }
        // The TLV of number 0 and length 0 ends the list; the padding begins with it.
        frame.resize(LEAST_FRAME, 0);
        frame
    }
}

/// Searches the TLVs from `at` on for that of a redundancy box.
fn red_box(payload: &[u8], mut at: usize) -> Option<Mac> {
    loop {
        let [number, octets] = *payload.get(at..at + 2)?.first_chunk()?;
        let value = payload.get(at + 2..at + 2 + usize::from(octets))?;
        match (number, value.first_chunk::<MAC>()) {
            (0, _) => return None,
            (RED_BOX, Some(mac)) => return Some(Mac(*mac)),
            _ => at += 2 + usize::from(octets),
        }
    }
}
