//! Recorded trees as tar files, so that a colleague can audit elsewhere the files that were read here.

use crate::failure::Failure;
use host::capture::{Capture, Processes, TreePart};
use host::{Host, Member, TreeInMemory};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Maximum size of a tree in bytes: that of 1000 CPUs with all their threads takes about 100 MB.
const MOST_BYTES: u64 = 1 << 30;
/// Maximum size of one member in bytes: the largest recorded files are the kernel's configuration and the tables of interrupts.
const MOST_BYTES_OF_ONE: u64 = 64 << 20;
/// Maximum number of members in a tree.
const MOST_ENTRIES: usize = 5_000_000;

/// Opens the machine in a folder, or in a tar file of `--capture`. A tree without evidence of a machine is refused: in it everything would be
/// unknown, which looks like an answer about a machine.
pub(crate) fn machine(root: &Path) -> Result<Host, Failure> {
    let host = match root.is_file() {
        true => Host::held(held(root)?),
        false => Host::at(root),
    };
    let host = host.map_err(|error| Failure::Usage(error.to_string()))?;
    match host.has_evidence() {
        true => Ok(host),
        false => Err(Failure::Usage(format!(
            "{}: is not the root of a machine: it needs proc or sys, and something in proc, sys or etc{}",
            root.display(),
            hint(root)
        ))),
    }
}

/// Says which folder or file to name in place of this one.
fn hint(root: &Path) -> String {
    let below = root.join("root");
    let is_root = |folder: &Path| Host::at(folder).is_ok_and(|host| host.has_evidence());
    match (root.is_file(), is_root(&below)) {
        (true, _) => {
            ": name a file of triptime audit --capture, or pack the root with tar -C ROOT -cf FILE.tar .".to_owned()
        }
        (_, true) => format!(": name {}", below.display()),
        _ => ": name the folder that has them".to_owned(),
    }
}

/// Reads a tree into memory: folders, files and links, none of them outside the tree, and no devices. The tree describes somebody's whole
/// machine: if this program is killed, nothing of it may stay on the disk.
fn held(path: &Path) -> Result<TreeInMemory, Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::Usage(format!(
            "{}: not a tree of triptime audit --capture: {error}",
            path.display()
        ))
    };
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let mut archive = tar::Archive::new(BufReader::new(file).take(MOST_BYTES));
    let (mut tree, mut count, mut octets) = (TreeInMemory::default(), 0, 0_u64);
    for entry in archive.entries().map_err(|error| wrong(&error))? {
        let mut entry = entry.map_err(|error| wrong(&error))?;
        count += 1;
        octets = octets.saturating_add(entry.size());
        let name = entry.path().map_err(|error| wrong(&error))?.into_owned();
        if entry.size() > MOST_BYTES_OF_ONE || octets > MOST_BYTES {
            let text = format!(
                "{} has {} bytes: a part has at most {MOST_BYTES_OF_ONE}, all together at most {MOST_BYTES}",
                units::foreign::shown(&name.display().to_string()),
                entry.size()
            );
            return Err(wrong(&text));
        }
        let member = member(&mut entry).map_err(|error| wrong(&error))?;
        let member = member.filter(|_| count <= MOST_ENTRIES);
        let member = member.ok_or_else(|| wrong(&"it contains other things than files, folders and links"))?;
        if !tree.add(&name, member) {
            return Err(wrong(&"a path in it leads outside"));
        }
    }
    match count {
        0 => Err(wrong(&"it is empty")),
        _ => Ok(tree),
    }
}

/// Returns `None` for anything but a file, a folder or a link.
fn member(entry: &mut tar::Entry<'_, impl Read>) -> io::Result<Option<Member>> {
    let kind = entry.header().entry_type();
    if kind.is_dir() {
        return Ok(Some(Member::Folder));
    }
    if kind.is_symlink() {
        return Ok(entry.link_name()?.map(|to| Member::Link(to.into_owned())));
    }
    if !kind.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    if bytes.len() as u64 != entry.size() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(Member::File(bytes)))
}

/// Writes the files that were read from `host`; returns a list of those left out.
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
            TreePart::File(bytes) => regular(&mut archive, path, bytes)?,
            TreePart::Link(to) => {
                let mut header = header(tar::EntryType::Symlink, 0);
                archive.append_link(&mut header, path, to)?;
            }
            TreePart::Directory(names) => {
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
    use super::{header, held};
    use crate::failure::Failure;
    use std::fs;

    #[test]
    fn a_part_that_is_too_large_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tree.tar");
        let mut head = header(tar::EntryType::Regular, 6 << 30);
        head.set_path("proc/cmdline").expect("a path");
        head.set_cksum();
        fs::write(&path, head.as_bytes()).expect("a file");
        match held(&path) {
            Err(Failure::Usage(text)) => assert!(text.contains("proc/cmdline has 6442450944 bytes"), "{text}"),
            other => panic!("{:?}", other.is_ok()),
        }
    }
}
