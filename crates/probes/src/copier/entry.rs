//! The header before each frame in the ring.

use sys::packet::VlanTag;

/// Bytes of an entry.
pub(super) const BYTES: usize = 24;

/// Kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EntryKind {
    /// A sent frame; the instant is on `CLOCK_MONOTONIC`.
    Sent = 0,
    /// A received frame; the instant is on `CLOCK_MONOTONIC`.
    Received = 1,
    /// A received frame; the instant is on `CLOCK_REALTIME`.
    ReceivedAt = 2,
}

/// An entry in the ring, followed by `length` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RingEntry {
    pub(super) kind: EntryKind,
    pub(super) at_ns: i64,
    pub(super) tag: Option<VlanTag>,
    pub(super) length: u32,
    pub(super) original_len: u32,
}

impl RingEntry {
    pub(super) fn of(kind: EntryKind, at_ns: i64, tag: Option<VlanTag>, length: usize, original_len: usize) -> Self {
        Self {
            kind,
            at_ns,
            tag,
            // No frame has 4 GiB.
            length: length as u32,
            original_len: original_len as u32,
        }
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.original_len.to_le_bytes());
        bytes[16] = self.kind as u8;
        if let Some(tag) = self.tag {
            bytes[17] = 1;
            bytes[18..20].copy_from_slice(&tag.tpid.to_le_bytes());
            bytes[20..22].copy_from_slice(&tag.tci.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; BYTES]) -> Self {
        let [
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            m,
            n,
            o,
            p,
            kind,
            tagged,
            q,
            r,
            s,
            t,
            _,
            _,
        ] = bytes;
        let kind = match kind {
            0 => EntryKind::Sent,
            1 => EntryKind::Received,
            _ => EntryKind::ReceivedAt,
        };
        let tag = VlanTag {
            tpid: u16::from_le_bytes([q, r]),
            tci: u16::from_le_bytes([s, t]),
        };
        Self {
            kind,
            at_ns: i64::from_le_bytes([a, b, c, d, e, f, g, h]),
            tag: (tagged == 1).then_some(tag),
            length: u32::from_le_bytes([i, j, k, l]),
            original_len: u32::from_le_bytes([m, n, o, p]),
        }
    }
}
