//! Facts of an interface's device from its files, one line each in the group `network`.

use super::interface::{self, ROOT, of_device};
use super::interrupts;
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;

/// Facts that only interfaces with a device have.
pub(crate) fn facts(sheet: &mut Sheet<'_>, name: &str) {
    let reader = sheet.reader;
    let at = |file: &str| format!("{ROOT}/{name}/{file}");
    sheet.add(
        &format!("{name} driver"),
        &at("device/driver"),
        interface::driver(reader, name),
    );
    let carrier = reader
        .line(&at("carrier"))
        .map(|line| if line == "1" { "yes" } else { "no" }.to_owned());
    sheet.add(&format!("{name} carrier"), &at("carrier"), carrier);
    let speed = interface::speed(reader, name).map(|speed| format!("{speed} Mbit/s"));
    sheet.add(&format!("{name} speed"), &at("speed"), speed);
    sheet.line(&format!("{name} duplex"), &at("duplex"));
    sheet.add(
        &format!("{name} NUMA node"),
        &at("device/numa_node"),
        numa_node(reader, name),
    );
    sheet.add(&format!("{name} queues"), &at("queues"), queues(reader, name));
    sheet.add(
        &format!("{name} interrupts"),
        &at("device/msi_irqs"),
        allowed(reader, name),
    );
    sheet.add(&format!("{name} PTP clock"), &at("device/ptp"), ptp_clock(reader, name));
    sheet.line(&format!("{name} deferred interrupts"), &at("napi_defer_hard_irqs"));
    sheet.line(&format!("{name} GRO flush timeout (ns)"), &at("gro_flush_timeout"));
    sheet.switch(
        &format!("{name} threaded polling"),
        &at("threaded"),
        "kernel before 5.12",
    );
}

/// The kernel shows -1 on machines with a single node.
pub(super) fn numa_node(reader: &Reader, name: &str) -> Result<String, HostError> {
    let node = of_device(name, "numa_node", |path| reader.line(path))?;
    Ok(if node == "-1" { "any".to_owned() } else { node })
}

fn queues(reader: &Reader, name: &str) -> Result<String, HostError> {
    let names = reader.names(&format!("{ROOT}/{name}/queues"), |_| true)?;
    let count = |kind: &str| names.iter().filter(|name| name.starts_with(kind)).count();
    Ok(format!("{} receive, {} transmit", count("rx-"), count("tx-")))
}

/// Message-signalled interrupts of the device, each with its allowed CPUs.
fn allowed(reader: &Reader, name: &str) -> Result<String, HostError> {
    let numbers = interrupts::listed(reader, name)?;
    let shown = numbers.iter().map(|number| {
        let cpus = reader.line(&format!("/proc/irq/{number}/smp_affinity_list"));
        let cpus = cpus.unwrap_or_else(|error| format!("unknown: {}", error.reason()));
        format!("{number} (CPU {cpus})")
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    Ok(if shown.is_empty() {
        "none listed".to_owned()
    } else {
        shown
    })
}

/// PTP clock of the device: with one it can stamp frames in hardware.
fn ptp_clock(reader: &Reader, name: &str) -> Result<String, HostError> {
    let names = of_device(name, "ptp", |path| reader.names(path, |name| name.starts_with("ptp")));
    match names {
        Ok(names) if names.is_empty() => Ok("none".to_owned()),
        Ok(names) => Ok(names.join(" ")),
        Err(error) if error.is_absent() => Ok("none".to_owned()),
        Err(error) => Err(error),
    }
}
