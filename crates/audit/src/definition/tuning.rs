//! CPUs and policies of the threads of a libvirt domain: `<vcpu>`, `<iothreads>` and `<cputune>`.

use std::collections::BTreeMap;

use units::CpuList;

use super::element::{Element, Wrong};

/// Maximum number of vCPUs accepted: QEMU's own limit is lower.
const MOST_VCPUS: u32 = 8192;

/// Threads of a domain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tuning {
    /// Number of vCPUs that the domain may have.
    pub(crate) vcpus: u32,
    /// Number of vCPUs at the start.
    pub(crate) started: u32,
    /// CPUs of the vCPUs and of the emulator without their own pin.
    pub(crate) default_pin: Option<CpuList>,
    /// Each pinned vCPU, with its CPUs.
    pub(crate) pins: BTreeMap<u32, CpuList>,
    pub(crate) emulator: Option<CpuList>,
    /// Each vCPU with a policy: its name and priority.
    pub(crate) policies: BTreeMap<u32, (String, u32)>,
    pub(crate) io_threads: u32,
    pub(crate) io_pins: BTreeMap<u32, CpuList>,
    /// Limits of CPU time, such as `quota=50000`.
    pub(crate) quotas: Vec<String>,
}

impl Tuning {
    pub(crate) fn read(domain: Element<'_>) -> Result<Self, Wrong> {
        let vcpus = match domain.at("vcpu") {
            Some(vcpu) => count(vcpu)?,
            None => 1,
        };
        let vcpu = domain.at("vcpu");
        let started = vcpu.map(|vcpu| vcpu.number("current")).transpose()?.flatten();
        let rules = || domain.at("cputune").into_iter().flat_map(Element::children);
        let named = |name: &'static str| rules().filter(move |rule| rule.name() == name);
        Ok(Self {
            vcpus,
            started: started.unwrap_or(vcpus).min(vcpus),
            default_pin: vcpu.map(|vcpu| vcpu.cpus("cpuset")).transpose()?.flatten(),
            pins: pins(named("vcpupin"), "vcpu")?,
            emulator: match named("emulatorpin").next() {
                Some(pin) => pin.cpus("cpuset")?,
                None => None,
            },
            policies: policies(named("vcpusched"))?,
            io_threads: io_threads(domain)?,
            io_pins: pins(named("iothreadpin"), "iothread")?,
            quotas: quotas(rules()),
        })
    }

    /// The vCPUs that the domain may have, by their numbers.
    pub(crate) fn ids(&self) -> CpuList {
        (0..self.vcpus).collect()
    }

    /// CPUs of a vCPU, its own or those of the domain.
    pub(crate) fn pin(&self, vcpu: u32) -> Option<&CpuList> {
        self.pins.get(&vcpu).or(self.default_pin.as_ref())
    }

    /// Each vCPU at the start, with its CPUs.
    pub(crate) fn started_pins(&self) -> impl Iterator<Item = (u32, Option<&CpuList>)> {
        (0..self.started).map(|vcpu| (vcpu, self.pin(vcpu)))
    }

    /// CPUs of the emulator and the I/O threads, as far as they are pinned. Without a pin of their own they have the CPUs of the domain
    /// (libvirt: formatdomain, vcpu, cpuset).
    pub(crate) fn other_cpus(&self) -> CpuList {
        let emulator = self.emulator.as_ref().or(self.default_pin.as_ref());
        let is_loose = (self.io_pins.len() as u64) < u64::from(self.io_threads);
        let io_threads = self
            .io_pins
            .values()
            .chain(self.default_pin.as_ref().filter(|_| is_loose));
        emulator.into_iter().chain(io_threads).flat_map(CpuList::iter).collect()
    }

    /// CPUs on which the vCPUs present at the start may run.
    pub(crate) fn vcpu_cpus(&self) -> CpuList {
        let pins = self.started_pins().filter_map(|(_, pin)| pin);
        pins.flat_map(CpuList::iter).collect()
    }
}

fn count(vcpu: Element<'_>) -> Result<u32, Wrong> {
    let count = vcpu
        .text()
        .parse()
        .ok()
        .filter(|count| (1..=MOST_VCPUS).contains(count));
    count.ok_or_else(|| format!("<vcpu>{}</vcpu>: a number of vCPUs was expected", vcpu.text()))
}

fn pins<'a>(rules: impl Iterator<Item = Element<'a>>, id: &str) -> Result<BTreeMap<u32, CpuList>, Wrong> {
    let mut pins = BTreeMap::new();
    for rule in rules {
        let missing = || format!("<{}> has no cpuset", rule.name());
        let cpus = rule.cpus("cpuset")?.ok_or_else(missing)?;
        if pins.insert(rule.needed(id)?, cpus).is_some() {
            return Err(format!("<{} {id}='{}'> is repeated", rule.name(), rule.needed(id)?));
        }
    }
    Ok(pins)
}

fn policies<'a>(rules: impl Iterator<Item = Element<'a>>) -> Result<BTreeMap<u32, (String, u32)>, Wrong> {
    let mut policies = BTreeMap::new();
    for rule in rules {
        let vcpus = rule.cpus("vcpus")?.ok_or("<vcpusched> has no vcpus")?;
        let name = rule.attribute("scheduler").unwrap_or_default();
        let priority = rule.number("priority")?.unwrap_or(0);
        policies.extend(vcpus.iter().map(|vcpu| (vcpu, (name.to_owned(), priority))));
    }
    Ok(policies)
}

/// Number of I/O threads from `<iothreads>`, or as many as `<iothreadids>` lists.
fn io_threads(domain: Element<'_>) -> Result<u32, Wrong> {
    let listed = domain.at("iothreadids").map_or(0, |ids| ids.all("iothread").count());
    let said = match domain.at("iothreads").map(Element::text) {
        Some(text) => text
            .parse()
            .map_err(|_| format!("<iothreads>{text}</iothreads>: a number was expected"))?,
        None => 0,
    };
    Ok(said.max(u32::try_from(listed).unwrap_or(u32::MAX)))
}

/// A quota that is negative or 0 is no limit (libvirt: formatdomain).
fn quotas<'a>(rules: impl Iterator<Item = Element<'a>>) -> Vec<String> {
    let of = rules.filter(|rule| rule.name().ends_with("quota"));
    let limiting = of.filter(|rule| !(rule.text().starts_with('-') || rule.text() == "0"));
    limiting
        .map(|rule| format!("{}={}", rule.name(), rule.text()))
        .collect()
}
