//! A bed of `lab up` with a name that no other test uses, and helpers for it.

use std::process::{Command, Output};
use std::time::Duration;
use support::{run, stderr};

/// A name that no other test uses; its bed is removed when the test ends or fails.
pub(crate) struct Named(pub(crate) String);

impl Named {
    pub(crate) fn new(of: &str) -> Self {
        Self(format!("test-{}-{of}", std::process::id()))
    }

    pub(crate) fn up(&self, more: &[&str]) -> Output {
        run(&[&["lab", "up", &self.0], more].concat())
    }

    pub(crate) fn down(&self) -> Output {
        run(&["lab", "down", &self.0])
    }

    /// Its line in `lab list`, if it is there.
    pub(crate) fn listed(&self) -> Option<String> {
        let text = out(&run(&["lab", "list"]));
        let line = text.lines().find(|line| line.starts_with(&self.0));
        line.map(str::to_owned)
    }

    /// The command line for the end called `end`, without the dots after it.
    pub(crate) fn way(&self, text: &str, end: &str) -> Vec<String> {
        let line = text.lines().find(|line| line.trim().starts_with(end));
        let line = line.unwrap_or_else(|| panic!("no {end}: {text}"));
        let words = line
            .trim()
            .strip_prefix(end)
            .unwrap_or_default()
            .trim()
            .trim_end_matches(" ...");
        // The first is the interface.
        words.split_whitespace().skip(1).map(str::to_owned).collect()
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if self.listed().is_some() {
            self.down();
        }
    }
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a command line of `lab up`, with the binary under test in place of its name, and further words.
pub(crate) fn at(way: &[String], words: &[&str]) -> Output {
    let binary = support::binary();
    let mut command = Command::new(&way[0]);
    for word in &way[1..] {
        match word == "triptime" {
            true => command.arg(&binary),
            false => command.arg(word),
        };
    }
    command.args(words).output().expect("started")
}

/// Sends a second of sampled values from the test set; returns the number of frames at the device's interface.
pub(crate) fn directed(bed: &Named, text: &str) -> u64 {
    let test_set = bed.way(text, "test set");
    let sent = at(
        &test_set,
        &[
            "publish",
            "ts0",
            "--streams",
            "1",
            "--duration",
            "1s",
            "--quiet",
            "--dst",
            "ff:ff:ff:ff:ff:ff",
        ],
    );
    assert!(matches!(sent.status.code(), Some(0 | 3)), "{}", stderr(&sent));
    received(&bed.way(text, "device 0"), "dut0")
}

/// Number of frames that an interface received in the namespace of a command line of `lab up`.
pub(crate) fn received(way: &[String], interface: &str) -> u64 {
    let counts = Command::new(&way[0])
        .args(&way[1..way.len() - 1])
        .args(["ip", "-s", "-j", "link", "show", interface])
        .output()
        .expect("ip");
    let links: serde_json::Value = serde_json::from_slice(&counts.stdout).expect("JSON");
    links[0]["stats64"]["rx"]["packets"].as_u64().expect("a count")
}

/// Waits until a condition is true.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}
