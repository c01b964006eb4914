//! The HTML file beside a result. It is written last, and refused if it would replace a file that is not ours.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// What the title of every page of ours begins with.
const TITLE: &[u8] = b"<title>triptime";

/// Octets in which that is found.
const HEAD_OCTETS: u64 = 4 << 10;

/// Refuses a page that would replace a file which is not such a page, or that would be the run file; before anything is measured.
///
/// # Errors
/// As said; status 2.
pub(crate) fn check(page: Option<&Path>, out: Option<&Path>) -> Result<(), Failure> {
    let Some(page) = page else { return Ok(()) };
    if out == Some(page) {
        let text = format!("{}: --html and --out name the same file", page.display());
        return Err(Failure::Usage(text));
    }
    // What is not a regular file (a pipe, /dev/null) has no content to lose; a directory is refused when it is written.
    let is_foreign = fs::metadata(page).is_ok_and(|there| there.is_file() && there.len() > 0) && !is_ours(page);
    if is_foreign {
        let text = format!(
            "{}: exists already and is not a report of triptime: name another file with --html, or remove it first",
            page.display()
        );
        return Err(Failure::Usage(text));
    }
    Ok(())
}

/// Whether the file is a page that we wrote. One that cannot be read is not known to be.
fn is_ours(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_OCTETS).read_to_end(&mut head));
    read.is_ok() && head.windows(TITLE.len()).any(|part| part == TITLE)
}

/// Writes a page; what is there stays when it cannot be written whole.
///
/// # Errors
/// It would replace a file that is not ours (status 2), or there is no room for it (status 3).
pub(crate) fn write(path: &Path, html: &str) -> Result<(), Failure> {
    check(Some(path), None)?;
    let written = interop::export::place(path, |out| out.write_all(html.as_bytes()));
    written.map_err(|error: std::io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::{check, write};
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
        assert!(write(&at("notes.html"), "x").is_err());
        assert_eq!(fs::read(at("notes.html")).expect("there"), b"<title>Notes</title>");
        for name in ["new.html", "empty.html", "new.html"] {
            write(&at(name), "<head><title>triptime: wakeup pass</title>").expect(name);
        }
        assert!(check(Some(Path::new("/dev/null")), None).is_ok());
        assert!(check(None, Some(Path::new("x"))).is_ok());
        assert!(check(Some(Path::new("x")), Some(Path::new("x"))).is_err());
    }
}
