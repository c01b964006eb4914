//! What `/proc/interrupts` counts, summed up by CPU.

use std::collections::BTreeMap;

/// Calls `add` with the name of each row (`24`, `LOC`) and a count of it, once for each CPU, whose sums it adds to. Rows may end early:
/// some count for the whole machine. No CPU: the text is not of `/proc/interrupts`.
pub(crate) fn summed<T: Default>(text: &str, mut add: impl FnMut(&str, &mut T, u64)) -> BTreeMap<u32, T> {
    let mut lines = text.lines();
    let heads = lines.next().unwrap_or_default().split_whitespace();
    let cpus: Vec<u32> = heads
        .filter_map(|head| head.strip_prefix("CPU")?.parse().ok())
        .collect();
    let mut sums: BTreeMap<u32, T> = cpus.iter().map(|cpu| (*cpu, T::default())).collect();
    for (name, rest) in lines.filter_map(|line| line.split_once(':')) {
        for (cpu, word) in cpus.iter().zip(rest.split_whitespace()) {
            let (Ok(count), Some(sums)) = (word.parse(), sums.get_mut(cpu)) else {
                break;
            };
            add(name.trim(), sums, count);
        }
    }
    sums
}

/// Whether the row is of a device: it has a number, not a name.
pub(crate) fn is_device(row: &str) -> bool {
    row.bytes().all(|octet| octet.is_ascii_digit())
}
