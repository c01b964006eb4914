//! Files of a machine: below a folder on the disk, or in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::error::{NO_ENTRY, NOT_A_DIRECTORY, Unreadable};
use crate::resolve::under;

/// Buffer size for reading a file: sysfs returns at most one page.
const FIRST_BYTES: usize = 4096;

/// A part of a tree in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// A file with these bytes.
    File(Vec<u8>),
    /// A link to this target.
    Link(PathBuf),
    /// A folder.
    Folder,
}

/// A recorded tree in memory: none of it is on this machine's disk, so nothing remains however the program ends.
#[derive(Debug, Default)]
pub struct TreeInMemory {
    members: BTreeMap<PathBuf, Member>,
    folders: BTreeMap<PathBuf, BTreeSet<OsString>>,
}

impl TreeInMemory {
    /// Adds a part at a path below the root, and the folders above it. A later part replaces an earlier one. Returns false if the path
    /// leaves the root.
    pub fn add(&mut self, path: &Path, member: Member) -> bool {
        let mut place = PathBuf::from("/");
        for step in path.components() {
            match step {
                Component::Normal(name) => {
                    self.folders.entry(place.clone()).or_default().insert(name.to_owned());
                    place.push(name);
                }
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir | Component::Prefix(_) => return false,
            }
        }
        if member == Member::Folder {
            self.folders.entry(place.clone()).or_default();
        }
        self.members.insert(place, member);
        true
    }

    /// A part; parent folders may have been added implicitly.
    fn get(&self, path: &Path) -> io::Result<&Member> {
        let known = self.members.get(path);
        let known = known.or_else(|| self.folders.contains_key(path).then_some(&Member::Folder));
        known.ok_or_else(|| {
            let above = path.parent().and_then(|above| self.members.get(above));
            let is_in_file = matches!(above, Some(Member::File(_)));
            io::Error::from_raw_os_error(if is_in_file { NOT_A_DIRECTORY } else { NO_ENTRY })
        })
    }
}

/// Kind of thing at a path.
pub(crate) enum PathKind {
    Folder,
    Link(PathBuf),
    Other,
}

/// Files of a machine, by paths relative to its root; links are not followed.
#[derive(Debug)]
pub(crate) enum Files {
    /// Below this folder.
    On(PathBuf),
    /// In memory.
    Held(TreeInMemory),
}

impl Files {
    pub(crate) fn kind(&self, path: &Path) -> io::Result<PathKind> {
        match self {
            Self::On(root) => {
                let real = under(root, path);
                let kind = fs::symlink_metadata(&real)?.file_type();
                Ok(match (kind.is_symlink(), kind.is_dir()) {
                    (true, _) => PathKind::Link(fs::read_link(&real)?),
                    (_, true) => PathKind::Folder,
                    _ => PathKind::Other,
                })
            }
            Self::Held(held) => Ok(match held.get(path)? {
                Member::Folder => PathKind::Folder,
                Member::Link(to) => PathKind::Link(to.clone()),
                Member::File(_) => PathKind::Other,
            }),
        }
    }

    /// Names in a folder that are valid text.
    pub(crate) fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        match self {
            Self::On(root) => {
                let listing = fs::read_dir(under(root, path))?;
                let names = listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                Ok(names.collect())
            }
            Self::Held(held) => match held.get(path)? {
                Member::Folder => {
                    let names = held.folders.get(path).into_iter().flatten();
                    Ok(names.filter_map(|name| name.clone().into_string().ok()).collect())
                }
                _ => Err(io::Error::from_raw_os_error(NOT_A_DIRECTORY)),
            },
        }
    }

    /// Names of the folders in a folder that are valid text; links do not count.
    pub(crate) fn folders(&self, path: &Path) -> io::Result<Vec<String>> {
        match self {
            Self::On(root) => {
                let listing = fs::read_dir(under(root, path))?;
                let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
                let folders = listing.flatten().filter(is_folder);
                Ok(folders
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .collect())
            }
            Self::Held(held) => {
                let is_folder = |name: &String| matches!(held.get(&path.join(name)), Ok(Member::Folder));
                Ok(self.names(path)?.into_iter().filter(is_folder).collect())
            }
        }
    }

    /// First `count` bytes of a regular file. Pipes and devices are not opened: that could block or have effects.
    pub(crate) fn head(&self, path: &Path, count: u64) -> Result<Vec<u8>, Unreadable> {
        let failed = |error: io::Error| Unreadable::from_io(&error);
        match self {
            Self::On(root) => read_head(&under(root, path), count),
            Self::Held(held) => match held.get(path).map_err(failed)? {
                Member::File(bytes) => {
                    let end = usize::try_from(count).unwrap_or(usize::MAX).min(bytes.len());
                    Ok(bytes[..end].to_vec())
                }
                _ => Err(Unreadable::NotAFile),
            },
        }
    }

    /// Place of a path on the disk; empty if the tree is in memory.
    pub(crate) fn on_disk(&self, path: &Path) -> PathBuf {
        match self {
            Self::On(root) => under(root, path),
            Self::Held(_) => PathBuf::new(),
        }
    }
}

fn read_head(path: &Path, count: u64) -> Result<Vec<u8>, Unreadable> {
    let failed = |error: io::Error| Unreadable::from_io(&error);
    if !fs::symlink_metadata(path).map_err(failed)?.is_file() {
        return Err(Unreadable::NotAFile);
    }
    // Files of procfs and sysfs report no length: without a buffer they would be read in many small pieces.
    let mut bytes = Vec::with_capacity(FIRST_BYTES);
    fs::File::open(path)
        .map_err(failed)?
        .take(count)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}
