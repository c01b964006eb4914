//! Description of loads made of threads, and checks of their amounts.

use std::fmt::Display;
use std::ops::RangeInclusive;

use units::CpuList;

use super::error::{AmountError, LoadError};
use super::settings::size_text;
use super::workers::Workers;

/// Upper limit of a count: a larger number is probably a typing error.
const MOST: u64 = 10_000;

/// Note for a load that ran but did nothing.
pub(super) const IDLE: &str = "it did no work";

/// A load made of threads of this process.
pub(super) trait ThreadLoad {
    /// Its name on the command line, in plans and in series.
    fn name(&self) -> &'static str;

    /// Its settings by key, in the form for parsing; defaults that the machine determines are omitted.
    fn settings(&self) -> Vec<(&'static str, String)>;

    /// Refuses impossible amounts.
    fn check(&self) -> Result<(), AmountError>;

    /// Its work in one line, with amounts.
    fn describe(&self) -> String;

    /// Unit of its work.
    fn unit(&self) -> &'static str;

    /// Unit of its second count, if it has one.
    fn extra_unit(&self) -> Option<&'static str> {
        None
    }

    /// Text for a load that did nothing, and true if the run then lacks its load.
    fn idle(&self) -> (&'static str, bool) {
        (IDLE, false)
    }

    /// Makes its threads, which wait for [`Workers::begin`]. The amounts are checked.
    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError>;
}

/// Refuses a number that is 0 or too large.
pub(super) fn check_count(load: &'static str, key: &'static str, value: usize) -> Result<(), AmountError> {
    check_range(load, key, value as u64, 1..=MOST, |count| count.to_string())
}

/// Refuses a number of bytes outside `range`.
pub(super) fn check_bytes(
    load: &'static str,
    key: &'static str,
    value: u64,
    range: RangeInclusive<u64>,
) -> Result<(), AmountError> {
    check_range(load, key, value, range, size_text)
}

/// Refuses a value outside `range`; `show` formats it as the user would write it.
pub(super) fn check_range(
    load: &'static str,
    key: &'static str,
    value: u64,
    range: RangeInclusive<u64>,
    show: impl Fn(u64) -> String,
) -> Result<(), AmountError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(AmountError {
        load,
        key,
        value: show(value),
        rule: format!("give {} to {}", show(*range.start()), show(*range.end())),
    })
}

/// An empty buffer of `bytes` bytes for the thread on each CPU. It only reserves address space: the thread touches the pages on its own CPU, and so
/// on its own memory node.
pub(super) fn buffers<T>(load: &'static str, places: Vec<u32>, bytes: u64) -> Result<Vec<(u32, Vec<T>)>, LoadError> {
    let count = places.len();
    check_room(load, count, bytes)?;
    let no_memory = || LoadError::NoMemory {
        load,
        buffers: count,
        bytes,
    };
    let length = usize::try_from(bytes).map_err(|_| no_memory())? / size_of::<T>();
    let buffers = places.into_iter().map(|place| {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(length).map_err(|_| no_memory())?;
        Ok((place, buffer))
    });
    buffers.collect()
}

/// Refuses buffers that exceed the free memory in total: the kernel would grant them and kill a process later.
fn check_room(load: &'static str, buffers: usize, bytes: u64) -> Result<(), LoadError> {
    let refusal = LoadError::NoMemory { load, buffers, bytes };
    let wanted = bytes.checked_mul(buffers as u64).ok_or_else(|| refusal.clone())?;
    match available_bytes() {
        Some(available) if wanted > available => Err(refusal),
        _ => Ok(()),
    }
}

/// Memory available without swapping: `MemAvailable` of `/proc/meminfo` (proc_meminfo(5)).
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    value
        .trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()
        .map(|kib| kib << 10)
}

/// `1 thread`, `4 threads`, or `1 thread per CPU`.
pub(super) fn threads_text(threads: Option<usize>) -> String {
    threads.map_or_else(|| "1 thread per CPU".to_owned(), |threads| counted(threads, "thread"))
}

/// `1 pair`, `10 pairs`.
pub(super) fn counted(count: usize, what: impl Display) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A setting, omitted if the machine determines it.
pub(super) fn given<T: ToString>(key: &'static str, value: Option<T>) -> Option<(&'static str, String)> {
    value.map(|value| (key, value.to_string()))
}
