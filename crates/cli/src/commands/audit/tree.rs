//! Recorded trees as tar files: a colleague audits elsewhere what was read here.

use crate::failure::Failure;
use host::Host;
use host::capture::{Capture, Entry, Processes};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use tempfile::TempDir;

/// Most bytes of a tree that is unpacked: one of 1000 CPUs with all their threads has some 100 MB.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes of one part: the largest files that are recorded are the kernel's configuration and tables of interrupts.
const MOST_BYTES_OF_ONE: u64 = 64 << 20;
/// Most parts of a tree that is unpacked.
const MOST_ENTRIES: usize = 5_000_000;

/// A machine to audit, and the folder that is taken away with it.
pub(crate) struct Machine {
    pub(crate) host: Host,
    _unpacked: Option<TempDir>,
}

impl Machine {
    /// This one; what is read is remembered where it will be captured.
    pub(crate) fn live(remembers: bool) -> Self {
        Self {
            host: if remembers { Host::remembering() } else { Host::live() },
            _unpacked: None,
        }
    }

    /// A folder, or a tar file of `--capture`.
    pub(crate) fn at(root: &Path) -> Result<Self, Failure> {
        let unpacked = if root.is_file() { Some(unpacked(root)?) } else { None };
        let folder = unpacked.as_ref().map_or(root, TempDir::path);
        let host = Host::at(folder).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Self {
            host,
            _unpacked: unpacked,
        })
    }
}

/// Unpacks a tree: folders, files and links, none of them outside the folder, no devices.
fn unpacked(path: &Path) -> Result<TempDir, Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::Usage(format!(
            "{}: not a tree of triptime audit --capture: {error}",
            path.display()
        ))
    };
    let folder = tempfile::tempdir().map_err(|error| Failure::CouldNotMeasure(format!("cannot unpack: {error}")))?;
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let mut archive = tar::Archive::new(file.take(MOST_BYTES));
    let (mut count, mut octets) = (0, 0_u64);
    for entry in archive.entries().map_err(|error| wrong(&error))? {
        let mut entry = entry.map_err(|error| wrong(&error))?;
        count += 1;
        let kind = entry.header().entry_type();
        if count > MOST_ENTRIES || !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
            return Err(wrong(&"it holds something else than files, folders and links"));
        }
        octets = octets.saturating_add(entry.size());
        if entry.size() > MOST_BYTES_OF_ONE || octets > MOST_BYTES {
            let part = entry.path().map(|part| part.display().to_string()).unwrap_or_default();
            let text = format!(
                "{} has {} bytes: a part has at most {MOST_BYTES_OF_ONE}, all together at most {MOST_BYTES}",
                units::foreign::shown(&part),
                entry.size()
            );
            return Err(wrong(&text));
        }
        if !entry.unpack_in(folder.path()).map_err(|error| wrong(&error))? {
            return Err(wrong(&"a part of it lies outside"));
        }
    }
    match count {
        0 => Err(wrong(&"it is empty")),
        _ => Ok(folder),
    }
}

/// Writes what was read of `host`; returns what was left out.
pub(crate) fn write(host: &Host, path: &Path) -> Result<Vec<String>, Failure> {
    let capture = host.capture(Processes::All);
    let failed = |error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display()));
    let beside = path.with_extension("part");
    let written = File::create(&beside).and_then(|file| pack(&capture, file));
    if let Err(error) = written.and_then(|()| fs::rename(&beside, path)) {
        let _ = fs::remove_file(&beside);
        return Err(failed(error));
    }
    Ok(capture.left_out)
}

fn pack(capture: &Capture, file: File) -> io::Result<()> {
    let mut archive = tar::Builder::new(BufWriter::new(file));
    let known: HashSet<&str> = capture.entries.iter().map(|(path, _)| path.as_str()).collect();
    for (path, entry) in capture.entries.iter().filter(|(path, _)| !path.is_empty()) {
        match entry {
            Entry::File(bytes) => regular(&mut archive, path, bytes)?,
            Entry::Link(to) => {
                let mut header = header(tar::EntryType::Symlink, 0);
                archive.append_link(&mut header, path, to)?;
            }
            Entry::Directory(names) => {
                folder(&mut archive, path)?;
                for (name, is_folder) in names {
                    let inside = format!("{path}/{name}");
                    if known.contains(inside.as_str()) {
                        continue;
                    }
                    match is_folder {
                        true => folder(&mut archive, &inside)?,
                        false => regular(&mut archive, &inside, b"")?,
                    }
                }
            }
        }
    }
    archive.into_inner()?.into_inner().map_err(io::Error::other)?.sync_all()
}

fn header(kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(if kind == tar::EntryType::Directory {
        0o755
    } else {
        0o644
    });
    header.set_size(size);
    header
}

fn regular(archive: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = header(tar::EntryType::Regular, bytes.len() as u64);
    archive.append_data(&mut header, path, bytes)
}

fn folder(archive: &mut tar::Builder<impl Write>, path: &str) -> io::Result<()> {
    let mut header = header(tar::EntryType::Directory, 0);
    archive.append_data(&mut header, path, io::empty())
}

#[cfg(test)]
mod tests {
    use super::{header, unpacked};
    use crate::failure::Failure;
    use std::fs;

    #[test]
    fn a_part_that_is_too_large_is_refused_before_it_is_unpacked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tree.tar");
        let mut head = header(tar::EntryType::Regular, 6 << 30);
        head.set_path("proc/cmdline").expect("a path");
        head.set_cksum();
        fs::write(&path, head.as_bytes()).expect("a file");
        match unpacked(&path) {
            Err(Failure::Usage(text)) => assert!(text.contains("proc/cmdline has 6442450944 bytes"), "{text}"),
            other => panic!("{:?}", other.is_ok()),
        }
    }
}
