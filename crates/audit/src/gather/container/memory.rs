//! Memory and swap limits of the control group of this process, version 1 or 2.

use crate::definition::container::Shape;
use crate::value::{Unknown, Why};
use host::cgroup::Group;
use host::reader::Reader;

/// From this value on, version 1 has no limit: the kernel shows the largest number of whole pages that it can count.
const NO_LIMIT: u64 = 1 << 62;

/// Stores the facts.
pub(super) fn note(reader: &Reader, group: &Result<Group, Unknown>, shape: &mut Shape) {
    let group = group.as_ref().map_err(Clone::clone);
    let is_first = group.clone().is_ok_and(|group| group.version == 1);
    let (octets, high, swap) = match is_first {
        true => (
            group.clone().and_then(|group| of_version_1(reader, group, LIMIT)),
            group.clone().and_then(|group| soft(reader, group)),
            group.and_then(|group| swap_of_version_1(reader, group)),
        ),
        false => {
            let line = |file: &str| -> Result<String, Unknown> {
                let directory = group.clone()?.directories.first().map_or("", String::as_str);
                Ok(reader.line(&format!("{directory}/{file}"))?)
            };
            (
                line("memory.max").and_then(|max| if max == "max" { Ok(None) } else { number(&max).map(Some) }),
                line("memory.high").map(|high| high != "max"),
                line("memory.swap.max").map(|max| max != "0"),
            )
        }
    };
    shape.set("ctr.memory", octets.map(|octets| octets.unwrap_or(0) as f64));
    shape.set("ctr.memory-high", high);
    shape.set("ctr.swap", swap);
}

const LIMIT: &str = "memory.limit_in_bytes";
const WITH_SWAP: &str = "memory.memsw.limit_in_bytes";

fn number(text: &str) -> Result<u64, Unknown> {
    text.parse()
        .map_err(|_| Unknown::unclear(format!("\"{text}\" is not a number of bytes")))
}

/// Lowest limit of the group and its visible ancestors; `None`: there is none.
fn of_version_1(reader: &Reader, group: &Group, file: &str) -> Result<Option<u64>, Unknown> {
    let mut least = None;
    for directory in &group.directories {
        let limit = number(&reader.line(&format!("{directory}/{file}"))?)?;
        least = least
            .into_iter()
            .chain(Some(limit).filter(|limit| *limit < NO_LIMIT))
            .min();
    }
    Ok(least)
}

/// True if the kernel reclaims memory of the group above a soft limit when memory is short.
fn soft(reader: &Reader, group: &Group) -> Result<bool, Unknown> {
    Ok(of_version_1(reader, group, "memory.soft_limit_in_bytes")?.is_some())
}

/// True if its memory may be swapped. One limit on memory and swap together keeps the group from gaining memory by swap, but does not
/// prevent the kernel from swapping its pages when memory is short (Linux: admin-guide/cgroup-v1/memory.rst, 2.4).
fn swap_of_version_1(reader: &Reader, group: &Group) -> Result<bool, Unknown> {
    let areas = reader.text("/proc/swaps")?;
    if areas.lines().skip(1).all(|line| line.trim().is_empty()) {
        return Ok(false);
    }
    let memory = of_version_1(reader, group, LIMIT)?;
    let both = match of_version_1(reader, group, WITH_SWAP) {
        // The kernel was started without swap accounting: nothing limits swap.
        Err(unknown) if unknown.why == Why::Absent => None,
        both => both?,
    };
    match (memory, both) {
        (Some(memory), Some(both)) if both <= memory => Err(Unknown::unclear(
            "memory and swap share one limit; in control groups of version 1 this limits the container, but does not keep the kernel \
             from swapping its memory when the machine is short of it: only swapoff does",
        )),
        _ => Ok(true),
    }
}
