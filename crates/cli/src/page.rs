//! The files beside a result. They are written last, and refused if they would replace a file that is not ours.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// Octets in which the beginning of a file of ours is found.
const HEAD_OCTETS: u64 = 4 << 10;

/// A kind of file.
pub(crate) struct FileKind {
    /// The option that names one.
    option: &'static str,
    /// Octets near the beginning of every file of ours.
    mark: &'static [u8],
    /// Its name.
    what: &'static str,
}

/// A page.
pub(crate) const HTML: FileKind = FileKind {
    option: "--html",
    mark: b"<title>triptime",
    what: "a report of triptime",
};

/// A verdict for a server of continuous integration.
pub(crate) const JUNIT: FileKind = FileKind {
    option: "--junit",
    mark: b"<testsuites name=\"triptime\"",
    what: "a JUnit file of triptime",
};

/// Refuses a page that would replace a file which is not such a page, or that would be the run file; before anything is measured.
///
/// # Errors
/// As said; status 2.
pub(crate) fn check(page: Option<&Path>, out: Option<&Path>) -> Result<(), Failure> {
    let Some(page) = page else { return Ok(()) };
    HTML.check_other(page, "--out", out)?;
    HTML.check(page)
}

impl FileKind {
    /// Refuses a file that is another one of the same command.
    ///
    /// # Errors
    /// As said; status 2.
    pub(crate) fn check_other(&self, file: &Path, option: &str, other: Option<&Path>) -> Result<(), Failure> {
        if other != Some(file) {
            return Ok(());
        }
        let text = format!("{}: {} and {option} name the same file", file.display(), self.option);
        Err(Failure::Usage(text))
    }

    /// Refuses to replace a file that is not ours.
    ///
    /// # Errors
    /// As said; status 2.
    pub(crate) fn check(&self, file: &Path) -> Result<(), Failure> {
        // A file that is not regular (a pipe, /dev/null) has no content to lose; a directory is refused when it is written.
        let is_foreign =
            fs::metadata(file).is_ok_and(|there| there.is_file() && there.len() > 0) && !self.is_ours(file);
        if is_foreign {
            let text = format!(
                "{}: exists already and is not {}: name another file with {}, or remove it first",
                file.display(),
                self.what,
                self.option
            );
            return Err(Failure::Usage(text));
        }
        Ok(())
    }

    /// True if we wrote the file. One that cannot be read is not known to be ours.
    fn is_ours(&self, path: &Path) -> bool {
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD_OCTETS).read_to_end(&mut head));
        read.is_ok() && head.windows(self.mark.len()).any(|part| part == self.mark)
    }

    /// Writes a file; what is there stays when it cannot be written whole.
    ///
    /// # Errors
    /// It would replace a file that is not ours (status 2), or there is no room for it (status 3).
    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        self.check(path)?;
        let written = interop::export::place(path, |out| out.write_all(text.as_bytes()));
        written.map_err(|error: std::io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::{HTML, JUNIT, check};
    use std::fs;
    use std::path::Path;

    #[test]
    fn only_a_page_of_ours_or_nothing_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::write(at("notes.html"), "<title>Notes</title>").expect("written");
        fs::write(at("empty.html"), "").expect("written");
        let refused = |path: &Path| check(Some(path), None).expect_err("refused").to_string();
        assert!(refused(&at("notes.html")).contains("not a report of triptime"));
        assert!(HTML.write(&at("notes.html"), "x").is_err());
        assert_eq!(fs::read(at("notes.html")).expect("there"), b"<title>Notes</title>");
        for name in ["new.html", "empty.html", "new.html"] {
            HTML.write(&at(name), "<head><title>triptime: wakeup pass</title>")
                .expect(name);
        }
        assert!(JUNIT.check(&at("new.html")).is_err());
        assert!(check(Some(Path::new("/dev/null")), None).is_ok());
        assert!(check(None, Some(Path::new("x"))).is_ok());
        assert!(check(Some(Path::new("x")), Some(Path::new("x"))).is_err());
    }
}
