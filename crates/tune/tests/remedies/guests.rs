//! A recorded machine that additionally runs guests, with default settings everywhere.

use std::fs;
use std::os::unix::fs::symlink;

use super::Twin;

/// Card that the guest gets; no recorded machine has one at this address.
const CARD: &str = "0000:f3:00.0";

/// KVM and its modules with the kernel's defaults, an IOMMU, a screen on the processor's graphics, and a further console.
const FILES: [(&str, &str); 18] = [
    ("sys/module/kvm/parameters/halt_poll_ns", "200000\n"),
    ("sys/module/kvm/parameters/kvmclock_periodic_sync", "Y\n"),
    ("sys/module/kvm/parameters/nx_huge_pages", "Y\n"),
    ("sys/module/kvm_intel/parameters/ple_gap", "128\n"),
    ("sys/module/kvm_intel/parameters/enable_apicv", "N\n"),
    ("sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", "Y\n"),
    ("sys/class/iommu/dmar0/intel-iommu/cap", "8d2008c40660462\n"),
    ("sys/bus/pci/drivers/igb/x", ""),
    ("sys/bus/pci/drivers/vfio-pci/x", ""),
    ("sys/bus/pci/drivers/xe/x", ""),
    ("proc/consoles", "ttyS0                -W- (EC   a)    4:64\n"),
    ("sys/class/drm/card7/device/power/runtime_status", "active\n"),
    ("sys/class/drm/card7-DP-1/status", "connected\n"),
    ("sys/bus/pci/devices/0000:f3:00.0/class", "0x020000\n"),
    ("sys/bus/pci/devices/0000:f3:00.0/vendor", "0x8086\n"),
    ("sys/bus/pci/devices/0000:f3:00.0/device", "0x1533\n"),
    ("sys/kernel/iommu_groups/97/type", "DMA\n"),
    ("sys/kernel/iommu_groups/97/devices/0000:f3:00.0/x", ""),
];

const ROUTES: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n";

/// Adds the guest. It gets a card through a domain that somebody else binds.
pub(super) fn bring(twin: &mut Twin) {
    for (path, text) in FILES {
        write(twin, path, text);
    }
    if !twin.root().join("proc/net/route").exists() {
        write(twin, "proc/net/route", ROUTES);
    }
    bind(twin, CARD, "igb");
    symlink(
        "../../../../bus/pci/drivers/xe",
        twin.root().join("sys/class/drm/card7/device/driver"),
    )
    .expect("a link");
    let domain = "<domain type='kvm'><name>other</name><memory unit='MiB'>64</memory><vcpu>1</vcpu><devices><hostdev mode='subsystem' type='pci' \
         managed='no'><source><address domain='0x0000' bus='0xf3' slot='0x00' function='0x0'/></source></hostdev></devices></domain>";
    let place = twin.folder.path().join("other.xml");
    fs::write(&place, domain).expect("a domain");
    twin.parameters.domains.push(place.display().to_string());
}

fn write(twin: &Twin, path: &str, text: &str) {
    let place = twin.root().join(path);
    fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
    fs::write(place, text).expect("a file");
}

/// Binds a PCI device to a driver.
pub(super) fn bind(twin: &Twin, address: &str, driver: &str) {
    let bus = twin.root().join("sys/bus/pci");
    let link = bus.join("devices").join(address).join("driver");
    let _ = fs::remove_file(&link);
    symlink(format!("../../drivers/{driver}"), link).expect("a link");
    let own = bus.join("drivers").join(driver).join(address);
    symlink(format!("../../devices/{address}"), own).expect("a link");
}
