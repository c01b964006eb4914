//! Kernel modules that an image carries, each behind those it needs.

use super::super::PlaceError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Modules for a guest under QEMU: its network card, the port over which it talks, and what plans that run in it make their beds of. Where
/// the kernel has one of them built in, there is no module of it.
pub const OF_QEMU: [&str; 7] = [
    "virtio_pci",
    "virtio_net",
    "virtio_console",
    "veth",
    "bridge",
    "macvlan",
    "tun",
];

/// Modules for a guest under any hypervisor that boots the image by itself: its disks, network cards and the channel of QEMU, VMware and
/// Hyper-V, virtual functions of the usual cards, what beds are made of, and the file system of a disk that all systems read.
pub const OF_ANY: [&str; 30] = [
    "virtio_pci",
    "virtio_net",
    "virtio_console",
    "virtio_blk",
    "virtio_scsi",
    "ahci",
    "ata_piix",
    "sd_mod",
    "nvme",
    "mptspi",
    "mptsas",
    "vmw_pvscsi",
    "vmxnet3",
    "hv_storvsc",
    "hv_netvsc",
    "e1000e",
    "igbvf",
    "ixgbevf",
    "iavf",
    "mlx5_core",
    "ptp_kvm",
    "veth",
    "bridge",
    "macvlan",
    "tun",
    FILES,
    // Names of files there: which of these a kernel asks for is its own choice, and nobody loads it later.
    "nls_cp437",
    "nls_ascii",
    "nls_iso8859_1",
    "nls_utf8",
];

/// The file system of a disk that all systems read.
const FILES: &str = "vfat";

/// File of a folder of modules as `depmod` leaves it: each module's file, and those it needs.
const DEPENDENCIES: &str = "modules.dep";
/// File of the same folder: what would be modules, and is in the kernel.
const BUILT_IN: &str = "modules.builtin";
/// File of a folder that is not made by `depmod`: names of its modules.
const ORDER: &str = "order";
/// How the files of modules end, by what packed them.
const ENDINGS: [&str; 4] = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"];

/// A module's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name, with `_` where its file may have `-`.
    pub name: String,
    /// Where it is.
    pub file: PathBuf,
}

/// The modules of `folder` that `wanted` names and those they need, in the order in which they can be loaded. One that is not there is
/// left out: it may be built in.
///
/// The folder is `/lib/modules/RELEASE` with its `modules.dep`, or has a file `order` with the names of modules that stand beside it, or
/// in a folder `modules` there, as NAME.ko.
///
/// # Errors
/// The folder has neither list, or a file cannot be read.
pub fn choose(folder: &Path, wanted: &[&str]) -> Result<Vec<Module>, PlaceError> {
    let known = match folder.join(DEPENDENCIES).is_file() {
        true => listed(folder)?,
        false => flat(folder)?,
    };
    let mut chosen = Vec::new();
    for name in wanted {
        add(&known, &name.replace('-', "_"), &mut chosen, 0);
    }
    Ok(chosen)
}

/// True if a folder has a list of kernel modules.
pub(super) fn is_folder(folder: &Path) -> bool {
    [DEPENDENCIES, ORDER].iter().any(|list| folder.join(list).is_file())
}

/// True if the kernel of this folder can write files that all systems read, as far as the folder says: its list of what is built in may
/// be missing.
///
/// # Errors
/// As of [`choose`].
pub fn reads_files(folder: &Path) -> Result<bool, PlaceError> {
    let built_in = std::fs::read_to_string(folder.join(BUILT_IN)).unwrap_or_default();
    let is_built_in = built_in.lines().filter_map(name_of).any(|name| name == FILES);
    Ok(is_built_in || !choose(folder, &[FILES])?.is_empty())
}

/// File and needs of each module.
type Known = BTreeMap<String, (PathBuf, Vec<String>)>;

/// More in a row than any kernel has: a list that leads in a circle comes to an end.
const DEEPEST: usize = 64;

fn add(known: &Known, name: &str, chosen: &mut Vec<Module>, depth: usize) {
    let is_chosen = chosen.iter().any(|module| module.name == name);
    let Some((file, needs)) = known.get(name).filter(|_| !is_chosen && depth < DEEPEST) else {
        return;
    };
    for needed in needs {
        add(known, needed, chosen, depth + 1);
    }
    if !chosen.iter().any(|module| module.name == name) {
        chosen.push(Module {
            name: name.to_owned(),
            file: file.clone(),
        });
    }
}

/// Reads the modules that `modules.dep` lists (modules.dep(5)): `PATH: PATH PATH`.
fn listed(folder: &Path) -> Result<Known, PlaceError> {
    let path = folder.join(DEPENDENCIES);
    let text = std::fs::read_to_string(&path).map_err(|error| PlaceError::Io { path, error })?;
    let entries = text.lines().filter_map(|line| {
        let (file, needs) = line.split_once(':')?;
        let needs = needs.split_whitespace().filter_map(name_of);
        Some((name_of(file)?, (folder.join(file), needs.collect())))
    });
    Ok(entries.collect())
}

