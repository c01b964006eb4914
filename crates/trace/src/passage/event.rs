//! Reads the events that the programs write.

use super::layout;
use crate::stream::{HASH_BASIS, HASH_PRIME, ID_WORDS, vlan};
use units::Monotonic;
use zerocopy::{FromBytes, IntoBytes};

/// An event of a followed frame.
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
        let told = layout::Event::read_from_bytes(octets).ok()?;
        Some(Self {
            at: Monotonic::from_ns(i64::try_from(told.at).ok()?),
            skb: told.skb,
            head: told.head,
            location: told.location,
            pid: (told.thread >> 32) as u32,
            tid: told.thread as u32,
            follow: told.follow,
            slot: told.slot,
            function: told.function,
            cpu: told.cpu,
            ifindex: told.ifindex,
            netns: told.netns,
            reason: told.reason,
            softirq: told.softirq.checked_sub(1),
            irq: told.irq.checked_sub(1),
            by_content: told.by_content != 0,
            comm: text(&told.comm),
            interface: text(&told.interface),
        })
    }
}

/// A stream, as its frames describe it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FollowedStream {
    /// svID, as on the wire.
    pub sv_id: Vec<u8>,
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Source MAC address.
    pub source: [u8; 6],
    /// APPID.
    pub appid: u16,
    /// VLAN, if the frame had a tag where it was chosen.
    pub vlan: Option<u16>,
    /// Number of ASDUs in a frame.
    pub asdus: u16,
}

impl FollowedStream {
    /// The bytes by which the programs distinguish streams: not the VLAN, which a bridge may remove.
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

/// A followed frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Follow {
    pub(super) stream: FollowedStream,
    pub(super) smp_cnt: u16,
    pub(super) lost: u32,
}

impl Follow {
    /// Converts a chosen frame; `None` if it could not be kept.
    pub(super) fn of(follow: &layout::Follow) -> Option<Self> {
        let sv_id = follow.id.as_bytes().get(..usize::from(follow.id_octets))?;
        let [destination, source] = follow.key.macs;
        (!sv_id.is_empty()).then(|| Self {
            stream: FollowedStream {
                sv_id: sv_id.to_vec(),
                destination,
                source,
                appid: follow.key.appid,
                vlan: vlan(follow.vlan),
                asdus: follow.asdus,
            },
            smp_cnt: follow.smp_cnt,
            lost: follow.lost,
        })
    }
}

/// Hash of an svID as the programs compute it: FNV-1a's numbers, by words, as `read_id` in `bpf/passage_frame.h`.
pub(super) fn id_hash(sv_id: &[u8]) -> u64 {
    let mut octets = [0u8; 8 * ID_WORDS];
    for (octet, of_id) in octets.iter_mut().zip(sv_id) {
        *octet = *of_id;
    }
    let (words, _) = octets.as_chunks::<8>();
    words.iter().fold(HASH_BASIS ^ sv_id.len() as u64, |hash, word| {
        let hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(HASH_PRIME);
        hash ^ hash >> 32
    })
}

fn text(octets: &[u8]) -> String {
    let end = octets.iter().position(|octet| *octet == 0).unwrap_or(octets.len());
    String::from_utf8_lossy(&octets[..end]).into_owned()
}
