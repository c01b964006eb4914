//! A guest's root file system: files and programs of this machine.

use lab::place::guest::Archive;
use std::path::Path;
use std::process::Command;

/// What is in it so far.
#[derive(Default)]
pub(crate) struct Image(Archive);

impl Image {
    /// Copies a file of this machine.
    pub(crate) fn copy(&mut self, from: &Path, path: &str) {
        let content = std::fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        self.0.add(path, &content).expect("an absolute path");
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
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finish().expect("an archive")
    }
}
