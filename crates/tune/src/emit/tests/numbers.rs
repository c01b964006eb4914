//! Numbers in settings that come from the machine: of pages, devices and CPUs.

use std::fs;

use tempfile::TempDir;

use super::{TWO, audit};
use crate::emit::emit;
use audit::parameters::Parameters;
use host::Host;

/// A tree with a domain of 5 GiB that gets a card, and the kernel's release.
fn host_of_domain(release: &str, devices: &[&str]) -> (TempDir, Parameters) {
    let (_, root) = audit("compose.yaml", TWO);
    let write = |path: String, text: &str| {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    };
    write("proc/sys/kernel/osrelease".to_owned(), release);
    write("sys/devices/virtual/workqueue/cpumask".to_owned(), "ff\n");
    write("sys/devices/system/node/node0/cpulist".to_owned(), "0-7\n");
    write(
        "proc/net/route".to_owned(),
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n",
    );
    for file in ["nr_hugepages", "free_hugepages"] {
        write(format!("sys/kernel/mm/hugepages/hugepages-1048576kB/{file}"), "0\n");
    }
    write("sys/bus/pci/drivers/igb/x".to_owned(), "");
    for device in devices {
        let place = format!("sys/bus/pci/devices/{device}");
        write(format!("{place}/vendor"), "0x8086\n");
        write(format!("{place}/device"), "0x1533\n");
        std::os::unix::fs::symlink("../../drivers/igb", root.path().join(place).join("driver")).expect("a link");
    }
    write(
        "relay.xml".to_owned(),
        "<domain type='kvm'><name>relay</name><memory unit='GiB'>5</memory><vcpu>1</vcpu><devices><hostdev mode='subsystem' \
         type='pci' managed='no'><source><address domain='0x0000' bus='0x02' slot='0x00' function='0x0'/></source></hostdev>\
         </devices></domain>",
    );
    let parameters = Parameters {
        rt_cpus: Some("4-7".parse().expect("CPUs")),
        domains: vec![root.path().join("relay.xml").display().to_string()],
        ..Parameters::default()
    };
    (root, parameters)
}

fn emitted(root: &TempDir, parameters: &Parameters, check: &str, kind: &str) -> Result<String, String> {
    let host = Host::at(root.path()).expect("a tree");
    emit(&audit::audit(&host, parameters, &[]), &[check.to_owned()], kind)
}

#[test]
fn numbers_of_this_machine_are_filled_in_or_the_setting_is_refused() {
    let card = "0000:02:00.0";
    let (root, told) = host_of_domain("6.12.0\n", &[card]);
    let arguments = emitted(&root, &told, "hugepages-reserved", "kernel-args").expect("arguments");
    assert!(
        arguments.starts_with("default_hugepagesz=1G hugepagesz=1G hugepages=5\n"),
        "{arguments}"
    );
    let booted = "quiet default_hugepagesz=1G hugepages=1 hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=512\n";
    fs::write(root.path().join("proc/cmdline"), booted).expect("a file");
    let arguments = emitted(&root, &told, "hugepages-reserved", "kernel-args").expect("arguments");
    assert!(arguments.starts_with("hugepagesz=1G hugepages=5\n"), "{arguments}");
    let gone = ["hugepages=1", "hugepagesz=1G", "hugepages=4"];
    assert!(
        gone.iter().all(|word| arguments.contains(&format!("take {word} out"))),
        "{arguments}"
    );
    assert!(
        !arguments.contains("hugepages=512") && !arguments.contains("take hugepagesz=2M"),
        "{arguments}"
    );
    let options = emitted(&root, &told, "vfio-bound", "modprobe").expect("options");
    let lines = "options vfio-pci ids=8086:1533\nsoftdep igb pre: vfio-pci\n";
    assert!(options.ends_with(lines), "{options}");
    let mask = emitted(&root, &told, "workqueue-cpumask", "kernel-args").expect("arguments");
    assert!(mask.starts_with("workqueue.unbound_cpus=0-3\n"), "{mask}");

    let (root, told) = host_of_domain("6.5.0\n", &[card, "0000:03:00.0"]);
    let refused = emitted(&root, &told, "workqueue-cpumask", "kernel-args").expect_err("an older kernel");
    assert!(refused.contains("since Linux 6.6"), "{refused}");
    let refused = emitted(&root, &told, "vfio-bound", "modprobe").expect_err("a second card of the kind");
    assert!(
        refused.contains("0000:03:00.0") && refused.contains("driverctl"),
        "{refused}"
    );
}

