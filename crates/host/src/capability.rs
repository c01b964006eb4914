//! Linux capabilities in masks.

/// Capabilities that are named here, by bit (linux/capability.h).
const BITS: [(u32, &str); 9] = [
    (12, "NET_ADMIN"),
    (13, "NET_RAW"),
    (14, "IPC_LOCK"),
    (21, "SYS_ADMIN"),
    (23, "SYS_NICE"),
    (24, "SYS_RESOURCE"),
    (25, "SYS_TIME"),
    (38, "PERFMON"),
    (39, "BPF"),
];

/// Their names, without `CAP_`.
pub fn names() -> impl Iterator<Item = &'static str> {
    BITS.iter().map(|(_, name)| *name)
}

/// Named capabilities in a mask in the form of `/proc/PID/status`; `None` if it is not a mask.
pub fn of_mask(mask: &str) -> Option<Vec<&'static str>> {
    let bits = u64::from_str_radix(mask.trim(), 16).ok()?;
    let held = BITS.iter().filter(|(bit, _)| bits >> bit & 1 == 1);
    Some(held.map(|(_, name)| *name).collect())
}
