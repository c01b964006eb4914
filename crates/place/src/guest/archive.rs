//! Archives that the kernel unpacks into memory when it boots: cpio of the form "newc"
//! (Documentation/driver-api/early-userspace/buffer-format.rst).

use super::super::PlaceError;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const MAGIC: &[u8] = b"070701";
const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
/// Name of the entry that ends an archive.
const END: &str = "TRAILER!!!";

/// Content of an archive so far.
#[derive(Debug, Default)]
pub struct Archive {
    octets: Vec<u8>,
    paths: BTreeSet<PathBuf>,
}

impl Archive {
    /// Adds an executable file at this absolute path, with its parent directories. If the path already exists, nothing changes.
    ///
    /// # Errors
    /// The path is not absolute or contains `..`; the file has 4 GiB or more, which the format cannot express.
    pub fn add(&mut self, path: &str, content: &[u8]) -> Result<(), PlaceError> {
        let path = Path::new(path);
        let mut parts = path.components();
        let is_absolute = parts.next() == Some(Component::RootDir) && path.file_name().is_some();
        if !is_absolute || parts.any(|part| !matches!(part, Component::Normal(_))) {
            return Err(refused(path, "not an absolute path of a file"));
        }
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for directory in above.into_iter().rev().filter(|above| above.parent().is_some()) {
            if self.paths.insert(directory.to_owned()) {
                self.entry(directory, DIRECTORY, &[])?;
            }
        }
        if self.paths.insert(path.to_owned()) {
            self.entry(path, PROGRAM, content)?;
        }
        Ok(())
    }

    /// The complete archive.
    ///
    /// # Errors
    /// Never in practice: the last entry is an ordinary one.
    pub fn finish(mut self) -> Result<Vec<u8>, PlaceError> {
        self.entry(&Path::new("/").join(END), 0, &[])?;
        Ok(self.octets)
    }

    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) -> Result<(), PlaceError> {
        let name = path.strip_prefix("/").unwrap_or(path);
        let name = name.to_str().ok_or_else(|| refused(path, "a name that is not UTF-8"))?;
        let size = u32::try_from(content.len()).map_err(|_| refused(path, "4 GiB or more"))?;
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        let named = u32::try_from(name.len() + 1).map_err(|_| refused(path, "a name of 4 GiB or more"))?;
        let links = 1;
        // Owner and group, time, devices and the checksum are zero.
        let fields = [number, mode, 0, 0, links, 0, size, 0, 0, 0, 0, named, 0];
        self.octets.extend_from_slice(MAGIC);
        for field in fields {
            self.octets.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.octets.extend_from_slice(name.as_bytes());
        self.octets.push(0);
        self.align();
        self.octets.extend_from_slice(content);
        self.align();
        Ok(())
    }

    fn align(&mut self) {
        self.octets.resize(self.octets.len().next_multiple_of(4), 0);
    }
}

fn refused(path: &Path, why: &str) -> PlaceError {
    PlaceError::NotAvailable(format!("{} cannot be in an image: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Archive, DIRECTORY, END, MAGIC, PROGRAM};
    use proptest::prelude::{any, prop};
    use proptest::{prop_assert_eq, proptest};
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// Octets of an entry before its name: the magic and 13 numbers.
    const HEADER: usize = 6 + 13 * 8;

    #[derive(Debug, PartialEq, Eq)]
    struct ArchiveEntry {
        name: String,
        mode: u32,
        content: Vec<u8>,
    }

    /// The entries of an archive; a reader that shares nothing with the writer.
    fn read(mut octets: &[u8]) -> Vec<ArchiveEntry> {
        let mut entries = Vec::new();
        loop {
            assert_eq!(&octets[..6], MAGIC);
            let field = |number: usize| {
                let digits = &octets[6 + 8 * number..14 + 8 * number];
                usize::from_str_radix(std::str::from_utf8(digits).expect("digits"), 16).expect("hexadecimal")
            };
            let (size, named) = (field(6), field(11));
            let name = String::from_utf8(octets[HEADER..HEADER + named - 1].to_vec()).expect("UTF-8");
            assert_eq!(octets[HEADER + named - 1], 0);
            let begin = (HEADER + named).next_multiple_of(4);
            if name == END {
                assert_eq!(octets.len(), begin);
                return entries;
            }
            entries.push(ArchiveEntry {
                name,
                mode: u32::try_from(field(1)).expect("32 bits"),
                content: octets[begin..begin + size].to_vec(),
            });
            octets = &octets[(begin + size).next_multiple_of(4)..];
        }
    }

    #[test]
    fn directories_stand_before_what_is_in_them_and_once() {
        let mut archive = Archive::default();
        archive.add("/init", b"first").expect("added");
        archive.add("/a/b/c", b"").expect("added");
        archive.add("/a/b/d", b"12345").expect("added");
        archive.add("/init", b"second").expect("left as it is");
        let entries = read(&archive.finish().expect("an archive"));
        let names: Vec<(&str, u32)> = entries.iter().map(|entry| (entry.name.as_str(), entry.mode)).collect();
        assert_eq!(
            names,
            [
                ("init", PROGRAM),
                ("a", DIRECTORY),
                ("a/b", DIRECTORY),
                ("a/b/c", PROGRAM),
                ("a/b/d", PROGRAM)
            ]
        );
        assert_eq!(entries[0].content, b"first");
        assert_eq!(entries[4].content, b"12345");
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        let mut archive = Archive::default();
        for path in ["init", "/", "/a/../b", "", "/a/.."] {
            assert!(archive.add(path, b"").is_err(), "{path}");
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..8)) {
            let mut archive = Archive::default();
            for (number, content) in contents.iter().enumerate() {
                archive.add(&format!("/{}", "n".repeat(number + 1)), content).expect("added");
            }
            let read: Vec<Vec<u8>> = read(&archive.finish().expect("an archive")).into_iter().map(|entry| entry.content).collect();
            prop_assert_eq!(read, contents);
        }
    }

    #[test]
    fn the_usual_program_reads_it() {
        let test = "the_usual_program_reads_it";
        let mut archive = Archive::default();
        archive.add("/init", b"#!/bin/true").expect("added");
        archive.add("/modules/a.ko", &[7; 1001]).expect("added");
        let started = Command::new("cpio")
            .args(["--list", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut cpio) = started else {
            return testing::skip(test, "cpio is not installed");
        };
        let mut input = cpio.stdin.take().expect("piped");
        input.write_all(&archive.finish().expect("an archive")).expect("taken");
        drop(input);
        let output = cpio.wait_with_output().expect("its output");
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "init\nmodules\nmodules/a.ko\n");
    }
}
