//! Makes the guest's system usable: file systems, modules, the network interface.

use super::super::image::{MODULES, ORDER};
use super::super::message::Greeting;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{finit_module, uname};
use std::fs::{File, create_dir_all, read_to_string};
use std::io;
use std::os::unix::fs::symlink;
use sys::link::{LinkInfo, list, set_up};
use units::CpuList;

/// Asks the kernel to decompress the module (linux/module.h, since Linux 5.17).
const MODULE_INIT_COMPRESSED_FILE: i32 = 4;

/// File systems, each with its purpose if the guest can run without it.
const MOUNTS: [(&str, &str); 7] = [
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/run"),
    ("tmpfs", "/tmp"),
    ("cgroup2", "/sys/fs/cgroup"),
    ("tracefs", "/sys/kernel/tracing"),
    ("securityfs", "/sys/kernel/security"),
];

/// Links that udev makes elsewhere. Container runtimes execute themselves again through a descriptor, whose kernel name is under the first of these
/// links; Linux 5.10 looks that name up (6.1 does not), and fails without the link.
const LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// Mounts `/proc`, which has the kernel command line.
pub(super) fn mount_proc() -> Result<(), String> {
    mount_one("proc", "/proc")
}

/// Mounts the others, and makes the links; returns the failures.
pub(super) fn mount_others() -> Vec<String> {
    let mut failed: Vec<String> = MOUNTS
        .iter()
        .filter_map(|(kind, target)| mount_one(kind, target).err())
        .collect();
    failed.extend(LINKS.iter().filter_map(|(to, link)| {
        let made = symlink(to, link).err()?;
        (made.kind() != io::ErrorKind::AlreadyExists).then(|| format!("cannot make the link {link}: {made}"))
    }));
    failed
}

fn mount_one(kind: &str, target: &str) -> Result<(), String> {
    // Fails if the parent is a file system of the kernel; then the folder already exists.
    let _ = create_dir_all(target);
    let flags = MountFlags::NOSUID;
    match mount(kind, target, kind, flags, None) {
        // EBUSY: the kernel has already mounted it. ENOENT, ENODEV: the kernel lacks it; a part that needs it will report that.
        Ok(()) | Err(Errno::BUSY | Errno::NOENT | Errno::NODEV) => Ok(()),
        Err(errno) => Err(format!("cannot mount {kind} at {target}: {errno}")),
    }
}

/// Loads the modules of the image in their order; returns the failures.
pub(super) fn load_modules() -> Vec<String> {
    let order = read_to_string(ORDER).unwrap_or_default();
    let mut loaded = Loaded::default();
    let complaints = order.lines().filter_map(|name| {
        let path = format!("{MODULES}/{name}");
        match File::open(&path) {
            Ok(file) => loaded.complaint(name, load(name, &file)),
            Err(error) => Some(format!("{path}: {error}")),
        }
    });
    complaints.collect()
}

fn is_packed(name: &str) -> bool {
    !name.ends_with(".ko")
}

fn load(name: &str, file: &File) -> Result<(), Errno> {
    let flags = if is_packed(name) {
        MODULE_INIT_COMPRESSED_FILE
    } else {
        0
    };
    finit_module(file, c"", flags)
}

/// Findings from the modules loaded so far.
#[derive(Debug, Default)]
struct Loaded {
    /// The kernel decompresses modules.
    unpacks: bool,
    /// A driver found that it runs under another hypervisor: an image has drivers for several.
    elsewhere: bool,
}

impl Loaded {
    /// The complaint about a module that was not loaded, if it deserves a message.
    fn complaint(&mut self, name: &str, outcome: Result<(), Errno>) -> Option<String> {
        let is_packed = is_packed(name);
        match outcome {
            Ok(()) | Err(Errno::EXIST) => {
                self.unpacks |= is_packed;
                None
            }
            Err(Errno::NODEV) => {
                (self.unpacks, self.elsewhere) = (self.unpacks | is_packed, true);
                None
            }
            // Modules that need such a driver lack its symbols.
            Err(Errno::NOENT) if self.elsewhere => None,
            // `ptp_kvm` returns this error under another hypervisor.
            Err(Errno::OPNOTSUPP) if self.unpacks || !is_packed => None,
            // The kernel lacks the option, or is older than Linux 5.17.
            Err(Errno::OPNOTSUPP | Errno::INVAL) if is_packed && !self.unpacks => Some(format!(
                "the kernel does not unpack its module {name} (CONFIG_MODULE_DECOMPRESS): unpack the modules, and name their folder with --modules"
            )),
            Err(errno) => Some(format!("the kernel refuses the module {name}: {errno}")),
        }
    }
}

/// The CPUs that the kernel should isolate but does not, and why.
pub(super) fn not_isolated() -> Option<String> {
    let read = |path: &str| line(path).unwrap_or_default();
    unheeded(
        &read("/proc/cmdline"),
        &read("/sys/devices/system/cpu/isolated"),
        &sys::thread::online_cpus(),
    )
}

