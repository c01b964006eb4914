//! Recorded machines in `tests/hosts`, and copies that a test may change.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Folder of each machine, in order of the names.
pub(crate) fn machines() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts");
    let entries = fs::read_dir(&folder).expect("tests/hosts").flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    all.sort();
    assert!(all.len() >= 8, "recorded machines in {}", folder.display());
    all
}

/// Copies a part of a machine's file system, links as links.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_symlink() {
            symlink(fs::read_link(&path).expect("a link"), &target).expect("a link");
        } else if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file");
        }
    }
}
