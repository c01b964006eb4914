//! Interrupts of a network interface, and the CPUs that serve them.

use std::collections::BTreeMap;

use units::CpuList;

use super::interface::of_device;
use crate::error::HostError;

use crate::reader::Reader;

/// An interrupt of a network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicInterrupt {
    /// Interrupt number.
    pub number: u32,
    /// The driver's name for it, such as `eth1-TxRx-0`; `None` if it is not in use.
    pub name: Option<String>,
    /// CPUs to which it may go, from `smp_affinity_list`.
    pub allowed: Result<CpuList, HostError>,
    /// CPU to which it goes, from `effective_affinity_list`.
    pub effective: Result<CpuList, HostError>,
    /// Number of times it occurred since boot, by CPU.
    pub counts: Vec<(u32, u64)>,
}

/// A line of `/proc/interrupts`.
struct InterruptLine {
    number: u32,
    name: String,
    counts: Vec<(u32, u64)>,
}

/// Interrupts of the interface `name`: those that its device lists, and those named after it (drivers of devices outside PCI list none).
pub fn of_nic(reader: &Reader, name: &str) -> Result<Vec<NicInterrupt>, HostError> {
    let lines = lines(&reader.text("/proc/interrupts")?);
    let listed = match listed(reader, name) {
        Ok(listed) => listed,
        Err(error) if error.is_absent() => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut numbers: Vec<u32> = listed.iter().filter_map(|number| number.parse().ok()).collect();
    numbers.extend(
        lines
            .iter()
            .filter(|line| is_named_after(&line.name, name))
            .map(|line| line.number),
    );
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers.into_iter().map(|number| one(reader, number, &lines)).collect())
}

/// Names of the interrupts with a handler, by number.
pub fn names(reader: &Reader) -> Result<BTreeMap<u32, String>, HostError> {
    let path = "/proc/interrupts";
    let text = reader.text(path)?;
    let found: BTreeMap<u32, String> = lines(&text)
        .into_iter()
        .filter(|line| !line.name.is_empty())
        .map(|line| (line.number, line.name))
        .collect();
    if found.is_empty() {
        return Err(HostError::unexpected(path, "numbered interrupts with names", &text));
    }
    Ok(found)
}

/// Numbers of the message-signalled interrupts that its device lists.
pub fn listed(reader: &Reader, name: &str) -> Result<Vec<String>, HostError> {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    of_device(name, "msi_irqs", |path| reader.names(path, is_number))
}

fn one(reader: &Reader, number: u32, lines: &[InterruptLine]) -> NicInterrupt {
    let line = lines.iter().find(|line| line.number == number);
    NicInterrupt {
        number,
        name: line.map(|line| line.name.clone()).filter(|name| !name.is_empty()),
        allowed: reader.cpus(&format!("/proc/irq/{number}/smp_affinity_list")),
        effective: reader.cpus(&format!("/proc/irq/{number}/effective_affinity_list")),
        counts: line.map(|line| line.counts.clone()).unwrap_or_default(),
    }
}

/// True if a name such as `eth1`, `eth1-TxRx-0`, `eth1:rx-0`, `ice-eth1-TxRx-0` contains the interface's name as one of its parts.
pub fn is_named_after(interrupt: &str, interface: &str) -> bool {
    interrupt
        .split(|c: char| "-:@, ".contains(c))
        .any(|part| part == interface)
}

/// Numbered lines; the first line of the file names the CPUs.
fn lines(text: &str) -> Vec<InterruptLine> {
    let mut lines = text.lines();
    let heads = lines.next().unwrap_or_default().split_whitespace();
    let cpus: Vec<u32> = heads
        .filter_map(|head| head.strip_prefix("CPU")?.parse().ok())
        .collect();
    lines.filter_map(|line| parse(line, &cpus)).collect()
}

fn parse(line: &str, cpus: &[u32]) -> Option<InterruptLine> {
    let (number, rest) = line.split_once(':')?;
    let number = number.trim().parse().ok()?;
    let mut words = rest.split_whitespace();
    let counts = cpus
        .iter()
        .map_while(|cpu| Some((*cpu, words.next()?.parse().ok()?)))
        .collect();
    // The controller and the trigger (`1-edge`, `Level`) follow, then the names of the handlers that share the interrupt.
    let rest: Vec<&str> = words.collect();
    let is_trigger = |word: &str| {
        ["edge", "level", "fasteoi"]
            .iter()
            .any(|end| word.to_ascii_lowercase().ends_with(end))
    };
    let after = rest
        .iter()
        .position(|word| is_trigger(word))
        .map_or(rest.len().saturating_sub(1), |at| at + 1);
    Some(InterruptLine {
        number,
        name: rest.get(after..).unwrap_or_default().join(" "),
        counts,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_named_after, lines};

    #[test]
    fn lines_of_different_controllers() {
        let text = "           CPU0       CPU2       \n \
             24:          1          0  IO-APIC   5-edge      ACPI:Ged\n \
             38:          0      25818 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n \
             51:          7          8     GICv3 226 Level     end0, other\n \
             60:          0          0  PCI-MSI 524288-edge\n\
             NMI:          0          0   Non-maskable interrupts\nERR:          0\n";
        let found = lines(text);
        let names: Vec<(u32, &str)> = found.iter().map(|line| (line.number, line.name.as_str())).collect();
        assert_eq!(
            names,
            [(24, "ACPI:Ged"), (38, "virtio2-input.0"), (51, "end0, other"), (60, "")]
        );
        assert_eq!(found[1].counts, [(0, 0), (2, 25_818)]);
    }

    #[test]
    fn names_of_drivers() {
        for name in ["eth1", "eth1-TxRx-0", "eth1:rx-0", "ice-eth1-TxRx-0", "eth0, eth1"] {
            assert!(is_named_after(name, "eth1"), "{name}");
        }
        for name in ["eth10", "eth10-TxRx-0", "myeth1", "virtio2-input.0", ""] {
            assert!(!is_named_after(name, "eth1"), "{name}");
        }
    }

    #[test]
    fn broken_lines_are_passed_over() {
        assert!(lines("").is_empty());
        assert!(lines("CPU0\nx\n:\n1\n").is_empty());
        assert_eq!(lines("CPU0 CPU1\n 5: 3 x\n")[0].counts, [(0, 3)]);
    }
}
