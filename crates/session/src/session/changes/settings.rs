//! Settings of the kernel and of CPUs that have one value in one file.

use super::Part;
use super::known::{Found, Item, Listing, Tells};
use host::Host;
use host::reader::Reader;
use model::Subject;
use units::CpuList;

/// Settings of the whole machine: subject, name, file. They are those that rules of the audit judge, and those that profiles of TuneD change.
const MACHINE: [(Subject, &str, &str); 44] = [
    (
        Subject::ClockSource,
        "clock source",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (Subject::Cpus, "online", "/sys/devices/system/cpu/online"),
    (Subject::Cpus, "isolated", "/sys/devices/system/cpu/isolated"),
    (Subject::Cpus, "nohz_full", "/sys/devices/system/cpu/nohz_full"),
    (Subject::Cpus, "hyper-threads", "/sys/devices/system/cpu/smt/control"),
    (
        Subject::Frequency,
        "no_turbo",
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
    ),
    (Subject::Frequency, "boost", "/sys/devices/system/cpu/cpufreq/boost"),
    (
        Subject::Frequency,
        "intel_pstate",
        "/sys/devices/system/cpu/intel_pstate/status",
    ),
    (
        Subject::Frequency,
        "amd_pstate",
        "/sys/devices/system/cpu/amd_pstate/status",
    ),
    (
        Subject::Idle,
        "idle governor",
        "/sys/devices/system/cpu/cpuidle/current_governor",
    ),
    (
        Subject::Interrupt,
        "default_smp_affinity",
        "/proc/irq/default_smp_affinity",
    ),
    (
        Subject::Sysctl,
        "workqueue cpumask",
        "/sys/devices/virtual/workqueue/cpumask",
    ),
    (Subject::Sysctl, "rcu_expedited", "/sys/kernel/rcu_expedited"),
    (Subject::Sysctl, "rcu_normal", "/sys/kernel/rcu_normal"),
    (
        Subject::Sysctl,
        "transparent_hugepage/enabled",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ),
    (
        Subject::Sysctl,
        "transparent_hugepage/defrag",
        "/sys/kernel/mm/transparent_hugepage/defrag",
    ),
    (Subject::Sysctl, "ksm/run", "/sys/kernel/mm/ksm/run"),
    (
        Subject::Sysctl,
        "kernel.sched_rt_runtime_us",
        "/proc/sys/kernel/sched_rt_runtime_us",
    ),
    (
        Subject::Sysctl,
        "kernel.sched_rt_period_us",
        "/proc/sys/kernel/sched_rt_period_us",
    ),
    (
        Subject::Sysctl,
        "kernel.sched_rr_timeslice_ms",
        "/proc/sys/kernel/sched_rr_timeslice_ms",
    ),
    (
        Subject::Sysctl,
        "kernel.sched_autogroup_enabled",
        "/proc/sys/kernel/sched_autogroup_enabled",
    ),
    (
        Subject::Sysctl,
        "kernel.sched_schedstats",
        "/proc/sys/kernel/sched_schedstats",
    ),
    (
        Subject::Sysctl,
        "kernel.timer_migration",
        "/proc/sys/kernel/timer_migration",
    ),
    (
        Subject::Sysctl,
        "kernel.numa_balancing",
        "/proc/sys/kernel/numa_balancing",
    ),
    (Subject::Sysctl, "kernel.watchdog", "/proc/sys/kernel/watchdog"),
    (
        Subject::Sysctl,
        "kernel.soft_watchdog",
        "/proc/sys/kernel/soft_watchdog",
    ),
    (Subject::Sysctl, "kernel.nmi_watchdog", "/proc/sys/kernel/nmi_watchdog"),
    (
        Subject::Sysctl,
        "kernel.watchdog_cpumask",
        "/proc/sys/kernel/watchdog_cpumask",
    ),
    (
        Subject::Sysctl,
        "kernel.watchdog_thresh",
        "/proc/sys/kernel/watchdog_thresh",
    ),
    (
        Subject::Sysctl,
        "kernel.split_lock_mitigate",
        "/proc/sys/kernel/split_lock_mitigate",
    ),
    (Subject::Sysctl, "kernel.printk", "/proc/sys/kernel/printk"),
    (Subject::Sysctl, "vm.stat_interval", "/proc/sys/vm/stat_interval"),
    (Subject::Sysctl, "vm.swappiness", "/proc/sys/vm/swappiness"),
    (
        Subject::Sysctl,
        "vm.compaction_proactiveness",
        "/proc/sys/vm/compaction_proactiveness",
    ),
    (
        Subject::Sysctl,
        "vm.compact_unevictable_allowed",
        "/proc/sys/vm/compact_unevictable_allowed",
    ),
    (Subject::Sysctl, "vm.dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    (
        Subject::Sysctl,
        "vm.dirty_background_ratio",
        "/proc/sys/vm/dirty_background_ratio",
    ),
    (Subject::Sysctl, "vm.nr_hugepages", "/proc/sys/vm/nr_hugepages"),
    (Subject::Sysctl, "net.core.busy_poll", "/proc/sys/net/core/busy_poll"),
    (Subject::Sysctl, "net.core.busy_read", "/proc/sys/net/core/busy_read"),
    (
        Subject::Sysctl,
        "net.core.netdev_budget",
        "/proc/sys/net/core/netdev_budget",
    ),
    (
        Subject::Sysctl,
        "net.core.netdev_max_backlog",
        "/proc/sys/net/core/netdev_max_backlog",
    ),
    (Subject::Sysctl, "net.core.rmem_max", "/proc/sys/net/core/rmem_max"),
    (
        Subject::Sysctl,
        "net.core.rps_sock_flow_entries",
        "/proc/sys/net/core/rps_sock_flow_entries",
    ),
];

/// Settings of one CPU: subject, name, file below the folder of the CPU. The kernel answers each from its memory. Files that read a register of the
/// CPU (`energy_performance_preference`, `scaling_cur_freq`) are left out: each look would interrupt a judged CPU.
const OF_A_CPU: [(Subject, &str, &str); 4] = [
    (Subject::Frequency, "governor", "cpufreq/scaling_governor"),
    (Subject::Frequency, "lowest frequency (kHz)", "cpufreq/scaling_min_freq"),
    (
        Subject::Frequency,
        "highest frequency (kHz)",
        "cpufreq/scaling_max_freq",
    ),
    (
        Subject::Idle,
        "pm_qos_resume_latency_us",
        "power/pm_qos_resume_latency_us",
    ),
];

/// Modules whose parameters act on latency and can be changed while they are loaded.
const MODULES: [&str; 8] = [
    "kvm",
    "kvm_intel",
    "kvm_amd",
    "vhost",
    "vhost_net",
    "intel_idle",
    "processor",
    "workqueue",
];

/// Settings of the machine, of its modules, and of the judged CPUs.
pub(super) struct Settings {
    judged: CpuList,
}

impl Settings {
    /// Settings that concern these CPUs; all CPUs if there are none.
    pub(super) fn new(judged: CpuList) -> Self {
        Self { judged }
    }
}

impl Part for Settings {
    fn name(&self) -> &'static str {
        "settings"
    }

    fn look(&mut self, host: &Host) -> Result<Option<Listing>, String> {
        let reader = host.reader();
        let machine = MACHINE
            .iter()
            .filter_map(|(subject, name, path)| item(reader, *subject, name, path, None));
        let mut found: Listing = machine.collect();
        for module in MODULES {
            found.extend(parameters(reader, module));
        }
        let all = host.online_cpus().map_err(|error| error.to_string())?;
        let cpus = if self.judged.is_empty() { &all } else { &self.judged };
        for cpu in cpus.iter() {
            found.extend(of_a_cpu(reader, cpu));
        }
        Ok(Some(found))
    }
}

