//! Part of the kernel's log that goes to consoles, and slow consoles.

use crate::facts::Facts;
use crate::value::Unknown;
use host::cmdline::Cmdline;
use host::error::{HostError, Unreadable};
use host::reader::Reader;

const LEVELS: &str = "/proc/sys/kernel/printk";
/// True if every message goes to the consoles, whatever its level. It can be switched while the system runs.
const IGNORES_LEVEL: &str = "/sys/module/printk/parameters/ignore_loglevel";
const CONSOLES: &str = "/proc/consoles";

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("console.level", level(reader));
    facts.set("console.ignores-level", ignores_level(reader));
    facts.set("console.serial", serial(reader));
    facts.set("console.names", names(reader));
}

/// Messages below this level go to the consoles: 4 lets errors through.
fn level(reader: &Reader) -> Result<u32, HostError> {
    let line = reader.line(LEVELS)?;
    let first = line.split_whitespace().next().and_then(|number| number.parse().ok());
    first.ok_or_else(|| HostError::unexpected(LEVELS, "four numbers", &line))
}

fn ignores_level(reader: &Reader) -> Result<bool, Unknown> {
    match reader.line(IGNORES_LEVEL) {
        Ok(line) => Ok(line == "Y"),
        Err(error) if error.is_absent() => Ok(Cmdline::read(reader)?.last("ignore_loglevel").is_some()),
        Err(error) => Err(error.into()),
    }
}

/// All active consoles.
fn names(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let text = listed(reader)?;
    let first = text.lines().filter_map(|line| line.split_whitespace().next());
    Ok(first.map(str::to_owned).collect())
}

/// Text of the file; empty if it exists and no console is active.
fn listed(reader: &Reader) -> Result<String, HostError> {
    match reader.text(CONSOLES) {
        Err(HostError::Unreadable {
            why: Unreadable::Empty, ..
        }) => Ok(String::new()),
        text => text,
    }
}

/// Active serial consoles that print in the context of the logging thread (admin-guide/serial-console.rst).
fn serial(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let text = listed(reader)?;
    let mut found = Vec::new();
    for line in text.lines() {
        let wrong = || HostError::unexpected(CONSOLES, "lines such as ttyS0 -W- (EC p a) 4:64", line);
        let name = line.split_whitespace().next().ok_or_else(wrong)?;
        let (_, flags) = line.split_once('(').ok_or_else(wrong)?;
        let (flags, _) = flags.split_once(')').ok_or_else(wrong)?;
        // N: a console with a thread of its own, which delays nobody.
        if is_serial(name) && flags.contains('E') && !flags.contains('N') {
            found.push(name.to_owned());
        }
    }
    Ok(found)
}

/// True for `ttyS0`, `ttyAMA0`; `tty0` is a screen.
fn is_serial(name: &str) -> bool {
    let kind = name.strip_prefix("tty");
    kind.is_some_and(|kind| kind.starts_with(|c: char| c.is_ascii_alphabetic()))
}
