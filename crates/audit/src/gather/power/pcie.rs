//! Power saving of the PCIe links of the named interfaces.

use std::path::Path;

use super::super::shared::{Search, nics, unclear};
use crate::facts::{Class, Facts, Subject};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::error::HostError;
use host::nic::interface::{ROOT, is_on_a_bus};
use host::reader::Reader;

/// Power switches of a link, in the folder `link` of its device.
const SWITCHES: [&str; 5] = ["l0s_aspm", "l1_aspm", "l1_1_aspm", "l1_2_aspm", "clkpm"];

pub(in super::super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    for name in nics(parameters, facts) {
        let mut part = Subject::new(name.clone());
        let place = device(reader, &name);
        part.set("nic.pci-device", place.clone());
        part.set("nic.pcie-sleep", place.and_then(|place| sleeps(reader, &place)));
        facts.add(Class::Nic, part);
    }
}

/// Folder of its PCI device. Absent if it is not on a PCI bus.
fn device(reader: &Reader, name: &str) -> Result<String, Unknown> {
    reader.names(&format!("{ROOT}/{name}"), |_| false).map_err(unclear)?;
    let place = match reader.target(&format!("{ROOT}/{name}/device")) {
        Err(error) if error.is_absent() && is_on_a_bus(reader, name) => return Err(unclear(error)),
        place => place?.display().to_string(),
    };
    // For virtio, the PCI device is the parent.
    let above = place.rsplit_once('/').map(|(above, _)| above.to_owned());
    let found = [Some(place.clone()), above]
        .into_iter()
        .flatten()
        .find(|place| on_pci(reader, place));
    found.ok_or_else(|| match reader.target(&format!("{place}/subsystem")) {
        Ok(bus) => Unknown::absent(format!("{name} is not on a PCI bus, but on {}", bus.display())),
        Err(error) => Unknown::unclear(format!("cannot find the bus of {name}: {error}")),
    })
}

/// A device on the PCI bus, even if its registers are missing from a tree.
fn on_pci(reader: &Reader, place: &str) -> bool {
    is_address(Path::new(place)) || reader.exists(&format!("{place}/config")).unwrap_or(false)
}

/// `0000:09:00.0`
fn is_address(place: &Path) -> bool {
    let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parts: Vec<&str> = name.split([':', '.']).collect();
    let widths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    widths == [4, 2, 2, 1] && parts.concat().bytes().all(|octet| octet.is_ascii_hexdigit())
}

/// Parts of the device and of its upstream port that save power.
fn sleeps(reader: &Reader, place: &str) -> Result<Vec<String>, Unknown> {
    let mut search = Search::default();
    match reader.line(&format!("{place}/power/control")) {
        Ok(word) if word == "on" => {}
        Ok(word) => search.add(format!("the device (power/control {word})")),
        Err(error) => search.missed(unclear(error)),
    }
    let above = place.rsplit_once('/').map_or("", |(above, _)| above);
    for place in [place, above] {
        if on_pci(reader, place) {
            of_link(reader, place, &mut search);
        }
    }
    search.result()
}

fn of_link(reader: &Reader, place: &str, search: &mut Search) {
    let name = place.rsplit('/').next().unwrap_or(place);
    match reader.names(&format!("{place}/link"), |switch| SWITCHES.contains(&switch)) {
        Ok(switches) if !switches.is_empty() => {
            // A switch is missing if the link cannot save power, or if a tree left it out: the register decides.
            if let Ok(Some(control)) = reader
                .head(&format!("{place}/config"), 256)
                .map(|space| link_control(&space))
                && control & 0b11 != 0
            {
                search.add(format!("ASPM of {name} (link control)"));
            }
            for switch in switches {
                match reader.line(&format!("{place}/link/{switch}")) {
                    Ok(value) if value == "0" => {}
                    Ok(_) => search.add(format!("{switch} of {name}")),
                    Err(error) => search.missed(error),
                }
            }
        }
        Ok(_) => by_registers(reader, place, name, search),
        Err(error) if error.is_absent() => by_registers(reader, place, name, search),
        Err(error) => search.missed(error),
    }
}

/// Reads the register that the hardware uses, if those switches are missing.
fn by_registers(reader: &Reader, place: &str, name: &str, search: &mut Search) {
    let path = format!("{place}/config");
    match reader.head(&path, 256) {
        Ok(space) => match link_control(&space) {
            Some(control) if control & 0b11 == 0 => {}
            Some(_) => search.add(format!("ASPM of {name} (link control)")),
            None => search.missed(HostError::Undecided(format!(
                "{path}: the PCI Express capability cannot be read: only root sees more than 64 bytes"
            ))),
        },
        Err(error) => search.missed(error),
    }
}

/// Link Control, 16 bytes into the PCI Express capability (PCI Express base specification 7.5.3.7): bits 1 and 0 enable ASPM.
fn link_control(space: &[u8]) -> Option<u16> {
    const PCI_EXPRESS: u8 = 0x10;
    let mut at = usize::from(*space.get(0x34)? & !3);
    // A list of 48 entries fills the space: a longer one is circular.
    for _ in 0..48 {
        if at == 0 {
            return None;
        }
        if *space.get(at)? == PCI_EXPRESS {
            return Some(u16::from_le_bytes([*space.get(at + 16)?, *space.get(at + 17)?]));
        }
        at = usize::from(*space.get(at + 1)? & !3);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::link_control;

    #[test]
    fn the_link_control_register_is_found_in_the_list() {
        let mut space = [0_u8; 256];
        assert_eq!(link_control(&space), None);
        (space[0x34], space[0x40], space[0x41]) = (0x40, 0x01, 0x70);
        (space[0x70], space[0x80]) = (0x10, 0x02);
        assert_eq!(link_control(&space), Some(2));
        assert_eq!(link_control(&space[..64]), None);
        space[0x41] = 0x40;
        assert_eq!(link_control(&space), None, "a circle ends");
    }
}