/// A domain of 5 GiB and one of 1.5 GiB, each bound to a node or to none.
#[test]
fn huge_pages_are_reserved_on_the_node_of_each_domain_in_whole_pages() {
    let of = |release: &str, nodes: [&str; 2]| {
        let (root, mut told) = host_of_domain(release, &[]);
        for (name, kib, node) in [("relay", 5 << 20, nodes[0]), ("small", 3 << 19, nodes[1])] {
            let bound = match node {
                "" => String::new(),
                node => format!("<numatune><memory mode='strict' nodeset='{node}'/></numatune>"),
            };
            let text =
                format!("<domain type='kvm'><name>{name}</name><memory>{kib}</memory><vcpu>1</vcpu>{bound}</domain>");
            fs::write(root.path().join(format!("{name}.xml")), text).expect("a definition");
        }
        told.domains.push(root.path().join("small.xml").display().to_string());
        fs::write(root.path().join("sys/devices/system/node/online"), "0-1\n").expect("a file");
        fs::write(root.path().join("sys/devices/system/node/online"), "0-1\n").expect("a file");
        let texts = ["node0", "node1"].map(|node| {
            let place = root
                .path()
                .join("sys/devices/system/node")
                .join(node)
                .join("hugepages/hugepages-1048576kB");
            fs::create_dir_all(&place).expect("folders");
            for file in ["nr_hugepages", "free_hugepages"] {
                fs::write(place.join(file), "0\n").expect("a file");
            }
            emitted(&root, &told, "hugepages-reserved", "kernel-args")
        });
        let [one, two] = texts;
        (one, two)
    };
    let starts = |text: Result<String, String>, count: &str| {
        let text = text.expect("arguments");
        assert!(
            text.starts_with(&format!("default_hugepagesz=1G hugepagesz=1G hugepages={count}\n")),
            "{text}"
        );
    };
    let (one, two) = of("6.12.0\n", ["0", "0"]);
    starts(one, "7");
    starts(two, "0:7");
    starts(of("6.12.0\n", ["1", "0"]).1, "0:2,1:5");
    let refused = |nodes| of("6.12.0\n", nodes).1.expect_err("a person decides");
    assert!(refused(["0", ""]).contains("small is bound to no memory node"));
    assert!(refused(["0", "0-1"]).contains("on each of the nodes 0-1"));
    let old = of("5.15.0\n", ["0", "1"]).1.expect_err("an older kernel");
    assert!(old.contains("since Linux 5.16") && old.contains("0:5,1:2"), "{old}");
}

