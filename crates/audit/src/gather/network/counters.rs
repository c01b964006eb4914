//! The kernel's counters of an interface: lost frames, and changes of the link.

use crate::facts::{Class, Facts};
use crate::gather::observed::{Counter, Reading};
use host::error::HostError;
use host::nic::interface::ROOT;
use host::reader::Reader;

/// Frames that the card or its driver dropped (Linux: ABI sysfs-class-net-statistics).
const LOST: [&str; 6] = [
    "rx_dropped",
    "rx_missed_errors",
    "rx_fifo_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "tx_dropped",
];

const SOFTNET: &str = "/proc/net/softnet_stat";

/// Stores the lost frames and link changes of each interface, and the frames that the kernel's receive queues dropped or deferred.
pub(crate) fn count(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    for part in facts.parts(Class::Nic) {
        let lost = LOST
            .iter()
            .map(|file| number(reader, &format!("{ROOT}/{}/statistics/{file}", part.name)))
            .sum();
        let changes = number(reader, &format!("{ROOT}/{}/carrier_changes", part.name));
        for (fact, value) in [("observed.nic-lost", lost), ("observed.link-changes", changes)] {
            let counter = Counter {
                part: Some((Class::Nic, part.name.clone())),
                fact: fact.to_owned(),
            };
            reading.insert(counter, value);
        }
    }
    let text = reader.text(SOFTNET);
    for (fact, column) in [("observed.softnet-dropped", 1), ("observed.softnet-squeezed", 2)] {
        let value = text.clone().and_then(|text| softnet(&text, column));
        let counter = Counter {
            part: None,
            fact: fact.to_owned(),
        };
        reading.insert(counter, value);
    }
}

fn number(reader: &Reader, path: &str) -> Result<f64, HostError> {
    reader.parsed::<u64>(path, "a number").map(|number| number as f64)
}

/// Sum of one column of hexadecimal numbers; each line is a CPU.
fn softnet(text: &str, column: usize) -> Result<f64, HostError> {
    let of_cpu = |line: &str| {
        let word = line.split_whitespace().nth(column);
        let number = word.and_then(|word| u64::from_str_radix(word, 16).ok());
        number
            .map(|number| number as f64)
            .ok_or_else(|| HostError::unexpected(SOFTNET, "columns of hexadecimal numbers", line))
    };
    text.lines().map(of_cpu).sum()
}
