//! Several domains on one machine, and definitions of other machines.

use super::domain::{GOOD, host, named, stored};
use super::tree::{add, audit, expect, tree};
use crate::facts::Class;
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown};
use crate::parameters::Parameters;

#[test]
fn other_domains_that_the_machine_stores_are_read_too() {
    let other = |text: &str| stored(GOOD, &[("etc/libvirt/qemu/other.xml", text)]);
    let both = other(&GOOD.replace("relay", "other"));
    expect(&both, "dom-vcpupin", Fail);
    let elsewhere = GOOD
        .replace("relay", "other")
        .replace("cpuset='2'", "cpuset='4'")
        .replace("cpuset='3'", "cpuset='5'");
    expect(&other(&elsewhere), "dom-vcpupin", Pass);
    expect(&other("<domain>"), "dom-vcpupin", Unknown);
    expect(&both, "domains-named", NotApplicable);
    let host = host();
    add(&host, "etc/libvirt/qemu/relay.xml", GOOD);
    let unnamed = audit(&host, &Parameters::default());
    expect(&unnamed, "domains-named", Fail);
}

/// `virsh create` stores nothing: such a domain is in the folder of running ones only.
#[test]
fn a_domain_that_only_runs_is_a_neighbour_too() {
    let other = |first: &str, second: &str| {
        let text = GOOD
            .replace("relay", "other")
            .replace("cpuset='2'", first)
            .replace("cpuset='3'", second);
        format!("<domstatus state='running' pid='77'><vcpus/>{text}</domstatus>")
    };
    let beside = |text: &str| stored(GOOD, &[("run/libvirt/qemu/other.xml", text)]);
    let same = beside(&other("cpuset='2'", "cpuset='3'"));
    expect(&same, "dom-vcpupin", Fail);
    let [relay] = same.facts.parts(Class::Domain) else {
        panic!("one domain is named");
    };
    let pins = same
        .facts
        .get(Some(relay), "dom.wanted-pins")
        .expect("pins")
        .to_string();
    assert!(pins.contains("cpuset='4'") && pins.contains("cpuset='5'"), "{pins}");
    expect(&beside(&other("cpuset='4'", "cpuset='5'")), "dom-vcpupin", Pass);
    expect(&beside("<domstatus>"), "dom-vcpupin", Unknown);
    let host = host();
    add(&host, "run/libvirt/qemu/relay.xml", GOOD);
    expect(&audit(&host, &Parameters::default()), "domains-named", Fail);
}

/// vCPUs 0 and 1 of the domain are on CPUs 2 and 3.
#[test]
fn the_emulator_and_the_io_threads_of_another_domain_are_neighbours_too() {
    for (vcpu, tuning, wanted) in [
        ("", "<cputune><emulatorpin cpuset='2-3'/></cputune>", Fail),
        (
            "",
            "<iothreads>1</iothreads><cputune><emulatorpin cpuset='0'/><iothreadpin iothread='1' cpuset='3'/></cputune>",
            Fail,
        ),
        (
            " cpuset='0-3'",
            "<cputune><vcpupin vcpu='0' cpuset='4'/></cputune>",
            Fail,
        ),
        (
            " cpuset='0-3'",
            "<cputune><vcpupin vcpu='0' cpuset='4'/><emulatorpin cpuset='0-1'/></cputune>",
            Pass,
        ),
    ] {
        let text = format!(
            "<domain type='kvm'><name>other</name><memory>1048576</memory><vcpu{vcpu}>1</vcpu>{tuning}</domain>"
        );
        let audit = stored(GOOD, &[("etc/libvirt/qemu/other.xml", &text)]);
        expect(&audit, "dom-vcpupin", wanted);
    }
}

/// Two CPUs and one node here; the definition names CPUs 20 to 23.
#[test]
fn a_definition_for_another_machine_is_not_judged_by_this_one() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("relay.xml");
    let text = GOOD
        .replace("cpuset='2'", "cpuset='20'")
        .replace("cpuset='3'", "cpuset='21'");
    std::fs::write(&path, text.replace("<page size='1' unit='G'/>", "")).expect("a file");
    let here = tree(&[
        ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
        ("proc/meminfo", "Hugepagesize:    1048576 kB\n"),
        ("sys/devices/system/cpu/online", "0-1\n"),
        ("sys/devices/system/node/online", "0\n"),
        ("sys/devices/system/node/node0/cpulist", "0-1\n"),
        ("etc/libvirt/qemu/other.xml", GOOD),
    ]);
    let asked = Parameters {
        rt_cpus: Some("20-23".parse().expect("CPUs")),
        ..named(path.to_str().expect("a path"))
    };
    let audit = audit(&here, &asked);
    for id in [
        "dom-numa-strict",
        "dom-memory-backing",
        "dom-partition",
        "hugepages-reserved",
    ] {
        expect(&audit, id, Unknown);
    }
    expect(&audit, "dom-vcpupin", Pass);
}

#[test]
fn another_domain_on_the_same_cpu_is_found() {
    let host = host();
    add(&host, "etc/libvirt/qemu/relay.xml", GOOD);
    let other = GOOD.replace("relay", "other").replace("cpuset='2'", "cpuset='4'");
    add(&host, "etc/libvirt/qemu/other.xml", &other);
    let mut parameters = named("relay");
    parameters.domains.push("other".to_owned());
    expect(&audit(&host, &parameters), "dom-vcpupin", Fail);
    add(
        &host,
        "etc/libvirt/qemu/other.xml",
        &other.replace("cpuset='3'", "cpuset='5'"),
    );
    expect(&audit(&host, &parameters), "dom-vcpupin", Pass);
}

#[test]
fn a_file_for_another_machine_is_not_judged_by_the_cpus_of_this_one() {
    let host = tree(&[
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/devices/system/cpu/isolated", "\n"),
    ]);
    let file = add(&host, "relay.xml", GOOD);
    let mut parameters = named(&file.display().to_string());
    expect(&audit(&host, &parameters), "dom-vcpupin", Unknown);
    parameters.rt_cpus = Some("2-3".parse().expect("CPUs"));
    expect(&audit(&host, &parameters), "dom-vcpupin", Pass);
}

#[test]
fn two_files_of_one_name_are_told_apart() {
    let host = host();
    let first = add(&host, "a.xml", GOOD);
    let second = add(&host, "b.xml", &GOOD.replace("<locked/>", ""));
    let mut parameters = named(&first.display().to_string());
    parameters.domains.push(second.display().to_string());
    let facts = audit(&host, &parameters).facts;
    let names: Vec<&str> = facts
        .parts(Class::Domain)
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    assert_eq!(names, ["relay", second.to_str().expect("UTF-8")]);
}
