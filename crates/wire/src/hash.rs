//! FNV-1a of 64 bits (draft-eastlake-fnv): tells contents apart, and is no protection against anybody.

/// Hash of nothing.
pub(crate) const NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash with one more part.
pub(crate) fn mix(hash: u64, part: u64) -> u64 {
    (hash ^ part).wrapping_mul(0x0100_0000_01b3)
}

/// The hash with these octets more.
pub(crate) fn mix_octets(hash: u64, octets: &[u8]) -> u64 {
    octets.iter().fold(hash, |hash, octet| mix(hash, u64::from(*octet)))
}
