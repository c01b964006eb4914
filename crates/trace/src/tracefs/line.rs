//! Parses the beginning of every line of tracefs (`trace`, `trace_pipe`; clock `mono`: seconds and microseconds).

use units::Monotonic;

/// The CPU of an event, and its instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) cpu: u32,
    /// Instant with a resolution of a microsecond.
    pub(super) at: Monotonic,
}

/// Parses `  name-pid   [001] d.h2.  1234.567890: event: fields` and calls `parse` with the head, the event and its fields. The
/// thread's name may contain anything, even text like the rest of a line: the first position from which the whole line can be
/// parsed counts.
pub(super) fn read<T>(line: &str, parse: impl Fn(Head, &str, &str) -> Option<T>) -> Option<T> {
    if line.starts_with('#') {
        return None;
    }
    line.match_indices(" [").find_map(|(at, _)| {
        let (number, rest) = line[at + 2..].split_once("] ")?;
        let cpu = number.parse().ok()?;
        let (_flags, rest) = rest.trim_start().split_once(' ')?;
        let (stamp, rest) = rest.trim_start().split_once(": ")?;
        let (event, fields) = rest.split_once(": ")?;
        let at = parse_stamp(stamp)?;
        parse(Head { cpu, at }, event, fields)
    })
}

/// Number of missing events, from `CPU:1 [LOST 23 EVENTS]`; 1 if the kernel does not know it.
pub(super) fn lost(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("CPU:")?.split_once(" [LOST ")?;
    let count = rest.split_once(' ').and_then(|(count, _)| count.parse().ok());
    Some(count.unwrap_or(1))
}

/// Parses `1234.567890` as an instant.
fn parse_stamp(stamp: &str) -> Option<Monotonic> {
    let (seconds, fraction) = stamp.split_once('.')?;
    if fraction.len() != 6 {
        return None;
    }
    let seconds: i64 = seconds.parse().ok()?;
    let microseconds: i64 = fraction.parse().ok()?;
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(microseconds * 1_000)?;
    Some(Monotonic::from_ns(ns))
}

#[cfg(test)]
mod tests {
    use super::{lost, read};

    #[test]
    fn the_head_is_read() {
        let line = "  odd [7] name: x-961     [008] d.h..  5789.857532: irq_noise: a: b";
        let read = read(line, |head, event, fields| {
            Some((head, event.to_owned(), fields.to_owned()))
        });
        let (head, event, fields) = read.expect("an event");
        assert_eq!((head.cpu, head.at.as_ns()), (8, 5_789_857_532_000));
        assert_eq!((event.as_str(), fields.as_str()), ("irq_noise", "a: b"));
    }

    #[test]
    fn losses_are_counted() {
        assert_eq!(lost("CPU:1 [LOST 23 EVENTS]"), Some(23));
        assert_eq!(lost("CPU:1 [LOST EVENTS]"), Some(1));
        assert_eq!(lost("##### CPU 1 buffer started ####"), None);
    }
}
