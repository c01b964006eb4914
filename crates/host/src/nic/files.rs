//! Facts of one network interface from the files of `/sys` and `/proc`: its place, its queues, its interrupts.

use super::device::numa_node;
use super::interface::ROOT;
use super::interface::of_device;
use super::interrupts::{self, NicInterrupt};
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;
use units::CpuList;

/// The facts about the interface `name`, in the group `nic NAME`.
pub(crate) fn facts(reader: &Reader, name: &str) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, format!("nic {name}"));
    let at = |file: &str| format!("{ROOT}/{name}/{file}");
    sheet.line("state", &at("operstate"));
    sheet.line("MTU", &at("mtu"));
    sheet.line("transmit queue length", &at("tx_queue_len"));
    place(&mut sheet, name);
    sheet.line("deferred interrupts", &at("napi_defer_hard_irqs"));
    sheet.line("GRO flush timeout (ns)", &at("gro_flush_timeout"));
    sheet.switch("threaded polling", &at("threaded"), "kernel before 5.12");
    sheet.add(
        "receive steering (RPS)",
        &at("queues/rx-*/rps_cpus"),
        steering(reader, name, "rx-", "rps_cpus"),
    );
    sheet.add(
        "transmit steering (XPS)",
        &at("queues/tx-*/xps_cpus"),
        steering(reader, name, "tx-", "xps_cpus"),
    );
    shown_interrupts(&mut sheet, name);
    sheet.finish()
}

/// Place of the interface: node, physical function, bridge.
fn place(sheet: &mut Sheet<'_>, name: &str) {
    let reader = sheet.reader;
    let at = |file: &str| format!("{ROOT}/{name}/{file}");
    sheet.add("master", &at("master"), linked(reader, &at("master")));
    if !reader.exists(&at("device")).unwrap_or(false) {
        return;
    }
    sheet.add("NUMA node", &at("device/numa_node"), numa_node(reader, name));
    sheet.add(
        "near CPUs",
        &at("device/local_cpulist"),
        of_device(name, "local_cpulist", |path| reader.line(path)),
    );
    sheet.add(
        "physical function",
        &at("device/physfn"),
        linked(reader, &at("device/physfn")),
    );
    sheet.add(
        "virtual functions",
        &at("device/sriov_numvfs"),
        virtual_functions(reader, name),
    );
}

/// Last name of a link's target; "none" without the link.
fn linked(reader: &Reader, path: &str) -> Result<String, HostError> {
    match reader.target(path) {
        Ok(target) => {
            let name = target.file_name().and_then(|name| name.to_str()).map(str::to_owned);
            name.ok_or_else(|| HostError::unexpected(path, "a link", &target.display().to_string()))
        }
        Err(error) if error.is_absent() && reader.exists(ROOT).unwrap_or(false) => Ok("none".to_owned()),
        Err(error) => Err(error),
    }
}

fn virtual_functions(reader: &Reader, name: &str) -> Result<String, HostError> {
    let total = reader.line(&format!("{ROOT}/{name}/device/sriov_totalvfs"));
    match total {
        Ok(total) => {
            let made = reader.line(&format!("{ROOT}/{name}/device/sriov_numvfs"))?;
            Ok(format!("{made} of {total}"))
        }
        Err(error) if error.is_absent() => Ok("none: the device makes none".to_owned()),
        Err(error) => Err(error),
    }
}

/// CPUs to which each queue passes its work. All zero: the work stays on the CPU of the interrupt.
fn steering(reader: &Reader, name: &str, kind: &str, file: &str) -> Result<String, HostError> {
    let folder = format!("{ROOT}/{name}/queues");
    let queues = reader.names(&folder, |queue| queue.starts_with(kind))?;
    let mut shown = Vec::new();
    for queue in &queues {
        match mask(reader, &format!("{folder}/{queue}/{file}")) {
            Ok(cpus) if cpus.is_empty() => {}
            Ok(cpus) => shown.push(format!("{queue} to CPU {cpus}")),
            // The kernel has no such file, or refuses it, for a single transmit queue: there is no choice.
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(if shown.is_empty() {
        "off".to_owned()
    } else {
        shown.join(", ")
    })
}

/// A CPU mask in the kernel's notation: groups of eight hexadecimal digits, the highest first.
fn mask(reader: &Reader, path: &str) -> Result<CpuList, HostError> {
    let line = reader.line(path)?;
    let wrong = || HostError::unexpected(path, "a CPU mask", &line);
    let mut cpus = Vec::new();
    for (group, digits) in line.rsplit(',').enumerate() {
        let bits = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        let first = u32::try_from(group * 32).map_err(|_| wrong())?;
        cpus.extend((0..32).filter(|bit| bits & (1 << bit) != 0).map(|bit| first + bit));
    }
    Ok(cpus.into_iter().collect())
}

fn shown_interrupts(sheet: &mut Sheet<'_>, name: &str) {
    let source = "/proc/interrupts";
    match interrupts::of_nic(sheet.reader, name) {
        Err(error) => sheet.add("interrupts", source, Err(error)),
        Ok(all) => {
            let numbers: Vec<String> = all.iter().map(|one| one.number.to_string()).collect();
            let shown = if numbers.is_empty() {
                "none".to_owned()
            } else {
                numbers.join(" ")
            };
            sheet.add("interrupts", source, Ok(shown));
            for one in &all {
                let folder = format!("/proc/irq/{}", one.number);
                sheet.add(&format!("interrupt {}", one.number), &folder, Ok(served(one)));
                sheet.add(&format!("interrupt {} so far", one.number), source, Ok(so_far(one)));
            }
        }
    }
}

/// Such as `eth1-TxRx-0: on CPU 1 (allowed 0-3)`.
fn served(one: &NicInterrupt) -> String {
    let name = one.name.as_deref().unwrap_or("without a name");
    let known = |cpus: &Result<CpuList, HostError>| match cpus {
        Ok(cpus) if cpus.is_empty() => "none".to_owned(),
        Ok(cpus) => cpus.to_string(),
        Err(error) => format!("unknown: {}", error.reason()),
    };
    let (effective, allowed) = (known(&one.effective), known(&one.allowed));
    format!("{name}: on CPU {effective} (allowed {allowed})")
}

/// Counts by CPU: `CPU 0 18, CPU 1 25800`.
fn so_far(one: &NicInterrupt) -> String {
    let busy = one.counts.iter().filter(|(_, count)| *count > 0);
    let busy: Vec<String> = busy.map(|(cpu, count)| format!("CPU {cpu} {count}")).collect();
    if busy.is_empty() {
        "never".to_owned()
    } else {
        busy.join(", ")
    }
}
