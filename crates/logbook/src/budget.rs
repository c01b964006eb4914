//! Folders that stay within a number of octets: the oldest file goes first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aged {
    pub(crate) path: PathBuf,
    octets: u64,
}

/// The files of a folder with this ending, the oldest one first: their names begin with the time.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn files(folder: &Path, ending: &str) -> io::Result<Vec<Aged>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_some_and(|found| found == ending) {
            let octets = entry.metadata().map_or(0, |found| found.len());
            files.push(Aged { path, octets });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Removes the oldest files until the others have at most `most` octets. The file `keep` stays. Returns how many went.
pub(crate) fn hold(folder: &Path, ending: &str, most: u64, keep: Option<&Path>) -> u64 {
    let Ok(files) = files(folder, ending) else { return 0 };
    let mut octets: u64 = files.iter().map(|file| file.octets).sum();
    let mut removed = 0;
    for file in files {
        if octets <= most {
            break;
        }
        if keep == Some(file.path.as_path()) || !remove(&file.path) {
            continue;
        }
        octets = octets.saturating_sub(file.octets);
        removed += 1;
    }
    removed
}

/// Removes the oldest file but `keep`. False if there is none.
pub(crate) fn drop_oldest(folder: &Path, ending: &str, keep: Option<&Path>) -> bool {
    let files = files(folder, ending).unwrap_or_default();
    let mut others = files.into_iter().filter(|file| keep != Some(file.path.as_path()));
    others.next().is_some_and(|file| remove(&file.path))
}

/// Removes a file and the log that a kill may have left with it.
fn remove(path: &Path) -> bool {
    if fs::remove_file(path).is_err() {
        return false;
    }
    for ending in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let _ = fs::remove_file(name);
    }
    true
}

/// Makes new and changed names of a folder survive a power cut.
///
/// # Errors
/// The kernel's.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{drop_oldest, files, hold};
    use std::fs;

    #[test]
    fn the_oldest_go_until_the_rest_fits_and_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["1.pcapng", "2.pcapng", "2.pcapng-wal", "3.pcapng", "0.txt"] {
            fs::write(folder.path().join(name), [0; 100]).expect("a file");
        }
        assert_eq!(
            hold(folder.path(), "pcapng", 150, Some(&folder.path().join("1.pcapng"))),
            2
        );
        let left = files(folder.path(), "pcapng").expect("files");
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(!drop_oldest(folder.path(), "pcapng", Some(&left[0].path)));
        assert!(drop_oldest(folder.path(), "pcapng", None));
        assert!(folder.path().join("0.txt").exists());
        assert!(!folder.path().join("2.pcapng-wal").exists());
    }
}
