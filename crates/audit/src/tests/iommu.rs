//! IOMMU, device assignment and KVM.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::tree::{add, audit, expect, tree};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

const CARD: &str = "0000:09:00.0";

/// Hardware with an IOMMU, one card in a group of its own with a bridge, and KVM as TuneD sets it.
fn host(driver: &str) -> TempDir {
    let tree = tree(&[
        ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
        ("proc/cpuinfo", "processor : 0\nflags : fpu vmx\n"),
        ("proc/cmdline", "intel_iommu=on iommu=pt\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/class/dmi/id/sys_vendor", "Welotec\n"),
        ("sys/class/dmi/id/product_name", "RSAPC\n"),
        ("sys/class/iommu/dmar0/intel-iommu/cap", "8d2008c40660462\n"),
        ("sys/kernel/iommu_groups/3/type", "identity\n"),
        ("sys/kernel/iommu_groups/3/devices/0000:00:1f.0/x", ""),
        ("sys/kernel/iommu_groups/9/type", "DMA\n"),
        ("sys/kernel/iommu_groups/9/devices/0000:00:1c.0/x", ""),
        ("sys/kernel/iommu_groups/9/devices/0000:09:00.0/x", ""),
        ("sys/bus/pci/devices/0000:00:1c.0/class", "0x060400\n"),
        ("sys/bus/pci/devices/0000:00:1f.0/class", "0x060100\n"),
        ("sys/bus/pci/devices/0000:09:00.0/class", "0x020000\n"),
        ("sys/bus/pci/drivers/igc/x", ""),
        ("sys/bus/pci/drivers/vfio-pci/x", ""),
        ("sys/module/kvm/parameters/halt_poll_ns", "0\n"),
        ("sys/module/kvm/parameters/kvmclock_periodic_sync", "N\n"),
        ("sys/module/kvm/parameters/nx_huge_pages", "N\n"),
        ("sys/module/kvm_intel/parameters/ple_gap", "0\n"),
        ("sys/module/kvm_intel/parameters/enable_apicv", "Y\n"),
        ("sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", "N\n"),
    ]);
    let bus = tree.path().join("sys/bus/pci");
    symlink(
        format!("../../drivers/{driver}"),
        bus.join("devices").join(CARD).join("driver"),
    )
    .expect("a link");
    if driver == "vfio-pci" {
        symlink(format!("../../devices/{CARD}"), bus.join("drivers/vfio-pci").join(CARD)).expect("a link");
    }
    tree
}

fn domain(managed: &str) -> String {
    format!(
        "<domain><name>relay</name><vcpu>1</vcpu><devices><hostdev mode='subsystem' type='pci' managed='{managed}'><source>\
         <address domain='0x0000' bus='0x09' slot='0x00' function='0x0'/></source></hostdev></devices></domain>"
    )
}

fn with_domain(host: &TempDir, managed: &str) -> Parameters {
    add(host, "etc/libvirt/qemu/relay.xml", &domain(managed));
    Parameters {
        domains: vec!["relay".to_owned()],
        ..Parameters::default()
    }
}

#[track_caller]
fn after(path: &str, text: &str, id: &str, wanted: Outcome) {
    let host = host("vfio-pci");
    add(&host, path, text);
    expect(&audit(&host, &Parameters::default()), id, wanted);
}

#[test]
fn a_host_that_is_set_up_well_passes() {
    let host = host("vfio-pci");
    let audit = audit(&host, &with_domain(&host, "no"));
    for id in [
        "iommu-ready",
        "vfio-bound",
        "vfio-posted-interrupts",
        "kvm-halt-poll",
        "kvm-rt-parameters",
    ] {
        expect(&audit, id, Pass);
    }
}

#[test]
fn groups_are_judged_by_their_members_and_types() {
    after("sys/kernel/iommu_groups/3/type", "DMA-FQ\n", "iommu-ready", Fail);
    after(
        "sys/kernel/iommu_groups/9/devices/0000:00:1f.6/x",
        "",
        "iommu-ready",
        Fail,
    );
    let host = host("vfio-pci");
    std::fs::remove_dir_all(host.path().join("sys/class/iommu")).expect("removed");
    expect(&audit(&host, &Parameters::default()), "iommu-ready", Unknown);
    std::fs::create_dir_all(host.path().join("sys/class/iommu")).expect("a folder");
    expect(&audit(&host, &Parameters::default()), "iommu-ready", Fail);
}

