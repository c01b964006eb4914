//! Processes that keep the pipes of a program open.

use rustix::process::{Pid, Signal, kill_process};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::Child;

/// The pipes of a program's output, by the names that the kernel gives them.
pub(crate) fn pipes(child: &Child) -> Vec<PathBuf> {
    let name = |fd: RawFd| std::fs::read_link(format!("/proc/self/fd/{fd}")).ok();
    let output = child.stdout.as_ref().and_then(|pipe| name(pipe.as_raw_fd()));
    let errors = child.stderr.as_ref().and_then(|pipe| name(pipe.as_raw_fd()));
    output.into_iter().chain(errors).collect()
}

/// Kills each process but this one that has one of these pipes open; returns their command lines.
pub(crate) fn end_holders(pipes: &[PathBuf]) -> Vec<String> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let holders =
        processes.filter(|process| process.file_name().to_string_lossy() != own && holds(&process.path(), pipes));
    let ended = holders.filter_map(|process| {
        let number = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let words = std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        kill_process(number, Signal::KILL).ok()?;
        Some(words.replace('\0', " "))
    });
    ended.collect()
}

fn holds(process: &Path, pipes: &[PathBuf]) -> bool {
    let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let mut open = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    open.any(|name| pipes.contains(&name))
}
