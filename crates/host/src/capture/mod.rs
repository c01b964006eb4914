//! What was read of a machine as a tree that can be read elsewhere: secrets, addresses and identifiers are replaced or left out.

mod neutral;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::audit::{IRQBALANCE, is_asked_for_arguments};
use crate::processes::is_service;
use crate::reader::Touched;
use neutral::Neutral;

/// Stands for the number of the process that recorded.
const OWN_PROCESS: &str = "4711";

/// Which processes of the machine are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// This one, the first two, and services that facts name: for trees that are published.
    Few,
    /// All: rules ask where each thread may run. Their arguments and environments are left out but for those that rules ask for.
    All,
}

/// A part of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File(Vec<u8>),
    /// A link and its target.
    Link(PathBuf),
    /// A directory and the names in it that were of interest; those that are no entries of their own are files or directories.
    Directory(Vec<(String, bool)>),
}

/// A tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// Its parts by their path below the root, without a leading `/`.
    pub entries: Vec<(String, Entry)>,
    /// What was replaced or left out, for a person.
    pub left_out: Vec<String>,
}

impl Capture {
    /// Of what was read.
    pub fn of(touched: &[(String, Touched)], processes: Processes) -> Self {
        let own = std::process::id().to_string();
        let mut neutral = Neutral::of(touched);
        let (mut entries, mut refused) = (Vec::new(), String::new());
        let parents = parents(touched);
        let asked = asked(touched);
        for (path, what) in touched.iter().filter(|(path, what)| {
            is_wanted(path, what, &own, processes) || (processes == Processes::All && asked.contains(path))
        }) {
            let place = path.replacen(&format!("/proc/{own}"), &format!("/proc/{OWN_PROCESS}"), 1);
            let place = neutral.path(&place);
            let inside = place.trim_start_matches('/').to_owned();
            match what {
                Touched::File(bytes) => entries.push((inside, Entry::File(neutral.file(path, bytes)))),
                Touched::Link(_) if path == "/proc/self" => entries.push((inside, Entry::Link(OWN_PROCESS.into()))),
                Touched::Link(to) => {
                    let to = neutral.path(&to.display().to_string());
                    entries.push((inside, Entry::Link(to.into())));
                }
                Touched::Directory(names) => {
                    entries.push((inside, directory(path, names, &parents, &mut neutral)));
                }
                Touched::Refused(why) => {
                    if let Some(name) = why.errno_name().filter(|_| !why.is_absent()) {
                        refused.push_str(&format!("{name} {place}\n"));
                    }
                }
            }
        }
        if !refused.is_empty() {
            entries.push((".unreadable".to_owned(), Entry::File(refused.into_bytes())));
        }
        Self {
            entries,
            left_out: neutral.left_out(processes),
        }
    }
}

fn is_wanted(path: &str, what: &Touched, own: &str, processes: Processes) -> bool {
    let process = path
        .strip_prefix("/proc/")
        .map(|rest| rest.split('/').next().unwrap_or(rest));
    match (process.filter(|name| is_number(name)), processes) {
        (None, Processes::Few) => path != "/proc",
        (None, Processes::All) => true,
        (Some(number), _) if number == own => !path.ends_with("/comm"),
        (Some("1" | "2"), _) => true,
        (Some(_), Processes::All) => !path.ends_with("/environ") && !path.ends_with("/cmdline"),
        (Some(_), Processes::Few) => match what {
            Touched::File(name) => is_service(String::from_utf8_lossy(name).trim()),
            _ => false,
        },
    }
}

/// Arguments of the processes that rules ask for them, and the environment of what moves interrupts.
fn asked(touched: &[(String, Touched)]) -> HashSet<String> {
    let mut files = HashSet::new();
    for (path, what) in touched {
        let (Some(folder), Touched::File(name)) = (path.strip_suffix("/comm"), what) else {
            continue;
        };
        let name = String::from_utf8_lossy(name);
        if is_asked_for_arguments(name.trim()) {
            files.insert(format!("{folder}/cmdline"));
        }
        if name.trim() == IRQBALANCE {
            files.insert(format!("{folder}/environ"));
        }
    }
    files
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|octet| octet.is_ascii_digit())
}

/// Paths in which something was read: they are directories, also when a process has ended since.
fn parents(touched: &[(String, Touched)]) -> HashSet<&Path> {
    let paths = touched.iter().map(|(path, _)| Path::new(path.as_str()));
    paths.flat_map(|path| path.ancestors().skip(1)).collect()
}

/// The names of a directory, and which of them are directories. Links are entries of their own where they were followed.
fn directory(path: &str, names: &[String], parents: &HashSet<&Path>, neutral: &mut Neutral) -> Entry {
    let real = names.iter().map(|name| (name, Path::new(path).join(name)));
    let kept = real.filter(|(_, real)| !real.is_symlink());
    let is_folder = |real: &Path| parents.contains(real) || real.is_dir();
    Entry::Directory(
        kept.map(|(name, real)| (neutral.path(name), is_folder(&real)))
            .collect(),
    )
}

#[cfg(test)]
mod tests;
