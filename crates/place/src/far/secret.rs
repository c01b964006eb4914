//! The secret that both ends of the way to a far machine know and nobody else does.

use super::super::PlaceError;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The least that is taken for a secret: 16 octets cannot be guessed.
const LEAST: usize = 16;
/// Octets of a block of SHA-256 (FIPS 180-4).
const BLOCK: usize = 64;

/// A checksum that only who has the key can make.
pub(super) type Tag = [u8; 32];

/// A secret that both ends know. Without a file it is empty, and protects nothing: that is taken on the loopback interface alone.
#[derive(Clone, Default)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(if self.is_none() { "no secret" } else { "a secret" })
    }
}

impl Secret {
    /// Reads a secret from a file, without white space around it.
    ///
    /// # Errors
    /// It cannot be read, is too short, or others than its owner may read it.
    pub fn read(path: &Path) -> Result<Self, PlaceError> {
        let io = |error| PlaceError::Io {
            path: path.to_owned(),
            error,
        };
        let refused = |why: &str| Err(PlaceError::NotAvailable(format!("{}: {why}", path.display())));
        let mut file = std::fs::File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.mode() & 0o077 != 0 {
            return refused("others may read this secret: chmod 600 it, and make a new one");
        }
        let mut octets = Vec::new();
        file.read_to_end(&mut octets).map_err(io)?;
        let secret = octets.trim_ascii();
        if secret.len() < LEAST {
            return refused("too short for a secret: `head -c 32 /dev/urandom | base64` makes one");
        }
        Ok(Self(secret.to_vec()))
    }

    /// True if there is none.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The tag of these parts, one behind the other.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> Tag {
        tag(&self.0, parts)
    }
}

/// HMAC-SHA-256 (RFC 2104) of these parts, one behind the other.
pub(super) fn tag(key: &[u8], parts: &[&[u8]]) -> Tag {
    let mut block = [0; BLOCK];
    match key.len() {
        0..=BLOCK => block[..key.len()].copy_from_slice(key),
        _ => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let mut inner = Sha256::new_with_prefix(block.map(|octet| octet ^ 0x36));
    parts.iter().for_each(|part| inner.update(part));
    let outer = Sha256::new_with_prefix(block.map(|octet| octet ^ 0x5c));
    outer.chain_update(inner.finalize()).finalize().into()
}

/// Compares two tags, in a time that does not tell where they differ.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::{Secret, is_same, tag};
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    #[test]
    fn tags_are_those_of_rfc_4231() {
        // Test cases 2 and 6.
        let short = tag(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(
            hex(&short),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = tag(
            &[0xaa; 131],
            &[b"Test Using Larger Than Block-Size Key - Hash Key First"],
        );
        assert_eq!(
            hex(&long),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
        assert!(is_same(&short, &short) && !is_same(&short, &long) && !is_same(&short, &short[..4]));
    }

    #[test]
    fn a_secret_is_long_and_nobody_elses() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("secret");
        let read = |text: &str, mode: u32| {
            write(&path, text).expect("written");
            set_permissions(&path, Permissions::from_mode(mode)).expect("set");
            Secret::read(&path)
        };
        let one = read("0123456789abcdef\n", 0o600).expect("a secret");
        assert_eq!(
            one.tag(&[b"x"]),
            read(" 0123456789abcdef", 0o400).expect("a secret").tag(&[b"x"])
        );
        assert_eq!(format!("{one:?}"), "a secret");
        let refused = |text: &str, mode: u32| read(text, mode).expect_err("refused").to_string();
        assert!(refused("0123456789abcde\n", 0o600).contains("too short"));
        assert!(refused("0123456789abcdef", 0o640).contains("chmod 600"));
    }
}
