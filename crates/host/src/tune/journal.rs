//! The journal: what every target was before it was changed. A line of JSON for each change, on the disk before the change is made.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::operation::Target;

/// Where the journal is kept.
pub const JOURNAL: &str = "/var/lib/triptime/tune.journal";

/// How every line begins.
const BEGIN: &[u8] = br#"{"check":""#;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The check that asked for it.
    pub(super) check: String,
    /// What is changed.
    pub(super) target: Target,
    /// What it was; none: a folder that was not there.
    pub(super) before: Option<String>,
    /// What it shall be.
    pub(super) after: String,
    /// The boot during which it was changed: settings of the kernel end with it.
    pub(super) boot: String,
}

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line in its middle is none of ours.
    #[error("{}, line {line}: {error}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        error: String,
    },
    /// Another process has it.
    #[error("{}: another triptime tune is at work", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// How often a held journal is tried again, and after what time.
const TRIES: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(10);

/// The file at the path, locked. A process that is being started has the files of its parent for a moment, and with them the lock of
/// a journal that was closed. Who had the lock before may have taken the file away: a lock on that one holds nothing.
fn locked(path: &Path) -> Result<File, JournalError> {
    let failed = |error| JournalError::Io {
        path: path.to_owned(),
        error,
    };
    for _ in 0..TRIES {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(path)
            .map_err(failed)?;
        if file.try_lock().is_ok() && is_at(&file, path).map_err(failed)? {
            return Ok(file);
        }
        thread::sleep(BETWEEN);
    }
    Err(JournalError::Busy { path: path.to_owned() })
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((held.dev(), held.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The journal, held by this process alone.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal, or begins one. A file that is none of ours stays as it is.
    ///
    /// # Errors
    /// It cannot be made, another process has it, or a line of it is none of ours.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let failed = |error| JournalError::Io {
            path: path.to_owned(),
            error,
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = locked(path)?;
        let journal = Self {
            path: path.to_owned(),
            file,
        };
        let text = fs::read(path).map_err(failed)?;
        let whole = text.iter().rposition(|octet| *octet == b'\n').map_or(0, |end| end + 1);
        let (lines, cut_off) = text.split_at(whole);
        let entries = journal.read(&String::from_utf8_lossy(lines))?;
        if !(cut_off.starts_with(BEGIN) || BEGIN.starts_with(cut_off)) {
            return Err(JournalError::Line {
                path: path.to_owned(),
                line: entries.len() + 1,
                error: "no line of triptime tune".to_owned(),
            });
        }
        if !cut_off.is_empty() {
            journal.end_at(whole).map_err(failed)?;
        }
        Ok(journal)
    }

    /// A line that was cut off by a crash was never acted upon: it is taken away, so that the next one stands alone.
    fn end_at(&self, whole: usize) -> io::Result<()> {
        self.file.set_len(whole as u64)?;
        self.file.sync_all()
    }

    /// How many changes are in it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn count(&self) -> Result<usize, JournalError> {
        self.entries().map(|entries| entries.len())
    }

    /// Adds a change; it is on the disk when this returns.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let line = serde_json::to_string(entry).map_err(io::Error::other);
        let written = line.and_then(|line| {
            self.file.write_all((line + "\n").as_bytes())?;
            self.file.sync_all()
        });
        written.map_err(|error| self.failed(error))
    }

    /// Every change, in the order they were made.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        let text = fs::read_to_string(&self.path).map_err(|error| self.failed(error))?;
        self.read(&text)
    }

    fn read(&self, text: &str) -> Result<Vec<Entry>, JournalError> {
        let read = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| JournalError::Line {
                path: self.path.clone(),
                line: at + 1,
                error: error.to_string(),
            })
        };
        text.lines().enumerate().map(read).collect()
    }

    /// Keeps only these changes; an empty journal is taken away.
    pub(super) fn keep(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        let kept = self.rewritten(entries);
        kept.map_err(|error| self.failed(error))
    }

    fn rewritten(&mut self, entries: &[Entry]) -> io::Result<()> {
        let mut text = String::new();
        for entry in entries {
            text += &(serde_json::to_string(entry).map_err(io::Error::other)? + "\n");
        }
        if text.is_empty() {
            return fs::remove_file(&self.path);
        }
        // Beside it first: a crash leaves the old journal or the new one.
        let beside = self.path.with_extension("new");
        let mut file = File::create(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }

    fn failed(&self, error: io::Error) -> JournalError {
        JournalError::Io {
            path: self.path.clone(),
            error,
        }
    }
}
