//! Hypervisor and container as facts.

use crate::container;
use crate::fact::Sheet;
use crate::hypervisor;
use crate::hypervisor_version;
use crate::reader::Reader;
use model::Fact;

/// Facts about the hypervisor and the container that this process runs in.
pub fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "virtualisation");
    let hypervisor = hypervisor::detect(reader).map(|found| with_evidence(found.kind.word(), &found.evidence));
    sheet.add(
        "hypervisor",
        "/proc/cpuinfo, /sys/class/dmi/id, /sys/firmware/acpi, /sys/hypervisor",
        hypervisor,
    );
    let version = hypervisor::detect(reader).and_then(|found| hypervisor_version::of(reader, found.kind));
    sheet.add(
        "hypervisor version",
        "/sys/class/dmi/id, /sys/hypervisor/version",
        version,
    );
    let container = container::detect(reader)
        .map(|found| with_evidence(found.runtime.as_deref().unwrap_or("none"), &found.evidence));
    sheet.add(
        "container",
        "/proc/1, /proc/self/mountinfo, /run, /.dockerenv",
        container,
    );
    sheet.line_or(
        "KVM halt polling (ns)",
        "/sys/module/kvm/parameters/halt_poll_ns",
        "KVM is not loaded",
    );
    sheet.finish()
}

fn with_evidence(what: &str, evidence: &[String]) -> String {
    format!("{what} ({})", evidence.join("; "))
}
