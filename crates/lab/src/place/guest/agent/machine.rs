//! Makes the guest's system usable: file systems, modules, the network interface.

use super::super::image::{MODULES, ORDER};
use super::super::message::Greeting;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{finit_module, uname};
use std::fs::{File, create_dir_all, read_to_string};
use std::io;
use sys::link::{LinkInfo, list, set_up};

/// The kernel is to unpack the module (linux/module.h, since Linux 5.17).
const MODULE_INIT_COMPRESSED_FILE: i32 = 4;

/// File systems, and what they are for where the guest is fit without them.
const MOUNTS: [(&str, &str); 7] = [
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/run"),
    ("tmpfs", "/tmp"),
    ("cgroup2", "/sys/fs/cgroup"),
    ("tracefs", "/sys/kernel/tracing"),
    ("securityfs", "/sys/kernel/security"),
];

/// Mounts `/proc`, where the kernel command line is read.
pub(super) fn mount_proc() -> Result<(), String> {
    mount_one("proc", "/proc")
}

/// Mounts the others; what could not be.
pub(super) fn mount_others() -> Vec<String> {
    let failed = MOUNTS.iter().filter_map(|(kind, target)| mount_one(kind, target).err());
    failed.collect()
}

fn mount_one(kind: &str, target: &str) -> Result<(), String> {
    // It is there where the file system above it is the kernel's own, in which none can be made.
    let _ = create_dir_all(target);
    let flags = MountFlags::NOSUID;
    match mount(kind, target, kind, flags, None) {
        // EBUSY: the kernel has mounted it itself. ENOENT, ENODEV: it is built without; what needs it will say so.
        Ok(()) | Err(Errno::BUSY | Errno::NOENT | Errno::NODEV) => Ok(()),
        Err(errno) => Err(format!("cannot mount {kind} at {target}: {errno}")),
    }
}

/// Loads the modules of the image in their order; what could not be loaded.
pub(super) fn load_modules() -> Vec<String> {
    let order = read_to_string(ORDER).unwrap_or_default();
    order.lines().filter_map(|name| load(name).err()).collect()
}

fn load(name: &str) -> Result<(), String> {
    let path = format!("{MODULES}/{name}");
    let file = File::open(&path).map_err(|error| format!("{path}: {error}"))?;
    let is_packed = !name.ends_with(".ko");
    let flags = if is_packed { MODULE_INIT_COMPRESSED_FILE } else { 0 };
    match finit_module(&file, c"", flags) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        // Without the option, or before Linux 5.17.
        Err(Errno::OPNOTSUPP | Errno::INVAL) if is_packed => Err(format!(
            "the kernel does not unpack its module {name} (CONFIG_MODULE_DECOMPRESS): unpack the modules, and name their folder with --modules"
        )),
        Err(errno) => Err(format!("the kernel does not take the module {name}: {errno}")),
    }
}

/// Brings `lo` and the first network card up, without IPv6, so that nothing of this kernel's own is between the frames of a test; its
/// name and address. `None`: there is none.
pub(super) fn interface_up() -> Result<Option<(String, [u8; 6])>, String> {
    for all in ["all", "default"] {
        // Kernels without IPv6 have no such file.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{all}/disable_ipv6"), "1");
    }
    let up = |link: &LinkInfo| set_up(&link.name).map_err(|error| error.to_string());
    let links = list().map_err(|error| error.to_string())?;
    if let Some(lo) = links.iter().find(|link| link.name == "lo") {
        up(lo)?;
    }
    let Some(card) = links
        .iter()
        .find(|link| link.ethernet && link.name != "lo" && link.kind.is_none())
    else {
        return Ok(None);
    };
    up(card)?;
    Ok(Some((card.name.clone(), card.mac)))
}

/// What the guest says of itself.
pub(super) fn greeting(interface: Option<(String, [u8; 6])>, complaints: Vec<String>) -> Greeting {
    Greeting {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        release: uname().release().to_string_lossy().into_owned(),
        cpus: sys::thread::online_cpus().to_string(),
        interface,
        complaints,
    }
}

/// Text of a file of the kernel's, without white space around it.
pub(super) fn line(path: &str) -> io::Result<String> {
    read_to_string(path).map(|text| text.trim().to_owned())
}
