//! Steps of a plan in places.

use super::{generous_limits, run};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::Path;
use std::process::Output;

const HEAD: &str = r#"
name = "short"
what = "Each step in a few seconds, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"
"#;

/// Lock of tests that start containers or check their remains: parallel tests, even of different programs, would share the machine's budget for
/// real-time threads.
pub struct Alone(#[expect(dead_code, reason = "it is held")] File);

/// Waits until no other test of this machine has containers.
pub fn alone() -> Alone {
    // The name must not look like a remain of a run ([`super::left`]).
    let file = File::create(std::env::temp_dir().join(".containers-of-tests.lock")).expect("a file");
    flock(&file, FlockOperation::LockExclusive).expect("a lock");
    Alone(file)
}

/// The path of a plan of these steps in `directory`.
pub fn plan(directory: &Path, steps: &str) -> String {
    let path = directory.join("short.toml");
    std::fs::write(&path, format!("{HEAD}{steps}")).expect("written");
    path.display().to_string()
}

/// `qualify` of these steps in a container, with further words; returns its output, and the path of its run file.
pub fn in_container(directory: &Path, steps: &str, more: &[&str]) -> (Output, String) {
    let out = directory.join("run.triptime").display().to_string();
    let (plan, limits) = (plan(directory, steps), generous_limits(directory));
    let words = ["--place", "container", "--json", "--quiet", "--disturb"];
    let output = run(&[
        &["qualify", &plan, "--limits", &limits, "--out", &out],
        &words[..],
        more,
    ]
    .concat());
    (output, out)
}
