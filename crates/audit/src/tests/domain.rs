//! Rules for domains, each with a domain that passes and one that fails, and the traps.

use std::time::Instant;

use proptest::prelude::*;
use tempfile::TempDir;

use super::tree::{add, audit, expect, tree};
use crate::definition::domain::Domain;
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;
use crate::rule::built_in;
use crate::{Audit, check_definitions, domain_moves};
use host::Host;

/// A domain that every rule accepts.
pub(super) const GOOD: &str = "<domain type='kvm'><name>relay</name><vcpu>2</vcpu>
<memoryBacking><hugepages><page size='1' unit='G'/></hugepages><nosharepages/><locked/></memoryBacking>
<cputune><vcpupin vcpu='0' cpuset='2'/><vcpupin vcpu='1' cpuset='3'/><emulatorpin cpuset='0'/>
<vcpusched vcpus='0-1' scheduler='fifo' priority='1'/></cputune>
<numatune><memory mode='strict' nodeset='0'/></numatune>
<os><type arch='x86_64'>hvm</type></os>
<features><pmu state='off'/><vmport state='off'/></features>
<cpu mode='host-passthrough' migratable='off'/>
<clock offset='utc'><timer name='pit' tickpolicy='delay'/><timer name='hpet' present='no'/></clock>
<pm><suspend-to-mem enabled='no'/><suspend-to-disk enabled='no'/></pm>
<devices><disk device='disk'><driver cache='none'/><target dev='vda'/></disk>
<controller type='usb' model='none'/>
<interface type='bridge'><model type='virtio'/><driver name='vhost' rx_queue_size='1024'/></interface>
<memballoon model='none'/></devices></domain>";

