//! Identity of this program's build. Both ends of a channel must be the same build: nothing else makes sure that they mean the same by a message.

use crate::PlaceError;
use crate::guest::OWN_PROGRAM;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Part of the file in which its notes are: they stand before the code.
const NOTES: u64 = 1 << 16;
/// Start of the note with the build ID: sizes of its name and of the ID, its type and its name (elf(5), `NT_GNU_BUILD_ID`). The linker makes the ID from
/// the contents of the file.
const HEAD: &[u8; 16] = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
/// Bytes of an ID that are shown and compared: enough for all builds there will be.
const SHOWN: usize = 6;

/// Version and build of this program: `0.1.0, build 22e3e6f11cfe`.
///
/// # Errors
/// The program's file cannot be read.
pub fn build() -> Result<String, PlaceError> {
    let path = Path::new(OWN_PROGRAM);
    let id = File::open(path).and_then(id).map_err(|error| PlaceError::Io {
        path: path.to_owned(),
        error,
    })?;
    Ok(format!("{}, build {id}", env!("CARGO_PKG_VERSION")))
}

/// The start of the build ID of a program; of a program without one, the start of its SHA-256.
fn id(mut program: File) -> io::Result<String> {
    let mut start = Vec::new();
    program.by_ref().take(NOTES).read_to_end(&mut start)?;
    if let Some(at) = start.windows(HEAD.len()).position(|part| part == HEAD)
        && let Some(id) = start.get(at + HEAD.len()..at + HEAD.len() + SHOWN)
    {
        return Ok(hex(id));
    }
    let mut hasher = Sha256::new_with_prefix(&start);
    io::copy(&mut program, &mut hasher)?;
    Ok(hex(&hasher.finalize()[..SHOWN]))
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{octet:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{HEAD, build, id};
    use std::fs::File;
    use std::process::Command;

    fn of(octets: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, octets).expect("written");
        id(File::open(&path).expect("a file")).expect("read")
    }

    #[test]
    fn a_program_has_the_id_of_its_linker_or_of_its_contents() {
        let with = |last: u8| [b"\x7fELF....", &HEAD[..], &[1, 2, 3, 4, 5, 6, 7], &[last]].concat();
        assert_eq!(of(&with(1)), "010203040506");
        assert_eq!(of(&with(1)), of(&with(2)), "the rest of the file is in the ID");
        assert_ne!(of(b"\x7fELF one"), of(b"\x7fELF two"));
        // The SHA-256 of no bytes.
        assert_eq!(of(b""), "e3b0c44298fc");
    }

    #[test]
    fn this_program_has_the_id_that_readelf_shows() {
        let own = build().expect("its file is readable");
        let program = std::env::current_exe().expect("a path");
        let Ok(output) = Command::new("readelf").arg("-n").arg(program).output() else {
            return testing::skip("this_program_has_the_id_that_readelf_shows", "readelf is not installed");
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let shown = text.lines().find_map(|line| line.trim().strip_prefix("Build ID: "));
        let shown = shown.expect("this linker makes build IDs");
        let (_, id) = own.split_once(", build ").expect("a build");
        assert!(shown.starts_with(id), "{shown} {own}");
    }
}
