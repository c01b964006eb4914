//! Virtual functions of a domain: the card's treatment of their frames.

use tempfile::TempDir;

use super::domain::{GOOD, host, named};
use super::tree::{add, audit, expect};
use crate::Audit;
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};

const RULE: &str = "dom-virtual-function";
const OPEN: &str = "trusted = true\nspoof-check = false\nswitched-off = false\nvlan = 0\nmost-mbit = 0\n";
const PASSED: &str = "<hostdev mode='subsystem' type='pci' managed='yes'><source>
<address domain='0x0000' bus='0x03' slot='0x10' function='0x2'/></source></hostdev>";

/// Interface of a domain, with or without a VLAN from libvirt.
fn interface(vlan: &str) -> String {
    format!(
        "<interface type='hostdev' managed='yes'><source><address type='pci' domain='0x0000' bus='0x03' slot='0x10' function='0x2'/>\
         </source>{vlan}</interface>"
    )
}

fn define(device: &str) -> String {
    GOOD.replace("<memballoon", &format!("{device}<memballoon"))
}

/// A host whose card has two virtual functions; the second one is for the domain.
fn machine(device: &str, said: Option<&str>) -> TempDir {
    let host = host();
    let devices = "sys/bus/pci/devices";
    for function in ["0000:03:00.0", "0000:03:10.0", "0000:03:10.2"] {
        add(&host, &format!("{devices}/{function}/class"), "0x020000\n");
        add(&host, &format!("{devices}/{function}/numa_node"), "0\n");
    }
    add(&host, &format!("{devices}/0000:03:00.0/net/eno1/ifindex"), "2\n");
    for (number, function) in ["0000:03:10.0", "0000:03:10.2"].iter().enumerate() {
        add(
            &host,
            &format!("{devices}/0000:03:00.0/virtfn{number}"),
            &format!("->../{function}"),
        );
        add(&host, &format!("{devices}/{function}/physfn"), "->../0000:03:00.0");
    }
    if let Some(said) = said {
        // Settings of the other function do not affect the domain.
        let other = "[eno1.0]\ntrusted = false\nspoof-check = true\nvlan = 7\nmost-mbit = 9\n";
        add(&host, ".answers/virtual-functions", &format!("{other}[eno1.1]\n{said}"));
    }
    add(&host, "etc/libvirt/qemu/relay.xml", &define(device));
    host
}

fn of(device: &str, said: Option<&str>) -> Audit {
    audit(&machine(device, said), &named("relay"))
}

#[track_caller]
fn with(device: &str, from: &str, to: &str, wanted: Outcome) {
    let said = OPEN.replace(from, to);
    assert!(from.is_empty() || said != OPEN, "{from} is not there");
    expect(&of(device, Some(&said)), RULE, wanted);
}

#[test]
fn each_setting_of_a_passed_function_is_judged() {
    with(PASSED, "", "", Pass);
    with(PASSED, "trusted = true", "trusted = false", Fail);
    with(PASSED, "most-mbit = 0", "most-mbit = 50", Fail);
    with(PASSED, "switched-off = false", "switched-off = true", Fail);
    with(PASSED, "vlan = 0", "vlan = 100", Fail);
    with(PASSED, "spoof-check = false", "spoof-check = true", Warn);
}

#[test]
fn what_is_not_told_is_no_pass() {
    for setting in OPEN.lines() {
        with(PASSED, setting, "", Unknown);
    }
    expect(&of(PASSED, None), RULE, Unknown);
    expect(&of(PASSED, Some("garbage = [\n")), RULE, Unknown);
}

#[test]
fn the_definitions_vlan_counts_before_a_start_and_the_cards_while_it_runs() {
    let tagged = interface("<vlan><tag id='100'/></vlan>");
    // libvirt removes an older VLAN, and sets its own.
    with(&interface(""), "vlan = 0", "vlan = 100", Pass);
    with(&tagged, "", "", Warn);
    let runs = |vlan: &str, device: &str| {
        let machine = machine(device, Some(&OPEN.replace("vlan = 0", vlan)));
        let status = format!(
            "<domstatus state='running' pid='77'><vcpus/>{}</domstatus>",
            define(device)
        );
        add(&machine, "run/libvirt/qemu/relay.xml", &status);
        audit(&machine, &named("relay"))
    };
    expect(&runs("vlan = 0", &interface("")), RULE, Pass);
    expect(&runs("vlan = 100", &tagged), RULE, Warn);
    expect(&runs("vlan = 100", &interface("")), RULE, Fail);
    expect(&runs("vlan = 0", &tagged), RULE, Fail);
}

#[test]
fn whole_cards_and_other_devices_are_not_asked() {
    let whole = PASSED.replace("0x10", "0x00").replace("0x2", "0x0");
    expect(&of(&whole, Some(OPEN)), RULE, NotApplicable);
    let host = machine(PASSED, None);
    std::fs::write(host.path().join("sys/bus/pci/devices/0000:03:10.2/class"), "0x010802\n").expect("a disk");
    expect(&audit(&host, &named("relay")), RULE, NotApplicable);
}

#[test]
fn a_function_that_this_machine_does_not_show_is_unknown() {
    let elsewhere = PASSED.replace("0x03", "0x77");
    expect(&of(&elsewhere, Some(OPEN)), RULE, Unknown);
    for missing in [
        "0000:03:00.0/virtfn1",
        "0000:03:00.0/net/eno1/ifindex",
        "0000:03:10.2/class",
    ] {
        let host = machine(PASSED, Some(OPEN));
        let place = host.path().join("sys/bus/pci/devices").join(missing);
        std::fs::remove_file(&place).expect("a file");
        if missing.contains("/net/") {
            std::fs::remove_dir(place.parent().expect("a folder")).expect("an empty folder");
        }
        expect(&audit(&host, &named("relay")), RULE, Unknown);
    }
}

#[test]
fn a_pool_gives_its_function_at_the_start() {
    let pool = "<interface type='network'><source network='vfs'/></interface>";
    let host = machine(pool, Some(OPEN));
    add(
        &host,
        "etc/libvirt/qemu/networks/vfs.xml",
        "<network><name>vfs</name><forward mode='hostdev'/></network>",
    );
    expect(&audit(&host, &named("relay")), RULE, Unknown);
    let given = pool.replace(
        "<source network='vfs'/>",
        "<source network='vfs'/><actual type='hostdev'><source>\
         <address type='pci' domain='0x0000' bus='0x03' slot='0x10' function='0x2'/></source></actual>",
    );
    let status = format!(
        "<domstatus state='running' pid='77'><vcpus/>{}</domstatus>",
        define(&given)
    );
    add(&host, "run/libvirt/qemu/relay.xml", &status);
    expect(&audit(&host, &named("relay")), RULE, Pass);
}
