//! Numbers and names from the machine for settings of the boot loader or another tool: no rule judges them.

use super::NicAnswer;
use super::kernel::vain::UNBOUND_SINCE;
use super::shared::{cpus, unclear};
use super::{cpus::number, shared};
use crate::facts::{Class, Facts, Subject};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::connection::{connection, ssh_client};
use host::cpuinfo::CpuInfo;
use host::kernel::RT_GROUP_ARGUMENT_SINCE;
use host::reader::Reader;
use units::CpuList;

const PCI: &str = "/sys/bus/pci/devices";
const NET: &str = "/sys/class/net";
/// First version whose vhost threads are threads of QEMU.
const VHOST_IN_QEMU_SINCE: f64 = 6004.0;
const LINKS: &str = "/etc/systemd/network";

pub(super) fn gather(reader: &Reader, _: &Parameters, facts: &mut Facts) {
    facts.set("workqueue.boot-cpus", boot_cpus(facts));
    facts.set("kernel.rt-group-argument", rt_group_argument(facts));
    facts.set("vhost.emulatorsched", emulator_policy(facts));
    facts.set("iommu.arguments", iommu_arguments(reader));
    let line = reader.text("/proc/cmdline").map_err(unclear);
    let words = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    facts.set("kernel.arguments", line.map(words));
    for part in facts.parts_mut(Class::RtCpu) {
        let path = format!("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_max_freq", part.name);
        let highest = reader.parsed::<u64>(&path, "a frequency in kHz");
        part.set("cpufreq.highest-khz", highest.map(|khz| khz as f64).map_err(unclear));
    }
    for part in facts.parts_mut(Class::Nic) {
        let path = path(reader, &part.name);
        part.set("nic.path", path);
        let words = coalesce(reader, &part.name);
        part.set("nic.coalesce-words", words.clone().map(|words| words.join(" ")));
        let run = |words: &String| format!(", RUN+=\"/sbin/ethtool -C {} {words}\"", part.name);
        let runs = words.map(|words| words.iter().map(run).collect::<String>());
        part.set("nic.coalesce-runs", runs);
    }
    let carriers = carriers(reader);
    facts.set("connection.nics", carriers.clone());
    for part in facts.parts_mut(Class::Domain) {
        let carrying = carrying(reader, part, &carriers);
        part.set("dom.host-devices-carrying", carrying);
        let ids = ids(reader, part);
        part.set("dom.host-device-ids", ids);
        let softdeps = softdeps(reader, part);
        part.set("dom.host-device-softdeps", softdeps);
    }
}

/// Parameters and values for `ethtool -C`, among those that the driver reported. The kernel refuses a request with a parameter that the
/// driver lacks, and reports only those that it has or that are not 0 (net/ethtool/coalesce.c of Linux 6.12, ethnl_set_coalesce and
/// coalesce_put_u32).
fn coalesce(reader: &Reader, name: &str) -> Result<Vec<String>, Unknown> {
    let said = NicAnswer::read(reader, name);
    said.get("coalesce", "rx-usecs")?;
    let counts = said.get("coalesce", "tx-frames").is_ok();
    let sent = if counts { ("tx-frames", "1") } else { ("tx-usecs", "0") };
    let wanted = [("rx-usecs", "0"), sent, ("adaptive-rx", "off"), ("adaptive-tx", "off")];
    let told = wanted.iter().filter(|(key, _)| said.get("coalesce", key).is_ok());
    Ok(told.map(|(key, value)| format!("{key} {value}")).collect())
}

/// Interfaces through which somebody may be connected to this machine: those of default routes, and of the ssh session on a live machine.
fn carriers(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let has_table = |path| reader.text(path).is_ok();
    match ["/proc/net/route", "/proc/net/ipv6_route"].into_iter().any(has_table) {
        true => Ok(connection(reader, reader.is_live().then(ssh_client).flatten())),
        false => Err(Unknown::unclear("the routes of this machine cannot be read")),
    }
}

