//! The report files of a command. They are written last, and refused if they would replace a file that triptime did not write.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// Number of leading bytes that are searched for the mark of a file of triptime.
const HEAD_OCTETS: u64 = 4 << 10;

/// A kind of file.
pub(crate) struct FileKind {
    /// Option that names such a file.
    option: &'static str,
    /// Mark near the beginning of every such file.
    mark: &'static [u8],
    /// Description of such a file.
    what: &'static str,
}

/// An HTML page.
pub(crate) const HTML: FileKind = FileKind {
    option: "--html",
    mark: b"<title>triptime",
    what: "a report of triptime",
};

/// A verdict for a continuous-integration server.
pub(crate) const JUNIT: FileKind = FileKind {
    option: "--junit",
    mark: b"<testsuites name=\"triptime\"",
    what: "a JUnit file of triptime",
};

/// Refuses, before the measurement, a page that would replace the run file, or a file that is not such a page.
///
/// # Errors
/// The page would replace another file; status 2.
pub(crate) fn check(page: Option<&Path>, out: Option<&Path>) -> Result<(), Failure> {
    let Some(page) = page else { return Ok(()) };
    HTML.check_other(page, "--out", out)?;
    HTML.check(page)
}

/// A certificate.
pub(crate) const CERTIFICATE: FileKind = FileKind {
    option: "--out",
    mark: b"\"schema\": \"triptime.certificate/1\"",
    what: "a certificate of triptime",
};

impl FileKind {
    /// Refuses a file that another option of the same command also names.
    ///
    /// # Errors
    /// Both options name the same file; status 2.
    pub(crate) fn check_other(&self, file: &Path, option: &str, other: Option<&Path>) -> Result<(), Failure> {
        if other != Some(file) {
            return Ok(());
        }
        let text = format!("{}: {} and {option} name the same file", file.display(), self.option);
        Err(Failure::Usage(text))
    }

    /// Refuses to replace a file that triptime did not write.
    ///
    /// # Errors
    /// The file exists and is of another kind; status 2.
    pub(crate) fn check(&self, file: &Path) -> Result<(), Failure> {
        // A pipe or device has no content to lose; a directory is refused when it is written.
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

    /// True if triptime wrote the file. A file that cannot be read counts as foreign.
    fn is_ours(&self, path: &Path) -> bool {
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD_OCTETS).read_to_end(&mut head));
        read.is_ok() && head.windows(self.mark.len()).any(|part| part == self.mark)
    }

    /// Writes a file; the existing one stays if the new one cannot be written in full.
    ///
    /// # Errors
    /// It would replace a file that triptime did not write (status 2), or there is no room for it (status 3).
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
