//! Facts inside a virtual machine.

use super::observed::{Counter, Reading};
use super::shared::{argument, running, unclear};
use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::clock;
use host::cmdline::Cmdline;
use host::error::HostError;
use host::hypervisor::{self, HypervisorKind};
use host::reader::Reader;

/// Clocks of the hypervisor, by driver name.
const OF_HYPERVISOR: [&str; 3] = ["KVM virtual PTP", "ptp_vmw", "hyperv"];

const CHRONY: [&str; 2] = ["/etc/chrony.conf", "/etc/chrony/chrony.conf"];
const CHRONY_FOLDERS: [&str; 2] = ["/etc/chrony.d", "/etc/chrony/conf.d"];

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    facts.set("guest.ptp-clocks", ptp_clocks(reader));
    facts.set("guest.ptp-clock-used", ptp_clock_used(reader, facts));
    facts.set("guest.idle-argument", argument(reader, "idle"));
}

/// Clocks of the hypervisor or of a passed-through interface.
fn ptp_clocks(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let folder = "/sys/class/ptp";
    let names = match reader.names(folder, |name| name.starts_with("ptp")) {
        // The class appears with the first driver: a /sys without it has no clock.
        Err(error) if error.is_absent() && reader.exists("/sys/class/net").unwrap_or(false) => Vec::new(),
        names => names.map_err(unclear)?,
    };
    let mut clocks = Vec::new();
    for name in names {
        let label = reader.line(&format!("{folder}/{name}/clock_name")).map_err(unclear)?;
        let of_device = reader.exists(&format!("{folder}/{name}/device/net")).unwrap_or(false);
        if of_device || OF_HYPERVISOR.contains(&label.as_str()) {
            clocks.push(format!("{name} ({label})"));
        }
    }
    Ok(clocks)
}

/// True if a running daemon takes the time from such a clock: phc2sys always does, chrony with `refclock PHC`.
fn ptp_clock_used(reader: &Reader, facts: &Facts) -> Result<bool, Unknown> {
    let running = running(facts)?;
    if running.contains_key("phc2sys") {
        return Ok(true);
    }
    if !running.contains_key("chronyd") {
        return Ok(false);
    }
    let mut texts: Vec<String> = CHRONY.iter().filter_map(|path| reader.text(path).ok()).collect();
    if texts.is_empty() {
        return Err(Unknown::unclear("chronyd runs, and none of its files can be read"));
    }
    for folder in CHRONY_FOLDERS {
        let names = reader.names(folder, |name| name.ends_with(".conf")).unwrap_or_default();
        texts.extend(
            names
                .iter()
                .filter_map(|name| reader.text(&format!("{folder}/{name}")).ok()),
        );
    }
    Ok(texts.iter().flat_map(|text| text.lines()).any(takes_phc))
}

fn takes_phc(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("refclock") && words.next() == Some("PHC")
}

/// Stores the time that the hypervisor took from each real-time CPU, in ticks.
pub(super) fn steal(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    let steals = clock::steal(reader).and_then(|steals| told(reader, &steals).map(|()| steals));
    for part in facts.parts(Class::RtCpu) {
        let of_cpu = steals.as_ref().map_err(HostError::clone).and_then(|steals| {
            let found = steals.iter().find(|steal| steal.cpu.to_string() == part.name);
            let ticks = found.map(|steal| steal.ticks as f64);
            ticks.ok_or_else(|| HostError::Undecided(format!("/proc/stat has no CPU {}", part.name)))
        });
        let counter = Counter {
            part: Some((Class::RtCpu, part.name.clone())),
            fact: "guest.steal-ticks-per-s".to_owned(),
        };
        reading.insert(counter, of_cpu);
    }
}

/// A zero is no evidence if the hypervisor does not report stolen time. Linux asks KVM and Xen, and VMware if it is configured to report
/// (Linux 6.12: users of `pv_steal_clock`); any count above 0 shows that it is reported.
fn told(reader: &Reader, steals: &[clock::Steal]) -> Result<(), HostError> {
    if steals.iter().any(|steal| steal.ticks > 0) {
        return Ok(());
    }
    let silent = |why: &str| {
        Err(HostError::Undecided(format!(
            "{why}: look for gaps with triptime noise"
        )))
    };
    if Cmdline::read(reader)?.last("no-steal-acc").is_some() {
        return silent("no-steal-acc: the kernel does not ask for stolen time");
    }
    match hypervisor::detect(reader)?.kind {
        HypervisorKind::Kvm | HypervisorKind::Firecracker | HypervisorKind::CloudHypervisor | HypervisorKind::Xen => {
            Ok(())
        }
        HypervisorKind::Vmware => silent("VMware does not report stolen time by default"),
        kind => silent(&format!(
            "nothing shows that this hypervisor ({}) reports stolen time",
            kind.word()
        )),
    }
}
