//! Detects the hypervisor below the machine, and its kind, or the bare hardware.
//!
//! No single file is conclusive. The processor's `hypervisor` flag shows that there is one (x86); DMI, ACPI, the device tree,
//! `/sys/hypervisor` and paravirtual clocks and idle drivers show which.

use crate::cpuinfo::CpuInfo;
use crate::error::HostError;
use crate::reader::Reader;

/// Kinds of hypervisor that can be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HypervisorKind {
    /// Bare metal.
    None,
    /// Linux KVM under QEMU, a cloud's own or an unknown virtual machine monitor.
    Kvm,
    /// Firecracker (uses KVM).
    Firecracker,
    /// Cloud Hypervisor (uses KVM).
    CloudHypervisor,
    /// QEMU; the evidence does not show if it uses KVM or emulates the processor.
    Qemu,
    /// QEMU that emulates the processor: its timing is no evidence about any machine.
    QemuEmulated,
    /// VMware ESXi, Workstation or Fusion.
    Vmware,
    /// Microsoft Hyper-V or Azure.
    HyperV,
    /// Xen.
    Xen,
    /// Oracle VirtualBox.
    VirtualBox,
    /// bhyve of FreeBSD.
    Bhyve,
    /// Parallels.
    Parallels,
    /// A hypervisor that no evidence names.
    Unknown,
}

impl HypervisorKind {
    /// Its name for a reader.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kvm => "KVM",
            Self::Firecracker => "Firecracker",
            Self::CloudHypervisor => "Cloud Hypervisor",
            Self::Qemu => "QEMU, with or without KVM",
            Self::QemuEmulated => "QEMU, which emulates the processor",
            Self::Vmware => "VMware",
            Self::HyperV => "Hyper-V",
            Self::Xen => "Xen",
            Self::VirtualBox => "VirtualBox",
            Self::Bhyve => "bhyve",
            Self::Parallels => "Parallels",
            Self::Unknown => "an unknown one",
        }
    }
}

/// The hypervisor, or the bare hardware, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypervisor {
    /// Its kind.
    pub kind: HypervisorKind,
    /// Evidence, each piece with its file; never empty.
    pub evidence: Vec<String>,
}

impl Hypervisor {
    /// True if the machine is virtual.
    pub fn is_virtual(&self) -> bool {
        self.kind != HypervisorKind::None
    }

    /// True if the processor is emulated, so that no timing is evidence.
    pub fn is_emulated(&self) -> bool {
        self.kind == HypervisorKind::QemuEmulated
    }
}

/// Names that hypervisors give themselves in DMI (vendor and product in one text), and their kinds.
const DMI_NAMES: [(&str, HypervisorKind); 11] = [
    ("VMware", HypervisorKind::Vmware),
    ("Microsoft Corporation Virtual Machine", HypervisorKind::HyperV),
    ("VirtualBox", HypervisorKind::VirtualBox),
    ("innotek GmbH", HypervisorKind::VirtualBox),
    ("Xen HVM domU", HypervisorKind::Xen),
    ("Cloud Hypervisor", HypervisorKind::CloudHypervisor),
    ("BHYVE", HypervisorKind::Bhyve),
    ("Parallels", HypervisorKind::Parallels),
    ("KVM", HypervisorKind::Kvm),
    ("OpenStack", HypervisorKind::Kvm),
    ("QEMU", HypervisorKind::Qemu),
];

/// Processor model of QEMU's emulation with all features (`-cpu max`); other models are not conclusive.
const EMULATED_MODEL: &str = "QEMU TCG CPU";

/// Clouds that also sell bare metal under the same names: they count only with the hypervisor flag.
const CLOUDS: [&str; 2] = ["Amazon EC2", "Google Compute Engine"];

/// OEM identifiers in ACPI tables.
const ACPI_NAMES: [(&str, HypervisorKind); 4] = [
    ("FIRECK", HypervisorKind::Firecracker),
    ("CLOUDH", HypervisorKind::CloudHypervisor),
    ("VMWARE", HypervisorKind::Vmware),
    ("VBOX", HypervisorKind::VirtualBox),
];

/// Findings so far.
#[derive(Default)]
struct Findings {
    evidence: Vec<String>,
    kind: Option<HypervisorKind>,
    kvm: bool,
}

impl Findings {
    fn add(&mut self, kind: Option<HypervisorKind>, evidence: String) {
        self.evidence.push(evidence);
        self.kind = self.kind.or(kind);
    }
}

/// Detects the hypervisor of the machine: see [`crate::Host::hypervisor`].
///
/// # Errors
/// No conclusive file can be read.
pub fn detect(reader: &Reader) -> Result<Hypervisor, HostError> {
    let info = CpuInfo::read(reader);
    let flag = info.as_ref().ok().and_then(|info| info.has_flag("hypervisor"));
    let mut found = Findings::default();
    match flag {
        Some(true) => found.evidence.push("hypervisor flag in /proc/cpuinfo".to_owned()),
        Some(false) => found.evidence.push("no hypervisor flag in /proc/cpuinfo".to_owned()),
        None => {}
    }
    by_model(info.as_ref().ok(), &mut found);
    by_acpi(reader, &mut found);
    by_dmi(reader, flag, &mut found);
    by_xen(reader, &mut found);
    by_device_tree(reader, &mut found);
    by_paravirtual_drivers(reader, &mut found);
    let kind = match (found.kind, flag) {
        (Some(HypervisorKind::Qemu), _) if found.kvm => HypervisorKind::Kvm,
        (Some(kind), _) => kind,
        (None, _) if found.kvm => HypervisorKind::Kvm,
        (None, Some(true)) => HypervisorKind::Unknown,
        (None, Some(false)) => HypervisorKind::None,
        (None, None) if is_bare(reader, &mut found) => HypervisorKind::None,
        (None, None) => return Err(undecided(info.err())),
    };
    Ok(Hypervisor {
        kind,
        evidence: found.evidence,
    })
}

