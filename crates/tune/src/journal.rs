//! The journal: the value of every target before its change. It has one line of JSON per change, which is on the disk before the change is
//! made.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::operation::Target;

/// Default path of the journal.
pub const JOURNAL: &str = "/var/lib/triptime/tune.journal";

/// Prefix of every line.
const BEGIN: &[u8] = br#"{"check":""#;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalEntry {
    /// Check that required the change.
    pub(super) check: String,
    /// The target of the change.
    pub(super) target: Target,
    /// Value before the change; `None`: a folder that did not exist.
    pub(super) before: Option<String>,
    /// The new value.
    pub(super) after: String,
    /// Boot of the change: kernel settings last until the next boot.
    pub(super) boot: String,
}

/// Reason that the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Reason.
        error: io::Error,
    },
    /// A line in the middle was not written by triptime.
    #[error("{}, line {line}: {error}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The fault.
        error: String,
    },
    /// Somebody else may have written it, so its content is not trusted.
    #[error("{}: {why}: it is left alone; move it away, or name another file with --journal", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Reason that it is not trusted.
        why: &'static str,
    },
    /// Another process holds it.
    #[error("{}: another triptime tune is running", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// Number of attempts to lock a held journal, and the pause between them.
const TRIES: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(10);

/// The file at the path, locked. A process that is being started briefly inherits the files of its parent, and with them the lock of a
/// closed journal. The previous holder of the lock may have removed the file, so a lock on a removed file is not accepted.
fn locked(path: &Path) -> Result<File, JournalError> {
    let failed = |error| JournalError::Io {
        path: path.to_owned(),
        error,
    };
    for _ in 0..TRIES {
        let Some(file) = there_or_made(path).map_err(failed)? else {
            return Err(JournalError::Foreign {
                path: path.to_owned(),
                why: "it is a symbolic link",
            });
        };
        if file.try_lock().is_ok() && is_at(&file, path).map_err(failed)? {
            return match foreign(&file).map_err(failed)? {
                None => Ok(file),
                Some(why) => Err(JournalError::Foreign {
                    path: path.to_owned(),
                    why,
                }),
            };
        }
        thread::sleep(BETWEEN);
    }
    Err(JournalError::Busy { path: path.to_owned() })
}

/// Creates the file so that nobody else can write it and no link redirects it.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    options.append(true).read(true).mode(0o600).custom_flags(no_follow);
    options
}

/// The file at the path, or a new one; `None` if a symbolic link is there.
fn there_or_made(path: &Path) -> io::Result<Option<File>> {
    let opened = match options().open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => options().create_new(true).open(path),
        other => other,
    };
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) => Ok(None),
        // Another process created it first: that file is opened.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options().open(path).map(Some),
        Err(error) => Err(error),
    }
}

/// Reason to suspect that somebody else wrote this file.
fn foreign(file: &File) -> io::Result<Option<&'static str>> {
    let found = file.metadata()?;
    let whys = [
        (!found.is_file(), "it is not a regular file"),
        (
            found.uid() != rustix::process::geteuid().as_raw(),
            "it belongs to another user",
        ),
        (found.mode() & 0o022 != 0, "its group or everybody may write it"),
        (found.nlink() > 1, "it has another name elsewhere (a hard link)"),
    ];
    Ok(whys.into_iter().find_map(|(is_so, why)| is_so.then_some(why)))
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
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
    /// Opens the journal, or creates one. A file that triptime did not write is left unchanged.
    ///
    /// # Errors
    /// It cannot be created, another process holds it, somebody else may have written it, or triptime did not write one of its lines.
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
        // A short fragment without any complete line could be anybody's file.
        let is_ours = cut_off.starts_with(BEGIN) || (!entries.is_empty() && BEGIN.starts_with(cut_off));
        if !(is_ours || cut_off.is_empty()) {
            return Err(JournalError::Line {
                path: path.to_owned(),
                line: entries.len() + 1,
                error: "not a line of triptime tune".to_owned(),
            });
        }
        if !cut_off.is_empty() {
            journal.end_at(whole).map_err(failed)?;
        }
        Ok(journal)
    }

    /// Removes a line that a crash cut off, so that the next one starts a new line: its change was never made.
    fn end_at(&self, whole: usize) -> io::Result<()> {
        self.file.set_len(whole as u64)?;
        self.file.sync_all()
    }

    /// Number of changes in it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn count(&self) -> Result<usize, JournalError> {
        self.entries().map(|entries| entries.len())
    }

    /// Adds a change; it is on the disk when this returns. Returns the earlier length of the journal, in bytes.
    pub(super) fn add(&mut self, entry: &JournalEntry) -> Result<u64, JournalError> {
        let line = serde_json::to_string(entry).map_err(io::Error::other);
        let written = line.and_then(|line| {
            let before = self.file.metadata()?.len();
            self.file.write_all((line + "\n").as_bytes())?;
            self.file.sync_all()?;
            Ok(before)
        });
        written.map_err(|error| self.failed(error))
    }

    /// Removes the changes added since the journal had `octets` bytes: a change that was not made needs no undo.
    pub(super) fn forget(&mut self, octets: u64) -> Result<(), JournalError> {
        let cut = self.file.set_len(octets).and_then(|()| self.file.sync_all());
        cut.map_err(|error| self.failed(error))
    }

    /// Every change, in the order they were made.
    pub(super) fn entries(&self) -> Result<Vec<JournalEntry>, JournalError> {
        let text = fs::read_to_string(&self.path).map_err(|error| self.failed(error))?;
        self.read(&text)
    }

    fn read(&self, text: &str) -> Result<Vec<JournalEntry>, JournalError> {
        let read = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| JournalError::Line {
                path: self.path.clone(),
                line: at + 1,
                error: error.to_string(),
            })
        };
        text.lines().enumerate().map(read).collect()
    }

    /// Keeps only these changes; an empty journal is removed.
    pub(super) fn keep(&mut self, entries: &[JournalEntry]) -> Result<(), JournalError> {
        let kept = self.rewritten(entries);
        kept.map_err(|error| self.failed(error))
    }

    fn rewritten(&mut self, entries: &[JournalEntry]) -> io::Result<()> {
        let mut text = String::new();
        for entry in entries {
            text += &(serde_json::to_string(entry).map_err(io::Error::other)? + "\n");
        }
        if text.is_empty() {
            return fs::remove_file(&self.path);
        }
        // Written to a file next to it first: a crash leaves the old or the new journal.
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let mut file = made_anew(Path::new(&beside))?;
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

/// A new file. First removes the remainder of a crashed triptime, but never a file that may be somebody else's.
fn made_anew(path: &Path) -> io::Result<File> {
    let create = || options().create_new(true).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_left_by_us(path)? => {
            fs::remove_file(path)?;
            create()
        }
        other => other,
    }
    .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn is_left_by_us(path: &Path) -> io::Result<bool> {
    let mut begin = [0; BEGIN.len()];
    let mut file = options().open(path)?;
    let read = file.read(&mut begin)?;
    Ok(foreign(&file)?.is_none() && BEGIN.starts_with(&begin[..read]))
}
