//! A guest's root file system: files and programs of this machine.

use place::guest::{Archive, libraries_of};
use std::path::Path;

/// Its contents so far.
#[derive(Default)]
pub(crate) struct Image(Archive);

impl Image {
    /// Copies a file of this machine.
    pub(crate) fn copy(&mut self, from: &Path, path: &str) {
        let content = std::fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        self.0.add(path, &content).expect("an absolute path");
    }

    /// Copies a program of this machine to the same path, with the libraries it needs; returns false if this machine does not have it.
    pub(crate) fn program(&mut self, path: &str) -> bool {
        if !Path::new(path).exists() {
            return false;
        }
        self.copy(Path::new(path), path);
        for library in libraries_of(Path::new(path)).expect("its libraries") {
            self.copy(Path::new(&library), &library);
        }
        true
    }

    /// The archive.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finish().expect("an archive")
    }
}
