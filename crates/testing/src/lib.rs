//! Helpers that the tests of all crates share: visible skips, a Python with reference implementations, test vectors, programs that end with their
//! test, simulated histories of streams.

#![forbid(unsafe_code)]

pub mod histories;
mod running;
pub mod synthetic;
pub mod vectors;

pub use running::Running;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// If this is 1, tests that cannot run here are reported and pass. Otherwise they fail, so that no test is skipped unnoticed.
pub const ALLOW_SKIPS: &str = "TRIPTIME_ALLOW_SKIPS";

/// Skips a test: fails, unless skips are allowed; then it prints the test and the reason on standard error.
///
/// # Panics
/// When skips are not allowed.
pub fn skip(test: &str, reason: &str) {
    let allowed = std::env::var_os(ALLOW_SKIPS).is_some_and(|value| value == "1");
    assert!(
        allowed,
        "{test} cannot run here: {reason}; set {ALLOW_SKIPS}=1 to leave it out"
    );
    // Not eprintln, which the test harness captures: a skip must be visible.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// Skips a test because this machine's kernel lacks the tested feature: no installation or permission would let it run. It is reported and counted as
/// ignored.
pub fn not_in_this_kernel(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "IGNORED {test}: {reason}");
}

/// The Python interpreter with the reference implementations for tests (`scripts/need.sh test` makes it). `None` after skipping the test.
pub fn python(test: &str) -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracle/bin/python");
    let path = std::env::var_os("TRIPTIME_PYTHON").map_or(default, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    skip(test, &format!("no {}: run scripts/need.sh test", path.display()));
    None
}

/// Output of a Python script with `text` as its input: third-party readers, which raise an error if they reject it. `None` after skipping the test.
///
/// # Panics
/// The script rejects the text.
pub fn read_by_python(test: &str, script: &str, text: &str) -> Option<String> {
    let mut command = Command::new(python(test)?);
    command
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("Python starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("read by Python");
    drop(input);
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success(), "the reader refused it (see above)\n{text}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// The folder of recorded faults next to the project in its development environment; otherwise `None`, with the test reported as ignored. The
/// records' licences do not permit including them. `TRIPTIME_CORPUS` names another folder.
pub fn corpus(test: &str) -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = std::env::var_os("TRIPTIME_CORPUS").map_or(default, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    let _ = writeln!(
        std::io::stderr(),
        "IGNORED {test}: no {}, and no TRIPTIME_CORPUS",
        path.display()
    );
    None
}
