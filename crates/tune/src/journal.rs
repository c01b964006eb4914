//! The journal: what every target was before it was changed. A line of JSON for each change, on the disk before the change is made.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::operation::Target;

/// Where the journal is kept.
pub const JOURNAL: &str = "/var/lib/triptime/tune.journal";

/// How every line begins.
const BEGIN: &[u8] = br#"{"check":""#;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalEntry {
    /// The check that asked for it.
    pub(super) check: String,
    /// The target of the change.
    pub(super) target: Target,
    /// Its value before; none: a folder that was not there.
    pub(super) before: Option<String>,
    /// The new value.
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
        /// The fault.
        error: String,
    },
    /// Somebody else may have written it: what it says could be anything.
    #[error("{}: {why}: it is left alone; move it away, or name another file with --journal", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why it is none of ours.
        why: &'static str,
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

/// Nobody else can write what is made so, and no link leads elsewhere.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    options.append(true).read(true).mode(0o600).custom_flags(no_follow);
    options
}

/// The file at the path, or a new one; `None`: a symbolic link is there.
fn there_or_made(path: &Path) -> io::Result<Option<File>> {
    let opened = match options().open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => options().create_new(true).open(path),
        other => other,
    };
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) => Ok(None),
        // Somebody was faster: theirs is opened.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options().open(path).map(Some),
        Err(error) => Err(error),
    }
}

/// Why somebody else may have written this file.
fn foreign(file: &File) -> io::Result<Option<&'static str>> {
    let found = file.metadata()?;
    let whys = [
        (!found.is_file(), "it is no regular file"),
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
    /// Opens the journal, or begins one. A file that is none of ours stays as it is.
    ///
    /// # Errors
    /// It cannot be made, another process has it, somebody else may have written it, or a line of it is none of ours.
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
        // A short rest of a file without any line of ours may be anybody's.
        let is_ours = cut_off.starts_with(BEGIN) || (!entries.is_empty() && BEGIN.starts_with(cut_off));
        if !(is_ours || cut_off.is_empty()) {
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

    /// Adds a change; it is on the disk when this returns. How long the journal was before, in octets.
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

    /// Takes away what was added since the journal was `octets` long: a change that was not made needs no way back.
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

    /// Keeps only these changes; an empty journal is taken away.
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
        // Beside it first: a crash leaves the old journal or the new one.
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

/// A new file. What a crash of ours left there goes first; what may be somebody else's stays.
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
