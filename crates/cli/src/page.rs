//! The HTML file beside a result. It is written last, and refused if it would replace a file that is not ours.

use crate::failure::Failure;
use report::about::{About, Evidence};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What the title of every page of ours begins with.
const TITLE: &[u8] = b"<title>triptime";

/// Octets in which that is found.
const HEAD_OCTETS: u64 = 4 << 10;

/// Options of every command that may write a page of a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PageArgs {
    /// Also write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Object, site, operator and more for the acceptance record that a printed page begins with: a TOML file [the page is
    /// written beside the run file unless --html says where]
    #[arg(long, value_name = "FILE", value_parser = about)]
    pub(crate) about: Option<About>,
}

impl PageArgs {
    /// Where the page of this run goes, if one is asked for.
    pub(crate) fn path(&self, run: &Path) -> Option<PathBuf> {
        let beside = || self.about.is_some().then(|| run.with_extension("html"));
        self.html.clone().or_else(beside)
    }

    /// Whether a page is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.html.is_some() || self.about.is_some()
    }

    /// As [`check`].
    pub(crate) fn check(&self, out: Option<&Path>) -> Result<(), Failure> {
        check(self.html.as_deref(), out)
    }
}

/// Reads what people say of a test.
fn about(path: &str) -> Result<About, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    About::parse(&text)
}

/// The run file as evidence.
pub(crate) fn evidence(run: &Path) -> Evidence {
    let octets = fs::metadata(run).map_or(0, |file| file.len());
    Evidence {
        octets,
        sha256: sha256(run),
    }
}

fn sha256(run: &Path) -> Result<String, String> {
    let mut log = run.as_os_str().to_owned();
    log.push("-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err("the run was not closed: a part of it is in the log beside the file".to_owned());
    }
    let mut hash = Sha256::new();
    let hashed = File::open(run).and_then(|mut file| io::copy(&mut file, &mut hash));
    hashed.map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(hash.finalize().iter().map(|octet| format!("{octet:02x}")).collect())
}

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
    written.map_err(|error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::{about, check, evidence, write};
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_hash_is_that_of_the_file_and_refused_where_a_log_is_beside_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let run = directory.path().join("x.triptime");
        fs::write(&run, "abc").expect("written");
        // FIPS 180-4, first example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((evidence(&run).octets, evidence(&run).sha256.as_deref()), (3, Ok(abc)));
        fs::write(directory.path().join("x.triptime-wal"), "more").expect("written");
        assert!(evidence(&run).sha256.is_err_and(|why| why.contains("log beside")));
        assert!(evidence(Path::new("/nowhere")).sha256.is_err());
    }

    #[test]
    fn a_bad_file_is_said_with_its_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("about.toml");
        fs::write(&file, "object = \"Bay 1\"\nowner = \"x\"\n").expect("written");
        let said = about(&file.to_string_lossy()).expect_err("refused");
        assert!(said.starts_with("line 2: unknown field `owner`"), "{said}");
        assert!(about("/nowhere").is_err());
    }

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
