//! The kernel's log.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

/// Longest record (`CONSOLE_EXT_LOG_MAX`, linux/console.h).
const RECORD_BYTES: usize = 8192;

/// Reads the records that the kernel still has, the oldest first, as `/dev/kmsg` gives them: `priority,sequence,microseconds since
/// boot,flags;text` (Documentation/ABI/testing/dev-kmsg). Other readers still get the same records.
///
/// # Errors
/// The device is missing, or access is refused: with `kernel.dmesg_restrict` it needs `CAP_SYSLOG`.
pub fn records() -> io::Result<Vec<String>> {
    let mut log = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg")?;
    let mut records = Vec::new();
    let mut record = [0; RECORD_BYTES];
    loop {
        match log.read(&mut record) {
            Ok(0) => return Ok(records),
            Ok(length) => records.push(String::from_utf8_lossy(&record[..length]).into_owned()),
            // Records were overwritten before they were read: continues with the next one.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(records),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