#[test]
fn without_a_passed_device_there_is_nothing_to_ask() {
    let audit = audit(&host("igc"), &Parameters::default());
    for id in ["iommu-ready", "vfio-bound", "vfio-posted-interrupts"] {
        expect(&audit, id, NotApplicable);
    }
}

#[test]
fn a_card_that_the_host_holds_waits_for_managed_yes() {
    let host = host("igc");
    expect(&audit(&host, &with_domain(&host, "no")), "vfio-bound", Fail);
    expect(&audit(&host, &with_domain(&host, "yes")), "vfio-bound", Pass);
    let parameters = with_domain(&host, "yes");
    let status = format!("<domstatus state='running' pid='9'>{}</domstatus>", domain("yes"));
    add(&host, "run/libvirt/qemu/relay.xml", &status);
    expect(&audit(&host, &parameters), "vfio-bound", Fail);
}

#[test]
fn interrupts_that_cannot_be_posted_are_a_warning_and_unsafe_ones_a_failure() {
    let id = "vfio-posted-interrupts";
    after("sys/class/iommu/dmar0/intel-iommu/cap", "d2008c40660462\n", id, Warn);
    after("sys/class/iommu/dmar0/intel-iommu/cap", "garbage\n", id, Unknown);
    after(
        "sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
        "Y\n",
        id,
        Fail,
    );
    after("sys/module/kvm_intel/parameters/enable_apicv", "N\n", id, Fail);
    for (arguments, outcome) in [
        ("intremap=nopost\n", Fail),
        ("intremap=on,nosid,nopost\n", Fail),
        ("nointremap\n", Fail),
        ("intremap=nopost intremap=on\n", Pass),
        ("intremap=nosid\n", Pass),
    ] {
        after("proc/cmdline", arguments, id, outcome);
    }
}

#[test]
fn halt_polling_is_decided_on_purpose() {
    after(
        "sys/module/kvm/parameters/halt_poll_ns",
        "200000\n",
        "kvm-halt-poll",
        Fail,
    );
    after(
        "sys/module/kvm/parameters/halt_poll_ns",
        "50000\n",
        "kvm-halt-poll",
        Warn,
    );
    after(
        "sys/module/kvm/parameters/halt_poll_ns",
        "garbage\n",
        "kvm-halt-poll",
        Unknown,
    );
    expect(
        &audit(
            &tree(&[("sys/devices/system/cpu/online", "0\n")]),
            &Parameters::default(),
        ),
        "kvm-halt-poll",
        NotApplicable,
    );
}

#[test]
fn parameters_of_kvm_are_asked_of_either_maker() {
    after(
        "sys/module/kvm_intel/parameters/ple_gap",
        "128\n",
        "kvm-rt-parameters",
        Fail,
    );
    after(
        "sys/module/kvm/parameters/kvmclock_periodic_sync",
        "Y\n",
        "kvm-rt-parameters",
        Fail,
    );
    after(
        "sys/module/kvm/parameters/nx_huge_pages",
        "never\n",
        "kvm-rt-parameters",
        Pass,
    );
    let host = host("igc");
    add(&host, "sys/module/kvm/parameters/nx_huge_pages", "Y\n");
    let mut parameters = Parameters::default();
    expect(&audit(&host, &parameters), "kvm-rt-parameters", Fail);
    parameters.profile = Some("seapath".to_owned());
    expect(&audit(&host, &parameters), "kvm-rt-parameters", Warn);
    std::fs::remove_dir_all(host.path().join("sys/module/kvm_intel")).expect("removed");
    add(&host, "sys/module/kvm/parameters/nx_huge_pages", "N\n");
    add(&host, "sys/module/kvm_amd/parameters/pause_filter_count", "3000\n");
    expect(&audit(&host, &parameters), "kvm-rt-parameters", Fail);
    add(&host, "sys/module/kvm_amd/parameters/pause_filter_count", "0\n");
    expect(&audit(&host, &parameters), "kvm-rt-parameters", Pass);
}
