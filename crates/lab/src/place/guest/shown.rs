//! A guest as it would be made, in words: nothing is booted.

use super::boot::{emulator_cpus, shown};
use super::modules::{OF_ANY, OF_QEMU};
use super::qemu::domain::xml;
use super::qemu::line::{Ways, words};
use super::{Accel, GuestSpec, OWN_PROGRAM, PlaceError, choose_modules, make_image, pack_image};
use std::path::{Path, PathBuf};

/// Where the image is to be for somebody who boots it by hand.
const IMAGE: &str = "triptime-guest.img";

/// QEMU's command line, the same machine as a domain of libvirt, the kernel's arguments and what is in the image.
///
/// # Errors
/// The kernel or its modules are not there.
pub fn show(spec: &GuestSpec) -> Result<String, PlaceError> {
    spec.check()?;
    let modules = choose_modules(&spec.modules, &OF_QEMU)?;
    let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    let names = match names.is_empty() {
        true => "none: the kernel has what it takes built in, or the folder lacks it".to_owned(),
        false => names.join(", "),
    };
    let octets = make_image(Path::new(OWN_PROGRAM), &modules)?.len();
    let ways = Ways {
        kvm: spec.accel != Accel::Tcg && spec.icount.is_none(),
        locked: true,
        image: IMAGE.to_owned(),
        console: "stdio".to_owned(),
        channel: "socket,path=triptime-guest.sock,server=on,wait=off".to_owned(),
        tap: None,
    };
    let program = super::qemu::program().unwrap_or_else(|_| PathBuf::from("qemu-system-x86_64"));
    Ok(format!(
        "image: this program as /init, {octets} octets in all; modules: {names}\n\
         kernel arguments: {arguments}\n\n\
         QEMU:\n{line}\n\n\
         libvirt:\n{domain}",
        arguments = spec.kernel_arguments(),
        line = shown(&program, &words(spec, &ways)),
        domain = xml(
            spec,
            &format!("/var/lib/libvirt/images/{IMAGE}"),
            &emulator_cpus(spec),
            None
        ),
    ))
}

/// The guest as a domain of libvirt, with this kernel and image, whose agent waits for a host (`Joined`).
pub fn domain(spec: &GuestSpec, kernel: &Path, image: &Path) -> String {
    let spec = GuestSpec {
        kernel: kernel.to_owned(),
        ..spec.clone()
    };
    xml(&spec, &image.display().to_string(), &emulator_cpus(&spec), None)
}

/// The image for hypervisors that boot it by themselves: packed, with the modules of this folder that any of them takes.
///
/// # Errors
/// A folder of something else, or a file that cannot be read.
pub fn image_for_any(modules: &Path) -> Result<Vec<u8>, PlaceError> {
    pack_image(&make_image(Path::new(OWN_PROGRAM), &choose_modules(modules, &OF_ANY)?)?)
}

#[cfg(test)]
mod tests {
    use super::{GuestSpec, show};

    #[test]
    fn what_would_be_booted_is_shown() {
        let modules = tempfile::tempdir().expect("a folder");
        std::fs::write(modules.path().join("order"), "").expect("written");
        let spec = GuestSpec::new("/proc/version".into(), modules.path().to_owned());
        let text = show(&spec).expect("shown");
        for wanted in [
            "modules: none",
            "-append 'console=ttyS0",
            "<domain type='kvm'>",
            "isolcpus=",
            "-accel kvm",
        ] {
            assert!(text.contains(wanted), "no {wanted} in {text}");
        }
    }
}
