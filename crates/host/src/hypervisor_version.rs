//! Version of the hypervisor, as far as it tells its guest.

use crate::error::HostError;
use crate::hypervisor::HypervisorKind;
use crate::reader::Reader;
use model::NOT_APPLICABLE;

const DMI: &str = "/sys/class/dmi/id";
const XEN: &str = "/sys/hypervisor/version";

/// Version of the hypervisor, as it tells it: Xen the version itself, VMware the build of its firmware, QEMU its machine type, and others the
/// version of their firmware. Its text says which of these it is, because only the first is the hypervisor's own number.
///
/// # Errors
/// The hypervisor tells nothing, or the files cannot be read.
pub(crate) fn of(reader: &Reader, kind: HypervisorKind) -> Result<String, HostError> {
    match kind {
        HypervisorKind::None => Ok(format!("{NOT_APPLICABLE}: no hypervisor")),
        HypervisorKind::Xen => xen(reader),
        HypervisorKind::Kvm | HypervisorKind::Qemu | HypervisorKind::QemuEmulated => machine(reader),
        _ => firmware(reader),
    }
}

fn xen(reader: &Reader) -> Result<String, HostError> {
    let part = |name: &str| reader.line(&format!("{XEN}/{name}"));
    let extra = part("extra").unwrap_or_default();
    Ok(format!("{}.{}{extra}", part("major")?, part("minor")?))
}

/// QEMU writes its machine type, which has the version since which it is unchanged, into the product version.
fn machine(reader: &Reader) -> Result<String, HostError> {
    let machine = reader.line(&format!("{DMI}/product_version")).ok();
    let machine = machine.filter(|name| name.starts_with("pc-") || name.starts_with("virt-"));
    let Some(machine) = machine else {
        return firmware(reader);
    };
    let firmware = firmware(reader).map_or_else(|_| String::new(), |text| format!("; {text}"));
    Ok(format!("machine type {machine}{firmware}"))
}

fn firmware(reader: &Reader) -> Result<String, HostError> {
    let path = format!("{DMI}/bios_version");
    let version = reader.line(&path)?;
    let build =
        build_of_vmware(&version).map_or_else(String::new, |build| format!(", of build {build} of the hypervisor"));
    let date = reader.line(&format!("{DMI}/bios_date")).ok();
    let date = date.map_or_else(String::new, |date| format!(" of {date}"));
    Ok(format!("firmware {version}{date}{build}"))
}

/// The build in a firmware version of VMware: `VMW201.00V.21805430.B64.2305221830`. The build of its BIOS is the hypervisor's when it was made.
fn build_of_vmware(version: &str) -> Option<&str> {
    let mut parts = version.split('.');
    let is_theirs = parts.next()?.starts_with("VMW");
    let build = parts.nth(1)?;
    (is_theirs && !build.is_empty() && build.chars().all(|c| c.is_ascii_digit())).then_some(build)
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::hypervisor::HypervisorKind;
    use crate::reader::Reader;

    fn told(kind: HypervisorKind, files: &[(&str, &str)]) -> Result<String, String> {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        of(&Reader::new(root.path()), kind).map_err(|error| error.reason())
    }

    #[test]
    fn each_hypervisor_tells_something_else() {
        let dmi = |file: &str| format!("sys/class/dmi/id/{file}");
        let (bios, date, product) = (dmi("bios_version"), dmi("bios_date"), dmi("product_version"));
        let esxi = [
            (bios.as_str(), "VMW201.00V.21805430.B64.2305221830\n"),
            (date.as_str(), "05/22/2023\n"),
        ];
        assert_eq!(
            told(HypervisorKind::Vmware, &esxi).as_deref(),
            Ok("firmware VMW201.00V.21805430.B64.2305221830 of 05/22/2023, of build 21805430 of the hypervisor")
        );
        let qemu = [
            (bios.as_str(), "1.16.3-debian-1.16.3-2\n"),
            (product.as_str(), "pc-q35-8.2\n"),
        ];
        assert_eq!(
            told(HypervisorKind::Kvm, &qemu).as_deref(),
            Ok("machine type pc-q35-8.2; firmware 1.16.3-debian-1.16.3-2")
        );
        let xen = ["major", "minor", "extra"].map(|name| format!("sys/hypervisor/version/{name}"));
        let xen = [
            (xen[0].as_str(), "4\n"),
            (xen[1].as_str(), "17\n"),
            (xen[2].as_str(), ".3\n"),
        ];
        assert_eq!(told(HypervisorKind::Xen, &xen).as_deref(), Ok("4.17.3"));
        assert!(told(HypervisorKind::None, &[]).is_ok_and(|text| text.starts_with("not applicable")));
        for kind in [HypervisorKind::Xen, HypervisorKind::Firecracker, HypervisorKind::HyperV] {
            assert!(told(kind, &[]).is_err(), "nothing told is unknown");
        }
    }
}
