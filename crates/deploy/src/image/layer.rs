//! The root file system of a container: the binary, and the files that a program may expect.

use std::io;
use tar::{Builder, EntryType};

use super::header;

/// One path of the root file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerEntry<'a> {
    /// Path without a leading slash.
    pub path: &'static str,
    /// Its permissions.
    pub mode: u32,
    /// Folder or file at this path.
    pub content: Content<'a>,
}

/// Content at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// A folder.
    Folder,
    /// A file with these bytes.
    File(std::borrow::Cow<'a, [u8]>),
}

/// All entries of the root file system, folders before their contents.
pub fn root<'a>(program: &'a [u8], version: &str) -> Vec<LayerEntry<'a>> {
    let folder = |path, mode| LayerEntry {
        path,
        mode,
        content: Content::Folder,
    };
    let file = |path, mode, octets| LayerEntry {
        path,
        mode,
        content: Content::File(octets),
    };
    // The inventory reports the operating system; this image has none.
    let release =
        format!("NAME=triptime\nID=triptime\nPRETTY_NAME=\"triptime {version} (image without an operating system)\"\n");
    vec![
        folder("dev", 0o755),
        folder("etc", 0o755),
        file("etc/group", 0o644, b"root:x:0:\n".into()),
        file("etc/os-release", 0o644, release.into_bytes().into()),
        file("etc/passwd", 0o644, b"root:x:0:0:root:/runs:/usr/bin/triptime\n".into()),
        folder("proc", 0o755),
        folder("runs", 0o755),
        folder("sys", 0o755),
        folder("tmp", 0o1777),
        folder("usr", 0o755),
        folder("usr/bin", 0o755),
        file("usr/bin/triptime", 0o755, program.into()),
    ]
}

/// The root file system as a tar file.
pub(super) fn tar(program: &[u8], version: &str) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::with_capacity(program.len() + (16 << 10)));
    for entry in root(program, version) {
        match &entry.content {
            Content::Folder => {
                let mut header = header(EntryType::Directory, entry.mode, 0);
                tar.append_data(&mut header, format!("{}/", entry.path), io::empty())?;
            }
            Content::File(octets) => {
                let mut header = header(EntryType::Regular, entry.mode, octets.len() as u64);
                tar.append_data(&mut header, entry.path, octets.as_ref())?;
            }
        }
    }
    tar.into_inner()
}
