//! Description of a guest without booting it.

use super::modules::{OF_ANY, OF_QEMU};
use super::qemu::domain::{Nic, xml};
use super::qemu::line::{NAME, Ways, shown, words};
use super::share::Share;
use super::{Accel, GuestSpec, OWN_PROGRAM, PlaceError, choose_modules, make_image, pack_image};
use std::path::{Path, PathBuf};

/// File name of the image in commands that a user runs by hand.
const IMAGE: &str = "triptime-guest.img";

/// The ports of this machine, each a folder with its name.
const PORTS: &str = "/sys/class/net";

/// QEMU's command line, the same machine as a libvirt domain, the kernel's arguments and the image's content. With a port of this machine, the domain
/// has a card on it, and words that pass it through follow QEMU's line.
///
/// # Errors
/// The kernel, its modules or the port are not there.
pub fn show(spec: &GuestSpec, nic: Option<&str>) -> Result<String, PlaceError> {
    spec.check()?;
    let nic = nic.map(|name| found(Path::new(PORTS), name)).transpose()?;
    // A passed-through port needs the driver of its card.
    let wanted: &[&str] = if nic.is_some() { &OF_ANY } else { &OF_QEMU };
    let modules = choose_modules(&spec.modules, wanted)?;
    let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    let names = match names.is_empty() {
        true => "none: the kernel has the needed drivers built in, or the folder lacks them".to_owned(),
        false => names.join(", "),
    };
    let octets = make_image(Path::new(OWN_PROGRAM), &modules, spec.runtime)?.len();
    let ways = Ways {
        name: NAME.to_owned(),
        kvm: spec.accel != Accel::Tcg && spec.icount.is_none(),
        locked: true,
        share: Share::here(spec),
        image: IMAGE.to_owned(),
        console: "stdio".to_owned(),
        channel: "socket,path=triptime-guest.sock,server=on,wait=off".to_owned(),
        cards: Vec::new(),
    };
    let program = super::qemu::program().unwrap_or_else(|_| PathBuf::from("qemu-system-x86_64"));
    Ok(format!(
        "kernel: {kernel}\n\
         image: this program as /init, {octets} octets in all; modules: {names}\n\
         kernel arguments: {arguments}\n\n\
         QEMU:\n{line}\n{passed}\n\
         libvirt:\n{domain}",
        kernel = spec.kernel_in_words(),
        arguments = spec.kernel_arguments(),
        line = shown(&program, &words(spec, &ways)),
        passed = nic.as_ref().map(passed).unwrap_or_default(),
        domain = xml(
            spec,
            &format!("/var/lib/libvirt/images/{IMAGE}"),
            &ways.share,
            nic.as_ref()
        ),
    ))
}

/// Words of QEMU that give the guest the whole port, and the commands that take the port from its driver here before.
fn passed(nic: &Nic) -> String {
    let name = &nic.name;
    let Some(pci) = &nic.pci else {
        return format!("{name} is not a PCI device of this machine: QEMU cannot pass it through\n");
    };
    let device = format!("/sys/bus/pci/devices/{pci}");
    format!(
        "to pass {name} through, add: -device vfio-pci,host={pci}\n\
         and before QEMU starts, as root; {name} is then gone from this machine (IOMMU on, see triptime audit):\n\
         \x20 modprobe vfio-pci && echo vfio-pci > {device}/driver_override\n\
         \x20 echo {pci} > {device}/driver/unbind; echo {pci} > /sys/bus/pci/drivers_probe\n"
    )
}

/// The port of this name, with its PCI address if it has one.
fn found(ports: &Path, name: &str) -> Result<Nic, PlaceError> {
    let port = ports.join(name);
    if let Err(error) = std::fs::metadata(&port) {
        return Err(PlaceError::Io { path: port, error });
    }
    let device = std::fs::read_link(port.join("device")).ok();
    let device = device.and_then(|link| Some(link.file_name()?.to_str()?.to_owned()));
    Ok(Nic {
        name: name.to_owned(),
        // Other buses, such as virtio, have names without a colon.
        pci: device.filter(|device| device.contains(':') && device.contains('.')),
        is_passed: false,
    })
}

/// The guest as a libvirt domain with this kernel and image; its agent waits for a host (`Joined`). It has all of the port `nic` of this machine, or a
/// macvtap on it if the port cannot be passed through.
///
/// # Errors
/// The port is not there.
pub fn domain(spec: &GuestSpec, kernel: &Path, image: &Path, nic: Option<&str>) -> Result<String, PlaceError> {
    let spec = GuestSpec {
        kernel: kernel.to_owned(),
        ..spec.clone()
    };
    let nic = nic.map(|name| found(Path::new(PORTS), name)).transpose()?;
    let nic = nic.map(|nic| Nic { is_passed: true, ..nic });
    Ok(xml(
        &spec,
        &image.display().to_string(),
        &Share::here(&spec),
        nic.as_ref(),
    ))
}

/// The image for hypervisors that boot it themselves: compressed, with all modules of this folder that any of them needs.
///
/// # Errors
/// The folder has no modules, or a file cannot be read.
pub fn image_for_any(modules: &Path) -> Result<Vec<u8>, PlaceError> {
    pack_image(&make_image(
        Path::new(OWN_PROGRAM),
        &choose_modules(modules, &OF_ANY)?,
        None,
    )?)
}

#[cfg(test)]
mod tests {
    use super::{GuestSpec, Nic, found, passed, show};

    #[test]
    fn what_would_be_booted_is_shown() {
        let modules = tempfile::tempdir().expect("a folder");
        std::fs::write(modules.path().join("order"), "").expect("written");
        let spec = GuestSpec::new("/proc/version".into(), modules.path().to_owned());
        let text = show(&spec, None).expect("shown");
        for wanted in [
            "kernel: /proc/version with the modules of ",
            "(named)",
            "modules: none",
            "-append 'console=ttyS0",
            "<domain type='kvm'>",
            "isolcpus=",
            "-accel kvm",
        ] {
            assert!(text.contains(wanted), "no {wanted} in {text}");
        }
    }

    #[test]
    fn only_a_port_on_the_bus_is_passed_through() {
        let mut nic = Nic {
            name: "eth1".to_owned(),
            pci: Some("0000:01:00.1".to_owned()),
            is_passed: false,
        };
        let text = passed(&nic);
        assert!(text.contains("-device vfio-pci,host=0000:01:00.1\n"), "{text}");
        assert!(text.contains("/devices/0000:01:00.1/driver_override"), "{text}");
        nic.pci = None;
        let text = passed(&nic);
        assert!(
            text.contains("cannot pass it through") && !text.contains("-device"),
            "{text}"
        );
    }

    #[test]
    fn a_port_on_the_bus_is_known_by_its_address() {
        let ports = tempfile::tempdir().expect("a folder");
        for (name, device) in [("eth1", "../../../0000:01:00.1"), ("eth2", "../../../virtio3")] {
            std::fs::create_dir(ports.path().join(name)).expect("made");
            std::os::unix::fs::symlink(device, ports.path().join(name).join("device")).expect("made");
        }
        let pci = |name: &str| found(ports.path(), name).map(|nic| nic.pci);
        assert_eq!(pci("eth1").expect("there").as_deref(), Some("0000:01:00.1"));
        assert_eq!(pci("eth2").expect("there"), None);
        assert!(pci("eth3").is_err());
    }
}
