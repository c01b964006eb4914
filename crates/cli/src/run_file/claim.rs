//! Reserves names after the time before a command measures, so that several commands within one second get different names.

use super::named_after_the_time;
use crate::failure::Failure;
use session::detach::log_of;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Maximum number of commands with the same name within one second.
const MOST: u32 = 1_000;

/// Makes a folder for the runs of this command.
pub(crate) fn folder(command: &str) -> Result<PathBuf, Failure> {
    first(folders(&named_after_the_time(command)), |folder| fs::create_dir(folder))
}

/// Reserves the name of a run file by making its log, which no other command makes again.
pub(crate) fn file_with_log(command: &str) -> Result<PathBuf, Failure> {
    first(files(&named_after_the_time(command)), |file| match file.exists() {
        true => Err(ErrorKind::AlreadyExists.into()),
        false => File::create_new(log_of(file)).map(|_| ()),
    })
}

/// Releases a name under which nothing was written.
pub(crate) fn give_back(path: &Path) {
    // A folder that is not empty stays: then the removal fails.
    let _ = fs::remove_dir(path);
    let log = log_of(path);
    if fs::metadata(&log).is_ok_and(|log| log.len() == 0) {
        let _ = fs::remove_file(log);
    }
}

/// Returns the first path that can be made: making it reserves it.
fn first(names: impl Iterator<Item = PathBuf>, make: impl Fn(&Path) -> io::Result<()>) -> Result<PathBuf, Failure> {
    let failed = |path: &Path, error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display()));
    let mut last = PathBuf::new();
    for name in names {
        if let Some(parent) = name.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        }
        match make(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = name,
            Err(error) => return Err(failed(&name, error)),
            Ok(()) => return Ok(name),
        }
    }
    Err(failed(&last, ErrorKind::AlreadyExists.into()))
}

/// Names `X`, `X-2`, …: a dot would start a file extension, and the log of `X.2` would be that of `X`.
fn folders(file: &Path) -> impl Iterator<Item = PathBuf> {
    files(file).map(|file| file.with_extension(""))
}

/// Names `X.triptime`, `X-2.triptime`, …: `X.2.triptime` would be the second part of `X` after a reboot.
fn files(file: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let first = file.to_owned();
    let others = (2..MOST).map(move |number| first.with_file_name(format!("{stem}-{number}.triptime")));
    std::iter::once(file.to_owned()).chain(others)
}

#[cfg(test)]
mod tests {
    use super::{files, first, folders, give_back};
    use std::fs::{self, File};
    use std::path::Path;

    #[test]
    fn of_those_that_take_one_name_at_once_each_has_its_own() {
        let home = tempfile::tempdir().expect("a folder");
        let named = home.path().join("runs/now-matrix.triptime");
        let take = || first(folders(&named), |folder| fs::create_dir(folder)).expect("made");
        let names = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            takers
                .into_iter()
                .map(|taker| taker.join().expect("ended"))
                .collect::<Vec<_>>()
        });
        let mut names: Vec<_> = names.iter().map(|name| name.file_name().expect("a name")).collect();
        names.sort();
        assert_eq!(names.len(), 8);
        names.dedup();
        assert_eq!(names.len(), 8, "{names:?}");
        assert_eq!(names[0], "now-matrix");
        assert_eq!(names[1], "now-matrix-2");
    }

    #[test]
    fn names_have_logs_of_their_own_and_no_name_of_a_later_part() {
        let names: Vec<_> = files(Path::new("runs/now-qualify.triptime")).take(3).collect();
        let wanted = [
            "now-qualify.triptime",
            "now-qualify-2.triptime",
            "now-qualify-3.triptime",
        ];
        assert_eq!(names, wanted.map(|name| Path::new("runs").join(name)));
    }

    #[test]
    fn only_what_is_empty_is_given_back() {
        let home = tempfile::tempdir().expect("a folder");
        let [empty, full] = ["empty", "full"].map(|name| home.path().join(name));
        for folder in [&empty, &full] {
            fs::create_dir(folder).expect("made");
            File::create(folder.with_extension("log")).expect("made");
        }
        for file in [full.join("run"), full.with_extension("log")] {
            fs::write(file, "words").expect("written");
        }
        [&empty, &full].into_iter().for_each(|folder| give_back(folder));
        let left: Vec<bool> = [&empty, &full]
            .iter()
            .flat_map(|folder| [folder.exists(), folder.with_extension("log").exists()])
            .collect();
        assert_eq!(left, [false, false, true, true]);
    }
}
