use super::tree::{HOST, outcome_of, outcome_with};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

const SEEN: (&str, &str) = ("proc/2/comm", "kthreadd\n");

#[test]
fn a_host_of_virtual_machines_has_kvm() {
    let id = "virt-extensions";
    let (qemu, kvm) = (
        ("proc/9/comm", "qemu-system-x86\n"),
        ("sys/class/misc/kvm/dev", "10:232\n"),
    );
    assert_eq!(outcome_of(&HOST, &[SEEN], id), NotApplicable);
    assert_eq!(outcome_of(&HOST, &[SEEN, qemu, kvm], id), Pass);
    assert_eq!(
        outcome_of(&HOST, &[SEEN, qemu, ("sys/class/misc/fuse/dev", "10:229\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&HOST, &[SEEN, qemu, kvm, ("proc/cpuinfo", "flags : tsc vmx\n")], id),
        Fail
    );
    assert_eq!(outcome_of(&HOST, &[SEEN, qemu], id), Unknown);
}

#[test]
fn the_firmware_is_identified() {
    let id = "bios-rt-profile";
    let dmi = [
        ("sys/class/dmi/id/bios_version", "1.19\n"),
        ("sys/class/dmi/id/bios_date", "01/02/2024\n"),
        ("sys/class/dmi/id/product_name", "Box\n"),
    ];
    assert_eq!(outcome_of(&HOST, &dmi, id), Pass);
    assert_eq!(
        outcome_of(&HOST, &[&dmi[..], &[("sys/class/dmi/id/bios_date", "\n")]].concat(), id),
        Warn
    );
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
}

#[test]
fn nightly_jobs_are_contained() {
    let id = "background-jobs-contained";
    let timer = ("etc/systemd/system/timers.target.wants/apt-daily.timer", "\n");
    let small = (
        "etc/systemd/system/timers.target.wants/systemd-tmpfiles-clean.timer",
        "\n",
    );
    let none_set_aside = ("sys/devices/system/cpu/isolated", "\n");
    assert_eq!(outcome_of(&HOST, &[small, none_set_aside], id), Pass);
    assert_eq!(outcome_of(&HOST, &[timer, none_set_aside], id), Fail);
    assert_eq!(outcome_of(&HOST, &[timer], id), Pass, "isolcpus keeps it away");
    let nohz_full = [timer, none_set_aside, ("sys/devices/system/cpu/nohz_full", "2-3\n")];
    assert_eq!(outcome_of(&HOST, &nohz_full, id), Fail);
    let masked = ("etc/systemd/system/apt-daily.timer", "->/dev/null");
    assert_eq!(outcome_of(&HOST, &[timer, masked, none_set_aside], id), Pass);
    let live = [timer, masked, none_set_aside, ("dev/null", "")];
    assert_eq!(outcome_of(&HOST, &live, id), Pass);
    let own_text = ("etc/systemd/system/apt-daily.timer", "[Timer]\n");
    assert_eq!(outcome_of(&HOST, &[timer, own_text, none_set_aside], id), Fail);
    let slice = ("sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-1\n");
    assert_eq!(outcome_of(&HOST, &[&nohz_full[..], &[slice]].concat(), id), Pass);
    let cron = ("etc/cron.daily/man-db", "\n");
    assert_eq!(outcome_of(&HOST, &[cron, none_set_aside], id), Fail);
    assert_eq!(
        outcome_of(&HOST, &[cron, small, none_set_aside], id),
        Pass,
        "left to a timer"
    );
    let own = ("etc/cron.daily/index", "\n");
    assert_eq!(outcome_of(&HOST, &[own, small, none_set_aside], id), Fail);
    let raid = ("etc/systemd/system/timers.target.wants/raid-check.timer", "\n");
    assert_eq!(outcome_of(&HOST, &[raid, none_set_aside], id), Fail);
    assert_eq!(outcome_of(&HOST, &[none_set_aside], id), Unknown);
}

#[test]
fn agents_stay_off_real_time_cpus() {
    let id = "monitoring-agents-cost";
    let of = |cpus| {
        outcome_of(
            &HOST,
            &[SEEN, ("proc/9/comm", "node_exporter\n"), ("proc/9/status", cpus)],
            id,
        )
    };
    assert_eq!(outcome_of(&HOST, &[SEEN], id), Pass);
    assert_eq!(of("Cpus_allowed_list:\t0-1\n"), Pass);
    assert_eq!(of("Cpus_allowed_list:\t0-3\n"), Fail);
    assert_eq!(of("Name:\tx\n"), Unknown);
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
}

#[test]
fn consoles_ask_for_a_login() {
    let id = "console-logins-closed";
    // 1025 is tty1, 34816 the first pseudo-terminal.
    let shell = |stat| outcome_of(&HOST, &[SEEN, ("proc/9/comm", "bash\n"), ("proc/9/stat", stat)], id);
    assert_eq!(shell("9 (bash) S 1 9 9 34816 9 0\n"), Pass);
    assert_eq!(shell("9 (bash) S 1 9 9 1025 9 0\n"), Fail);
    let getty = |words| {
        let files = [
            SEEN,
            ("proc/9/comm", "agetty\n"),
            ("proc/9/stat", "9 (agetty) S 1 9 9 1025 9 0\n"),
            ("proc/9/cmdline", words),
        ];
        outcome_of(&HOST, &files, id)
    };
    assert_eq!(getty("agetty\0--noclear\0tty1\0"), Pass);
    assert_eq!(getty("agetty\0--autologin\0root\0tty1\0"), Fail);
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
}

#[test]
fn management_has_an_interface_of_its_own() {
    let id = "management-network-apart";
    let nic = Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    };
    let of = |routes: &str, v6: &str| {
        let files = [
            ("sys/class/net/eth0/ifindex", "2\n"),
            ("proc/net/route", routes),
            ("proc/net/ipv6_route", v6),
        ];
        outcome_with(&HOST, &files, &nic, id)
    };
    const HEAD: &str = "Iface\tDestination\tGateway\n";
    let zeros = "0".repeat(32);
    let v6 = format!("{zeros} 00 {zeros} 00 {zeros} 0 0 0 0 eth0\n");
    assert_eq!(of(HEAD, "\n"), Pass);
    assert_eq!(
        of("Iface\tDestination\tGateway\neth1\t00000000\t0101A8C0\n", "\n"),
        Pass
    );
    assert_eq!(
        of("Iface\tDestination\tGateway\neth0\t00000000\t0101A8C0\n", "\n"),
        Fail
    );
    assert_eq!(of(HEAD, &v6), Fail);
    assert_eq!(of("?\n", "\n"), Unknown);
}

#[test]
fn a_process_bus_has_no_ipv6_address() {
    let nic = Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    };
    let of = |files: &[(&str, &str)]| {
        let files = [&[("sys/class/net/eth0/ifindex", "2\n")], files].concat();
        outcome_with(&HOST, &files, &nic, "process-bus-without-ipv6")
    };
    let address = |name: &str| format!("fe8000000000000002155dfffe00000a 02 40 20 80 {name}\n");
    assert_eq!(of(&[("proc/net/if_inet6", &address("eth1"))]), Pass);
    assert_eq!(of(&[("proc/net/if_inet6", &address("eth0"))]), Fail);
    assert_eq!(of(&[("proc/net/dev", "Inter-|\n")]), Pass, "a kernel without IPv6");
    assert_eq!(of(&[]), Unknown);
    assert_eq!(of(&[("proc/net/if_inet6", "99999999999999999999\n")]), Unknown);
}

#[test]
fn a_process_bus_has_no_ipv4_address_and_no_mdns() {
    let nic = Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    };
    let of = |addresses: Option<&str>, groups: &str| {
        let mut files = vec![("sys/class/net/eth0/ifindex", "2\n"), ("proc/net/dev_mcast", groups)];
        files.extend(addresses.map(|text| (".answers/ipv4-addresses", text)));
        outcome_with(&HOST, &files, &nic, "process-bus-without-ipv4")
    };
    let own = "2 eth0 1 0 010ccd040001\n";
    assert_eq!(of(Some("eth0 = 0\neth1 = 1\n"), own), Pass);
    assert_eq!(of(Some("eth0 = 1\n"), own), Fail);
    for group in ["01005e0000fb", "3333000000fb"] {
        assert_eq!(of(Some("eth0 = 0\n"), &format!("2 eth0 1 0 {group}\n")), Fail);
        assert_eq!(
            of(Some("eth0 = 0\n"), &format!("3 eth1 1 0 {group}\n")),
            Pass,
            "another's"
        );
    }
    for addresses in [None, Some("eth1 = 0\n"), Some("eth0 = 'x'\n"), Some("[\n")] {
        assert_eq!(of(addresses, own), Unknown, "{addresses:?}");
    }
    assert_eq!(of(Some("eth0 = 0\n"), "?\n"), Unknown);
}

