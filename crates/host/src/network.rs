//! Network interfaces and socket settings as facts.

use crate::error::HostError;
use crate::fact::{Fact, Sheet};
use crate::interface::{self, Interface, InterfaceKind, ROOT};
use crate::reader::Reader;

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "network");
    let interfaces = interface::all(reader);
    let names = interfaces
        .as_ref()
        .map_err(Clone::clone)
        .map(|interfaces| match interfaces.len() {
            0 => "none".to_owned(),
            _ => interfaces
                .iter()
                .map(|interface| interface.name.as_str())
                .collect::<Vec<_>>()
                .join(" "),
        });
    sheet.add("interfaces", ROOT, names);
    for interface in interfaces.unwrap_or_default() {
        common(&mut sheet, &interface);
        if interface.kind == InterfaceKind::Device {
            device(&mut sheet, &interface.name);
        }
    }
    sheet.line_or(
        "busy polling of reads (us)",
        "/proc/sys/net/core/busy_read",
        "kernel without busy polling",
    );
    sheet.line_or(
        "busy polling of waits (us)",
        "/proc/sys/net/core/busy_poll",
        "kernel without busy polling",
    );
    sheet.line_or(
        "largest receive buffer",
        "/proc/sys/net/core/rmem_max",
        "only the first network namespace has it",
    );
    sheet.line_or(
        "receive backlog",
        "/proc/sys/net/core/netdev_max_backlog",
        "only the first network namespace has it",
    );
    sheet.finish()
}

/// What every interface has.
fn common(sheet: &mut Sheet<'_>, interface: &Interface) {
    let name = &interface.name;
    sheet.add(
        &format!("{name} kind"),
        &format!("{ROOT}/{name}"),
        Ok(interface.kind.word().to_owned()),
    );
    sheet.line(&format!("{name} MAC"), &format!("{ROOT}/{name}/address"));
    sheet.line(&format!("{name} MTU"), &format!("{ROOT}/{name}/mtu"));
    sheet.line(&format!("{name} state"), &format!("{ROOT}/{name}/operstate"));
}

/// What only interfaces with a device have.
fn device(sheet: &mut Sheet<'_>, name: &str) {
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
        interrupts(reader, name),
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

/// A file or directory of the device; behind virtio, those of the PCI device that carries it.
pub(crate) fn of_device<T>(
    name: &str,
    file: &str,
    read: impl Fn(&str) -> Result<T, HostError>,
) -> Result<T, HostError> {
    match read(&format!("{ROOT}/{name}/device/{file}")) {
        Err(error) if error.is_absent() => read(&format!("{ROOT}/{name}/device/../{file}")).map_err(|_| error),
        result => result,
    }
}

/// The kernel shows -1 on machines with a single node.
pub(crate) fn numa_node(reader: &Reader, name: &str) -> Result<String, HostError> {
    let node = of_device(name, "numa_node", |path| reader.line(path))?;
    Ok(if node == "-1" { "any".to_owned() } else { node })
}

fn queues(reader: &Reader, name: &str) -> Result<String, HostError> {
    let names = reader.names(&format!("{ROOT}/{name}/queues"), |_| true)?;
    let count = |kind: &str| names.iter().filter(|name| name.starts_with(kind)).count();
    Ok(format!("{} receive, {} transmit", count("rx-"), count("tx-")))
}

/// Its message-signalled interrupts, each with the CPUs it may go to.
fn interrupts(reader: &Reader, name: &str) -> Result<String, HostError> {
    let is_number = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
    let numbers = of_device(name, "msi_irqs", |path| reader.names(path, is_number))?;
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

/// A device with a clock of its own can stamp frames in hardware.
fn ptp_clock(reader: &Reader, name: &str) -> Result<String, HostError> {
    let names = of_device(name, "ptp", |path| reader.names(path, |name| name.starts_with("ptp")));
    match names {
        Ok(names) if names.is_empty() => Ok("none".to_owned()),
        Ok(names) => Ok(names.join(" ")),
        Err(error) if error.is_absent() => Ok("none".to_owned()),
        Err(error) => Err(error),
    }
}