/// A host with two nodes and no threads that can be seen.
pub(super) fn host() -> TempDir {
    tree(&[
        ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
        ("proc/meminfo", "Hugepagesize:       2048 kB\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2,6\n"),
        ("sys/devices/system/cpu/isolated", "2-5\n"),
        ("sys/devices/system/node/online", "0-1\n"),
        ("sys/devices/system/node/node0/cpulist", "0-3,6\n"),
        ("sys/devices/system/node/node1/cpulist", "4-5,7\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
        ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-7\n"),
        ("sys/fs/cgroup/machine.slice/cpu.max", "max 100000\n"),
    ])
}

pub(super) fn named(name: &str) -> Parameters {
    Parameters {
        domains: vec![name.to_owned()],
        ..Parameters::default()
    }
}

/// The stored definition `text` on the host, with more files.
pub(super) fn stored(text: &str, files: &[(&str, &str)]) -> Audit {
    let host = host();
    add(&host, "etc/libvirt/qemu/relay.xml", text);
    for (path, text) in files {
        add(&host, path, text);
    }
    audit(&host, &named("relay"))
}

#[test]
fn a_domain_that_is_set_up_well_passes_every_rule() {
    let audit = stored(GOOD, &[]);
    for finding in audit.findings.iter().filter(|finding| finding.group == "domain") {
        let asks_more = ["dom-live-matches-config", "dom-virtual-function"].contains(&finding.rule.id.as_str());
        let wanted = if asks_more { NotApplicable } else { Pass };
        expect(&audit, &finding.rule.id, wanted);
    }
}

#[test]
fn each_change_for_the_worse_is_found() {
    let cases = [
        ("dom-vcpupin", "cpuset='3'", "cpuset='3,4'", Fail),
        ("dom-vcpupin", "cpuset='3'", "cpuset='2'", Fail),
        ("dom-vcpupin", "cpuset='3'", "cpuset='6'", Fail),
        ("dom-vcpupin", "<vcpupin vcpu='1' cpuset='3'/>", "", Fail),
        ("dom-cputune-consistent", "<vcpu>2</vcpu>", "<vcpu>1</vcpu>", Fail),
        ("dom-cputune-consistent", "vcpus='0-1'", "vcpus='0-2'", Fail),
        (
            "dom-cputune-consistent",
            "migratable='off'/>",
            "><topology sockets='1' cores='2' threads='2'/></cpu>",
            Fail,
        ),
        ("dom-emulatorpin", "<emulatorpin cpuset='0'/>", "", Fail),
        (
            "dom-emulatorpin",
            "<emulatorpin cpuset='0'/>",
            "<emulatorpin cpuset='0-2'/>",
            Fail,
        ),
        (
            "dom-emulatorpin",
            "<emulatorpin cpuset='0'/>",
            "<emulatorpin cpuset='5'/>",
            Pass,
        ),
        (
            "dom-vcpusched",
            "scheduler='fifo' priority='1'",
            "scheduler='batch'",
            Fail,
        ),
        ("dom-vcpusched", "vcpus='0-1'", "vcpus='0'", Fail),
        ("dom-vcpusched", "priority='1'", "priority='99'", Fail),
        ("dom-vcpusched", "priority='1'", "priority='50'", Unknown),
        ("dom-memory-backing", "<locked/>", "", Fail),
        ("dom-memory-backing", "<nosharepages/>", "", Pass),
        ("dom-memory-backing", "size='1' unit='G'", "size='2' unit='M'", Warn),
        ("dom-memory-backing", "<page size='1' unit='G'/>", "", Warn),
        ("dom-numa-strict", "mode='strict'", "mode='preferred'", Fail),
        ("dom-numa-strict", "nodeset='0'", "nodeset='1'", Fail),
        ("dom-numa-strict", "cpuset='3'", "cpuset='4'", Fail),
        (
            "dom-cpu-model",
            "mode='host-passthrough' migratable='off'",
            "mode='host-passthrough'",
            Warn,
        ),
        (
            "dom-cpu-model",
            "mode='host-passthrough' migratable='off'",
            "mode='host-model'",
            Fail,
        ),
        (
            "dom-cpu-model",
            "migratable='off'/>",
            "migratable='off'><topology cores='1' threads='2'/></cpu>",
            Fail,
        ),
        ("dom-pmu-vmport-off", "<pmu state='off'/>", "", Fail),
        ("dom-no-balloon", "<memballoon model='none'/>", "", Fail),
        (
            "dom-no-balloon",
            "<memballoon model='none'/>",
            "<memballoon model='virtio'/>",
            Fail,
        ),
        ("dom-devices-minimal", "<controller type='usb' model='none'/>", "", Warn),
        (
            "dom-devices-minimal",
            "<memballoon",
            "<graphics type='spice'/><memballoon",
            Fail,
        ),
        (
            "dom-devices-minimal",
            "<memballoon",
            "<watchdog model='itco'/><memballoon",
            Fail,
        ),
        ("dom-devices-minimal", "<suspend-to-mem enabled='no'/>", "", Fail),
        ("dom-timers", "<timer name='hpet' present='no'/>", "", Fail),
        ("dom-timers", "tickpolicy='delay'", "tickpolicy='catchup'", Fail),
        ("dom-rt-nic", "rx_queue_size='1024'", "", Fail),
        ("dom-rt-nic", "model type='virtio'", "model type='e1000'", Fail),
        ("dom-rt-nic", "<model type='virtio'/>", "", Fail),
        ("dom-block-io", " cache='none'", "", Fail),
        ("dom-block-io", "<vcpu>", "<iothreads>1</iothreads><vcpu>", Fail),
        (
            "dom-partition",
            "<emulatorpin",
            "<quota>50000</quota><emulatorpin",
            Fail,
        ),
        ("dom-partition", "<emulatorpin", "<quota>-1</quota><emulatorpin", Pass),
    ];
    for (id, from, to, wanted) in cases {
        assert!(GOOD.contains(from), "{id}: {from}");
        expect(&stored(&GOOD.replace(from, to), &[]), id, wanted);
    }
}

#[test]
fn siblings_are_judged_by_the_host_s_cores() {
    let threads = GOOD.replace(
        "migratable='off'/>",
        "migratable='off'><topology cores='1' threads='2'/></cpu>",
    );
    let pinned = threads.replace("cpuset='3'", "cpuset='6'");
    expect(&stored(&pinned, &[]), "dom-cpu-model", Pass);
}

#[test]
fn an_interface_without_a_model_is_virtio_on_arm() {
    let bare = GOOD.replace("<model type='virtio'/>", "");
    for (kind, wanted) in [
        ("arch='x86_64' machine='q35'", Fail),
        ("arch='aarch64' machine='virt-8.2'", Pass),
        ("arch='aarch64'", Pass),
        ("arch='aarch64' machine='vexpress-a15'", Fail),
    ] {
        let text = bare.replace("arch='x86_64'", kind);
        expect(&stored(&text, &[]), "dom-rt-nic", wanted);
    }
}

#[test]
fn disks_past_the_page_cache_pass_and_only_virtio_s_need_an_io_thread() {
    let direct = GOOD.replace("cache='none'", "cache='directsync'");
    expect(&stored(&direct, &[]), "dom-block-io", Pass);
    let text = GOOD.replace("<vcpu>", "<iothreads>1</iothreads><vcpu>");
    let text = text.replace("<emulatorpin", "<iothreadpin iothread='1' cpuset='0'/><emulatorpin");
    let scsi = "<disk device='disk'><driver cache='none'/><target dev='sda' bus='scsi'/></disk><disk device='disk'>";
    let both = text.replace("<disk device='disk'>", scsi);
    expect(&stored(&both, &[]), "dom-block-io", Fail);
    let both = both.replace(
        "<driver cache='none'/><target dev='vda'/>",
        "<driver cache='none' iothread='1'/><target dev='vda'/>",
    );
    expect(&stored(&both, &[]), "dom-block-io", Pass);
    let several = both.replace(
        " iothread='1'/><target",
        "><iothreads><iothread id='1'/></iothreads></driver><target",
    );
    expect(&stored(&several, &[]), "dom-block-io", Pass);
}

#[test]
fn io_threads_away_from_vcpus_pass() {
    let text = GOOD.replace("<vcpu>", "<iothreads>1</iothreads><vcpu>");
    let text = text.replace("cache='none'", "cache='none' iothread='1'");
    let pinned = text.replace("<emulatorpin", "<iothreadpin iothread='1' cpuset='0'/><emulatorpin");
    expect(&stored(&pinned, &[]), "dom-block-io", Pass);
    let beside = text.replace("<emulatorpin", "<iothreadpin iothread='1' cpuset='2'/><emulatorpin");
    expect(&stored(&beside, &[]), "dom-block-io", Fail);
}

#[test]
fn a_pool_of_virtual_functions_is_passthrough() {
    let from = "<interface type='bridge'><model type='virtio'/><driver name='vhost' rx_queue_size='1024'/></interface>";
    assert!(GOOD.contains(from));
    let text = GOOD.replace(from, "<interface type='network'><source network='sriov'/></interface>");
    expect(&stored(&text, &[]), "dom-rt-nic", Unknown);
    let place = "etc/libvirt/qemu/networks/sriov.xml";
    let pool = "<network><name>sriov</name><forward mode='hostdev'/></network>";
    expect(&stored(&text, &[(place, pool)]), "dom-rt-nic", Pass);
    let bridge = "<network><name>sriov</name><forward mode='nat'/></network>";
    expect(&stored(&text, &[(place, bridge)]), "dom-rt-nic", Fail);
}

#[test]
fn a_slice_without_the_cpus_or_with_a_quota_is_found() {
    let cpus = "sys/fs/cgroup/machine.slice/cpuset.cpus.effective";
    expect(&stored(GOOD, &[(cpus, "0-1\n")]), "dom-partition", Fail);
    // The emulator's pin must be inside it as well, or libvirt does not start the guest.
    expect(&stored(GOOD, &[(cpus, "0,2-3\n")]), "dom-partition", Pass);
    expect(&stored(GOOD, &[(cpus, "2-3\n")]), "dom-partition", Fail);
    let quota = "sys/fs/cgroup/machine.slice/cpu.max";
    expect(&stored(GOOD, &[(quota, "50000 100000\n")]), "dom-partition", Fail);
}

#[test]
fn a_slice_that_is_not_started_has_the_limits_above_it_and_of_its_unit() {
    let text = GOOD.replacen(
        "<cputune>",
        "<resource><partition>/machine/rt</partition></resource><cputune>",
        1,
    );
    let cpus = "sys/fs/cgroup/machine.slice/cpuset.cpus.effective";
    expect(&stored(&text, &[]), "dom-partition", Pass);
    expect(&stored(&text, &[(cpus, "0-1\n")]), "dom-partition", Fail);
    let unit = "etc/systemd/system/machine-rt.slice";
    let drop_in = "etc/systemd/system/machine-rt.slice.d/50-cpus.conf";
    let both = |unit_text: &str, more: &str| stored(&text, &[(unit, unit_text), (drop_in, more)]);
    expect(&both("[Slice]\nAllowedCPUs=4-7\n", "[Slice]\n"), "dom-partition", Fail);
    expect(
        &both("[Slice]\nAllowedCPUs=4-7\n", "[Slice]\nAllowedCPUs=0 2-3\n"),
        "dom-partition",
        Pass,
    );
    expect(&both("[Slice]\nCPUQuota=50%\n", "[Slice]\n"), "dom-partition", Fail);
    expect(
        &both("[Slice]\nCPUQuota=50%\n", "[Slice]\nCPUQuota=\n"),
        "dom-partition",
        Pass,
    );
    for drop_in in [
        "etc/systemd/system.control/machine-rt.slice.d/50-AllowedCPUs.conf",
        "run/systemd/system/machine-.slice.d/a.conf",
        "usr/lib/systemd/system/slice.d/a.conf",
    ] {
        let audit = stored(&text, &[(drop_in, "[Slice]\nAllowedCPUs=4-7\n")]);
        expect(&audit, "dom-partition", Fail);
    }
    expect(&both("[Slice]\nAllowedCPUs=x\n", "[Slice]\n"), "dom-partition", Unknown);
}

#[test]
fn other_threads_get_the_housekeeping_cpus_that_the_slice_has() {
    let slice = "sys/fs/cgroup/machine.slice/cpuset.cpus.effective";
    let of = |text: &str, slice_cpus: &str, fact: &str| {
        let audit = stored(text, &[(slice, slice_cpus)]);
        let part = &audit.facts.parts(crate::facts::Class::Domain)[0];
        let known = audit.facts.get(Some(part), fact);
        known.map_or_else(|unknown| format!("? {}", unknown.text), |value| value.to_string())
    };
    let cpus = |slice_cpus| of(GOOD, slice_cpus, "dom.housekeeping-cpus");
    assert_eq!(cpus("0-7\n"), "CPU 0-1,6-7");
    let refused = cpus("2-5\n");
    assert!(refused.starts_with("? ") && refused.contains("0-1,6-7"), "{refused}");
    let limited = GOOD.replace(
        "<emulatorpin",
        "<quota>50000</quota><emulator_quota>1000</emulator_quota><emulatorpin",
    );
    assert_eq!(
        of(&limited, "0-7\n", "dom.lifted-quotas"),
        "<quota>-1</quota><emulator_quota>-1</emulator_quota>"
    );
    assert!(of(GOOD, "0-7\n", "dom.lifted-quotas").starts_with("? "));
}

#[test]
fn a_trusted_platform_module_is_nobodys_business() {
    let with = GOOD.replace("<memballoon", "<tpm model='tpm-crb'/><memballoon");
    expect(&stored(&with, &[]), "dom-devices-minimal", Pass);
}

#[test]
fn a_priority_above_one_is_judged_by_the_kernel_s_threads() {
    let text = GOOD.replace("priority='1'", "priority='3'");
    let stat = |of: u32| format!("9 (rcuc/2) S 2 {} 2 {of} 1 0\n", "0 ".repeat(34).trim());
    let files = |third: u32| {
        let (low, high) = (stat(third), stat(4));
        let files = [
            ("proc/2/comm", "kthreadd\n"),
            ("proc/8/comm", "rcuc/2\n"),
            ("proc/8/stat", high.as_str()),
            ("proc/9/comm", "rcuc/3\n"),
            ("proc/9/stat", low.as_str()),
        ];
        stored(&text, &files)
    };
    expect(&files(4), "dom-vcpusched", Pass);
    expect(&files(1), "dom-vcpusched", Fail);
}

/// The running domain with a main loop and two vCPUs. The second may run on `second.0` with the policy `second.1`.
fn running(definition: &str, second: (&str, &str)) -> Audit {
    audit(&running_host(definition, second), &named("relay"))
}

fn running_host(definition: &str, second: (&str, &str)) -> TempDir {
    let status = format!(
        "<domstatus state='running' pid='900'><vcpus><vcpu id='0' pid='901'/><vcpu id='1' pid='902'/></vcpus>{definition}</domstatus>"
    );
    let stat = |policy: &str| format!("901 (CPU 0/KVM) S 1 {} 2 1 {policy} 0\n", "0 ".repeat(34).trim());
    let (cpus, policy) = second;
    let allowed = |cpus: &str| format!("Name:\tCPU\nCpus_allowed_list:\t{cpus}\n");
    let scope = "/machine.slice/machine-qemu.scope";
    let host = host();
    add(&host, "etc/libvirt/qemu/relay.xml", GOOD);
    let files = [
        ("run/libvirt/qemu/relay.xml", status),
        ("proc/900/task/900/status", allowed("0")),
        ("proc/900/task/901/status", allowed("2")),
        ("proc/900/task/901/stat", stat("1")),
        ("proc/900/task/902/status", allowed(cpus)),
        ("proc/900/task/902/stat", stat(policy)),
        ("proc/900/cgroup", format!("0::{scope}/libvirt/emulator\n")),
        (
            "sys/fs/cgroup/machine.slice/machine-qemu.scope/cpuset.cpus.effective",
            "0-7\n".to_owned(),
        ),
    ];
    for (path, text) in files {
        add(&host, path, &text);
    }
    host
}

#[test]
fn threads_that_are_elsewhere_are_moved_to_where_the_definition_says() {
    let host = running_host(GOOD, ("0-7", "1"));
    add(&host, "proc/900/task/900/status", "Cpus_allowed_list:\t0-7\n");
    add(&host, "proc/900/task/900/stat", "900 (qemu) S 1\n");
    let host = Host::at(host.path()).expect("a tree");
    let moves = domain_moves(host.reader(), "relay", &"1".parse().expect("CPUs")).expect("moves");
    let told: Vec<String> = moves.iter().map(|one| format!("{} {}", one.tid, one.cpus)).collect();
    assert_eq!(told, ["902 3", "900 0"]);
    let off = domain_moves(host.reader(), "nobody", &"1".parse().expect("CPUs"));
    assert!(off.is_err_and(|error| error.contains("does not run")));
}

#[test]
fn the_threads_of_a_domain_that_runs_are_asked() {
    let ids = [
        "dom-vcpupin",
        "dom-vcpusched",
        "dom-emulatorpin",
        "dom-live-matches-config",
        "dom-partition",
    ];
    let as_stored = running(GOOD, ("3", "1"));
    for id in ids {
        expect(&as_stored, id, Pass);
    }
    expect(&running(GOOD, ("0-7", "1")), "dom-vcpupin", Fail);
    expect(&running(GOOD, ("3", "0")), "dom-vcpusched", Fail);
    let elsewhere = GOOD.replace("cpuset='3'", "cpuset='4'");
    expect(&running(&elsewhere, ("4", "1")), "dom-live-matches-config", Fail);
}

#[test]
fn a_domain_that_cannot_be_read_passes_nothing() {
    for (name, text) in [("relay", "<domain>"), ("relay", "<network/>"), ("nobody", GOOD)] {
        let host = host();
        add(&host, "etc/libvirt/qemu/relay.xml", text);
        let audit = audit(&host, &named(name));
        for finding in audit.findings.iter().filter(|finding| finding.group == "domain") {
            expect(&audit, &finding.rule.id, Unknown);
        }
    }
}

#[test]
fn files_that_are_no_definitions_are_refused_with_the_place() {
    let cases = [
        ("<domain><name>a</name><vcpu>two</vcpu></domain>", "number of vCPUs"),
        ("<domain><name>a</name>\n<vcpu></name></domain>", "line 2"),
        ("<network/>", "<network>"),
        ("<domain/>", "<name>"),
        (
            "<domain><name>a</name><cputune><vcpupin vcpu='0' cpuset='x'/></cputune></domain>",
            "cpuset='x'",
        ),
    ];
    let folder = tree(&[]);
    for (text, near) in cases {
        let file = add(&folder, "a.xml", text).display().to_string();
        let error = check_definitions(&named(&file)).expect_err(text);
        assert!(error.starts_with(&file) && error.contains(near), "{error}");
    }
    let good = add(&folder, "good.xml", GOOD).display().to_string();
    assert_eq!(check_definitions(&named(&good)), Ok(()));
    assert!(check_definitions(&named("/no/such/file.xml")).is_err());
    let deep = "<domain>".repeat(200_000);
    assert!(Domain::parse(&deep).is_err_and(|error| error.contains("deep")));
}

#[test]
fn every_fact_of_definitions_is_gathered_also_where_they_cannot_be_read() {
    for text in [GOOD, "garbage"] {
        let host = host();
        add(&host, "etc/libvirt/qemu/relay.xml", text);
        let vmx = add(
            &host,
            "relay.vmx",
            if text == GOOD {
                "numvcpus = \"2\"\n"
            } else {
                "garbage\n"
            },
        );
        let parameters = Parameters {
            vmx: vec![vmx],
            ..named("relay")
        };
        let facts = audit(&host, &parameters).facts;
        let groups = built_in();
        let mine = groups
            .iter()
            .filter(|(name, _)| ["domain", "vmware", "iommu"].contains(name));
        for rule in mine.flat_map(|(_, group)| &group.rules) {
            let part = rule.each.and_then(|class| facts.parts(class).first());
            for name in rule.facts() {
                assert!(facts.is_gathered(part, name), "{}: {name}", rule.id);
            }
        }
    }
}

#[test]
fn many_domains_are_read_fast() {
    let host = host();
    let names: Vec<String> = (0..100).map(|number| format!("relay{number}")).collect();
    for name in &names {
        add(
            &host,
            &format!("etc/libvirt/qemu/{name}.xml"),
            &GOOD.replace("relay", name),
        );
    }
    let parameters = Parameters {
        domains: names,
        ..Parameters::default()
    };
    let began = Instant::now();
    audit(&host, &parameters);
    assert!(began.elapsed().as_secs_f64() < 5.0, "{:?}", began.elapsed());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_of_domains_panic(text in any::<String>(), at in 0..GOOD.len(), length in 0..40usize) {
        let _ = Domain::parse(&text);
        let mut broken = GOOD.to_owned();
        broken.replace_range(at..(at + length).min(GOOD.len()), &text);
        let _ = Domain::parse(&broken);
    }
}