/// Devices of a domain that carry a connection to this machine, directly or as the physical function below, each with its interface.
fn carrying(reader: &Reader, part: &Subject, carriers: &Result<Vec<String>, Unknown>) -> Result<Vec<String>, Unknown> {
    let passed = passed(part)?;
    if passed.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for name in carriers.clone()? {
        let links = ["", "/device", "/device/physfn"].map(|link| reader.target(&format!("{NET}/{name}{link}")));
        for address in &passed {
            let is_step = |step: &std::ffi::OsStr| step == address.as_str();
            if links.iter().flatten().any(|place| place.iter().any(is_step)) {
                found.push(format!("{address} ({name})"));
            }
        }
    }
    Ok(found)
}

/// CPUs for unbound work, if the kernel accepts them as an argument.
fn boot_cpus(facts: &Facts) -> Result<CpuList, Unknown> {
    match number(facts, "kernel.number") {
        Some(kernel) if kernel >= UNBOUND_SINCE => cpus(facts, "hk_cpus"),
        Some(_) => Err(Unknown::unclear(
            "workqueue.unbound_cpus exists since Linux 6.6: write /sys/devices/virtual/workqueue/cpumask at boot",
        )),
        None => Err(Unknown::unclear("the release of the kernel is not known")),
    }
}

/// True if the kernel has something that exists since a version.
fn is_since(facts: &Facts, version: f64) -> Result<bool, Unknown> {
    let kernel = number(facts, "kernel.number");
    let kernel = kernel.ok_or_else(|| Unknown::unclear("the release of the kernel is not known"))?;
    Ok(kernel >= version)
}

fn rt_group_argument(facts: &Facts) -> Result<String, Unknown> {
    match is_since(facts, f64::from(RT_GROUP_ARGUMENT_SINCE))? {
        true => Ok("rt_group_sched=0".to_owned()),
        false => Err(Unknown::unclear(
            "rt_group_sched= exists since Linux 6.16: install a kernel without RT_GROUP_SCHED",
        )),
    }
}

/// Policy of QEMU's other threads in libvirt's form, if vhost's threads are among them.
fn emulator_policy(facts: &Facts) -> Result<String, Unknown> {
    match is_since(facts, VHOST_IN_QEMU_SINCE)? {
        true => Ok("<cputune><emulatorsched scheduler='fifo' priority='1'/></cputune>".to_owned()),
        false => Err(Unknown::unclear(
            "before Linux 6.4 vhost's threads are the kernel's own, and emulatorsched does not reach them: set them in /etc/libvirt/hooks/qemu",
        )),
    }
}

/// Arguments that switch the IOMMU on for devices of guests only. AMD's and Arm's are on by default (Linux: kernel-parameters.txt).
fn iommu_arguments(reader: &Reader) -> Result<String, Unknown> {
    let info = CpuInfo::read(reader).map_err(unclear)?;
    let arguments = match info.distinct("vendor_id").as_deref() {
        Ok("GenuineIntel") => "intel_iommu=on iommu=pt",
        Ok("AuthenticAMD" | "HygonGenuine") => "iommu=pt",
        _ if info.distinct("CPU implementer").is_ok() => "iommu.passthrough=1",
        _ => {
            return Err(Unknown::unclear(
                "the maker of the processor is not known, so neither are the arguments of its IOMMU",
            ));
        }
    };
    Ok(arguments.to_owned())
}

