//! Counts of `/proc/interrupts`, summed by CPU.

use std::collections::BTreeMap;

/// Per-CPU timers that have an interrupt number, by the names of their handlers (Linux 6.12: drivers/clocksource/arm_arch_timer.c,
/// timer-riscv.c, arch/arm/kernel/smp_twd.c).
const TIMERS: [&str; 3] = ["arch_timer", "riscv-timer", "twd"];
/// Other per-CPU interrupts.
const OF_EACH_CPU: [&str; 4] = ["arm-pmu", "arm_spe", "kvm guest", "vgic"];

/// Calls `add` with the name of each row (`24`, `LOC`), the sums of a CPU to update, and the row's count for this CPU. Rows may be short:
/// some counts are for the whole machine. Returns an empty map if the text is not that of `/proc/interrupts`.
pub fn summed<T: Default>(text: &str, mut add: impl FnMut(&str, &mut T, u64)) -> BTreeMap<u32, T> {
    let mut lines = text.lines();
    let heads = lines.next().unwrap_or_default().split_whitespace();
    let cpus: Vec<u32> = heads
        .filter_map(|head| head.strip_prefix("CPU")?.parse().ok())
        .collect();
    let mut sums: BTreeMap<u32, T> = cpus.iter().map(|cpu| (*cpu, T::default())).collect();
    for (name, rest) in lines.filter_map(|line| line.split_once(':')) {
        let name = as_on_x86(name.trim(), rest);
        for (cpu, word) in cpus.iter().zip(rest.split_whitespace()) {
            let (Ok(count), Some(sums)) = (word.parse(), sums.get_mut(cpu)) else {
                break;
            };
            add(name, sums, count);
        }
    }
    sums
}

/// Name of the row on x86, if it has one. Arm and RISC-V number the interrupts from other CPUs (`IPI0`: arch/arm64/kernel/smp.c), and the
/// timer of each CPU is a numbered row.
fn as_on_x86<'a>(name: &'a str, rest: &str) -> &'a str {
    let is = |known: &[&str]| known.iter().any(|word| rest.contains(word));
    match name.strip_prefix("IPI") {
        Some(number) if is_device(number) => "CAL",
        _ if is(&TIMERS) => "LOC",
        _ if is(&OF_EACH_CPU) => "OWN",
        _ => name,
    }
}

/// True if the row belongs to a device: it has a number instead of a name.
pub fn is_device(row: &str) -> bool {
    row.bytes().all(|octet| octet.is_ascii_digit())
}
