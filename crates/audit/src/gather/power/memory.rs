//! Error correction of the memory, as the firmware describes it (SMBIOS 3.7, section 7.17: Physical Memory Array).

use std::fs;

use host::error::{HostError, Unreadable};
use host::reader::Reader;

const TABLE: &str = "/sys/firmware/dmi/tables/DMI";
/// Types of structures: a memory array, and the end.
const ARRAY: u8 = 16;
const END: u8 = 127;

/// False if every array reports that it has no error correction.
pub(super) fn correctable(reader: &Reader) -> Result<bool, HostError> {
    let answer = reader.answer("memory-correction", || {
        let words: Vec<&str> = kinds(&table()?).into_iter().map(word).collect();
        Ok(words.join("\n"))
    })?;
    let words: Vec<&str> = answer.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match words.as_slice() {
        [] => Err(HostError::Undecided("the firmware describes no memory".to_owned())),
        words if words.iter().all(|word| *word == "none") => Ok(false),
        words if words.contains(&"corrected") => Ok(true),
        _ => Err(HostError::Undecided(
            "the firmware does not report error correction of the memory".to_owned(),
        )),
    }
}

/// Bypasses the reader: the table contains serial numbers, which no capture keeps.
fn table() -> Result<Vec<u8>, HostError> {
    fs::read(TABLE).map_err(|error| HostError::Unreadable {
        path: TABLE.to_owned(),
        why: Unreadable::from_io(&error),
    })
}

fn word(kind: u8) -> &'static str {
    match kind {
        3 => "none",
        5..=7 => "corrected",
        _ => "unknown",
    }
}

/// Type of error correction of each memory array.
fn kinds(table: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    let mut rest = table;
    while let [kind, length, ..] = *rest {
        let length = usize::from(length);
        if kind == END || length < 4 || rest.len() < length {
            break;
        }
        if kind == ARRAY && length > 6 {
            kinds.push(rest[6]);
        }
        // Texts follow each structure, and end with two zeros.
        let texts = &rest[length..];
        let Some(end) = texts.windows(2).position(|pair| pair == [0, 0]) else {
            break;
        };
        rest = &texts[end + 2..];
    }
    kinds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::kinds;

    /// A structure of the firmware's tables, with its texts.
    fn structure(kind: u8, body: &[u8], texts: &[u8]) -> Vec<u8> {
        let head = [kind, body.len() as u8 + 4, 0, 0];
        [&head[..], body, texts, &[0, 0]].concat()
    }

    #[test]
    fn arrays_of_memory_are_found_among_others() {
        let table = [
            structure(4, &[1, 2, 3], b"CPU\0Maker"),
            structure(16, &[3, 3, 6, 0], b""),
            structure(16, &[3, 3, 3, 0], b"x"),
            structure(127, b"", b""),
            structure(16, &[3, 3, 5, 0], b""),
        ]
        .concat();
        assert_eq!(kinds(&table), [6, 3], "nothing counts after the end");
        assert!(kinds(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn rubbish_ends(table in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = kinds(&table);
        }
    }
}
