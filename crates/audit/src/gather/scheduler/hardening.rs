//! Protections that lengthen each entry into the kernel, or each allocation.

use crate::facts::Facts;
use crate::value::Unknown;
use host::cmdline::Cmdline;
use host::error::HostError;
use host::reader::Reader;

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
const CACHE_FLUSH: &str = "/sys/module/kvm_intel/parameters/vmentry_l1d_flush";
/// Arguments that enable a protection which is off by default, with the enabling values.
const ARGUMENTS: [(&str, &[&str], &str); 3] = [
    (
        "pti",
        &["on"],
        "pti=on: page tables are switched at each entry, whatever the processor",
    ),
    (
        "init_on_free",
        &["1", "y", "on"],
        "init_on_free: freed memory is cleared at once",
    ),
    (
        "page_poison",
        &["1", "y", "on"],
        "page_poison: freed pages are overwritten",
    ),
];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("security.mitigations", mitigations(reader));
    facts.set("security.slub-checks", slub_checks(reader));
    facts.set("security.costly", costly(reader));
}

/// Kernel mitigations of weaknesses of this processor.
fn mitigations(reader: &Reader) -> Result<Vec<String>, HostError> {
    let mut found = Vec::new();
    for name in reader.names(VULNERABILITIES, |_| true)? {
        let state = reader.line(&format!("{VULNERABILITIES}/{name}"))?;
        if let Some(means) = state.strip_prefix("Mitigation: ") {
            found.push(format!("{name}: {means}"));
        }
    }
    Ok(found)
}

/// True if each allocation is checked: red zones (Z), poison (P), consistency (F); an argument without letters enables these too.
fn slub_checks(reader: &Reader) -> Result<bool, Unknown> {
    let line = Cmdline::read(reader)?;
    let mut given = line.values("slub_debug").chain(line.values("slab_debug"));
    Ok(given.any(|value| {
        let letters = value.split(',').next().unwrap_or_default();
        letters.is_empty() || letters.to_uppercase().contains(['F', 'P', 'Z'])
    }))
}

fn costly(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let line = Cmdline::read(reader)?;
    let switched = |name: &str, on: &[&str]| line.last(name).is_some_and(|value| on.contains(&value));
    let given = ARGUMENTS.iter().filter(|(name, on, _)| switched(name, on));
    let mut found: Vec<String> = given.map(|(.., text)| (*text).to_owned()).collect();
    if slub_checks(reader)? {
        found.push("slub_debug: each allocation is checked".to_owned());
    }
    match reader.line(CACHE_FLUSH) {
        Ok(mode) if mode == "always" => found.push("the first cache is flushed at each entry of a guest".to_owned()),
        Ok(_) => {}
        Err(error) if error.is_absent() => {}
        Err(error) => return Err(error.into()),
    }
    Ok(found)
}
