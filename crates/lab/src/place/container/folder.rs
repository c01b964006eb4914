//! Folders of places. One that was left behind by a process that is gone is taken away by the next.

use std::io;
use std::path::Path;
use tempfile::TempDir;

/// A folder for what this process has in places of this kind: its name begins with `kind` and the number of the process, which is followed
/// by something that nobody can guess.
pub(in crate::place) fn make(kind: &str) -> io::Result<TempDir> {
    let prefix = format!("triptime-{kind}-");
    sweep(&std::env::temp_dir(), &prefix);
    tempfile::Builder::new()
        .prefix(&format!("{prefix}{}-", std::process::id()))
        .tempdir()
}

/// Takes away the folders of processes that are gone. Others may do so at the same time, or may not be allowed to: it is no error.
fn sweep(parent: &Path, prefix: &str) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| owner(name, prefix));
        if owner.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn owner(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{owner, sweep};

    #[test]
    fn folders_of_processes_that_are_gone_are_taken_away() {
        let parent = tempfile::tempdir().expect("a directory");
        let made = |name: &str| {
            let path = parent.path().join(name);
            std::fs::create_dir(&path).expect("made");
            path
        };
        // Numbers of processes end before this one (PID_MAX_LIMIT).
        let gone = made("triptime-container-99999999-x");
        let kept = [
            made(&format!("triptime-container-{}-x", std::process::id())),
            made("triptime-container-x"),
            made("other"),
        ];
        sweep(parent.path(), "triptime-container-");
        assert!(!gone.exists());
        assert!(kept.iter().all(|path| path.exists()));
        assert_eq!(owner("triptime-container-12-ab", "triptime-container-"), Some(12));
    }
}
