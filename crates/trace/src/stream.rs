//! The key by which programs that parse frames distinguish streams; as in `bpf/stream_layout.h`.

use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/stream_layout.rs"));

/// The properties of a frame that are the same at every point of its path.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct StreamKey {
    pub(crate) id_hash: u64,
    /// Destination and source address.
    pub(crate) macs: [[u8; 6]; 2],
    pub(crate) appid: u16,
    pub(crate) unused: u16,
}

/// The VLAN identifier, if there is one.
pub(crate) fn vlan(identifier: u16) -> Option<u16> {
    Some(identifier).filter(|vlan| usize::from(*vlan) != VLAN_NONE)
}
