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
    let is_off = |name: &str| matches!(text(annotations, &[name]).as_deref(), Some("disable" | "true"));
    if is_off("cpu-quota.crio.io") {
        shape.set("ctr.quota", false);
    }
    shape.set("pod.load-balancing-off", is_off("cpu-load-balancing.crio.io"));
    shape.set("pod.irqs-off", is_off("irq-load-balancing.crio.io"));
}

/// Programs that set clocks, among the words of a command.
pub(super) fn time_daemons(words: &[String]) -> Vec<String> {
    let names = words.iter().flat_map(|word| word.split([' ', ';', '&']));
    let names = names.map(|word| word.rsplit('/').next().unwrap_or(word));
    names.filter(|name| DAEMONS.contains(name)).map(str::to_owned).collect()
}