/// Parameters of a module, if it is there.
fn parameters(reader: &Reader, module: &str) -> Listing {
    let folder = format!("/sys/module/{module}/parameters");
    let names = reader.names(&folder, |_| true).unwrap_or_default();
    let of = |name: &String| {
        item(
            reader,
            Subject::Module,
            &format!("{module}.{name}"),
            &format!("{folder}/{name}"),
            None,
        )
    };
    names.iter().filter_map(of).collect()
}

fn of_a_cpu(reader: &Reader, cpu: u32) -> Listing {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
    let on = Some([cpu].into_iter().collect::<CpuList>());
    let files = OF_A_CPU.iter().filter_map(|(subject, name, file)| {
        item(
            reader,
            *subject,
            &format!("CPU {cpu}: {name}"),
            &format!("{folder}/{file}"),
            on.clone(),
        )
    });
    let mut found: Listing = files.collect();
    let states = reader.names(&format!("{folder}/cpuidle"), |name| name.starts_with("state"));
    for state in states.unwrap_or_default() {
        let path = format!("{folder}/cpuidle/{state}/disable");
        found.extend(item(
            reader,
            Subject::Idle,
            &format!("CPU {cpu}: {state} off"),
            &path,
            on.clone(),
        ));
    }
    found
}

/// The value of a file; `None` if the kernel has no such file. A file that only root may read, read by another user, stays unknown.
fn item(reader: &Reader, subject: Subject, name: &str, path: &str, cpus: Option<CpuList>) -> Option<Found> {
    let value = match reader.line_or_blank(path) {
        Ok(value) => Ok(value),
        Err(error) if error.is_absent() => return None,
        Err(error) => Err(error.to_string()),
    };
    let item = value.map(|value| Item {
        name: name.to_owned(),
        value: if value.is_empty() {
            "none".to_owned()
        } else {
            value.split_whitespace().collect::<Vec<_>>().join(" ")
        },
        cpus,
        who: None,
        tells: Tells::All,
    });
    Some(((subject, name.to_owned()), item))
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::Settings;
    use host::Host;
    use std::fs;

    #[test]
    fn settings_of_judged_cpus_modules_and_the_machine_are_read_and_absent_ones_are_left_out() {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in [
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu2/cpuidle/state3/disable", "1\n"),
            (
                "sys/devices/system/cpu/cpu2/cpufreq/energy_performance_preference",
                "power\n",
            ),
            ("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n"),
            ("sys/module/kvm/parameters/halt_poll_ns", "200000\n"),
            ("proc/sys/kernel/printk", "4\t4\t1\t7\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let host = Host::at(root.path()).expect("a tree");
        let mut settings = Settings::new("2".parse().expect("a CPU"));
        let found = settings.look(&host).expect("settings").expect("looked").into_iter();
        let values: Vec<String> = found
            .map(|(key, item)| {
                let item = item.expect("read");
                format!("{} {}={}", key.0.word(), item.name, item.value)
            })
            .collect();
        assert_eq!(
            values,
            [
                "cpus online=0-3",
                "sysctl transparent_hugepage/enabled=always [madvise] never",
                "sysctl kernel.printk=4 4 1 7",
                "module kvm.halt_poll_ns=200000",
                "frequency CPU 2: governor=performance",
                "idle CPU 2: state3 off=1",
            ]
        );
    }
}
