//! The shared secret of both ends of a connection to a far machine.

use super::super::PlaceError;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Shortest accepted secret in bytes: 16 bytes cannot be guessed.
const LEAST: usize = 16;
/// Bytes of the key that is derived from a secret of any length.
const KEY: usize = 32;

/// A shared secret. Every connection needs one: on the loopback interface, too, other users of the machine could connect.
#[derive(Clone)]
pub struct Secret {
    key: [u8; KEY],
}

impl fmt::Debug for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a secret")
    }
}

impl Secret {
    /// The secret of these bytes, of any length.
    pub(super) fn of(octets: &[u8]) -> Self {
        Self {
            key: Sha256::digest(octets).into(),
        }
    }

    /// Reads a secret from a file, and trims white space.
    ///
    /// # Errors
    /// It cannot be read, is too short, or is readable by others than its owner.
    pub fn read(path: &Path) -> Result<Self, PlaceError> {
        let io = |error| PlaceError::Io {
            path: path.to_owned(),
            error,
        };
        let refused = |why: &str| Err(PlaceError::NotAvailable(format!("{}: {why}", path.display())));
        let mut file = std::fs::File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.mode() & 0o077 != 0 {
            return refused("other users can read this secret: make a new one, and chmod 600 it");
        }
        let mut octets = Vec::new();
        file.read_to_end(&mut octets).map_err(io)?;
        let secret = octets.trim_ascii();
        if secret.len() < LEAST {
            return refused("too short for a secret: `head -c 32 /dev/urandom | base64` makes one");
        }
        Ok(Self::of(secret))
    }

    /// The key derived from it.
    pub(super) fn key(&self) -> &[u8; KEY] {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

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
        let other = read(" 0123456789abcdef", 0o400).expect("a secret");
        assert_eq!(one.key(), other.key());
        assert_ne!(one.key(), Secret::of(b"0123456789abcdeX").key());
        assert_eq!(format!("{one:?}"), "a secret");
        let refused = |text: &str, mode: u32| read(text, mode).expect_err("refused").to_string();
        assert!(refused("0123456789abcde\n", 0o600).contains("too short"));
        assert!(refused("0123456789abcdef", 0o640).contains("chmod 600"));
    }
}
