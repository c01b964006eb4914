//! `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use crate::error::HostError;
use crate::reader::Reader;

/// The list of mounts.
pub const PATH: &str = "/proc/self/mountinfo";

/// One mounted file system.
#[derive(Debug)]
pub struct Mount {
    /// Numbers of its device, such as `254:1`; the first is 0 if it has no block device of its own.
    pub(crate) device: String,
    /// Directory of the file system that is mounted; `/` if it is the whole.
    pub(crate) root: String,
    /// Mount point.
    pub point: String,
    /// Options of the mount, such as `noatime`.
    pub(crate) flags: Vec<String>,
    /// Type, such as `ext4`.
    pub kind: String,
    /// Device or other source.
    pub(crate) source: String,
    /// Options of the file system, such as a cgroup hierarchy's controllers.
    pub options: Vec<String>,
}

/// Reads the mounts of this process's namespace, in the order of the file.
///
/// # Errors
/// The file cannot be read or lists no mount.
pub fn read(reader: &Reader) -> Result<Vec<Mount>, HostError> {
    let text = reader.text(PATH)?;
    let mounts = parse(&text);
    if mounts.is_empty() {
        Err(HostError::unexpected(PATH, "lines of mounts", &text))
    } else {
        Ok(mounts)
    }
}

/// Lines that can be parsed.
pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

/// Parses `36 35 98:0 /root /point options [optional fields] - type source options`.
fn mount(line: &str) -> Option<Mount> {
    let (place, what) = line.split_once(" - ")?;
    let listed = |text: &str| text.split(',').map(str::to_owned).collect();
    let mut place = place.split_whitespace().skip(2);
    let mut what = what.split_whitespace();
    Some(Mount {
        device: place.next()?.to_owned(),
        root: unescape(place.next()?),
        point: unescape(place.next()?),
        flags: listed(place.next().unwrap_or("")),
        kind: what.next()?.to_owned(),
        source: unescape(what.next()?),
        options: listed(what.next().unwrap_or("")),
    })
}

/// Decodes spaces, tabs, line ends and backslashes, which are written as three octal digits.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}
