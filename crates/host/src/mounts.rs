//! `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use crate::error::HostError;
use crate::reader::Reader;

pub(crate) const PATH: &str = "/proc/self/mountinfo";

/// One mounted file system.
#[derive(Debug)]
pub(crate) struct Mount {
    /// Directory of the file system that is mounted; `/` when it is whole.
    pub(crate) root: String,
    /// Where it is mounted.
    pub(crate) point: String,
    /// Type, such as `ext4`.
    pub(crate) kind: String,
    /// Device or other source.
    pub(crate) source: String,
    /// Options of the file system, such as a cgroup hierarchy's controllers.
    pub(crate) options: Vec<String>,
}

pub(crate) fn read(reader: &Reader) -> Result<Vec<Mount>, HostError> {
    let text = reader.text(PATH)?;
    let mounts = parse(&text);
    if mounts.is_empty() {
        Err(HostError::unexpected(PATH, "lines of mounts", &text))
    } else {
        Ok(mounts)
    }
}

/// The lines that are understood.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

/// `36 35 98:0 /root /point options [optional fields] - type source options`.
fn mount(line: &str) -> Option<Mount> {
    let (place, what) = line.split_once(" - ")?;
    let mut place = place.split_whitespace().skip(3);
    let mut what = what.split_whitespace();
    Some(Mount {
        root: unescape(place.next()?),
        point: unescape(place.next()?),
        kind: what.next()?.to_owned(),
        source: unescape(what.next()?),
        options: what.next().unwrap_or("").split(',').map(str::to_owned).collect(),
    })
}

/// Spaces, tabs, line ends and backslashes are written as three octal digits.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}
