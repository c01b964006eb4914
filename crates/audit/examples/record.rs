//! Records this machine as a tree of files for `tests/hosts`, or prints the facts of a tree.
//!
//! ```text
//! cargo run -p triptime-audit --example record -- tests/hosts/NAME          record this machine
//! cargo run -p triptime-audit --example record -- --facts tests/hosts/NAME  write facts.txt and findings.txt of a tree again
//! ```
//!
//! Records exactly the files that the facts read: links as links, refusals in `.unreadable`. Host name, MAC addresses, identifiers, process
//! numbers, mounts that no fact uses and init's arguments are replaced or left out.

#[path = "../tests/told/mod.rs"]
mod told;

use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use host::capture::{Processes, TreePart};
use host::{Host, to_text};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--facts", folder] => write_facts(Path::new(folder)),
        [folder] if !folder.starts_with('-') => {
            record(Path::new(folder))?;
            write_facts(Path::new(folder))
        }
        _ => Err("usage: record FOLDER, or record --facts FOLDER".into()),
    }
}

fn write_facts(folder: &Path) -> Result<(), Box<dyn Error>> {
    let facts = Host::at(&folder.join("root"))?.facts();
    fs::write(folder.join("facts.txt"), to_text(&facts))?;
    fs::write(folder.join("findings.txt"), told::findings(folder))?;
    Ok(())
}

fn record(folder: &Path) -> Result<(), Box<dyn Error>> {
    let root = folder.join("root");
    if root.exists() {
        return Err(format!("{} exists: remove it first", root.display()).into());
    }
    fs::create_dir_all(&root)?;
    let host = Host::live().remembering();
    host.facts();
    audit::audit(&host, &told::parameters(folder), &[]);
    for (path, entry) in host.capture(Processes::Few).entries {
        let target = root.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        match entry {
            TreePart::File(bytes) => fs::write(&target, bytes)?,
            TreePart::Link(to) => symlink(to, &target)?,
            TreePart::Directory(names) => make_directory(&target, &names)?,
        }
    }
    Ok(())
}

/// Copies a directory with its names: files are made empty, and directories hold a `.keep`, since git does not store empty ones.
fn make_directory(target: &Path, names: &[(String, bool)]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(target)?;
    if names.is_empty() {
        fs::write(target.join(".keep"), "")?;
    }
    for (name, is_directory) in names {
        let copy = target.join(name);
        if copy.symlink_metadata().is_ok() {
            continue;
        }
        if *is_directory {
            fs::create_dir_all(&copy)?;
            fs::write(copy.join(".keep"), "")?;
        } else {
            fs::write(&copy, "")?;
        }
    }
    Ok(())
}
