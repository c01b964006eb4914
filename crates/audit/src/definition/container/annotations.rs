//! Annotations of CRI-O, and programs that set clocks.

use serde_json::Value as Json;

use super::shape::Shape;
use super::tree::text;

const DAEMONS: [&str; 8] = [
    "chronyd",
    "ntpd",
    "ptp4l",
    "phc2sys",
    "ts2phc",
    "timemaster",
    "systemd-timesyncd",
    "openntpd",
];

/// Reads the annotations that CRI-O grants a pod of the high-performance handler. It treats "true" as "disable" (CRI-O, commit 03ec73d,
/// internal/runtimehandlerhooks/high_performance_hooks_linux.go).
pub(super) fn read(annotations: &Json, shape: &mut Shape) {
    if is_off(annotations, QUOTA) {
        shape.set("ctr.quota", false);
    }
    shape.set("pod.load-balancing-off", is_off(annotations, LOAD));
    shape.set("pod.irqs-off", is_off(annotations, IRQS));
}

const QUOTA: &str = "cpu-quota.crio.io";
const LOAD: &str = "cpu-load-balancing.crio.io";
const IRQS: &str = "irq-load-balancing.crio.io";

fn is_off(annotations: &Json, name: &str) -> bool {
    matches!(text(annotations, &[name]).as_deref(), Some("disable" | "true"))
}

/// Same as [`read`], for a pod with this runtime class. Classes of performance profiles are named `performance-PROFILE` (OpenShift:
/// low-latency tuning). The handler of another class is not known, and only a handler that allows the annotations heeds them.
pub(super) fn of_class(class: &str, annotations: &Json, shape: &mut Shape) {
    if class.starts_with("performance-") {
        return read(annotations, shape);
    }
    let why =
        format!("runtime class {class:?}: its handler is not known, which decides if CRI-O heeds the annotations");
    for (name, fact) in [
        (QUOTA, "ctr.quota"),
        (LOAD, "pod.load-balancing-off"),
        (IRQS, "pod.irqs-off"),
    ] {
        if is_off(annotations, name) {
            shape.set_or::<bool>(fact, None, &why);
        }
    }
}

/// Programs that set clocks, among the words of a command.
pub(super) fn time_daemons(words: &[String]) -> Vec<String> {
    let names = words.iter().flat_map(|word| word.split([' ', ';', '&']));
    let names = names.map(|word| word.rsplit('/').next().unwrap_or(word));
    names.filter(|name| DAEMONS.contains(name)).map(str::to_owned).collect()
}
