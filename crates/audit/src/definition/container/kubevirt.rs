//! KubeVirt: the domain of a virtual machine.

use serde_json::Value as Json;

use super::shape::{Form, Shape};
use super::tree::{at, flag, text};

/// Path of the `spec` of a virtual machine instance.
pub(super) fn read(name: &str, spec: &Json) -> Shape {
    let mut shape = Shape::new(Form::KubeVirt, name);
    let cpu = &spec["domain"]["cpu"];
    shape.set(
        "vmi.dedicated-cpus",
        flag(cpu, &["dedicatedCpuPlacement"]).unwrap_or(false),
    );
    shape.set(
        "vmi.isolated-emulator",
        flag(cpu, &["isolateEmulatorThread"]).unwrap_or(false),
    );
    // `realtime: {}` is enough: it covers every virtual CPU.
    shape.set("vmi.realtime", at(cpu, &["realtime"]).is_some());
    shape.set("vmi.numa", at(cpu, &["numa", "guestMappingPassthrough"]).is_some());
    shape.set(
        "vmi.model",
        text(cpu, &["model"]).unwrap_or_else(|| "host-model".to_owned()),
    );
    let pages = text(spec, &["domain", "memory", "hugepages", "pageSize"]);
    shape.set("vmi.hugepages", pages.unwrap_or_default());
    let balloon = flag(spec, &["domain", "devices", "autoattachMemBalloon"]);
    shape.set("vmi.balloon", balloon.unwrap_or(true));
    shape
}
