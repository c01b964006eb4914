//! Reads that cannot fail: an offset outside the slice reads as zero. Callers have checked the offset before.

/// Two octets, big-endian.
#[inline]
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..at.wrapping_add(2))
        .and_then(|b| b.try_into().ok())
        .map_or(0, u16::from_be_bytes)
}

/// Four octets, big-endian.
#[inline]
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at.wrapping_add(4))
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

/// Eight octets, big-endian.
#[inline]
pub(crate) fn be64(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..at.wrapping_add(8))
        .and_then(|b| b.try_into().ok())
        .map_or(0, u64::from_be_bytes)
}

/// Eight octets, little-endian.
#[inline]
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// The `N` octets at `at`.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..at.wrapping_add(N))
        .and_then(|b| b.try_into().ok())
        .unwrap_or([0; N])
}

/// The `len` octets at `at`; empty if the slice does not hold all of them.
#[inline]
pub(crate) fn slice(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    bytes.get(at..at.wrapping_add(len)).unwrap_or_default()
}

/// Equality of two short slices (up to some tens of octets) without the call to `memcmp`, which costs more than the
/// comparison itself at these sizes. The last word overlaps the one before it.
#[inline]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let (Some(a_last), Some(b_last)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) else {
        return a.iter().zip(b).fold(0, |differ, (x, y)| differ | (x ^ y)) == 0;
    };
    let mut differ = u64::from_ne_bytes(*a_last) ^ u64::from_ne_bytes(*b_last);
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        differ |= u64::from_ne_bytes(*x) ^ u64::from_ne_bytes(*y);
    }
    differ == 0
}

#[cfg(test)]
mod tests {
    use super::{be16, be32, be64, same, slice};

    #[test]
    fn reads_big_endian_and_zero_outside() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(be16(&bytes, 1), 0x0203);
        assert_eq!(be32(&bytes, 4), 0x0506_0708);
        assert_eq!(be64(&bytes, 0), 0x0102_0304_0506_0708);
        assert_eq!(be64(&bytes, 1), 0);
        assert_eq!(be16(&bytes, usize::MAX), 0);
        assert!(slice(&bytes, 7, 2).is_empty());
    }

    #[test]
    fn same_sees_a_difference_at_every_place() {
        for len in 0..40 {
            let a = vec![0x5a; len];
            assert!(same(&a, &a.clone()));
            for at in 0..len {
                let mut b = a.clone();
                b[at] ^= 1;
                assert!(!same(&a, &b), "{len} octets, difference at {at}");
            }
            assert!(!same(&a, &vec![0x5a; len + 1]));
        }
    }
}
