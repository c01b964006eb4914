//! Structures shared with the programs that follow frames; as in `bpf/passage_layout.h`, which describes each field.

use crate::layout::in_order;
use crate::stream::{ID_WORDS, StreamKey};
use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/passage_layout.rs"));

/// Variables that are set when the programs are loaded, by name.
pub(super) struct Globals {
    pub(super) skb_at: [u8; SLOTS],
    pub(super) reason_at: [u8; SLOTS],
    pub(super) location_at: [u8; SLOTS],
    pub(super) frees: [u8; SLOTS],
    pub(super) comes_once: [u8; SLOTS],
    pub(super) look_ifindex: u32,
    pub(super) look_netns: u32,
    pub(super) only_id: u64,
    pub(super) only_smp_cnt: u32,
    pub(super) quota: u32,
}

/// When frames are chosen.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Settings {
    pub(super) opened_at: u64,
    pub(super) closed_at: u64,
}

/// Number of frames chosen so far.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct State {
    active_until: u64,
    pub(super) chosen: u32,
    unused: u32,
}

/// A chosen frame.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Follow {
    began_at: u64,
    told: u32,
    pub(super) lost: u32,
    pub(super) key: StreamKey,
    pub(super) smp_cnt: u16,
    pub(super) vlan: u16,
    pub(super) asdus: u16,
    pub(super) id_octets: u16,
    pub(super) id: [u64; ID_WORDS],
}

/// An event of a followed frame.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Event {
    pub(super) at: u64,
    pub(super) skb: u64,
    pub(super) head: u64,
    pub(super) location: u64,
    /// Number of the process << 32, plus that of the thread.
    pub(super) thread: u64,
    pub(super) follow: u32,
    pub(super) slot: u32,
    pub(super) function: u32,
    pub(super) cpu: u32,
    pub(super) ifindex: u32,
    pub(super) netns: u32,
    pub(super) reason: u32,
    held: u32,
    pub(super) softirq: u32,
    pub(super) irq: u32,
    pub(super) by_content: u32,
    unused: u32,
    pub(super) comm: [u8; 16],
    pub(super) interface: [u8; 16],
}

/// Numbers of the trouble counters, in the order in which they are read.
pub(super) const OF_TROUBLES: [u32; TROUBLES as usize] = [MALFORMED, NO_ROOM, RING_FULL, MET, NOT_KEPT];
const _: () = assert!(in_order(&OF_TROUBLES));