fn undecided(error: Option<HostError>) -> HostError {
    error.unwrap_or_else(|| {
        HostError::Undecided("this processor has no hypervisor flag, and there is no other evidence".to_owned())
    })
}

fn by_model(info: Option<&CpuInfo>, found: &mut Findings) {
    let model = info.and_then(|info| info.distinct("model name").ok());
    if model.is_some_and(|model| model.starts_with(EMULATED_MODEL)) {
        let evidence = format!("model {EMULATED_MODEL} in {}", crate::cpuinfo::PATH);
        found.add(Some(HypervisorKind::QemuEmulated), evidence);
    }
}

/// Every ACPI table names its maker in bytes 10 to 15 (ACPI specification, table header).
fn by_acpi(reader: &Reader, found: &mut Findings) {
    let path = "/sys/firmware/acpi/tables/DSDT";
    let Ok(header) = reader.head(path, 36) else { return };
    let Some(maker) = header.get(10..16).and_then(|oem| std::str::from_utf8(oem).ok()) else {
        return;
    };
    if let Some((name, kind)) = ACPI_NAMES.iter().find(|(name, _)| maker.starts_with(name)) {
        found.add(Some(*kind), format!("maker {name} in {path}"));
    }
}

fn by_dmi(reader: &Reader, flag: Option<bool>, found: &mut Findings) {
    let folder = "/sys/class/dmi/id";
    let read = |file: &str| reader.line(&format!("{folder}/{file}")).unwrap_or_default();
    let names = format!("{} {}", read("sys_vendor"), read("product_name"));
    if let Some((_, kind)) = DMI_NAMES.iter().find(|(name, _)| names.contains(name)) {
        found.add(Some(*kind), format!("{} in {folder}", names.trim()));
    } else if flag == Some(true) && CLOUDS.iter().any(|name| names.contains(name)) {
        found.add(Some(HypervisorKind::Kvm), format!("{} in {folder}", names.trim()));
    }
}

fn by_xen(reader: &Reader, found: &mut Findings) {
    let path = "/sys/hypervisor/type";
    if reader.line(path).is_ok_and(|kind| kind == "xen") {
        found.add(Some(HypervisorKind::Xen), format!("xen in {path}"));
    }
}

/// True if hardware without a hypervisor flag names itself, and nothing shows a hypervisor: by the device tree (Devicetree Specification,
/// root node), else by DMI.
fn is_bare(reader: &Reader, found: &mut Findings) -> bool {
    let named = ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"];
    let name = |path: &str| Some(format!("{} in {path}", first_string(reader, path)?));
    let name = named.into_iter().find_map(name);
    let is_named = name.is_some();
    found.evidence.extend(name);
    is_named
}

/// First string of a file whose strings end with zero bytes; `None` if there is none.
fn first_string(reader: &Reader, path: &str) -> Option<String> {
    let bytes = reader.head(path, 64).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let first = text.split('\0').next().unwrap_or_default().trim();
    // A name of a board is a line of text; anything else is ignored.
    let is_line = !first.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER);
    (is_line && !first.is_empty()).then(|| first.to_owned())
}

/// Boards that exist only virtually: of QEMU (hw/arm/virt.c), and of programs that took over its device tree.
const VIRTUAL_BOARD: &str = "linux,dummy-virt";

fn by_virtual_board(reader: &Reader, found: &mut Findings) {
    let path = "/proc/device-tree/compatible";
    if first_string(reader, path).is_some_and(|board| board == VIRTUAL_BOARD) {
        let has_firmware_interface = reader.names("/proc/device-tree", |name| name.starts_with("fw-cfg"));
        let is_qemu = has_firmware_interface.is_ok_and(|names| !names.is_empty());
        let kind = if is_qemu {
            HypervisorKind::Qemu
        } else {
            HypervisorKind::Unknown
        };
        found.add(Some(kind), format!("{VIRTUAL_BOARD} in {path}"));
    }
}

fn by_device_tree(reader: &Reader, found: &mut Findings) {
    by_virtual_board(reader, found);
    let path = "/proc/device-tree/hypervisor/compatible";
    let Ok(bytes) = reader.head(path, 64) else { return };
    let text = String::from_utf8_lossy(&bytes);
    if text.starts_with("linux,kvm") {
        found.kvm = true;
        found.add(None, format!("linux,kvm in {path}"));
    } else if text.starts_with("xen") {
        found.add(Some(HypervisorKind::Xen), format!("xen in {path}"));
    }
}

/// The guest kernel offers these only if it found the hypervisor's interface.
fn by_paravirtual_drivers(reader: &Reader, found: &mut Findings) {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = reader.line(path).unwrap_or_default();
    if clocks.contains("kvm-clock") {
        found.kvm = true;
        found.add(None, format!("kvm-clock in {path}"));
    }
    if clocks.contains("hyperv_clocksource") && !found.kvm && found.kind.is_none() {
        found.add(Some(HypervisorKind::HyperV), format!("hyperv_clocksource in {path}"));
    }
    let path = "/sys/devices/system/cpu/cpuidle/current_driver";
    if reader.line(path).is_ok_and(|driver| driver == "haltpoll") {
        found.kvm = true;
        found.add(None, format!("haltpoll in {path}"));
    }
}
