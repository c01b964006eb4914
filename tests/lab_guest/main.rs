//! A virtual machine made by the program: the commands in it, its end, and its remains.

mod alone;
mod at_once;
mod disk;
mod ends;
mod joined;
mod machine;
mod measured;

use std::path::PathBuf;
use support::guest::guest;

/// The options that boot the newest kernel, emulated; `None` if the test was skipped.
fn boots(test: &str) -> Option<Vec<String>> {
    let folder = kernel(test)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let words = [
        "lab",
        "guest",
        "--accel",
        "tcg",
        "--kernel",
        &path("vmlinux"),
        "--modules",
        &path(""),
    ];
    Some(words.map(str::to_owned).to_vec())
}

/// The same for the oldest supported kernel, given by the folder with the kernel and its modules.
fn boots_oldest(test: &str) -> Option<Vec<String>> {
    let folder = kernel_named(test, "5.10-rt")?.display().to_string();
    let words = ["lab", "guest", "--accel", "tcg", "--kernel", &folder];
    Some(words.map(str::to_owned).to_vec())
}

/// The folder of the newest kernel.
fn kernel(test: &str) -> Option<PathBuf> {
    kernel_named(test, "6.12-rt")
}

fn kernel_named(test: &str, name: &str) -> Option<PathBuf> {
    match guest(name) {
        Ok(folder) => Some(folder),
        Err(why) => {
            testing::skip(test, &why);
            None
        }
    }
}

/// The options with further words after them.
fn with<'a>(words: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    words.iter().map(String::as_str).chain(more.iter().copied()).collect()
}
