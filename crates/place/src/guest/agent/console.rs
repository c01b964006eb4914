//! Messages of the agent on the guest's console.

use std::fs::{OpenOptions, read_to_string};
use std::io::Write;
use std::path::Path;

/// The kernel's list of its consoles: standard error of this process is the last one.
const ACTIVE: &str = "/sys/class/tty/console/active";

/// Writes a line to the consoles.
pub(super) fn say(line: &str) {
    write(format!("triptime: {line}\n").as_bytes());
}

/// Writes bytes to every console: a screen and a serial port may both exist, and it is unknown which of them is watched.
pub(super) fn write(octets: &[u8]) {
    let _ = std::io::stderr().write_all(octets);
    for name in others(&read_to_string(ACTIVE).unwrap_or_default()) {
        let opened = OpenOptions::new().write(true).open(Path::new("/dev").join(name));
        // An error is ignored: a console that cannot be written to has no reader.
        let _ = opened.and_then(|mut console| console.write_all(octets));
    }
}

/// All consoles except the last.
fn others(active: &str) -> Vec<&str> {
    let mut names: Vec<&str> = active.split_whitespace().collect();
    names.pop();
    names
}

#[cfg(test)]
mod tests {
    use super::others;

    #[test]
    fn what_is_said_comes_to_no_console_twice() {
        assert_eq!(others("ttyS0 tty0\n"), ["ttyS0"]);
        assert!(others("tty0\n").is_empty() && others("").is_empty());
    }
}