/// udev's name for the place of a card (`ID_PATH`, path_id of systemd 252), which stays the same if the card's name changes. udev reads
/// only the first matching file, so if the site has its own file, none can be added.
fn path(reader: &Reader, name: &str) -> Result<String, Unknown> {
    let own = reader
        .names(LINKS, |name| name.ends_with(".link"))
        .or_else(|error| if error.is_absent() { Ok(Vec::new()) } else { Err(error) })
        .map_err(unclear)?;
    if let Some(file) = own.first() {
        return Err(Unknown::unclear(format!(
            "{LINKS}/{file} exists, and udev reads only the first file that matches: add the settings to the file of {name}"
        )));
    }
    let place = reader.target(&format!("{NET}/{name}")).map_err(unclear)?;
    let steps = place.iter().map(|step| step.to_string_lossy().into_owned());
    let mut above = steps.collect::<Vec<_>>().into_iter().rev().skip(1);
    let is_between = |step: &String| step == "net" || step.strip_prefix("virtio").is_some_and(shared::is_number);
    let device = above.find(|step| !is_between(step)).filter(|step| is_address(step));
    let address =
        device.ok_or_else(|| Unknown::unclear(format!("{name} is not a PCI device: write its .link by hand")))?;
    Ok(format!("pci-{address}"))
}

/// PCI address, such as `0000:02:00.0`.
fn is_address(step: &str) -> bool {
    let fields: Vec<&str> = step.split([':', '.']).collect();
    let is_hex = |field: &&str| !field.is_empty() && field.bytes().all(|b| b.is_ascii_hexdigit());
    fields.len() == 4 && step.matches(':').count() == 2 && fields.iter().all(is_hex)
}

/// Vendor and device numbers of a domain's devices, for vfio-pci. It takes every device with such numbers, so the host may have no other.
fn ids(reader: &Reader, part: &Subject) -> Result<String, Unknown> {
    let passed = passed(part)?;
    let mut found: Vec<String> = Vec::new();
    for address in &passed {
        let own = id(reader, address)?;
        let others = reader
            .names(PCI, |name| !passed.iter().any(|one| one == name))
            .map_err(unclear)?;
        if let Some(other) = others.iter().find(|other| id(reader, other).is_ok_and(|id| id == own)) {
            return Err(Unknown::unclear(format!(
                "{other} has the numbers {own} too, and vfio-pci would take it away from the host: \
                 driverctl set-override {address} vfio-pci names one device"
            )));
        }
        if !found.contains(&own) {
            found.push(own);
        }
    }
    match found.is_empty() {
        true => Err(Unknown::absent("no device is passed through")),
        false => Ok(found.join(",")),
    }
}

/// Lines that load vfio-pci before the drivers that now hold a domain's devices: the first driver takes the device.
fn softdeps(reader: &Reader, part: &Subject) -> Result<String, Unknown> {
    let mut lines = Vec::new();
    for address in passed(part)? {
        let driver = match reader.target(&format!("{PCI}/{address}/driver")) {
            Ok(place) => place.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Err(error) if error.is_absent() => continue,
            Err(error) => return Err(unclear(error)),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        match driver.chars().all(is_plain) {
            true if driver.contains("vfio") => {}
            true => lines.push(format!("softdep {driver} pre: vfio-pci\n")),
            false => return Err(Unknown::unclear(format!("{driver:?} is not the name of a module"))),
        }
    }
    lines.sort();
    lines.dedup();
    Ok(lines.concat())
}

/// PCI devices that a domain gets.
fn passed(part: &Subject) -> Result<Vec<String>, Unknown> {
    match Facts::default().get(Some(part), "dom.host-devices") {
        Ok(Value::List(passed)) => Ok(passed),
        _ => Err(Unknown::unclear("the devices that the domain gets are not known")),
    }
}

fn id(reader: &Reader, address: &str) -> Result<String, Unknown> {
    let of = |file: &str| {
        let path = format!("{PCI}/{address}/{file}");
        let line = reader.line(&path).map_err(unclear)?;
        let digits = line.strip_prefix("0x").unwrap_or(&line);
        match digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            true => Ok(digits.to_owned()),
            false => Err(Unknown::unclear(format!("{path}: not a number of four digits"))),
        }
    };
    Ok(format!("{}:{}", of("vendor")?, of("device")?))
}
