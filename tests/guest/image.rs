//! A guest's root file system: a cpio archive ("newc", the kernel's initramfs format), which it unpacks into memory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// What is in it so far.
#[derive(Default)]
pub(crate) struct Image {
    octets: Vec<u8>,
    paths: BTreeSet<PathBuf>,
}

impl Image {
    /// Puts a file at this absolute path, with the directories above it.
    pub(crate) fn add(&mut self, path: &str, content: &[u8]) {
        let path = Path::new(path);
        let above: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .filter(|above| above.parent().is_some())
            .collect();
        for directory in above.into_iter().rev() {
            if self.paths.insert(directory.to_owned()) {
                self.entry(directory, DIRECTORY, &[]);
            }
        }
        if self.paths.insert(path.to_owned()) {
            self.entry(path, PROGRAM, content);
        }
    }

    /// Copies a file of this machine.
    pub(crate) fn copy(&mut self, from: &Path, path: &str) {
        let content = std::fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        self.add(path, &content);
    }

    /// Copies a program of this machine, where it is, with the libraries it needs; false when this machine does not have it.
    pub(crate) fn program(&mut self, path: &str) -> bool {
        if !Path::new(path).exists() {
            return false;
        }
        self.copy(Path::new(path), path);
        let output = Command::new("ldd").arg(path).output().expect("ldd");
        // "libc.so.6 => /lib/…/libc.so.6 (0x…)", and the loader without the first half.
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let library = line.split_whitespace().find(|word| word.starts_with('/'));
            if let Some(library) = library {
                self.copy(Path::new(library), library);
            }
        }
        true
    }

    /// The archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry(Path::new("/TRAILER!!!"), 0, &[]);
        self.octets
    }

    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) {
        let name = path
            .strip_prefix("/")
            .expect("an absolute path")
            .to_str()
            .expect("UTF-8");
        let number = self.paths.len() as u32;
        let links = 1;
        // Owner and group, time, devices and the checksum are zero.
        let fields = [
            number,
            mode,
            0,
            0,
            links,
            0,
            content.len() as u32,
            0,
            0,
            0,
            0,
            name.len() as u32 + 1,
            0,
        ];
        self.octets.extend_from_slice(b"070701");
        for field in fields {
            self.octets.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.octets.extend_from_slice(name.as_bytes());
        self.octets.push(0);
        self.align();
        self.octets.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.octets.resize(self.octets.len().next_multiple_of(4), 0);
    }
}
