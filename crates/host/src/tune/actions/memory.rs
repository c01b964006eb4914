//! Huge pages and swap.

use super::Scene;
use crate::tune::operation::{Operation, Target};

const HUGE: &str = "/sys/kernel/mm/hugepages";
const KIB_OF_MIB: u64 = 1024;
/// The part of the free memory that may be taken: the rest is for what nobody counted.
const PART: f64 = 0.8;

/// Huge pages for all domains: of 1 GiB where the processor has them, else of 2 MiB.
pub(super) fn huge_pages(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let needed_mib = scene.number("hugepages.needed-mib")?;
    for page_mib in [1024_u64, 2] {
        let path = format!("{HUGE}/hugepages-{}kB/nr_hugepages", page_mib * KIB_OF_MIB);
        if !scene.exists(&path) {
            continue;
        }
        let (now, wanted) = (scene.count(&path)?, (needed_mib / page_mib as f64).ceil() as u64);
        let more_mib = wanted.saturating_sub(now) * page_mib;
        if more_mib == 0 {
            return Ok(Vec::new());
        }
        let free_mib = available_kib(scene)? / KIB_OF_MIB;
        if more_mib as f64 > free_mib as f64 * PART {
            return Err(format!(
                "{more_mib} MiB more in huge pages would leave too little of {free_mib} MiB of free memory"
            ));
        }
        return Ok(vec![Operation::write(path, wanted.to_string())]);
    }
    Err(format!("{HUGE}: neither pages of 1 GiB nor of 2 MiB"))
}

/// Every swap area that can be switched on again is switched off, where memory holds what is in them.
pub(super) fn swap_off(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let path = "/proc/swaps";
    let text = scene.reader.text(path).map_err(|error| error.to_string())?;
    let (mut areas, mut used_kib) = (Vec::new(), 0_u64);
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [area, _, _, used, _] = words[..] else {
            return Err(format!("{path}: \"{line}\" has not five columns"));
        };
        if area.contains("\\040") {
            return Err(format!(
                "{area} was deleted or has a blank in its name: it could not be switched on again"
            ));
        }
        used_kib += used
            .parse::<u64>()
            .map_err(|_| format!("{path}: \"{used}\" is no size"))?;
        areas.push(area.to_owned());
    }
    let free_kib = available_kib(scene)?;
    if used_kib as f64 > free_kib as f64 * PART {
        return Err(format!(
            "{used_kib} KiB are swapped out, and {free_kib} KiB of memory are free: end something first"
        ));
    }
    let off = areas.into_iter().map(|area| Operation {
        target: Target::Swap(area),
        value: "off".to_owned(),
    });
    Ok(off.collect())
}

fn available_kib(scene: &Scene<'_>) -> Result<u64, String> {
    let text = scene.reader.text("/proc/meminfo").map_err(|error| error.to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.ok_or_else(|| "/proc/meminfo does not say how much memory is free".to_owned())
}
