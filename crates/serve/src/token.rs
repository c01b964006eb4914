//! The token that readers from elsewhere give.

use crate::ServeError;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Shortest token: 16 characters of base64 cannot be guessed.
const LEAST: usize = 16;

/// Longest token: more than that is another file.
const MOST: u64 = 1024;

/// A token from a file.
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a token")
    }
}

impl Token {
    /// Reads a token from a file, and trims white space.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it has no token.
    pub fn read(path: &Path) -> Result<Self, ServeError> {
        let named = path.display();
        let mut file = std::fs::File::open(path).map_err(ServeError::io(&named))?;
        let others_read = file.metadata().map_err(ServeError::io(&named))?.mode() & 0o077 != 0;
        if others_read {
            let text = format!("{named}: other users can read this token: make a new one, and chmod 600 it");
            return Err(ServeError::Wrong(text));
        }
        let mut text = String::new();
        let mut part = Read::by_ref(&mut file).take(MOST);
        part.read_to_string(&mut text).map_err(ServeError::io(&named))?;
        Self::of(text.trim()).ok_or_else(|| {
            ServeError::Wrong(format!(
                "{named}: not a token of {LEAST} printable characters at least: `head -c 32 /dev/urandom | base64` makes one"
            ))
        })
    }

    /// A text as a token; `None` if it is too short, or cannot be written in a header.
    fn of(text: &str) -> Option<Self> {
        let is_one = text.len() >= LEAST && text.bytes().all(|octet| octet.is_ascii_graphic());
        is_one.then(|| Self(text.to_owned()))
    }

    /// True if the value of an `Authorization` header has this token: `Bearer TOKEN` from a program, or as the password of a browser (`Basic`), with
    /// any name.
    pub(crate) fn is_in(&self, value: &str) -> bool {
        let Some((scheme, given)) = value.split_once(' ') else {
            return false;
        };
        let given = given.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return is_same(given.as_bytes(), self.0.as_bytes());
        }
        let pair = scheme
            .eq_ignore_ascii_case("basic")
            .then(|| from_base64(given))
            .flatten();
        pair.is_some_and(|pair| {
            let at = pair.iter().position(|octet| *octet == b':');
            at.is_some_and(|at| is_same(&pair[at + 1..], self.0.as_bytes()))
        })
    }
}

/// Compares in a time that does not depend on where the two differ.
fn is_same(given: &[u8], own: &[u8]) -> bool {
    let differing = given.iter().zip(own).fold(0, |differing, (a, b)| differing | (a ^ b));
    std::hint::black_box(differing) == 0 && given.len() == own.len()
}

/// The bytes of a text in base64 (RFC 4648, section 4); `None` if it is not one.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{Token, from_base64};
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_comes_from_a_program_or_as_the_password_of_a_browser() {
        let token = Token::of("0123456789abcdef").expect("a token");
        assert!(token.is_in("Bearer 0123456789abcdef") && token.is_in("bearer  0123456789abcdef"));
        // reader:0123456789abcdef
        assert!(token.is_in("Basic cmVhZGVyOjAxMjM0NTY3ODlhYmNkZWY="));
        // 0123456789abcdef without a name, and another password
        assert!(!token.is_in("Basic MDEyMzQ1Njc4OWFiY2RlZg=="));
        assert!(!token.is_in("Basic cmVhZGVyOjAxMjM0NTY3ODlhYmNkZWc="));
        for value in [
            "",
            "Bearer",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Digest 0123456789abcdef",
        ] {
            assert!(!token.is_in(value), "{value}");
        }
        assert_eq!(format!("{token:?}"), "a token");
    }

    #[test]
    fn base64_is_read_as_others_write_it() {
        assert_eq!(from_base64("Zm9vYmE=").as_deref(), Some(&b"fooba"[..]));
        assert_eq!(from_base64("Zm9vYg==").as_deref(), Some(&b"foob"[..]));
        assert_eq!(from_base64("/+9v").as_deref(), Some(&[0xff, 0xef, 0x6f][..]));
        assert_eq!(from_base64("Zm9v").as_deref(), Some(&b"foo"[..]));
        for text in ["Z", "Zm9v=a", "Zm 9", "Zm9v==="] {
            assert_eq!(from_base64(text), None, "{text}");
        }
    }

    #[test]
    fn a_token_is_long_and_nobody_elses() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let read = |text: &str, mode: u32| {
            write(&path, text).expect("written");
            set_permissions(&path, Permissions::from_mode(mode)).expect("set");
            Token::read(&path)
        };
        assert!(
            read("0123456789abcdef\n", 0o600)
                .expect("a token")
                .is_in("Bearer 0123456789abcdef")
        );
        let refused = |text: &str, mode: u32| read(text, mode).expect_err("refused").to_string();
        assert!(refused("0123456789abcde\n", 0o600).contains("16"));
        assert!(refused("0123456789 abcdef\n", 0o600).contains("printable"));
        assert!(refused("0123456789abcdef", 0o640).contains("chmod 600"));
    }
}
