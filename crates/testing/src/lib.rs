//! Helpers that the tests of all crates share: skips that are seen, the Python with the oracles, test vectors, programs that end with
//! their test, made-up histories of streams.

#![forbid(unsafe_code)]

pub mod histories;
mod running;
pub mod synthetic;
pub mod vectors;

pub use running::Running;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Set to 1, this lets tests that cannot run here say so and pass. Without it they fail, so that no test is left out unseen.
pub const ALLOW_SKIPS: &str = "TRIPTIME_ALLOW_SKIPS";

/// Leaves a test out: fails, unless skips are allowed; then it names the test and the reason on standard error.
///
/// # Panics
/// When skips are not allowed.
pub fn skip(test: &str, reason: &str) {
    let allowed = std::env::var_os(ALLOW_SKIPS).is_some_and(|value| value == "1");
    assert!(
        allowed,
        "{test} cannot run here: {reason}; set {ALLOW_SKIPS}=1 to leave it out"
    );
    // Not by eprintln, which the test harness captures: a test left out must be seen.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// Leaves a test out because this machine's kernel is built without what it is about: nothing that could be installed or allowed
/// would let it run. It is named and counted with those that are ignored.
pub fn not_in_this_kernel(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "IGNORED {test}: {reason}");
}

/// The Python interpreter whose packages are the oracles of the tests (`scripts/need.sh test` makes it). `None` after
/// leaving the test out.
pub fn python(test: &str) -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracle/bin/python");
    let path = std::env::var_os("TRIPTIME_PYTHON").map_or(default, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    skip(test, &format!("no {}: run scripts/need.sh test", path.display()));
    None
}

/// Output of a Python script that is given `text`: other people's readers, which raise where they refuse it. `None` after leaving the test
/// out.
///
/// # Panics
/// The script refuses the text.
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

/// The folder of recorded faults that lies beside the project where it is developed; `None`, with the test named among those that
/// are ignored, where there is none: the records' licences keep them out of the project. `TRIPTIME_CORPUS` names another place.
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
