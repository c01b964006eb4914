//! Counts frames that the kernel dropped between the drivers and its protocols.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// One line per CPU; the second number counts frames that its queue had no room for (net/core/net-procfs.c). Every network
/// namespace shows the counts of the whole host.
const PATH: &str = "/proc/net/softnet_stat";

/// Reads the count, which covers all interfaces together.
pub(super) struct Backlog(Option<File>);

impl Backlog {
    pub(super) fn open() -> Self {
        Self(File::open(PATH).ok())
    }

    /// Frames dropped since the host was started; `None` if the file cannot be read, or is longer than `room`. Allocates nothing.
    pub(super) fn read(&self, room: &mut [u8]) -> Option<u64> {
        let file = self.0.as_ref()?;
        let mut filled = 0;
        loop {
            match file.read_at(&mut room[filled..], filled as u64) {
                Ok(0) if filled == room.len() => return None,
                Ok(0) => return dropped(&room[..filled]),
                Ok(octets) => filled += octets,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

fn dropped(text: &[u8]) -> Option<u64> {
    let lines = std::str::from_utf8(text).ok()?.lines();
    let of_cpu = |line: &str| u64::from_str_radix(line.split(' ').nth(1)?, 16).ok();
    lines.map(of_cpu).sum()
}

#[cfg(test)]
mod tests {
    use super::{Backlog, dropped};

    #[test]
    fn the_cpus_are_added_up() {
        let text = b"000676cd 00000002 00000000\n000152bb 0000000f 00000000\n";
        assert_eq!(dropped(text), Some(17));
        assert_eq!(dropped(b"nonsense\n"), None);
        let live = Backlog::open();
        assert!(live.read(&mut [0; 1 << 16]).is_some(), "of this host");
        assert_eq!(live.read(&mut [0; 16]), None, "no room");
    }
}
