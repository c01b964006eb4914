//! Files that `triptime tune --emit` and `triptime emit` write, read by the intended programs. Each reader also gets a damaged file, which it must
//! refuse: a reader that accepts everything proves nothing.

mod boot;
mod bundle;
mod compose;
mod docker;
mod guests;
mod kubernetes;
mod quadlet;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{root_or_skip, run, stderr};
use tempfile::TempDir;

/// The root of a recorded machine.
fn host(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("hosts")
        .join(name)
        .join("root")
}

/// A typical definition.
fn definition(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../crates/audit/src/tests/definitions")
        .join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(&path, text).expect("a file");
    path
}

/// A copy of a tree that may be changed.
fn copied(tree: &Path) -> TempDir {
    let own = folder();
    let mut command = Command::new("cp");
    let status = command
        .args(["-a", &format!("{}/.", text(tree)), text(own.path())])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    own
}

/// The text of a program on both of its outputs.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output)
}

/// Settings of a machine for a tool, with CPUs 2 and 3 for real-time work unless the arguments name others. Empty if no finding needs a setting.
fn emitted(tree: &Path, words: &[&str], tool: &str) -> String {
    let cpus = if words.contains(&"--cpus") {
        &[][..]
    } else {
        &["--cpus", "2-3"]
    };
    let common = ["--root", text(tree), "--observe", "0s", "--nic", "eno1"];
    let output = run(&[&["tune"], &common[..], cpus, words, &["--emit", tool]].concat());
    assert_eq!(output.status.code(), Some(0), "{tool}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Checks of a definition that failed or warn: the option that names it, its file, the CPUs for real-time work.
fn open(option: &str, file: &Path, cpus: &str) -> Vec<String> {
    judged(option, file, cpus, &["fail", "warn"])
}

/// Checks of a definition with one of these outcomes.
fn judged(option: &str, file: &Path, cpus: &str, outcomes: &[&str]) -> Vec<String> {
    let root = host("debian-untuned");
    let words = [
        "audit",
        "--root",
        text(&root),
        "--observe",
        "0s",
        "--cpus",
        cpus,
        "--json",
    ];
    let report = support::json(&run(&[&words[..], &[option, text(file)]].concat()));
    let findings = report["findings"].as_array().expect("findings").iter();
    let bad = findings.filter(|one| {
        one["outcome"]
            .as_str()
            .is_some_and(|outcome| outcomes.contains(&outcome))
    });
    let of_definitions = |id: &&str| id.starts_with("ctr-") || id.starts_with("vmw-");
    let ids = bad.filter_map(|one| one["id"].as_str().filter(of_definitions));
    ids.map(str::to_owned).collect()
}

/// True if this program exists: scripts/need.sh installs its package.
fn can_read(test: &str, program: &str, package: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        testing::skip(
            test,
            &format!("no {program} (package {package}): run scripts/need.sh test"),
        );
    }
    found && root_or_skip(test)
}

/// Runs a script in a separate mount namespace.
fn apart(script: &str) -> Output {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-ec", script])
        .output()
        .expect("unshare starts")
}
