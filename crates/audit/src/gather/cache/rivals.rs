//! Others that program the cache allocation: programs, and scripts that write the registers.

use super::super::interrupts::register;
use super::super::shared::{Search, cpus, running, unclear};
use super::classes::L3_MASKS;
use super::resctrl::Allocation;
use crate::facts::Facts;
use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;

const PROGRAMS: [&str; 3] = ["pqos", "rdtset", "tcc"];
const SCRIPTS: [&str; 3] = ["/etc/rc.local", "/etc/rc.d/rc.local", "/etc/rc.d/boot.local"];
const UNITS: &str = "/etc/systemd/system";
/// Classes of service examined.
const CLASSES: u64 = 16;

pub(super) fn gather(reader: &Reader, found: Option<&Allocation>, facts: &mut Facts) {
    facts.set("cache.rivals", rivals(reader, facts));
    let strange = match found {
        Some(found) if found.groups.len() > 1 => strange(reader, found, facts),
        _ => Err(Unknown::absent("resctrl has no groups to compare the registers with")),
    };
    facts.set("cache.strange-masks", strange);
}

/// Running programs, and start-up files of the machine, that write these registers.
fn rivals(reader: &Reader, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let mut search = Search::default();
    match running(facts) {
        Ok(running) => {
            let names = running
                .keys()
                .filter(|name| PROGRAMS.iter().any(|program| name.starts_with(program)));
            names.for_each(|name| search.add(name.clone()));
        }
        Err(error) => search.missed(error),
    }
    let units = reader
        .names(UNITS, |name| name.ends_with(".service"))
        .unwrap_or_default();
    let units = units.iter().map(|name| format!("{UNITS}/{name}"));
    for path in SCRIPTS.iter().map(|path| (*path).to_owned()).chain(units) {
        if reader.text(&path).is_ok_and(|text| text.lines().any(writes)) {
            search.add(path);
        }
    }
    search.result()
}

fn writes(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with('#')
        && (line.contains("pqos") || (line.contains("wrmsr") && line.to_ascii_lowercase().contains("0xc")))
}

/// Masks in the registers of a housekeeping CPU that no group has: another program wrote them.
fn strange(reader: &Reader, found: &Allocation, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let cpu = cpus(facts, "hk_cpus")?.first().unwrap_or(0);
    let answer = reader.answer("l3-masks", || registers(cpu)).map_err(unclear)?;
    let known: Vec<u64> = found
        .groups
        .iter()
        .flat_map(|group| group.masks.iter())
        .filter(|(resource, _)| resource.starts_with("L3"))
        .flat_map(|(_, domains)| domains.values().copied())
        .collect();
    let full = known.iter().copied().fold(0, |all, mask| all | mask);
    let mut strange = Vec::new();
    for word in answer.split_whitespace() {
        let mask = u64::from_str_radix(word, 16);
        let mask = mask.map_err(|_| Unknown::unclear(format!("/.answers/l3-masks: \"{word}\" is not a mask")))?;
        // An unused class keeps all bits.
        if mask & full != full && !known.contains(&mask) {
            strange.push(format!("{mask:x}"));
        }
    }
    Ok(strange)
}

/// Formats the masks in hexadecimal.
fn registers(cpu: u32) -> Result<String, HostError> {
    let mut masks = vec![register(cpu, L3_MASKS)?];
    let others = (1..CLASSES).map_while(|class| register(cpu, L3_MASKS + class).ok());
    masks.extend(others);
    let words: Vec<String> = masks.iter().map(|mask| format!("{mask:x}")).collect();
    Ok(words.join(" "))
}