#[test]
fn the_hardware_suffices_for_the_relays() {
    let box_of = |cores: u32| -> Vec<(String, String)> {
        let siblings = (0..cores).map(|cpu| {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            (path, format!("{cpu}\n"))
        });
        siblings
            .chain([("sys/devices/system/cpu/online".to_owned(), format!("0-{}\n", cores - 1))])
            .collect()
    };
    let of = |cores: u32, changes: &[(&str, &str)], relays: usize, id: &str| {
        let cpus = box_of(cores);
        let mut files: Vec<(&str, &str)> = cpus.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        files.extend(changes);
        let parameters = Parameters {
            vmx: vec!["relay.vmx".into(); relays],
            ..Parameters::default()
        };
        outcome_with(&HOST, &files, &parameters, id)
    };
    assert_eq!(of(8, &[], 1, "sizing-cores"), Pass);
    assert_eq!(of(4, &[], 1, "sizing-cores"), Warn);
    assert_eq!(of(4, &[], 4, "sizing-cores"), Fail);
    let base = |khz| {
        of(
            4,
            &[("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", khz)],
            1,
            "sizing-cpu-clock",
        )
    };
    assert_eq!((base("2100000\n"), base("1900000\n")), (Pass, Fail));
    let named = (
        "proc/cpuinfo",
        "model name : Intel(R) Xeon(R) CPU @ 1.80GHz\nflags : tsc\n",
    );
    assert_eq!(of(4, &[named], 1, "sizing-cpu-clock"), Fail);
    assert_eq!(of(4, &[], 1, "sizing-cpu-clock"), Unknown);
    let highest = ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    let nominal = |mhz| ("sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", mhz);
    let turbo = |off| ("sys/devices/system/cpu/intel_pstate/no_turbo", off);
    let arm = ("proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\n");
    let slow = ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1900000\n");
    for (files, outcome) in [
        (&[highest][..], Unknown),
        (&[highest, nominal("1800\n")], Fail),
        (&[highest, nominal("2400\n")], Pass),
        (&[highest, turbo("0\n")], Unknown),
        (&[highest, turbo("1\n")], Pass),
        (&[highest, arm], Pass),
        (&[slow], Fail),
    ] {
        assert_eq!(of(4, files, 1, "sizing-cpu-clock"), outcome, "{files:?}");
    }
    let cache = |size| {
        of(
            4,
            &[("sys/devices/system/cpu/cpu0/cache/index3/size", size)],
            1,
            "sizing-cache",
        )
    };
    assert_eq!((cache("11264K\n"), cache("8192K\n")), (Pass, Fail));
    let memory = |relays| {
        of(
            4,
            &[("proc/meminfo", "MemTotal: 16000000 kB\n")],
            relays,
            "sizing-memory",
        )
    };
    assert_eq!((memory(1), memory(3), memory(4)), (Pass, Pass, Fail));
    // 60 GB.
    let disk = |relays| {
        of(
            4,
            &[
                ("sys/block/sda/size", "117187500\n"),
                ("sys/block/loop0/size", "999999999\n"),
            ],
            relays,
            "sizing-disk",
        )
    };
    assert_eq!((disk(8), disk(9)), (Pass, Fail));
    assert_eq!(of(4, &[("sys/block/loop0/size", "8\n")], 1, "sizing-disk"), Unknown);
}

#[test]
fn two_ports_stamp_in_hardware() {
    let id = "sizing-ports";
    let port = |name: &str| {
        [
            (format!("sys/class/net/{name}/ifindex"), "2\n"),
            (format!("sys/class/net/{name}/speed"), "-1\n"),
            (format!("sys/class/net/{name}/device/ptp/ptp0/clock_name"), "igb\n"),
        ]
    };
    let (first, second) = (port("eth0"), port("eth1"));
    let files: Vec<(&str, &str)> = first
        .iter()
        .chain(&second)
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    assert_eq!(outcome_of(&HOST, &files, id), Pass);
    assert_eq!(outcome_of(&HOST, &files[..3], id), Fail);
    let without_speed = [&files[..4], &files[5..]].concat();
    assert_eq!(outcome_of(&HOST, &without_speed, id), Unknown);
    assert_eq!(
        outcome_of(
            &HOST,
            &[&files[..], &[("sys/class/net/eth1/speed", "100\n")]].concat(),
            id
        ),
        Fail
    );
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
}
