//! How much memory the libvirt domains want in huge pages.

use std::fs;

use super::super::shared::unclear;
use crate::audit::parameters::Parameters;
use crate::audit::value::Unknown;
use crate::reader::Reader;

const DEFINITIONS: &str = "/etc/libvirt/qemu";

/// Whether a domain that is defined here has a virtio device behind an emulated IOMMU.
pub(super) fn virtio_behind_iommu(reader: &Reader) -> Result<bool, Unknown> {
    let names = match reader.names(DEFINITIONS, |name| name.ends_with(".xml")) {
        Err(error) if error.is_absent() => Vec::new(),
        names => names.map_err(unclear)?,
    };
    for name in names {
        let text = reader.text(&format!("{DEFINITIONS}/{name}")).map_err(unclear)?;
        if text.contains("iommu='on'") || text.contains("iommu=\"on\"") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The sum over the domains that were named; where none was, over those defined here that ask for huge pages. Absent: there is none.
pub(super) fn needed_mib(reader: &Reader, parameters: &Parameters) -> Result<f64, Unknown> {
    let mut texts = Vec::new();
    for domain in &parameters.domains {
        texts.push(definition(reader, domain)?);
    }
    if parameters.domains.is_empty() {
        let names = match reader.names(DEFINITIONS, |name| name.ends_with(".xml")) {
            Err(error) if error.is_absent() => Vec::new(),
            names => names.map_err(unclear)?,
        };
        for name in names {
            let text = reader.text(&format!("{DEFINITIONS}/{name}")).map_err(unclear)?;
            if text.contains("<hugepages") {
                texts.push(text);
            }
        }
    }
    if texts.is_empty() {
        return Err(Unknown::absent(
            "no domain was named, and none that is defined here asks for huge pages",
        ));
    }
    let mut kib = 0.0;
    for text in texts {
        kib += memory_kib(&text)
            .ok_or_else(|| Unknown::unclear("a domain's definition has no <memory> that can be read"))?;
    }
    Ok(kib / 1024.0)
}

/// A file, or a domain of this machine by its name.
fn definition(reader: &Reader, domain: &str) -> Result<String, Unknown> {
    if domain.contains('/') || domain.ends_with(".xml") {
        let text = fs::read_to_string(domain);
        return text.map_err(|error| Unknown::unclear(format!("{domain}: {error}")));
    }
    reader.text(&format!("{DEFINITIONS}/{domain}.xml")).map_err(unclear)
}

/// `<memory unit='GiB'>4</memory>`; without a unit, KiB (libvirt, formatdomain: memory allocation).
fn memory_kib(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("<memory")?;
    let rest = if rest.starts_with("Backing") {
        rest.split_once("<memory ").or_else(|| rest.split_once("<memory>"))?.1
    } else {
        rest
    };
    let (attributes, rest) = rest.split_once('>')?;
    let number: u64 = rest.split_once('<')?.0.trim().parse().ok()?;
    let unit = attributes
        .split_once("unit=")
        .map(|(_, unit)| unit.trim_matches(['\'', '"', ' ']));
    let kib = match unit.unwrap_or("KiB") {
        "b" | "bytes" => 1.0 / 1024.0,
        "KB" => 1000.0 / 1024.0,
        "k" | "KiB" => 1.0,
        "MB" => 1e6 / 1024.0,
        "M" | "MiB" => 1024.0,
        "GB" => 1e9 / 1024.0,
        "G" | "GiB" => 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number as f64 * kib)
}

#[cfg(test)]
mod tests {
    use super::memory_kib;

    #[test]
    fn memory_is_read_in_its_unit() {
        for (text, kib) in [
            ("<domain><memory unit='GiB'>4</memory>", Some(4_194_304.0)),
            ("<memory>2048</memory>", Some(2048.0)),
            ("<memoryBacking/>\n<memory unit=\"MiB\">2</memory>", Some(2048.0)),
            ("<memory unit='yards'>2</memory>", None),
            ("<memory unit='GiB'>four</memory>", None),
            ("<domain/>", None),
        ] {
            assert_eq!(memory_kib(text), kib, "{text}");
        }
    }
}
