//! Files that are either complete or do not exist.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes `path` with `write`: into a temporary file in the same folder that is renamed once all of it is on the disk. So a reader (a scraper, or a
/// program that needs the end of the file first) never sees an incomplete file, and a failure keeps the old one. A device or a pipe is written
/// directly.
///
/// # Errors
/// The error of `write`; or the file cannot be made or renamed, converted to the same type.
pub fn place<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    // For a symbolic link, its target is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let unfinished = beside(&path);
    let placed = finish(&unfinished, write).and_then(|()| Ok(fs::rename(&unfinished, &path)?));
    if placed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    placed
}

/// Writes all of a file to the disk.
fn finish<E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>) -> Result<(), E> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.flush()?;
    Ok(out.get_ref().sync_all()?)
}

/// A name in the same directory, so that renaming moves no data; it has the process number, so that two processes do not collide.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.unfinished", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::place;
    use std::fs;
    use std::io::{self, Write};

    #[test]
    fn a_file_is_replaced_as_a_whole_or_left_as_it_was() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run.prom");
        place(&path, |out| out.write_all(b"first")).expect("written");
        let failed = place(&path, |out| {
            out.write_all(b"half of the sec")?;
            out.flush()?;
            Err(io::Error::other("the run file is damaged"))
        });
        assert_eq!(failed.expect_err("told so").to_string(), "the run file is damaged");
        assert_eq!(fs::read(&path).expect("there"), b"first");
        place(&path, |out| out.write_all(b"second")).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"second");
        assert_eq!(
            fs::read_dir(directory.path()).expect("list").count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        place(&link, |out| out.write_all(b"new")).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"new");
        place(std::path::Path::new("/dev/null"), |out| out.write_all(b"gone")).expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("none/run.prom");
        let error = place(&path, |out| out.write_all(b"x")).expect_err("no such directory");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
