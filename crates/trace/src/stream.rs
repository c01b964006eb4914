//! How the programs that look into frames tell streams apart; as in `bpf/stream_layout.h`.

use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/stream_layout.rs"));

/// The properties of a frame that are the same wherever it is met.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct StreamKey {
    pub(crate) id_hash: u64,
    /// Destination, source.
    pub(crate) macs: [[u8; 6]; 2],
    pub(crate) appid: u16,
    pub(crate) unused: u16,
}

/// The VLAN's identifier, where there is one.
pub(crate) fn vlan(identifier: u16) -> Option<u16> {
    Some(identifier).filter(|vlan| usize::from(*vlan) != VLAN_NONE)
}
