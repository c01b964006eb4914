//! Kernel modules for an image, each after those it needs.

use super::super::PlaceError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Modules for a guest under QEMU: its network card, the port of its channel, and the parts of beds for plans that run in it. A kernel may have some
/// of them built in, and then has no such module.
pub const OF_QEMU: [&str; 7] = [
    "virtio_pci",
    "virtio_net",
    "virtio_console",
    "veth",
    "bridge",
    "macvlan",
    "tun",
];

/// Modules for a guest under any hypervisor that boots the image itself: the disks, network cards and channels of QEMU, VMware and Hyper-V, common network cards,
/// which a guest has whole or as a virtual function, the parts of beds, and the file system of a disk that all systems read.
pub const OF_ANY: [&str; 37] = [
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
    "igb",
    "igbvf",
    "igc",
    "ixgbe",
    "ixgbevf",
    "i40e",
    "iavf",
    "ice",
    "mlx5_core",
    "bnxt_en",
    "tg3",
    "ptp_kvm",
    "veth",
    "bridge",
    "macvlan",
    "tun",
    FILES,
    // Code pages for file names: the kernel chooses which one it needs, and no module can be loaded later.
    "nls_cp437",
    "nls_ascii",
    "nls_iso8859_1",
    "nls_utf8",
];

/// The file system of a disk that all systems read.
const FILES: &str = "vfat";

/// File that `depmod` writes into a folder of modules: each module's file, and the modules it needs.
const DEPENDENCIES: &str = "modules.dep";
/// File in the same folder: the modules that are built into the kernel.
const BUILT_IN: &str = "modules.builtin";
/// File in a folder made without `depmod`: names of its modules.
const ORDER: &str = "order";
/// File name endings of modules, by compression.
const ENDINGS: [&str; 4] = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"];

/// A module's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name, with `_` even if the file name has `-`.
    pub name: String,
    /// Path of the file.
    pub file: PathBuf,
}

/// The modules of `folder` that `wanted` names and those they need, in loading order. A missing one is left out, because it may be built in.
///
/// The folder is `/lib/modules/RELEASE` with its `modules.dep`, or it has a file `order` with the names of modules, which are in it or in its
/// subfolder `modules` as NAME.ko.
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

/// True if the kernel of this folder can write files that all systems read, as far as the folder shows: its list of built-in modules may be missing.
///
/// # Errors
/// See [`choose`].
pub fn reads_files(folder: &Path) -> Result<bool, PlaceError> {
    let built_in = std::fs::read_to_string(folder.join(BUILT_IN)).unwrap_or_default();
    let is_built_in = built_in.lines().filter_map(name_of).any(|name| name == FILES);
    Ok(is_built_in || !choose(folder, &[FILES])?.is_empty())
}

/// File and needs of each module.
type Known = BTreeMap<String, (PathBuf, Vec<String>)>;

/// Longest chain of dependencies, above that of any kernel; it ends the search in a circular list.
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

/// Reads the modules of a folder with a file `order`; each module file lists the modules it needs.
fn flat(folder: &Path) -> Result<Known, PlaceError> {
    let read = |path: PathBuf| std::fs::read(&path).map_err(|error| PlaceError::Io { path, error });
    let path = folder.join(ORDER);
    let order = std::fs::read_to_string(&path).map_err(|_| {
        PlaceError::NotAvailable(format!(
            "{}: not a folder of kernel modules: it has neither {DEPENDENCIES} (`depmod -b` makes it) nor {ORDER}",
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

/// Names of the modules that a module needs: `depends=A,B` among the zero-terminated texts of its section `.modinfo`.
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
        // No kernel has such a list; the search must end even so.
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