fn unheeded(arguments: &str, isolated: &str, online: &CpuList) -> Option<String> {
    let value = arguments
        .split_whitespace()
        .rev()
        .find_map(|word| word.strip_prefix("isolcpus="))?;
    let list = value.trim_start_matches(|c: char| !c.is_ascii_digit());
    let wanted = list.parse::<CpuList>().ok()?;
    let missing = wanted.without(&isolated.parse().ok()?);
    // The kernel refuses a list that leaves no CPU, and keeps no CPU of a list that it refuses.
    let why = match (wanted.without(online), online.without(&wanted)) {
        (absent, _) if !absent.is_empty() => format!("the guest has only cpu {online}"),
        (_, rest) if rest.is_empty() => "one CPU has to stay for all other threads".to_owned(),
        _ => "before Linux 5.6 it ignores a list with the flag managed_irq".to_owned(),
    };
    (!missing.is_empty()).then(|| format!("the kernel does not isolate cpu {missing}, as isolcpus={value} asks: {why}"))
}

/// Brings up `lo` and the first network card other than the one with the address `second`, without IPv6, so that this kernel sends no frames among
/// those of a test. Returns name and address; `None` if there is no card.
pub(super) fn interface_up(second: Option<[u8; 6]>) -> Result<Option<(String, [u8; 6])>, String> {
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
        .find(|link| link.ethernet && link.name != "lo" && link.kind.is_none() && Some(link.mac) != second)
    else {
        return Ok(None);
    };
    up(card)?;
    Ok(Some((card.name.clone(), card.mac)))
}

/// Describes the guest to the host.
pub(super) fn greeting(
    interface: Option<(String, [u8; 6])>,
    management: Option<String>,
    complaints: Vec<String>,
) -> Greeting {
    Greeting {
        // An unreadable program is equal to no other.
        version: crate::build().unwrap_or_else(|error| error.to_string()),
        release: uname().release().to_string_lossy().into_owned(),
        cpus: sys::thread::online_cpus().to_string(),
        interface,
        management,
        complaints,
    }
}

/// Trimmed text of a kernel file.
pub(super) fn line(path: &str) -> io::Result<String> {
    read_to_string(path).map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Loaded, unheeded};
    use rustix::io::Errno;

    #[test]
    fn drivers_of_other_hypervisors_are_no_complaint() {
        let mut loaded = Loaded::default();
        assert_eq!(loaded.complaint("virtio_net.ko.xz", Ok(())), None);
        let missing = loaded.complaint("virtio_blk.ko.xz", Err(Errno::NOENT));
        assert!(missing.is_some_and(|said| said.contains("virtio_blk")));
        assert_eq!(loaded.complaint("hv_vmbus.ko.xz", Err(Errno::NODEV)), None);
        assert_eq!(loaded.complaint("hv_netvsc.ko.xz", Err(Errno::NOENT)), None);
        assert_eq!(loaded.complaint("ptp_kvm.ko.xz", Err(Errno::OPNOTSUPP)), None);
        assert!(loaded.complaint("iavf.ko.xz", Err(Errno::INVAL)).is_some());
    }

    #[test]
    fn a_kernel_that_does_not_isolate_is_told() {
        let asked = "quiet isolcpus=managed_irq,domain,1-2 rcu_nocbs=1-2";
        let cpus = |list: &str| list.parse().expect("a list");
        assert_eq!(unheeded(asked, "1-2", &cpus("0-2")), None);
        assert_eq!(unheeded("quiet", "", &cpus("0")), None);
        let said = unheeded(asked, "", &cpus("0-2")).expect("none is isolated");
        assert!(said.contains("cpu 1-2") && said.contains("Linux 5.6"), "{said}");
    }

    #[test]
    fn a_list_that_no_kernel_can_keep_is_not_blamed_on_its_release() {
        let said = |asked: &str, online: &str| {
            let online = online.parse().expect("a list");
            unheeded(asked, "", &online).expect("none is isolated")
        };
        let absent = said("isolcpus=managed_irq,domain,1", "0");
        assert!(absent.contains("has only cpu 0") && !absent.contains("5.6"), "{absent}");
        let all = said("isolcpus=managed_irq,domain,0-1", "0-1");
        assert!(all.contains("one CPU has to stay") && !all.contains("5.6"), "{all}");
    }

    #[test]
    fn a_kernel_that_does_not_unpack_its_modules_is_told() {
        for errno in [Errno::OPNOTSUPP, Errno::INVAL] {
            let said = Loaded::default().complaint("virtio_net.ko.xz", Err(errno));
            assert!(said.is_some_and(|said| said.contains("CONFIG_MODULE_DECOMPRESS")));
        }
    }
}
