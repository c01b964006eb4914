//! What the programs write for each event; as in `bpf/passage_maps.h`.

use units::Monotonic;

/// Octets of an event in the ring.
const OCTETS: usize = 120;
/// Words of a frame that is followed.
pub(super) const FOLLOW_WORDS: usize = 23;
/// Words of room for an svID.
const ID_WORDS: usize = 17;
/// No identifier of a VLAN.
const VLAN_NONE: u16 = 0xffff;

/// A frame was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) at: Monotonic,
    pub(super) skb: u64,
    pub(super) head: u64,
    pub(super) location: u64,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) follow: u32,
    pub(super) slot: u32,
    pub(super) function: u32,
    pub(super) cpu: u32,
    pub(super) ifindex: u32,
    pub(super) netns: u32,
    pub(super) reason: u32,
    pub(super) softirq: Option<u32>,
    pub(super) irq: Option<u32>,
    pub(super) by_content: bool,
    pub(super) comm: String,
    pub(super) interface: String,
}

impl Event {
    pub(super) fn of(octets: &[u8]) -> Option<Self> {
        let octets: &[u8; OCTETS] = octets.first_chunk()?;
        let (words, _) = octets.as_chunks::<8>();
        let word = |number: usize| u64::from_le_bytes(words[number]);
        let (halves, _) = octets[40..88].as_chunks::<4>();
        let half = |number: usize| u32::from_le_bytes(halves[number]);
        Some(Self {
            at: Monotonic::from_ns(i64::try_from(word(0)).ok()?),
            skb: word(1),
            head: word(2),
            location: word(3),
            pid: (word(4) >> 32) as u32,
            tid: word(4) as u32,
            follow: half(0),
            slot: half(1),
            function: half(2),
            cpu: half(3),
            ifindex: half(4),
            netns: half(5),
            reason: half(6),
            softirq: half(8).checked_sub(1),
            irq: half(9).checked_sub(1),
            by_content: half(10) != 0,
            comm: text(&octets[88..104]),
            interface: text(&octets[104..120]),
        })
    }
}

/// A stream, as its frames say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FollowedStream {
    /// svID, as it is on the wire.
    pub sv_id: Vec<u8>,
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Source MAC address.
    pub source: [u8; 6],
    /// APPID.
    pub appid: u16,
    /// VLAN, when the frame had a tag where it was chosen.
    pub vlan: Option<u16>,
    /// ASDUs in a frame.
    pub asdus: u16,
}

impl FollowedStream {
    /// What the programs tell streams apart by: not the VLAN, which a bridge may take off.
    pub(super) fn key(&self) -> Vec<u8> {
        [
            &self.destination[..],
            &self.source,
            &self.appid.to_be_bytes(),
            &self.sv_id,
        ]
        .concat()
    }
}

/// A frame that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Follow {
    pub(super) stream: FollowedStream,
    pub(super) smp_cnt: u16,
    pub(super) lost: u32,
}

impl Follow {
    /// `None` for a frame that was chosen and could not be kept.
    pub(super) fn of(words: &[u64; FOLLOW_WORDS]) -> Option<Self> {
        let octets: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mac = |at: usize| octets.get(at..).and_then(<[u8]>::first_chunk).copied();
        let half = |at: usize| Some(u16::from_le_bytes(*octets.get(at..)?.first_chunk()?));
        let id_octets = usize::from(half(46)?);
        let sv_id = octets.get(48..48 + id_octets).filter(|id| !id.is_empty())?;
        Some(Self {
            stream: FollowedStream {
                sv_id: sv_id.to_vec(),
                destination: mac(24)?,
                source: mac(30)?,
                appid: half(36)?,
                vlan: half(42).filter(|vlan| *vlan != VLAN_NONE),
                asdus: half(44)?,
            },
            smp_cnt: half(40)?,
            lost: (words[1] >> 32) as u32,
        })
    }
}

/// As the programs know an svID: FNV-1a's numbers, by words, as `read_id` in `bpf/passage_frame.h`.
pub(super) fn id_hash(sv_id: &[u8]) -> u64 {
    let mut octets = [0u8; 8 * ID_WORDS];
    for (octet, of_id) in octets.iter_mut().zip(sv_id) {
        *octet = *of_id;
    }
    let (words, _) = octets.as_chunks::<8>();
    words
        .iter()
        .fold(0xcbf2_9ce4_8422_2325 ^ sv_id.len() as u64, |hash, word| {
            let hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x100_0000_01b3);
            hash ^ hash >> 32
        })
}

fn text(octets: &[u8]) -> String {
    let end = octets.iter().position(|octet| *octet == 0).unwrap_or(octets.len());
    String::from_utf8_lossy(&octets[..end]).into_owned()
}
