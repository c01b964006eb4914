//! Memory, swap, huge pages, and background work that moves pages.

use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const MEMINFO: &str = "/proc/meminfo";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "memory");
    let text = reader.text(MEMINFO);
    let kib = |name: &str| text.as_ref().map_err(Clone::clone).and_then(|text| entry(text, name));
    let shown = |name| kib(name).map(|kib| format!("{} MiB", kib / 1024));
    sheet.add("total", MEMINFO, shown("MemTotal"));
    sheet.add("available", MEMINFO, shown("MemAvailable"));
    let swap = kib("SwapTotal").and_then(|total| match total {
        0 => Ok("none".to_owned()),
        _ => {
            kib("SwapFree").map(|free| format!("{} MiB, {} MiB used", total / 1024, total.saturating_sub(free) / 1024))
        }
    });
    sheet.add("swap", MEMINFO, swap);
    sheet.line("vm.swappiness", "/proc/sys/vm/swappiness");
    huge_pages(&mut sheet);
    sheet.choice(
        "transparent huge pages",
        THP,
        "kernel without them, as PREEMPT_RT kernels are",
    );
    sheet.line_or("KSM run", "/sys/kernel/mm/ksm/run", "kernel without KSM");
    let compaction = "kernel without compaction";
    sheet.line_or(
        "vm.compaction_proactiveness",
        "/proc/sys/vm/compaction_proactiveness",
        compaction,
    );
    sheet.switch(
        "compaction of locked pages",
        "/proc/sys/vm/compact_unevictable_allowed",
        compaction,
    );
    sheet.finish()
}

/// All memory that the kernel manages, in KiB.
pub fn total_kib(reader: &Reader) -> Result<u64, HostError> {
    entry(&reader.text(MEMINFO)?, "MemTotal")
}

/// Number of an entry such as `MemTotal:  24684084 kB`.
fn entry(text: &str, name: &str) -> Result<u64, HostError> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let line = line.ok_or_else(|| HostError::Undecided(format!("no {name} line")))?;
    let number = line.split_whitespace().next().and_then(|number| number.parse().ok());
    number.ok_or_else(|| HostError::unexpected(MEMINFO, "a number", line))
}

/// Pages reserved and free, by size.
fn huge_pages(sheet: &mut Sheet<'_>) {
    let folder = "/sys/kernel/mm/hugepages";
    let sizes = match sheet.reader.names(folder, |name| name.starts_with("hugepages-")) {
        Ok(sizes) => sizes,
        Err(error) => return sheet.explained("huge pages", folder, Err(error), "kernel without huge pages"),
    };
    if sizes.is_empty() {
        let none = HostError::Undecided("no size is listed".to_owned());
        sheet.add("huge pages", folder, Err(none));
    }
    for size in sizes {
        let path = format!("{folder}/{size}/nr_hugepages");
        let count = |path: &str| sheet.reader.parsed::<u64>(path, "a number of pages");
        let free = format!("{folder}/{size}/free_hugepages");
        let value = count(&path).and_then(|total| match total {
            0 => Ok("none reserved".to_owned()),
            _ => count(&free).map(|free| format!("{total} reserved, {free} free")),
        });
        let size = size.trim_start_matches("hugepages-").replace("kB", " KiB");
        sheet.add(&format!("huge pages of {size}"), &path, value);
    }
}
