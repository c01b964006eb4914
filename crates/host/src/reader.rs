//! Reads files under a root directory.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use units::CpuList;

use crate::error::{HostError, Unreadable};
use crate::files::{Files, PathKind, TreeInMemory};
use crate::resolve::resolve;

/// Maximum size in bytes of a file with one value: sysfs returns at most one page.
const LINE_BYTES: u64 = 4096;
/// Maximum size in bytes of a file with many lines: `/proc/cpuinfo` of 1000 CPUs is below 2 MiB.
const TEXT_BYTES: u64 = 4 << 20;
/// Folder in which a recorded tree keeps the answers of system calls.
const ANSWERS: &str = "/.answers";
/// File with the paths that were refused when a tree was recorded.
const REFUSALS: &str = ".unreadable";

/// Kinds of things at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// A file with these bytes.
    File(Vec<u8>),
    /// A link to this target.
    Link(PathBuf),
    /// A directory and those of its names that were used.
    Directory(Vec<String>),
    /// Access was refused.
    Refused(Unreadable),
}

/// Files and folders of processes as they were read: several groups of rules use the same thousands of threads.
#[derive(Debug, Default)]
struct Kept {
    files: HashMap<(String, u64), Result<Vec<u8>, HostError>>,
    folders: HashMap<String, Result<Vec<String>, HostError>>,
}

/// Reads files under a root directory.
#[derive(Debug)]
pub struct Reader {
    files: Files,
    live: bool,
    refusals: BTreeMap<PathBuf, Unreadable>,
    /// Known folders that are not links.
    folders: Mutex<HashSet<PathBuf>>,
    /// Stored files and folders of processes, while storing is on.
    kept: Mutex<Option<Kept>>,
    memory: Option<Mutex<BTreeMap<String, Touched>>>,
}

