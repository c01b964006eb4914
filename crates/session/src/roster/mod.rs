//! Roster of the runs on this machine: a small file for each run, written by the run itself.
//!
//! Nothing is locked. A file names its process, and a reader asks the kernel if that process still exists. So the file of a process
//! that died is recognised as such, and blocks nothing.

mod entry;
mod process;
mod standing;

pub use entry::{Entry, Largest, Phase, RunEnd, StartKind, StepUnderWay};
pub use process::Process;
pub use standing::{Standing, stuck_after_ns};

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Environment variable that names the folder in place of the usual one.
pub const FOLDER: &str = "TRIPTIME_RUNTIME_DIR";

/// Most ended runs that are still listed.
const MOST_ENDED: usize = 32;

/// Ending of the names of its files.
const ENDING: &str = "json";

/// A folder with a file for each run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    folder: PathBuf,
}

/// A run found in a roster.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Contents of its file.
    pub entry: Entry,
    /// Its file.
    pub path: PathBuf,
    /// User that owns the file.
    pub owner: u32,
}

impl Roster {
    /// The roster in the folder `path`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { folder: path.into() }
    }

    /// The roster of this user's runs: `$TRIPTIME_RUNTIME_DIR`, else `/run/triptime` for root, else `$XDG_RUNTIME_DIR/triptime`.
    /// `None`: none of these is set.
    pub fn own() -> Option<Self> {
        let named = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let usual = || match rustix::process::geteuid().is_root() {
            true => Some(PathBuf::from("/run/triptime")),
            false => named("XDG_RUNTIME_DIR").map(|folder| folder.join("triptime")),
        };
        named(FOLDER).or_else(usual).map(Self::at)
    }

    /// The rosters that this user can read: its own, root's, and for root those of all logged-in users.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Self::own().into_iter().collect();
        if std::env::var_os(FOLDER).is_some() {
            return all;
        }
        all.push(Self::at("/run/triptime"));
        let users = fs::read_dir("/run/user").into_iter().flatten().flatten();
        all.extend(users.map(|user| Self::at(user.path().join("triptime"))));
        let mut once: Vec<Self> = Vec::new();
        for roster in all {
            if !once.contains(&roster) {
                once.push(roster);
            }
        }
        once
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every run in it, the earliest first. Files that are no entries, or of a later version, are skipped.
    pub fn runs(&self) -> Vec<Found> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = files.map(|file| file.path());
        let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == ENDING));
        let mut found: Vec<Found> = paths.filter_map(|path| read(&path)).collect();
        found.sort_by(|a, b| (a.entry.started_ns, &a.entry.name).cmp(&(b.entry.started_ns, &b.entry.name)));
        found
    }

    /// The run with this name.
    pub fn find(&self, name: &str) -> Option<Found> {
        fit(name).then(|| read(&self.path(name)))?
    }

    /// Registers a run under `wanted`, or, if that name is taken, under the first free one of `wanted-2`, `wanted-3`, …
    ///
    /// # Errors
    /// The folder cannot be created or written.
    pub fn enter(&self, wanted: &str, mut entry: Entry) -> io::Result<Registered> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&self.folder)
            .map_err(|error| named(&self.folder, &error))?;
        self.forget_old();
        let wanted = fitted(wanted);
        for number in 1..10_000 {
            let name = match number {
                1 => wanted.clone(),
                number => format!("{wanted}-{number}"),
            };
            entry.name.clone_from(&name);
            let path = self.path(&name);
            let draft = write_beside(&path, &entry)?;
            // A link is refused if the name is taken, and every reader gets the whole text at once.
            let entered = fs::hard_link(&draft, &path);
            let _ = fs::remove_file(&draft);
            match entered {
                Ok(()) => return Ok(Registered { path, entry }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(named(&path, &error)),
            }
        }
        Err(io::Error::other(format!(
            "{}: every name from {wanted} on is taken",
            self.folder.display()
        )))
    }

    /// Takes over the entry of a name, whichever process wrote it: the one that started this one, or one before a reboot.
    ///
    /// # Errors
    /// The folder cannot be created or written.
    pub fn take_over(&self, name: &str, mut entry: Entry) -> io::Result<Registered> {
        fs::create_dir_all(&self.folder).map_err(|error| named(&self.folder, &error))?;
        entry.name = fitted(name);
        let path = self.path(&entry.name);
        let registered = Registered { path, entry };
        registered.write()?;
        Ok(registered)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ENDING}"))
    }

    /// Keeps only the newest of the runs that have ended.
    fn forget_old(&self) {
        let over = |found: &Found| found.entry.standing(found.owner).is_over();
        let ended: Vec<Found> = self.runs().into_iter().filter(over).collect();
        let surplus = ended.len().saturating_sub(MOST_ENDED);
        for found in &ended[..surplus] {
            // Another run may remove it at the same time.
            let _ = fs::remove_file(&found.path);
        }
    }
}

/// The entry of a run in a roster, updated by the run itself.
#[derive(Debug)]
pub struct Registered {
    path: PathBuf,
    /// Contents of its file.
    pub entry: Entry,
}

impl Registered {
    /// Writes the entry to its file.
    ///
    /// # Errors
    /// The folder is full or gone.
    pub fn write(&self) -> io::Result<()> {
        let draft = write_beside(&self.path, &self.entry)?;
        fs::rename(&draft, &self.path).map_err(|error| named(&self.path, &error))
    }

    /// Removes the entry from the roster.
    pub fn remove(self) {
        // Already gone: the folder was cleared.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes the whole text to a draft file, to be put in place at once.
fn write_beside(path: &Path, entry: &Entry) -> io::Result<PathBuf> {
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let text = serde_json::to_string_pretty(entry).map_err(io::Error::other)?;
    fs::write(&draft, text + "\n").map_err(|error| named(&draft, &error))?;
    Ok(draft)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Option<Found> {
    let file = fs::File::open(path).ok()?;
    let owner = file.metadata().ok()?.uid();
    let entry: Entry = serde_json::from_reader(io::BufReader::new(file)).ok()?;
    // The file name is where `find` looks: a file with another name in its entry could not be found again.
    let is_named = path.file_stem().is_some_and(|stem| stem == entry.name.as_str());
    (entry.is_known() && is_named).then(|| Found {
        entry,
        path: path.to_owned(),
        owner,
    })
}

/// True if the name is valid as a file name.
fn fit(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(fits)
}

/// Turns a text into a name valid for files and units.
fn fitted(name: &str) -> String {
    let ok = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = name.chars().take(60).map(ok).collect();
    match name.trim_matches('-') {
        "" => "run".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
