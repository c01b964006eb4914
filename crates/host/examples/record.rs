//! Records this machine as a tree of files for `tests/hosts`, or prints the facts of a tree.
//!
//! ```text
//! cargo run -p triptime-host --example record -- tests/hosts/NAME          record this machine
//! cargo run -p triptime-host --example record -- --facts tests/hosts/NAME  write facts.txt of a tree anew
//! ```
//!
//! Exactly what the facts read is recorded, links as links and refusals in `.unreadable`. Host name, MAC addresses,
//! identifiers, process numbers, mounts that are no facts and init's arguments are replaced or left out.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use host::{Host, Touched, is_service, to_text};

/// Stands for the number of the process that recorded.
const OWN_PROCESS: &str = "4711";

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
    Ok(())
}

fn record(folder: &Path) -> Result<(), Box<dyn Error>> {
    let root = folder.join("root");
    if root.exists() {
        return Err(format!("{} exists: remove it first", root.display()).into());
    }
    fs::create_dir_all(&root)?;
    let host = Host::remembering();
    host.facts();
    let touched = host.touched();
    let own = std::process::id().to_string();
    let macs = neutral_macs(&touched);
    let mut refused = String::new();
    for (path, what) in touched.iter().filter(|(path, what)| is_wanted(path, what, &own)) {
        let place = path.replacen(&format!("/proc/{own}"), &format!("/proc/{OWN_PROCESS}"), 1);
        let target = root.join(place.trim_start_matches('/'));
        if let (Some(parent), false) = (target.parent(), matches!(what, Touched::Refused(_))) {
            fs::create_dir_all(parent)?;
        }
        match what {
            Touched::File(bytes) => fs::write(&target, neutral(path, bytes, &macs))?,
            Touched::Link(_) if path == "/proc/self" => symlink(OWN_PROCESS, &target)?,
            Touched::Link(to) => symlink(to, &target)?,
            Touched::Directory(names) => make_directory(path, &target, names)?,
            Touched::Refused(why) => {
                if let Some(name) = why.errno_name().filter(|_| !why.is_absent()) {
                    refused.push_str(&format!("{name} {place}\n"));
                }
            }
        }
    }
    if !refused.is_empty() {
        fs::write(root.join(".unreadable"), refused)?;
    }
    Ok(())
}

/// Of the processes, only ours, the first two, and the services that the facts name.
fn is_wanted(path: &str, what: &Touched, own: &str) -> bool {
    let process = path
        .strip_prefix("/proc/")
        .map(|rest| rest.split('/').next().unwrap_or(rest));
    match process.filter(|name| name.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty()) {
        None => path != "/proc",
        Some(number) if number == own => !path.ends_with("/comm"),
        Some("1" | "2") => true,
        Some(_) => match what {
            Touched::File(name) => is_service(String::from_utf8_lossy(name).trim()),
            _ => false,
        },
    }
}

/// A directory with its names: files are made empty and directories hold a `.keep`, since git keeps no empty ones.
fn make_directory(path: &str, target: &Path, names: &[String]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(target)?;
    if names.is_empty() {
        fs::write(target.join(".keep"), "")?;
    }
    for name in names {
        let (real, copy) = (Path::new(path).join(name), target.join(name));
        if copy.symlink_metadata().is_ok() || real.is_symlink() {
            continue;
        }
        if real.is_dir() {
            fs::create_dir_all(&copy)?;
            fs::write(copy.join(".keep"), "")?;
        } else {
            fs::write(&copy, "")?;
        }
    }
    Ok(())
}

/// Every MAC address, with the one that stands for it.
fn neutral_macs(touched: &[(String, Touched)]) -> BTreeMap<String, String> {
    let files = touched
        .iter()
        .filter(|(path, _)| path.contains("/net/") && path.ends_with("/address"));
    let mut macs = BTreeMap::new();
    for (_, what) in files {
        if let Touched::File(bytes) = what {
            let mac = String::from_utf8_lossy(bytes).trim().to_owned();
            let number = macs.len() + 1;
            if mac != "00:00:00:00:00:00" && !mac.is_empty() {
                macs.entry(mac)
                    .or_insert_with(|| format!("02:00:00:00:00:{number:02x}"));
            }
        }
    }
    macs
}

/// The bytes to keep of a file.
fn neutral(path: &str, bytes: &[u8], macs: &BTreeMap<String, String>) -> Vec<u8> {
    if path.contains("/acpi/") {
        return bytes.to_vec();
    }
    let text = String::from_utf8_lossy(bytes);
    let text = match path {
        "/proc/sys/kernel/hostname" => "host\n".to_owned(),
        "/proc/1/comm" => "init\n".to_owned(),
        "/proc/1/environ" => text
            .split_inclusive('\0')
            .filter(|entry| entry.starts_with("container="))
            .collect(),
        "/proc/cmdline" => text.split(" -- ").next().unwrap_or("").trim_end().to_owned() + "\n",
        _ if path.ends_with("/mountinfo") => lines(&text, |line| line.contains(" / / ") || line.contains(" - cgroup")),
        _ if path.ends_with("/status") => lines(&text, |line| !line.starts_with("Name:")),
        _ if path == "/proc/stat" => lines(&text, |line| line.starts_with("cpu")),
        _ => text.into_owned(),
    };
    macs.iter()
        .fold(text, |text, (mac, neutral)| text.replace(mac, neutral))
        .into_bytes()
}

fn lines(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.lines()
        .filter(|line| keep(line))
        .map(|line| format!("{line}\n"))
        .collect()
}