impl Reader {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            files: Files::On(root.to_owned()),
            live: true,
            refusals: BTreeMap::new(),
            folders: Mutex::default(),
            kept: Mutex::default(),
            memory: None,
        }
    }

    /// Reader of a recorded tree, with its refusals.
    pub(crate) fn of_tree(root: &Path) -> Result<Self, HostError> {
        let failed = |path: &Path, why| HostError::Unreadable {
            path: path.display().to_string(),
            why,
        };
        let files = Files::On(root.to_owned());
        files
            .names(Path::new("/"))
            .map_err(|error| failed(root, Unreadable::from_io(&error)))?;
        Self::recorded(files, &root.join(REFUSALS))
    }

    /// Reader of a recorded tree in memory, with its refusals.
    pub(crate) fn of_held(held: TreeInMemory) -> Result<Self, HostError> {
        Self::recorded(Files::Held(held), Path::new(REFUSALS))
    }

    /// Adds the refusals of a tree, which errors show as the file `path`.
    fn recorded(files: Files, path: &Path) -> Result<Self, HostError> {
        let shown = path.display().to_string();
        let failed = |why| HostError::Unreadable {
            path: shown.clone(),
            why,
        };
        let bytes = match files.head(&Path::new("/").join(REFUSALS), TEXT_BYTES) {
            Err(why) if why.is_absent() => Ok(Vec::new()),
            bytes => bytes.map_err(failed),
        }?;
        let text = String::from_utf8(bytes).map_err(|_| failed(Unreadable::NotText))?;
        let mut refusals = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let refusal = line
                .split_once(' ')
                .and_then(|(name, path)| Some((path, Unreadable::from_name(name)?)));
            let (refused, why) = refusal.ok_or_else(|| {
                HostError::unexpected(&shown, "an errno and a path, such as EACCES /proc/1/environ", line)
            })?;
            refusals.insert(PathBuf::from(refused), why);
        }
        Ok(Self {
            files,
            live: false,
            refusals,
            folders: Mutex::default(),
            kept: Mutex::default(),
            memory: None,
        })
    }

    pub(crate) fn remembering(mut self) -> Self {
        self.memory = Some(Mutex::new(BTreeMap::new()));
        self
    }

    pub(crate) fn touched(&self) -> Vec<(String, Touched)> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.iter().map(|(path, what)| (path.clone(), what.clone())).collect()
    }

    /// Bytes of a file of at most `most` bytes.
    pub fn bytes(&self, path: &str, most: u64) -> Result<Vec<u8>, HostError> {
        let key = (path.to_owned(), most);
        if let Some(known) = self.kept(path, |kept| kept.files.get(&key).cloned()) {
            return known;
        }
        let bytes = self.bytes_now(path, most);
        self.keep(path, |kept| kept.files.insert(key, bytes.clone()));
        bytes
    }

    /// Starts storing the files of processes, or starts again: until [`Reader::forget_processes`], each of them is read once.
    pub fn keep_processes(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(Kept::default());
    }

    /// Ends storing: files of processes are read each time, as at first.
    pub fn forget_processes(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn kept<T>(&self, path: &str, get: impl FnOnce(&Kept) -> Option<T>) -> Option<T> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|_| is_of_process(path)).and_then(get)
    }

    fn keep<T>(&self, path: &str, put: impl FnOnce(&mut Kept) -> T) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_mut().filter(|_| is_of_process(path)) {
            put(kept);
        }
    }

    fn bytes_now(&self, path: &str, most: u64) -> Result<Vec<u8>, HostError> {
        self.read(path, |place| {
            let bytes = self.files.head(place, most + 1)?;
            if bytes.len() as u64 > most {
                Err(Unreadable::TooLong)
            } else {
                Ok(bytes)
            }
        })
    }

    /// First `count` bytes of a file, fewer if it is shorter.
    pub fn head(&self, path: &str, count: u64) -> Result<Vec<u8>, HostError> {
        self.read(path, |place| self.files.head(place, count))
    }

    fn read(&self, path: &str, read: impl FnOnce(&Path) -> Result<Vec<u8>, Unreadable>) -> Result<Vec<u8>, HostError> {
        let failed = |why| HostError::Unreadable {
            path: path.to_owned(),
            why,
        };
        let place = self.resolve(path).map_err(failed)?;
        let bytes = read(&place);
        self.remember(&place, || match &bytes {
            Ok(bytes) => Touched::File(bytes.clone()),
            Err(why) => Touched::Refused(*why),
        });
        bytes.map_err(failed)
    }

    /// True on the live machine, false for a recorded tree.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Answer of a system call: `ask` is called on a live machine. A recorded tree contains the answer in a file of that name.
    pub fn answer(&self, name: &str, ask: impl FnOnce() -> Result<String, HostError>) -> Result<String, HostError> {
        let path = format!("{ANSWERS}/{name}");
        if !self.live {
            return self.text(&path);
        }
        let answer = ask();
        self.remember(Path::new(&path), || match &answer {
            Ok(text) => Touched::File(text.clone().into_bytes()),
            Err(HostError::Unreadable { why, .. }) => Touched::Refused(*why),
            Err(_) => Touched::Refused(Unreadable::Errno(crate::error::IO)),
        });
        answer
    }

    /// Text of a file with many lines.
    pub fn text(&self, path: &str) -> Result<String, HostError> {
        self.text_up_to(path, TEXT_BYTES).and_then(|text| not_blank(path, text))
    }

    /// Text of a file with one value, without surrounding white space.
    pub fn line(&self, path: &str) -> Result<String, HostError> {
        self.line_or_blank(path).and_then(|line| not_blank(path, line))
    }

    /// Same as [`Reader::line`], for files whose emptiness has a meaning.
    pub fn line_or_blank(&self, path: &str) -> Result<String, HostError> {
        Ok(self
            .text_up_to(path, LINE_BYTES)?
            .trim()
            .replace(|c: char| c.is_control(), " "))
    }

    /// A value of a type that can be parsed from text.
    pub fn parsed<T: FromStr>(&self, path: &str, wanted: &'static str) -> Result<T, HostError> {
        let line = self.line(path)?;
        line.parse().map_err(|_| HostError::unexpected(path, wanted, &line))
    }

    /// A CPU list; an empty file is an empty list.
    pub fn cpus(&self, path: &str) -> Result<CpuList, HostError> {
        let line = self.line_or_blank(path)?;
        line.parse()
            .map_err(|_| HostError::unexpected(path, "a CPU list", &line))
    }

    /// Names in a directory that `wanted` selects, in natural order (`cpu2` before `cpu10`).
    pub fn names(&self, path: &str, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, HostError> {
        self.names_for(path, &wanted)
    }

    /// Not generic, so that it is compiled once and not for each of the eighty callers.
    fn names_for(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, HostError> {
        if let Some(known) = self.kept(path, |kept| kept.folders.get(path).cloned()) {
            return known.map(|names| names.into_iter().filter(|name| wanted(name)).collect());
        }
        // All names are stored; those selected are recorded for captures.
        let keeps = self.kept(path, |_| Some(())).is_some();
        let names = self.names_now(path, &|name| keeps || wanted(name));
        if !keeps {
            return names;
        }
        self.keep(path, |kept| kept.folders.insert(path.to_owned(), names.clone()));
        names.map(|names| names.into_iter().filter(|name| wanted(name)).collect())
    }

    fn names_now(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, HostError> {
        let failed = |why| HostError::Unreadable {
            path: path.to_owned(),
            why,
        };
        let place = self.resolve(path).map_err(failed)?;
        let listing = self.files.names(&place);
        let listing = listing.map_err(|error| failed(Unreadable::from_io(&error)))?;
        let mut names: Vec<String> = listing
            .into_iter()
            .filter(|name| is_plain(name) && wanted(name))
            .collect();
        names.sort_by(|a, b| natural_key(a).cmp(&natural_key(b)));
        self.remember(&place, || Touched::Directory(names.clone()));
        Ok(names)
    }

    /// Names of the folders in a directory, in natural order; links do not count. They are read each time.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn folders(&self, path: &str) -> Result<Vec<String>, HostError> {
        let failed = |why| HostError::Unreadable {
            path: path.to_owned(),
            why,
        };
        let place = self.resolve(path).map_err(failed)?;
        let listing = self.files.folders(&place);
        let mut names = listing.map_err(|error| failed(Unreadable::from_io(&error)))?;
        names.retain(|name| is_plain(name));
        names.sort_by(|a, b| natural_key(a).cmp(&natural_key(b)));
        self.remember(&place, || Touched::Directory(names.clone()));
        Ok(names)
    }

    /// Directory that a link leads to, relative to the root.
    pub fn target(&self, path: &str) -> Result<PathBuf, HostError> {
        let place = self.resolve(path).map_err(|why| HostError::Unreadable {
            path: path.to_owned(),
            why,
        })?;
        self.remember(&place, || Touched::Directory(Vec::new()));
        Ok(place)
    }

    /// Place on the disk of a path relative to the root; empty for a tree in memory.
    pub(crate) fn on_disk(&self, path: &Path) -> PathBuf {
        self.files.on_disk(path)
    }

    /// True if the path exists.
    pub fn exists(&self, path: &str) -> Result<bool, HostError> {
        match self.resolve(path) {
            Ok(place) => {
                let directory = matches!(self.files.kind(&place), Ok(PathKind::Folder));
                self.remember(&place, || {
                    if directory {
                        Touched::Directory(Vec::new())
                    } else {
                        Touched::File(Vec::new())
                    }
                });
                Ok(true)
            }
            Err(why) if why.is_absent() => Ok(false),
            Err(why) => Err(HostError::Unreadable {
                path: path.to_owned(),
                why,
            }),
        }
    }

    fn text_up_to(&self, path: &str, most: u64) -> Result<String, HostError> {
        let bytes = self.bytes(path, most)?;
        let not_text = || HostError::Unreadable {
            path: path.to_owned(),
            why: Unreadable::NotText,
        };
        let text = String::from_utf8(bytes).map_err(|_| not_text())?;
        if text.chars().any(|c| c.is_control() && !c.is_ascii_whitespace()) {
            return Err(not_text());
        }
        Ok(text)
    }

    fn resolve(&self, path: &str) -> Result<PathBuf, Unreadable> {
        let refused = |place: &Path| self.refusals.get(place).copied();
        let linked = |from: &Path, to: &Path| self.remember(from, || Touched::Link(to.to_owned()));
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        resolve(&self.files, path, refused, linked, &mut folders).map_err(|(place, why)| {
            self.remember(&place, || Touched::Refused(why));
            why
        })
    }

    /// Merges a later read of a path: names are added, and bytes replace mere existence.
    fn remember(&self, path: &Path, what: impl FnOnce() -> Touched) {
        let Some(memory) = &self.memory else { return };
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        match memory.entry(path.display().to_string()) {
            Entry::Vacant(place) => {
                place.insert(what());
            }
            Entry::Occupied(mut known) => match (known.get_mut(), what()) {
                (Touched::Directory(names), Touched::Directory(more)) => {
                    names.extend(more);
                    names.sort();
                    names.dedup();
                }
                (Touched::File(bytes), Touched::File(more)) if bytes.is_empty() => *bytes = more,
                _ => {}
            },
        }
    }
}

/// True for `/proc/123` and paths below it.
fn is_of_process(path: &str) -> bool {
    let number = path.strip_prefix("/proc/");
    number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn not_blank(path: &str, text: String) -> Result<String, HostError> {
    if text.trim().is_empty() {
        return Err(HostError::Unreadable {
            path: path.to_owned(),
            why: Unreadable::Empty,
        });
    }
    Ok(text)
}

/// True if a name can be shown: file names become facts, so others are left out.
fn is_plain(name: &str) -> bool {
    !name.chars().any(char::is_control)
}

/// Orders names by their text, then by their trailing number.
fn natural_key(name: &str) -> (&str, u64, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name[stem.len()..].parse().unwrap_or(u64::MAX), name)
}
