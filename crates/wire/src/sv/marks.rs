//! Header fields of a stream whose changes must be reported, and fingerprints of the samples.

use super::Frame;
use crate::bytes::array;
use crate::ether::Mac;
use crate::sequence::{Contents, Sequence, What};
use std::hash::{BuildHasher, RandomState};

/// The latest values of the header fields of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// Source address.
    pub source: Mac,
    /// Simulation bit.
    pub simulate: bool,
    /// confRev of the first ASDU.
    pub conf_rev: u32,
}

impl Marks {
    /// The header fields of a frame.
    pub fn of(frame: &Frame<'_>) -> Self {
        Self {
            source: frame.ethernet().src(),
            simulate: frame.simulate(),
            conf_rev: frame.asdus().next().map_or(0, |asdu| asdu.conf_rev()),
        }
    }

    /// Takes the fields of the next frame, and reports changes to the stream's sequence.
    pub fn follow(&mut self, frame: &Frame<'_>, sequence: &mut Sequence) {
        let now = Self::of(frame);
        let before = std::mem::replace(self, now);
        if now.source != before.source {
            sequence.source_changed(before.source, now.source);
        }
        if now.simulate != before.simulate {
            sequence.find(What::Simulation, u64::from(before.simulate), u64::from(now.simulate));
        }
        if now.conf_rev != before.conf_rev {
            sequence.find(What::ConfRev, u64::from(before.conf_rev), u64::from(now.conf_rev));
        }
    }
}

/// 2^61 - 1: a prime whose remainder can be computed without a division.
const PRIME: u64 = (1 << 61) - 1;

/// Octets added to a fingerprint at a time: one multiplication for every four octets, and one remainder.
const STRIDE: usize = 16;

/// Computes fingerprints of sample contents with a secret key: without the key, nobody can construct two contents with
/// the same fingerprint.
///
/// The contents are the coefficients of a polynomial, which is evaluated at a secret point modulo a prime. Two
/// different polynomials of n coefficients agree in at most n points, so two contents of n words agree with a
/// probability of n / 2^61; a secret linear function then spreads the value over 32 bits. A general hash function
/// (SipHash) would distinguish contents no better and take several times as long.
#[derive(Debug, Clone)]
pub struct Fingerprints {
    /// The secret point, to the powers 1 to 4.
    powers: [u64; 4],
    /// Coefficients of the secret linear function.
    line: [u64; 2],
}

impl Default for Fingerprints {
    fn default() -> Self {
        Self::new()
    }
}

impl Fingerprints {
    /// Creates fingerprints with a new random key.
    pub fn new() -> Self {
        let secret = RandomState::new();
        let [place, slope, start] = [0, 1, 2].map(|number: u64| secret.hash_one(number) % (PRIME - 1) + 1);
        let next = |power: &u64| Some(remainder(product(*power, place)));
        let mut powers = [place; 4];
        for (power, value) in powers.iter_mut().zip(std::iter::successors(Some(place), next)) {
            *power = value;
        }
        Self {
            powers,
            line: [slope, start],
        }
    }

    /// The fingerprint of a sample, computed from its seqData and smpSynch.
    #[inline]
    pub fn of(&self, seq_data: &[u8], smp_synch: Option<u8>) -> Contents {
        let synch = smp_synch.map_or(u64::from(u16::MAX), u64::from);
        let strides = seq_data.chunks_exact(STRIDE);
        let rest = strides.remainder();
        // The length is below 2^32 in any frame. Including it distinguishes contents that end in zeros from shorter
        // ones.
        let mut value = (synch << 32) | seq_data.len() as u64;
        for stride in strides {
            value = self.further(value, stride);
        }
        if !rest.is_empty() {
            let mut last = [0; STRIDE];
            last[..rest.len()].copy_from_slice(rest);
            value = self.further(value, &last);
        }
        let [slope, start] = self.line;
        let spread = remainder(product(value, slope) + u128::from(start));
        Contents::new(spread as u32).unwrap_or(Contents::MIN)
    }

    /// Adds four coefficients to the polynomial. The result is below 2^62, like `value`.
    #[inline]
    fn further(&self, value: u64, stride: &[u8]) -> u64 {
        let word = |number: usize| u64::from(u32::from_le_bytes(array(stride, 4 * number)));
        let [first, second, third, fourth] = self.powers;
        // Below 2^124, so nothing wraps.
        let sum = product(value, fourth) + product(word(0), third) + product(word(1), second) + product(word(2), first);
        remainder(sum + u128::from(word(3)))
    }
}

#[inline]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// A number below 2^62 that is the same modulo [`PRIME`]; `sum` is below 2^124.
#[inline]
fn remainder(sum: u128) -> u64 {
    // 2^61 is 1 modulo the prime, so the upper bits can simply be added. Below 2^61 + 2^63 after the first step.
    let folded = (sum as u64 & PRIME).wrapping_add((sum >> 61) as u64);
    (folded & PRIME) + (folded >> 61)
}

#[cfg(test)]
mod tests {
    use super::{Fingerprints, PRIME, STRIDE, product, remainder};

    #[test]
    fn other_contents_have_another_fingerprint() {
        let prints = Fingerprints::new();
        let print = prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], Some(2));
        assert_eq!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], Some(2)));
        assert_ne!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 9], Some(2)));
        assert_ne!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], Some(0)));
        assert_ne!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], None));
    }

    #[test]
    fn every_octet_its_place_and_the_length_count() {
        let prints = Fingerprints::new();
        for length in 0..70 {
            let contents: Vec<u8> = (0..length).collect();
            let print = prints.of(&contents, Some(2));
            for place in 0..contents.len() {
                let mut other = contents.clone();
                other[place] ^= 0x80;
                assert_ne!(print, prints.of(&other, Some(2)), "{length}: octet {place}");
            }
            let longer = [contents.as_slice(), &[0]].concat();
            assert_ne!(print, prints.of(&longer, Some(2)), "{length}: a zero more");
        }
        let swapped = [[1; 4], [2; 4]].concat();
        assert_ne!(
            prints.of(&swapped, None),
            prints.of(&[[2; 4], [1; 4]].concat(), None),
            "the order of words"
        );
    }

    #[test]
    fn another_key_gives_other_fingerprints() {
        let of_keys = [(); 4].map(|()| Fingerprints::new().of(&[7; 64], Some(2)));
        assert!(of_keys.iter().any(|print| *print != of_keys[0]));
    }

    #[test]
    fn no_sum_is_too_large_for_a_remainder() {
        let largest = (1 << 62) - 1;
        for sum in [0, 1, u128::from(PRIME), (1 << 124) - 1, product(largest, largest)] {
            let left = remainder(sum);
            assert!(left < 1 << 62, "{sum}");
            assert_eq!(u128::from(left) % u128::from(PRIME), sum % u128::from(PRIME));
        }
        let prints = Fingerprints {
            powers: [largest; 4],
            line: [PRIME - 1; 2],
        };
        let value = prints.further(largest, &[0xff; STRIDE]);
        let coefficients = [largest, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff].map(u128::from);
        let expected: u128 = coefficients
            .iter()
            .map(|one| one * u128::from(largest) % u128::from(PRIME))
            .sum();
        let expected = (expected + 0xffff_ffff) % u128::from(PRIME);
        assert_eq!(u128::from(value % PRIME), expected);
        prints.of(&[0xff; 1_500], None);
    }
}
