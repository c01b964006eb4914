//! Huge pages and swap.

use super::Scene;
use crate::operation::{Operation, Target};

const HUGE: &str = "/sys/kernel/mm/hugepages";
const NODES: &str = "/sys/devices/system/node";
const KIB_OF_MIB: u64 = 1024;
const GIB_MIB: u64 = 1024;
/// Share of the free memory that may be taken: the rest is a reserve for unknown needs.
const PART: f64 = 0.8;

/// Reserves huge pages for all domains: of 1 GiB if the processor has them, else of 2 MiB; on a machine with several nodes, on those of the
/// domains.
pub(super) fn huge_pages(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let wanted = scene.fact("hugepages.wanted-pages")?.to_string();
    let sizes = [GIB_MIB, 2];
    let exists = |page_mib: &u64| scene.exists(&format!("{HUGE}/{}", file(*page_mib)));
    let page_mib = sizes.into_iter().find(exists);
    let page_mib = page_mib.ok_or_else(|| format!("{HUGE}: neither pages of 1 GiB nor of 2 MiB"))?;
    let (mut operations, mut more_mib) = (Vec::new(), 0);
    for part in wanted.split(',') {
        let (folder, gibibytes) = match part.split_once(':') {
            Some((node, count)) => (format!("{NODES}/node{node}/hugepages"), count),
            None => (HUGE.to_owned(), part),
        };
        let gibibytes: u64 = gibibytes
            .parse()
            .map_err(|_| format!("\"{part}\" is not a number of pages"))?;
        let (path, pages) = (format!("{folder}/{}", file(page_mib)), gibibytes * GIB_MIB / page_mib);
        let now = scene.count(&path)?;
        if pages > now {
            more_mib += (pages - now) * page_mib;
            operations.push(Operation::write(path, pages.to_string()));
        }
    }
    let free_mib = available_kib(scene)? / KIB_OF_MIB;
    if more_mib as f64 > free_mib as f64 * PART {
        return Err(format!(
            "{more_mib} MiB more in huge pages would leave too little of {free_mib} MiB of free memory"
        ));
    }
    Ok(operations)
}

fn file(page_mib: u64) -> String {
    format!("hugepages-{}kB/nr_hugepages", page_mib * KIB_OF_MIB)
}

/// Switches off every swap area that can be switched on again, if memory can hold its content.
pub(super) fn swap_off(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let path = "/proc/swaps";
    let text = scene.reader.text(path).map_err(|error| error.to_string())?;
    let (mut areas, mut used_kib) = (Vec::new(), 0_u64);
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [area, _, _, used, _] = words[..] else {
            return Err(format!("{path}: \"{line}\" does not have five columns"));
        };
        if area.contains("\\040") {
            return Err(format!(
                "{area} was deleted or has a space in its name, so it could not be switched on again"
            ));
        }
        used_kib += used
            .parse::<u64>()
            .map_err(|_| format!("{path}: \"{used}\" is not a size"))?;
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
    kib.ok_or_else(|| "/proc/meminfo does not show the free memory".to_owned())
}