/// Reads the modules of a folder with a file `order`; the needs of each module are in its own file.
fn flat(folder: &Path) -> Result<Known, PlaceError> {
    let read = |path: PathBuf| std::fs::read(&path).map_err(|error| PlaceError::Io { path, error });
    let path = folder.join(ORDER);
    let order = std::fs::read_to_string(&path).map_err(|_| {
        PlaceError::NotAvailable(format!(
            "{}: no folder of kernel modules: it has neither {DEPENDENCIES} (`depmod -b` makes it) nor {ORDER}",
            folder.display()
        ))
    })?;
    let inner = folder.join("modules");
    let inner = if inner.is_dir() { inner } else { folder.to_owned() };
    let mut known = Known::new();
    for name in order.split_whitespace() {
        let file = inner.join(format!("{name}.ko"));
        let needs = needs_of(&read(file.clone())?);
        known.insert(name.replace('-', "_"), (file, needs));
    }
    Ok(known)
}

/// Name of the module in this file.
fn name_of(file: &str) -> Option<String> {
    let name = file.rsplit('/').next()?;
    let name = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))?;
    Some(name.replace('-', "_"))
}

/// Names of the modules that a module needs: `depends=A,B` among the texts of its section `.modinfo`, each behind an octet of zero.
fn needs_of(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let found = module.windows(KEY.len()).position(|window| window == KEY);
    let Some(rest) = found.map(|at| &module[at + KEY.len()..]) else {
        return Vec::new();
    };
    let text = rest.split(|octet| *octet == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let names = text.split(',').filter(|name| !name.is_empty());
    names.map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::{choose, name_of, needs_of, reads_files};
    use std::fs::{create_dir, write};

    fn names(modules: &[super::Module]) -> Vec<&str> {
        modules.iter().map(|module| module.name.as_str()).collect()
    }

    #[test]
    fn a_tree_of_depmod_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "kernel/net/core/failover.ko.xz:\n\
                    kernel/drivers/net/net_failover.ko.xz: kernel/net/core/failover.ko.xz\n\
                    kernel/drivers/net/virtio_net.ko.xz: kernel/drivers/net/net_failover.ko.xz kernel/net/core/failover.ko.xz\n\
                    kernel/a-b.ko: kernel/c.ko\nkernel/c.ko: kernel/a-b.ko\n";
        write(folder.path().join("modules.dep"), text).expect("written");
        let chosen = choose(folder.path(), &["virtio_net", "built_in", "failover"]).expect("modules");
        assert_eq!(names(&chosen), ["failover", "net_failover", "virtio_net"]);
        assert_eq!(chosen[0].file, folder.path().join("kernel/net/core/failover.ko.xz"));
        // Such a list is no kernel's; it is to end all the same.
        let circle = choose(folder.path(), &["a-b"]).expect("modules");
        assert_eq!(names(&circle).len(), 2);
    }

    #[test]
    fn a_flat_folder_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        create_dir(path("modules")).expect("made");
        write(path("order"), "failover\nvirtio_net\nother\n").expect("written");
        write(path("modules/failover.ko"), b"\x7fELF\0license=GPL\0depends=\0x").expect("written");
        write(path("modules/virtio_net.ko"), b"\x7fELF\0depends=failover\0x").expect("written");
        write(path("modules/other.ko"), b"\x7fELF").expect("written");
        let chosen = choose(folder.path(), &["virtio-net"]).expect("modules");
        assert_eq!(names(&chosen), ["failover", "virtio_net"]);
        assert_eq!(chosen[1].file, path("modules/virtio_net.ko"));
    }

    #[test]
    fn a_file_system_that_is_built_in_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path().join("modules.dep"), "kernel/fs/ext4/ext4.ko:\n").expect("written");
        assert!(!reads_files(folder.path()).expect("a folder of modules"));
        write(folder.path().join("modules.builtin"), "kernel/fs/fat/vfat.ko\n").expect("written");
        assert!(reads_files(folder.path()).expect("a folder of modules"));
    }

    #[test]
    fn a_folder_of_something_else_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = choose(folder.path(), &["virtio_net"]).expect_err("no modules");
        assert!(error.to_string().contains("depmod -b"), "{error}");
    }

    #[test]
    fn names_and_needs() {
        assert_eq!(name_of("kernel/net/nf-nat.ko.zst").as_deref(), Some("nf_nat"));
        assert_eq!(name_of("kernel/net/readme"), None);
        assert_eq!(needs_of(b"\0depends=a-b,c\0d"), ["a_b", "c"]);
        assert!(needs_of(b"xdepends=a\0").is_empty());
    }
}
