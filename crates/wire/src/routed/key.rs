//! Keys of datagrams, and the check of their signatures: HMAC-SHA256, whole or shortened (RFC 2104).
//!
//! The signed octets are those that libiec61850's `r_session.c` signs: [`Datagram::covered`].

use super::{Datagram, Security, SpduNumbers};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;

/// Octets of a whole hash.
pub(super) const LONGEST: usize = 32;

/// Length of a signature, by the names of libiec61850.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC-SHA256, its first 80 bits.
    HmacSha256_80,
    /// HMAC-SHA256, its first 128 bits.
    HmacSha256_128,
    /// HMAC-SHA256, all 256 bits.
    HmacSha256_256,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 3] = [Self::HmacSha256_80, Self::HmacSha256_128, Self::HmacSha256_256];

    /// Name of the algorithm in a key file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::HmacSha256_80 => "hmac-sha256-80",
            Self::HmacSha256_128 => "hmac-sha256-128",
            Self::HmacSha256_256 => "hmac-sha256-256",
        }
    }

    /// Octets of a signature.
    pub const fn octets(self) -> usize {
        match self {
            Self::HmacSha256_80 => 10,
            Self::HmacSha256_128 => 16,
            Self::HmacSha256_256 => LONGEST,
        }
    }
}

/// Error: the text names no algorithm.
///
/// The text is not shown: where it was mixed up with another field, it is a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write hmac-sha256-80, hmac-sha256-128 or hmac-sha256-256")]
pub struct AlgorithmError;

impl FromStr for Algorithm {
    type Err = AlgorithmError;

    fn from_str(text: &str) -> Result<Self, AlgorithmError> {
        let named = Self::ALL.into_iter().find(|algorithm| algorithm.word() == text);
        named.ok_or(AlgorithmError)
    }
}

/// A key with its number. Signing and checking allocate nothing.
#[derive(Clone)]
pub struct Key {
    id: u32,
    algorithm: Algorithm,
    /// The hash after the octets of the key, with which each signature begins.
    begun: Hmac<Sha256>,
}

impl Key {
    /// Makes a key from its octets; `id` is its number in the session header. `None` without octets, which would protect nothing, and for
    /// number 0, which means that there is no key.
    pub fn new(id: u32, algorithm: Algorithm, octets: &[u8]) -> Option<Self> {
        let begun = Hmac::new_from_slice(octets).ok()?;
        (id != 0 && !octets.is_empty()).then_some(Self { id, algorithm, begun })
    }

    /// Number of the key.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Algorithm of its signatures.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Writes the signature of `covered` to the begin of `out`.
    #[inline]
    pub(super) fn sign(&self, covered: &[u8], out: &mut [u8]) {
        let mut hash = self.begun.clone();
        hash.update(covered);
        let whole = hash.finalize().into_bytes();
        let octets = self.algorithm.octets().min(out.len());
        if let (Some(out), Some(whole)) = (out.get_mut(..octets), whole.get(..octets)) {
            out.copy_from_slice(whole);
        }
    }

    fn has_signed(&self, datagram: &Datagram<'_>) -> bool {
        let signature = datagram.signature();
        let mut hash = self.begun.clone();
        hash.update(datagram.covered());
        signature.len() == self.algorithm.octets() && hash.verify_truncated_left(signature).is_ok()
    }
}

impl fmt::Debug for Key {
    /// Shows everything but the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key {} ({})", self.id, self.algorithm.word())
    }
}

/// Result of the check of a datagram's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// No key is given, and the datagram is not signed.
    None,
    /// A key is given, and the signature is right.
    Right,
    /// Signed, but no key is given: not checked.
    NotChecked,
    /// Signed with a key whose number is none of those given: not checked.
    UnknownKey,
    /// The signature is not that of these octets and this key, or has another length.
    Wrong,
    /// A key is given, but the datagram is not signed.
    Unsigned,
    /// A key is given, and the signature is right, but its sender was far beyond the datagram's SPDU number: see [`SpduNumbers`](super::SpduNumbers).
    Behind,
}

impl Proof {
    /// The results that are counted, in the order of their numbers.
    pub const COUNTED: [Self; 5] = [
        Self::Wrong,
        Self::Unsigned,
        Self::UnknownKey,
        Self::NotChecked,
        Self::Behind,
    ];

    /// Checks a datagram with these keys, and the SPDU number of one that they have signed; without any, a signature is not checked.
    pub fn followed(datagram: &Datagram<'_>, keys: &[Key], numbers: &mut SpduNumbers) -> Self {
        match Self::of(datagram, keys) {
            Self::Right if numbers.is_behind(datagram) => Self::Behind,
            proof => proof,
        }
    }

    /// Checks a datagram with these keys; without any, a signature is not checked.
    pub fn of(datagram: &Datagram<'_>, keys: &[Key]) -> Self {
        let is_signed = match datagram.security() {
            Security::None => false,
            Security::Signed => true,
            Security::Encrypted => !datagram.signature().is_empty(),
        };
        match (is_signed, keys) {
            (false, []) => Self::None,
            (true, []) => Self::NotChecked,
            (false, _) => Self::Unsigned,
            (true, keys) => match keys.iter().find(|key| key.id == datagram.key_id()) {
                None => Self::UnknownKey,
                Some(key) if key.has_signed(datagram) => Self::Right,
                Some(_) => Self::Wrong,
            },
        }
    }

    /// True if a receiver with keys does not use the datagram.
    pub fn is_refused(self) -> bool {
        match self {
            Self::Wrong | Self::Unsigned | Self::UnknownKey => true,
            Self::None | Self::Right | Self::NotChecked | Self::Behind => false,
        }
    }

    /// True if messages with this result put their stream or control block in doubt.
    pub fn is_doubt(self) -> bool {
        self.is_refused() || self == Self::Behind
    }

    /// Position in [`Self::COUNTED`]; `None` if there is nothing to count.
    pub fn place(self) -> Option<usize> {
        Self::COUNTED.iter().position(|counted| *counted == self)
    }

    /// Meaning of messages with this result, as the rest of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "are not signed",
            Self::Right => "have the right signature",
            Self::NotChecked => "are signed, not checked",
            Self::UnknownKey => "are signed with a key that was not given, so not checked: not used",
            Self::Wrong => "have a wrong signature: not used",
            Self::Unsigned => "are not signed, though a key was given: not used",
            Self::Behind => {
                "have SPDU numbers that their sender had left behind: recorded ones, or it has started again"
            }
        }
    }
}
