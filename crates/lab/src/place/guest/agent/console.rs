//! What the agent says on the guest's console.

use std::io::Write;

/// Says a line there.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "triptime: {line}");
}