#[test]
fn what_a_file_of_the_machine_holds_stands_in_comments_without_what_is_not_seen() {
    let root = tempfile::tempdir().expect("a directory");
    let cpu = "sys/devices/system/cpu";
    for (path, text) in [
        (format!("{cpu}/online"), "0-3\n"),
        ("proc/cpuinfo".to_owned(), "flags : tsc\n"),
        ("proc/sys/kernel/osrelease".to_owned(), "6.12.0\n"),
        (format!("{cpu}/cpu3/cpufreq/scaling_governor"), "powersave\n"),
        (format!("{cpu}/cpu3/cpufreq/scaling_min_freq"), "800000\n"),
        (format!("{cpu}/cpu3/cpufreq/scaling_max_freq"), "900\u{202e}000\n"),
    ] {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let parameters = Parameters {
        rt_cpus: Some("3".parse().expect("CPUs")),
        ..Parameters::default()
    };
    let text = emitted(&root, &parameters, "cpufreq-constant", "ansible").unwrap_or_else(|why| why);
    assert!(text.contains("900 000"), "{text}");
    assert!(!text.contains('\u{202e}'), "{text}");
}

fn add(root: &TempDir, files: &[(&str, &str)]) {
    for (path, text) in files {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
}

#[test]
fn nothing_is_emitted_that_leaves_no_cpu_for_everything_else() {
    let (root, told) = host_of_domain("6.12.0\n", &[]);
    add(&root, &[("sys/devices/system/cpu/isolated", "\n")]);
    let part = emitted(&root, &told, "cpu-isolated", "kernel-args").expect("arguments");
    assert!(part.starts_with("isolcpus=managed_irq,domain,4-7\n"), "{part}");
    let all = Parameters {
        rt_cpus: Some("0-7".parse().expect("CPUs")),
        ..told
    };
    for (check, kind) in [
        ("cpu-isolated", "kernel-args"),
        ("cpu-isolated", "tuned"),
        ("cpu-isolated", "ansible"),
        ("dom-no-balloon", "libvirt"),
    ] {
        let why = emitted(&root, &all, check, kind).expect_err("no CPU is left");
        assert!(why.contains("none is left"), "{check}, {kind}: {why}");
    }
    let nothing = emitted(&root, &all, "dom-no-balloon", "kernel-args");
    assert_eq!(nothing.as_deref(), Ok(""), "nothing to emit, and nothing to refuse");
}

#[test]
fn rivals_that_run_are_masked_and_no_others() {
    let (root, told) = host_of_domain("6.12.0\n", &[]);
    add(&root, &[("proc/60/comm", "tuned-ppd\n")]);
    let text = emitted(&root, &told, "tuning-daemons-agree", "systemd").expect("a command");
    assert!(text.contains("systemctl mask tuned-ppd.service\n"), "{text}");
}

#[test]
fn a_machine_slice_without_the_cpus_gets_a_file_too() {
    let (root, told) = host_of_domain("6.12.0\n", &[]);
    add(
        &root,
        &[
            (
                "proc/self/mountinfo",
                "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
            ("sys/fs/cgroup/init.scope/cpuset.cpus.effective", "0-3\n"),
            ("sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3\n"),
            ("sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0-3\n"),
            ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-3\n"),
        ],
    );
    let text = emitted(&root, &told, "systemd-slices-cpus", "systemd").expect("files");
    let file = text.split("# /etc/systemd/system/machine.slice.d/triptime.conf").nth(1);
    let file = file.unwrap_or_else(|| panic!("no file for machines: {text}"));
    assert!(file.contains("[Slice]\nAllowedCPUs=\nAllowedCPUs=0-3,4-7\n"), "{text}");
    // The rule of the domain writes the same file.
    let text = emitted(&root, &told, "dom-partition", "systemd");
    assert!(text.is_ok_and(|text| !text.contains("# machine.slice")));
}

#[test]
fn the_kernels_threads_are_put_above_virtual_cpus() {
    let (root, told) = host_of_domain("6.12.0\n", &[]);
    let mut files = vec![(
        "proc/sys/kernel/version".to_owned(),
        "#1 SMP PREEMPT_RT Mon\n".to_owned(),
    )];
    let (zeros, more) = ("0 ".repeat(5), "0 ".repeat(29));
    for (tid, name, flags, (policy, priority), allowed) in [
        (1, "systemd", 0, (0, 0), "0-3"),
        (2, "kthreadd", 0x0020_0000, (0, 0), "0-3"),
        (30, "CPU 0/KVM", 0, (1, 50), "4"),
        (31, "rcuc/4", 0x0420_0000, (1, 1), "4"),
        (32, "ktimers/4", 0x0420_0000, (1, 1), "4"),
    ] {
        for folder in [format!("proc/{tid}"), format!("proc/{tid}/task/{tid}")] {
            let stat = format!("{tid} ({name}) S {zeros}{flags} {more}0 {priority} {policy} 0 0\n");
            files.push((format!("{folder}/stat"), stat));
            files.push((
                format!("{folder}/status"),
                format!("Name:\t{name}\nCpus_allowed_list:\t{allowed}\n"),
            ));
            files.push((format!("{folder}/comm"), format!("{name}\n")));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    add(&root, &files);
    let id = "rcu-softirq-thread-priority";
    let of = |kind| emitted(&root, &told, id, kind).expect("settings");
    assert!(
        of("kernel-args").starts_with("rcutree.kthread_prio=53\n"),
        "{}",
        of("kernel-args")
    );
    assert!(of("systemd").contains("chrt -f -p 51'"), "{}", of("systemd"));
    let profile = of("tuned");
    for line in ["group.rcuc=0:f:53:*:rcuc.*", "group.ktimers=0:f:51:*:ktimers.*"] {
        assert!(profile.contains(line), "{line}: {profile}");
    }
}
