//! Turns the files that were read on a machine into a tree for reading elsewhere: secrets, addresses and identifiers are replaced or left
//! out.

mod definitions;
mod neutral;
mod secrets;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::processes::{IRQBALANCE, is_asked_for_arguments, is_service};
use crate::reader::Touched;
use neutral::Neutral;
pub(crate) use secrets::is_secret_name;

/// Replacement for the id of the recording process.
const OWN_PROCESS: &str = "4711";

/// Choice of the processes to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// This process, the first two, and services that facts name: for published trees.
    Few,
    /// All processes, because rules check where each thread may run. Arguments and environments are kept only if rules use them.
    All,
}

/// A part of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreePart {
    /// A file.
    File(Vec<u8>),
    /// A link and its target.
    Link(PathBuf),
    /// A directory and those of its names that were used; names without an entry of their own are files or directories.
    Directory(Vec<(String, bool)>),
}

/// A tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// Parts by their path below the root, without a leading `/`.
    pub entries: Vec<(String, TreePart)>,
    /// Kinds of data that were replaced or left out, as text.
    pub left_out: Vec<String>,
}

impl Capture {
    /// Tree of the files that were read.
    pub fn of(touched: &[(String, Touched)], processes: Processes) -> Self {
        let own = own(touched);
        let mut neutral = Neutral::of(touched);
        let (mut entries, mut refused) = (Vec::new(), String::new());
        let parents = parents(touched);
        let asked = asked(touched);
        for (path, what) in touched.iter().filter(|(path, what)| {
            is_wanted(path, what, &own, processes) || (processes == Processes::All && asked.contains(path))
        }) {
            let place = neutral.path(&as_own(path, &own));
            let inside = place.trim_start_matches('/').to_owned();
            match what {
                Touched::File(bytes) => entries.push((inside, TreePart::File(neutral.file(path, bytes)))),
                Touched::Link(_) if path == "/proc/self" => {
                    entries.push((inside, TreePart::Link(stands_for(&own).into())));
                }
                Touched::Link(to) => {
                    let to = neutral.path(&to.display().to_string());
                    entries.push((inside, TreePart::Link(to.into())));
                }
                Touched::Directory(names) => {
                    let mut folder = directory(path, names, &parents, &mut neutral);
                    if path == "/proc" {
                        folder = with_own(folder, &own);
                    }
                    entries.push((inside, folder));
                }
                Touched::Refused(why) => {
                    if let Some(name) = why.errno_name().filter(|_| !why.is_absent()) {
                        refused.push_str(&format!("{name} {place}\n"));
                        entries.extend(above(&inside, touched));
                    }
                }
            }
        }
        if !refused.is_empty() {
            entries.push((".unreadable".to_owned(), TreePart::File(refused.into_bytes())));
        }
        Self {
            entries,
            left_out: neutral.left_out(processes),
        }
    }
}

/// Id of the reading process: `/proc/self` leads to it, on this machine and in a tree.
fn own(touched: &[(String, Touched)]) -> String {
    let mut links = touched.iter().filter(|(path, _)| path == "/proc/self");
    let number = links.find_map(|(_, what)| match what {
        Touched::Link(to) => Some(to.file_name()?.to_string_lossy().into_owned()),
        _ => None,
    });
    number.unwrap_or_else(|| std::process::id().to_string())
}

/// Id in the tree for the reading process; the first process of a container stays the first.
fn stands_for(own: &str) -> &str {
    if own == "1" { own } else { OWN_PROCESS }
}

/// List of processes with that id.
fn with_own(folder: TreePart, own: &str) -> TreePart {
    let TreePart::Directory(mut names) = folder else {
        return folder;
    };
    for (name, _) in &mut names {
        if name == own {
            stands_for(own).clone_into(name);
        }
    }
    TreePart::Directory(names)
}

/// Path with that id.
fn as_own(path: &str, own: &str) -> String {
    let folder = format!("/proc/{own}");
    match path.strip_prefix(&folder) {
        Some(inside) if inside.is_empty() || inside.starts_with('/') => format!("/proc/{}{inside}", stands_for(own)),
        _ => path.to_owned(),
    }
}

/// Folder of a refused path, if nothing else was read in it: without the folder the path would be absent instead of refused.
fn above(inside: &str, touched: &[(String, Touched)]) -> Option<(String, TreePart)> {
    let folder = Path::new(inside).parent()?.display().to_string();
    let is_known = touched.iter().any(|(path, _)| path.trim_start_matches('/') == folder);
    (!is_known && !folder.is_empty()).then_some((folder, TreePart::Directory(Vec::new())))
}

fn is_wanted(path: &str, what: &Touched, own: &str, processes: Processes) -> bool {
    let process = path
        .strip_prefix("/proc/")
        .map(|rest| rest.split('/').next().unwrap_or(rest));
    match (process.filter(|name| is_number(name)), processes) {
        (None, Processes::Few) => path != "/proc",
        (None, Processes::All) => true,
        (Some("1" | "2"), _) => true,
        (Some(number), Processes::All) if number == own => true,
        (Some(number), Processes::Few) if number == own => !path.ends_with("/comm"),
        (Some(_), Processes::All) => !path.ends_with("/environ") && !path.ends_with("/cmdline"),
        (Some(_), Processes::Few) => match what {
            Touched::File(name) => is_service(String::from_utf8_lossy(name).trim()),
            _ => false,
        },
    }
}

/// Arguments of the processes whose rules use them, and the environment of the program that moves interrupts.
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

/// Paths below which something was read: they are directories, even if a process has ended since.
fn parents(touched: &[(String, Touched)]) -> HashSet<&Path> {
    let paths = touched.iter().map(|(path, _)| Path::new(path.as_str()));
    paths.flat_map(|path| path.ancestors().skip(1)).collect()
}

/// Names in a directory, and which of them are directories. Links that were followed are entries of their own.
fn directory(path: &str, names: &[String], parents: &HashSet<&Path>, neutral: &mut Neutral) -> TreePart {
    // A link that was listed but not followed still counts as a name, as for enabled units.
    let real = names.iter().map(|name| (name, Path::new(path).join(name)));
    let is_folder = |real: &Path| parents.contains(real) || real.is_dir();
    TreePart::Directory(
        real.map(|(name, real)| (neutral.path(name), is_folder(&real)))
            .collect(),
    )
}

#[cfg(test)]
mod tests;
