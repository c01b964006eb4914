use super::tree::{HOST, changed, finding, outcome_of, outcome_with};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

const TABLE: (&str, &str) = (
    "proc/interrupts",
    "      CPU0 CPU1 CPU2 CPU3\n 24: 1 0 0 0 PCI-MSI 1-edge ahci\n 30: 1 0 0 0 PCI-MSI 2-edge eth0-rx-0\nLOC: 1 1 1 1 Local\n",
);
const AHCI: &str = "proc/irq/24/effective_affinity_list";

fn with_nic() -> Parameters {
    Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    }
}

/// The machine with an interface that has one interrupt, sent to CPU 1.
fn host() -> Vec<(&'static str, &'static str)> {
    let more = [
        TABLE,
        (AHCI, "0\n"),
        ("proc/irq/24/smp_affinity_list", "0-3\n"),
        ("proc/irq/30/effective_affinity_list", "1\n"),
        ("proc/irq/30/smp_affinity_list", "1\n"),
        ("proc/irq/default_smp_affinity", "3\n"),
        ("proc/1/comm", "systemd\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("sys/class/net/eth0/ifindex", "2\n"),
        ("sys/class/net/eth0/device/msi_irqs/30", "msi\n"),
        ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
        ("sys/class/net/eth0/queues/rx-0/rps_flow_cnt", "0\n"),
    ];
    HOST.into_iter().chain(more).collect()
}

#[test]
fn the_default_mask_is_judged_by_its_cpus() {
    let id = "irq-default-affinity";
    assert_eq!(outcome_of(&host(), &[], id), Pass);
    assert_eq!(
        outcome_of(&host(), &[("proc/irq/default_smp_affinity", "f\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&host(), &[("proc/irq/default_smp_affinity", "xyz\n")], id),
        Unknown
    );
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
    assert_eq!(
        outcome_of(&host(), &[("sys/devices/system/cpu/isolated", "\n")], id),
        NotApplicable
    );
}

#[test]
fn where_an_interrupt_really_goes_decides() {
    let id = "irq-affinity-off-rt";
    assert_eq!(outcome_of(&host(), &[], id), Pass);
    assert_eq!(outcome_of(&host(), &[(AHCI, "3\n")], id), Fail);
    // A controller that does not report the CPU: the mask of allowed CPUs counts.
    assert_eq!(outcome_of(&host(), &[(AHCI, "\n")], id), Fail);
    assert_eq!(outcome_of(&host(), &[("proc/interrupts", "garbage\n")], id), Unknown);
    // Another rule covers interrupts of the named interface.
    let on_rt = [("proc/irq/30/effective_affinity_list", "2\n")];
    assert_eq!(outcome_of(&host(), &on_rt, id), Fail);
    assert_eq!(outcome_with(&host(), &on_rt, &with_nic(), id), Pass);
}

#[test]
fn managed_interrupts_are_judged_apart() {
    let id = "irq-managed-isolated";
    let nvme = (
        "proc/interrupts",
        "      CPU0 CPU1 CPU2 CPU3\n 24: 1 0 0 0 PCI-MSI 1-edge nvme0q1\n",
    );
    let flag = ("proc/cmdline", "isolcpus=managed_irq,domain,2-3\n");
    assert_eq!(outcome_of(&host(), &[], id), NotApplicable);
    assert_eq!(outcome_of(&host(), &[nvme, flag], id), Pass);
    assert_eq!(outcome_of(&host(), &[nvme], id), Fail);
    assert_eq!(outcome_of(&host(), &[nvme, flag, (AHCI, "2\n")], id), Fail);
    let nowhere_else = ("proc/irq/24/smp_affinity_list", "2-3\n");
    assert_eq!(
        outcome_of(&host(), &[nvme, flag, (AHCI, "2\n"), nowhere_else], id),
        Pass
    );
    assert_eq!(outcome_of(&host(), &[nvme, (AHCI, "2\n")], "irq-affinity-off-rt"), Pass);
    let said = ("sys/kernel/debug/irq/irqs/24", "dstate: 0x1\n IRQD_AFFINITY_MANAGED\n");
    assert_eq!(outcome_of(&host(), &[said], id), Fail);
}

#[test]
fn interrupts_of_the_process_bus_are_pinned() {
    let id = "irq-nic-affinity";
    assert_eq!(
        outcome_of(&host(), &[], id),
        Pass,
        "where none is named every device is asked"
    );
    assert_eq!(outcome_with(&host(), &[], &with_nic(), id), Pass);
    let of = |allowed| outcome_with(&host(), &[("proc/irq/30/smp_affinity_list", allowed)], &with_nic(), id);
    assert_eq!(of("0-3\n"), Fail);
    assert_eq!(of("0-1\n"), Warn);
    let gone = Parameters {
        nics: vec!["eth7".to_owned()],
        ..Parameters::default()
    };
    assert_eq!(outcome_with(&host(), &[], &gone, id), Unknown);
}

#[test]
fn affinities_last_when_something_puts_them_back() {
    let id = "irq-affinity-durable";
    let of = |changes: &[_]| outcome_with(&host(), changes, &with_nic(), id);
    assert_eq!(of(&[]), Fail);
    assert_eq!(of(&[("proc/irq/default_smp_affinity", "2\n")]), Pass);
    assert_eq!(of(&[("proc/77/comm", "nic-irq-monitor\n")]), Pass);
    let script = "/etc/NetworkManager/dispatcher.d/10-irq";
    assert_eq!(of(&[(&script[1..], "echo 1 > /proc/irq/30/smp_affinity_list\n")]), Pass);
    assert_eq!(of(&[(&script[1..], "echo hello\n")]), Fail);
}

#[test]
fn irqbalance_is_followed_into_its_environment() {
    let id = "irqbalance-harmless";
    let of = |environment, parameters: &Parameters| {
        let running = [
            ("proc/50/comm", "irqbalance\n"),
            ("proc/50/cmdline", "irqbalance\0--foreground\0"),
            ("proc/50/environ", environment),
            ("sys/devices/system/cpu/nohz_full", "(null)\n"),
        ];
        outcome_with(&host(), &running, parameters, id)
    };
    let told = Parameters::default();
    assert_eq!(outcome_of(&host(), &[], id), Pass);
    assert_eq!(of("HOME=/\0", &told), Pass);
    assert_eq!(of("IRQBALANCE_BANNED_CPULIST=2-3\0", &told), Pass);
    assert_eq!(of("IRQBALANCE_BANNED_CPUS=c\0", &told), Pass);
    assert_eq!(of("IRQBALANCE_BANNED_CPULIST=\0", &told), Fail);
    assert_eq!(of("IRQBALANCE_BANNED_CPULIST=2\0", &told), Fail);
    assert_eq!(of("HOME=/\0", &with_nic()), Fail);
    assert_eq!(of("IRQBALANCE_ARGS=--banirq=30\0", &with_nic()), Pass);
    assert_eq!(of("IRQBALANCE_ARGS=--policyscript=/x\0", &with_nic()), Unknown);
    // No process is visible: irqbalance may run.
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
}

/// A line of `/proc/PID/stat` of a thread that last ran on CPU 1.
fn stat(name: &str, flags: u64, policy: u32, priority: u32) -> String {
    let zeros = "0 ".repeat(29);
    format!("9 ({name}) S 0 0 0 0 0 {flags} {zeros}1 {priority} {policy} 0 0\n")
}

#[test]
fn threads_of_the_interface_run_before_its_consumers() {
    const KERNEL: u64 = 0x0020_0000;
    let id = "irq-thread-priority";
    let real_time = ("sys/kernel/realtime", "1\n");
    let of = |irq: u32, consumer: u32| {
        let (irq, consumer) = (stat("irq/30-eth0-rx-0", KERNEL, 1, irq), stat("relay", 0, 1, consumer));
        let threads = [
            real_time,
            ("proc/20/stat", irq.as_str()),
            ("proc/21/stat", consumer.as_str()),
            ("proc/21/task/21/stat", consumer.as_str()),
        ];
        outcome_with(&host(), &threads, &with_nic(), id)
    };
    assert_eq!(of(85, 80), Pass);
    assert_eq!(of(50, 80), Fail);
    assert_eq!(of(99, 80), Fail);
    assert_eq!(outcome_with(&host(), &[real_time], &with_nic(), id), Unknown);
}

#[test]
fn steering_in_software_stays_off_real_time_cpus() {
    let id = "rps-xps-off-rt";
    let of = |mask| {
        outcome_with(
            &host(),
            &[("sys/class/net/eth0/queues/rx-0/rps_cpus", mask)],
            &with_nic(),
            id,
        )
    };
    assert_eq!(of("0\n"), Pass);
    assert_eq!(of("00000000,00000003\n"), Pass);
    assert_eq!(of("f\n"), Fail);
    assert_eq!(of("?\n"), Unknown);
    let flows = [
        ("sys/class/net/eth0/queues/rx-0/rps_flow_cnt", "512\n"),
        ("proc/sys/net/core/rps_sock_flow_entries", "32768\n"),
    ];
    assert_eq!(outcome_with(&host(), &flows, &with_nic(), id), Fail);
    assert_eq!(outcome_with(&host(), &flows[..1], &with_nic(), id), Unknown);
    let third = [("sys/class/net/eth0/queues/rx-2/rps_cpus", "0\n")];
    assert_eq!(
        outcome_with(&host(), &third, &with_nic(), id),
        Unknown,
        "rx-1 is missing"
    );
}

#[test]
fn rates_are_unknown_on_a_recorded_tree() {
    for id in ["interrupt-rate-on-rt", "smi-count"] {
        let found = finding(
            &changed(&host(), &[(".answers/smi-count", "7\n")]),
            &Parameters::default(),
            id,
        );
        assert_eq!(found.outcome, Unknown, "{id}");
        assert!(
            found.parts[0].reason.contains("live machine"),
            "{id}: {:?}",
            found.parts
        );
    }
    let amd = ("proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : fpu tsc\n");
    let found = finding(&changed(&host(), &[amd]), &Parameters::default(), "smi-count");
    assert!(found.parts[0].reason.contains("hwlat"), "{:?}", found.parts);
}

const RATES: &str = ".answers/observed";
const QUIET: &str = "interrupts.device-per-s 2\ninterrupts.device-per-s 2 0\ninterrupts.device-per-s 3 0\n\
                     interrupts.ipi-per-s 2 0\ninterrupts.ipi-per-s 3 0.5\ninterrupts.local-timer-per-s 2 250\n\
                     interrupts.local-timer-per-s 3 250\ninterrupts.other-per-s 2 0\ninterrupts.other-per-s 3 0\n";

/// A capture keeps the growth of counters.
#[test]
fn rates_of_a_capture_are_judged() {
    let id = "interrupt-rate-on-rt";
    assert_eq!(outcome_of(&host(), &[], id), Unknown, "recorded without an observation");
    assert_eq!(outcome_of(&host(), &[(RATES, QUIET)], id), Pass);
    let loud = QUIET.replace("ipi-per-s 3 0.5", "ipi-per-s 3 40");
    assert_eq!(outcome_of(&host(), &[(RATES, &loud)], id), Fail);
    for broken in ["-1", "nan", "inf", "x", ""] {
        let broken = QUIET.replace("ipi-per-s 3 0.5", &format!("ipi-per-s 3 {broken}"));
        assert_eq!(outcome_of(&host(), &[(RATES, &broken)], id), Unknown, "{broken}");
    }
    let absent = [(RATES, QUIET), ("proc/interrupts", "->/nowhere")];
    assert_eq!(outcome_of(&host(), &absent, id), Unknown, "the counters are not in it");
}

/// Processors that count firmware interrupts, and processors that do not.
#[test]
fn the_firmware_is_asked_where_the_processor_counts() {
    let of = |vendor: &str, family: &str| {
        let cpu = format!("vendor_id : {vendor}\ncpu family : {family}\nflags : fpu tsc svm npt\n");
        let rates = "smi.per-s 0\n";
        let files = [
            ("proc/cpuinfo", cpu.as_str()),
            (RATES, rates),
            (".answers/smi-count", "7\n"),
        ];
        outcome_of(&host(), &files, "smi-count")
    };
    assert_eq!(of("GenuineIntel", "6"), Pass);
    assert_eq!(of("AuthenticAMD", "25"), Pass);
    assert_eq!(of("HygonGenuine", "24"), Pass);
    assert_eq!(of("AuthenticAMD", "21"), Unknown, "before Zen");
    assert_eq!(of("CentaurHauls", "7"), Unknown);
}
