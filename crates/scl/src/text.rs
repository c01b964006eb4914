//! The bytes of a file as text.

use crate::error::SclError;
use std::borrow::Cow;

/// The text of a file: UTF-8, with or without a byte-order mark; UTF-16 with one; ISO-8859-1 and Windows-1252 if the XML declaration says so.
///
/// # Errors
/// The bytes are not valid in the stated encoding.
pub fn decode(octets: &[u8]) -> Result<Cow<'_, str>, SclError> {
    match octets {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ if is_declared_latin(octets) => Ok(octets.iter().map(|octet| char::from(*octet)).collect::<String>().into()),
        _ => utf8(octets),
    }
}

fn utf8(octets: &[u8]) -> Result<Cow<'_, str>, SclError> {
    std::str::from_utf8(octets)
        .map(Cow::Borrowed)
        .map_err(|error| SclError::Encoding {
            at: error.valid_up_to(),
            encoding: "UTF-8",
        })
}

fn utf16(octets: &[u8], read: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, SclError> {
    let (pairs, odd) = octets.as_chunks::<2>();
    let error = |at: usize| SclError::Encoding { at, encoding: "UTF-16" };
    if !odd.is_empty() {
        return Err(error(octets.len() + 1));
    }
    let mut text = String::with_capacity(pairs.len());
    let mut at = 2;
    for character in char::decode_utf16(pairs.iter().map(|pair| read(*pair))) {
        let character = character.map_err(|_| error(at))?;
        at += 2 * character.len_utf16();
        text.push(character);
    }
    Ok(text.into())
}

/// True if the XML declaration names an encoding in which each byte is one character. Windows-1252 differs from ISO-8859-1 only in characters that
/// names in SCL may not contain.
fn is_declared_latin(octets: &[u8]) -> bool {
    let head = &octets[..octets.len().min(200)];
    let Some(end) = head.windows(2).position(|pair| pair == b"?>") else {
        return false;
    };
    let declaration = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
    declaration.starts_with("<?xml")
        && ["iso-8859-1", "windows-1252", "latin1"]
            .iter()
            .any(|name| declaration.contains(name))
}
