//! The card of a management network: its IPv4 address, which this kernel answers for, and the CPUs of its interrupts.

use super::super::asked::MANAGEMENT;
use std::fs::{read_dir, write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use sys::link::{add_address, list, set_up};
use units::CpuList;
use wire::ether::Mac;

/// The kernel's folders of network interfaces and of interrupts.
const INTERFACES: &str = "/sys/class/net";
const INTERRUPTS: &str = "/proc/irq";
/// The folder of a PCI device that lists its message-signalled interrupts.
const OF_DEVICE: &str = "msi_irqs";

/// Settings of the card on the kernel command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManagementCard {
    /// Its MAC address, which identifies it.
    pub(super) mac: [u8; 6],
    /// Its IP address.
    address: Ipv4Addr,
    /// Length of the network prefix in bits.
    prefix: u8,
    /// The CPUs for its interrupts.
    cpus: CpuList,
}

impl FromStr for ManagementCard {
    type Err = String;

    /// `MAC,ADDRESS/BITS,CPUS`.
    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (mac, rest) = text.split_once(',')?;
            let (address, cpus) = rest.split_once(',')?;
            let (address, prefix) = address.split_once('/')?;
            Some(Self {
                mac: mac.parse::<Mac>().ok()?.0,
                address: address.parse().ok()?,
                prefix: prefix.parse().ok().filter(|bits| *bits <= 32)?,
                cpus: cpus.parse().ok()?,
            })
        };
        read().ok_or_else(|| format!("{MANAGEMENT}{text}: is not MAC,ADDRESS/BITS,CPUS"))
    }
}

impl ManagementCard {
    /// Brings the card up; returns a description, or `None` if it cannot be used.
    pub(super) fn up(&self, complaints: &mut Vec<String>) -> Option<String> {
        let made = self.named().and_then(|name| {
            let made = set_up(&name).and_then(|()| add_address(&name, self.address, self.prefix));
            made.map(|()| name).map_err(|error| error.to_string())
        });
        let name = made
            .map_err(|why| complaints.push(format!("the management card: {why}")))
            .ok()?;
        let of_card = interrupts(Path::new(INTERFACES), &name);
        let refused = of_card.iter().filter_map(|number| self.interrupt(number).err());
        let refused: Vec<String> = refused.collect();
        let text = match (of_card.is_empty(), refused.is_empty()) {
            (true, _) => "the CPUs of its interrupts are unknown".to_owned(),
            (_, true) => format!("interrupts {} on cpu {}", of_card.join(" "), self.cpus),
            (_, false) => format!("its interrupts go elsewhere: {}", refused.join("; ")),
        };
        complaints.extend(refused);
        Some(format!("{name}, {}/{}, {text}", self.address, self.prefix))
    }

    fn named(&self) -> Result<String, String> {
        let links = list().map_err(|error| error.to_string())?;
        let found = links.into_iter().find(|link| link.mac == self.mac);
        found
            .map(|link| link.name)
            .ok_or_else(|| format!("no card has the address {}", Mac(self.mac)))
    }

    fn interrupt(&self, number: &str) -> Result<(), String> {
        let file = format!("{INTERRUPTS}/{number}/smp_affinity_list");
        write(&file, self.cpus.to_string()).map_err(|error| format!("{file}: {error}"))
    }
}

/// Numbers of the interrupts of a network interface's device, or of its parent device, as with virtio.
fn interrupts(interfaces: &Path, name: &str) -> Vec<String> {
    let device: Option<PathBuf> = interfaces.join(name).join("device").canonicalize().ok();
    let mut devices = device.iter().flat_map(|device| device.ancestors().take(2));
    let entries = devices.find_map(|device| read_dir(device.join(OF_DEVICE)).ok());
    let names = entries.into_iter().flatten().flatten();
    let mut numbers: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    numbers.sort_by_key(|number| number.parse::<u32>().unwrap_or(u32::MAX));
    numbers
}

#[cfg(test)]
mod tests {
    use super::{ManagementCard, interrupts};
    use std::os::unix::fs::symlink;

    #[test]
    fn what_the_command_line_says_is_read_whole() {
        let card: ManagementCard = "02:00:00:00:00:ab,198.18.0.2/24,0,2-3".parse().expect("a card");
        assert_eq!((card.mac[5], card.prefix), (0xab, 24));
        assert_eq!(
            (card.address.to_string(), card.cpus.to_string()),
            ("198.18.0.2".into(), "0,2-3".into())
        );
        for wrong in [
            "",
            "02:00:00:00:00:ab",
            "02:00:00:00:00:ab,198.18.0.2,0",
            "02:00:00:00:00:ab,198.18.0.2/33,0",
        ] {
            let refused = wrong.parse::<ManagementCard>().expect_err(wrong);
            assert!(refused.contains("is not MAC,ADDRESS/BITS,CPUS"), "{refused}");
        }
    }

    #[test]
    fn the_interrupts_of_a_virtio_card_are_those_of_its_device_on_the_bus() {
        let root = tempfile::tempdir().expect("a folder");
        let virtio = root.path().join("pci/0000:00:03.0/virtio1");
        std::fs::create_dir_all(&virtio).expect("made");
        for number in ["28", "9", "27"] {
            let folder = root.path().join("pci/0000:00:03.0/msi_irqs");
            std::fs::create_dir_all(&folder).expect("made");
            std::fs::write(folder.join(number), "msix").expect("written");
        }
        let interface = root.path().join("net/eth1");
        std::fs::create_dir_all(&interface).expect("made");
        symlink(&virtio, interface.join("device")).expect("made");
        assert_eq!(interrupts(&root.path().join("net"), "eth1"), ["9", "27", "28"]);
        assert_eq!(interrupts(&root.path().join("net"), "eth2"), [""; 0]);
    }
}
