//! Captures made from bytes, in both byte orders.

use super::Kept;
use crate::LinkType;

/// Bytes in one of the two byte orders.
pub(super) struct Octets {
    pub(super) big: bool,
    pub(super) out: Vec<u8>,
}

impl Octets {
    pub(super) fn new(big: bool) -> Self {
        Self { big, out: Vec::new() }
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub(super) fn raw(&mut self, octets: &[u8]) -> &mut Self {
        self.out.extend_from_slice(octets);
        self
    }

    pub(super) fn padded(&mut self, octets: &[u8]) -> &mut Self {
        self.raw(octets);
        self.out.resize(self.out.len().next_multiple_of(4), 0);
        self
    }

    /// A pcapng block with the contents that `fill` writes.
    pub(super) fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut body = Self::new(self.big);
        fill(&mut body);
        let length = body.out.len() as u32 + 12;
        self.u32(kind).u32(length).raw(&body.out).u32(length)
    }

    pub(super) fn section(&mut self) -> &mut Self {
        self.block(0x0a0d_0d0a, |b| {
            b.u32(0x1a2b_3c4d).u16(1).u16(0).u32(u32::MAX).u32(u32::MAX);
        })
    }

    pub(super) fn interface(&mut self, link: u16, snap_len: u32, options: &[(u16, &[u8])]) -> &mut Self {
        self.block(1, |b| {
            b.u16(link).u16(0).u32(snap_len);
            for (code, value) in options {
                b.u16(*code).u16(value.len() as u16).padded(value);
            }
            if !options.is_empty() {
                b.u32(0);
            }
        })
    }

    pub(super) fn enhanced(&mut self, interface: u32, stamp: u64, data: &[u8], original: u32) -> &mut Self {
        self.block(6, |b| {
            b.u32(interface)
                .u32((stamp >> 32) as u32)
                .u32(stamp as u32)
                .u32(data.len() as u32)
                .u32(original)
                .padded(data);
        })
    }
}

pub(super) const FIRST: &[u8] = b"first frame";
pub(super) const SECOND: &[u8] = b"the second";

pub(super) fn pcap(big: bool, magic: u32, unit: u32) -> Vec<u8> {
    let mut file = Octets::new(big);
    file.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65_535).u32(1);
    file.u32(1_790_000_001).u32(5 * unit).u32(11).u32(11).raw(FIRST);
    file.u32(1_790_000_002).u32(0).u32(10).u32(1514).raw(SECOND);
    file.out
}

/// Two sections of different byte order, all kinds of packet blocks, and blocks to ignore.
pub(super) fn pcapng(big: bool) -> Vec<u8> {
    let offset = if big {
        3600i64.to_be_bytes()
    } else {
        3600i64.to_le_bytes()
    };
    let mut file = Octets::new(big);
    file.section();
    file.block(0x0bad, |b| {
        b.raw(&[1, 2, 3, 4]);
    });
    file.interface(1, 0, &[(9, &[9])])
        .interface(113, 0, &[(9, &[0x80 | 10]), (14, &offset)]);
    file.enhanced(0, 1_790_000_001_000_000_007, FIRST, 11)
        .enhanced(1, 3 << 9, SECOND, 99);
    file.block(2, |b| {
        b.u16(0).u16(5).u32(0).u32(42).u32(10).u32(10).padded(SECOND);
    });
    let mut second = Octets::new(!big);
    second.section().interface(1, 6, &[]);
    second.enhanced(0, 2_000_005, SECOND, 10);
    second.block(3, |b| {
        b.u32(11).padded(FIRST);
    });
    [file.out, second.out].concat()
}

pub(super) fn pcapng_frames() -> Vec<Kept> {
    let cooked = LinkType(113);
    vec![
        (
            1,
            Some(1_790_000_001_000_000_007),
            FIRST.to_vec(),
            11,
            LinkType::ETHERNET,
        ),
        (2, Some(3_601_500_000_000), SECOND.to_vec(), 99, cooked),
        (3, Some(42), SECOND.to_vec(), 10, LinkType::ETHERNET),
        (4, Some(2_000_005_000), SECOND.to_vec(), 10, LinkType::ETHERNET),
        (5, None, FIRST[..6].to_vec(), 11, LinkType::ETHERNET),
    ]
}
