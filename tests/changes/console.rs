//! A login on a console of the machine during a measurement.

use super::{Measurement, Started};
use model::Subject;
use std::fs::OpenOptions;
use std::process::{Command, Stdio};
use support::root_or_skip;

/// A virtual console.
const CONSOLE: &str = "/dev/tty1";

#[test]
fn a_shell_on_a_console_is_told_when_it_comes_and_when_it_goes() {
    let test = "a_shell_on_a_console_is_told_when_it_comes_and_when_it_goes";
    if !root_or_skip(test) {
        return;
    }
    let Ok(console) = OpenOptions::new().read(true).write(true).open(CONSOLE) else {
        return testing::skip(test, "there is no virtual console");
    };
    let mut measurement = Measurement::start();
    // The shell reads a second command, so that it does not become the first one.
    let shell = Command::new("setsid")
        .args(["--ctty", "bash", "-c", "read -t 600 line; exit"])
        .stdin(console)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let shell = Started(shell.expect("setsid"));
    let came = measurement.told(Subject::Console, "bash", |change| change.after.is_some());
    assert_eq!(
        (came.before.as_deref(), came.after.as_deref()),
        (None, Some("logged in"))
    );
    drop(shell);
    let gone = measurement.told(Subject::Console, "bash", |change| change.after.is_none());
    assert!(gone.at_ns > came.at_ns, "{gone:?}");
    measurement.end();
}
