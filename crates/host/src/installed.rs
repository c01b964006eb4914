//! Installed kernels: image, modules, and PREEMPT_RT or not.

use crate::config::Config;
use crate::kernel;
use crate::reader::Reader;
use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};

/// Folder of the kernels' modules, with one folder per release.
const MODULES: &str = "/lib/modules";
/// File that `depmod` leaves in such a folder.
const DEPENDENCIES: &str = "modules.dep";
const RUNNING: &str = "/proc/sys/kernel/osrelease";
/// Options of a real-time kernel in its configuration; the second one is for patched kernels before 5.3.
const OPTIONS: [&str; 2] = ["PREEMPT_RT", "PREEMPT_RT_FULL"];
/// Names of images in `/boot`, before `-RELEASE`: Debian and Fedora, Yocto, Gentoo, unpacked images.
const IMAGES: [&str; 4] = ["vmlinuz", "bzImage", "kernel", "vmlinux"];

/// A kernel on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledKernel {
    /// Release, such as `6.12.117-rt-amd64`.
    pub release: String,
    /// Kernel image.
    pub image: PathBuf,
    /// Folder of its modules.
    pub modules: PathBuf,
    /// True for PREEMPT_RT.
    pub real_time: bool,
    /// Evidence: `CONFIG_PREEMPT_RT=y in /boot/config-…`.
    pub evidence: String,
}

/// The kernels on a disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstalledKernels {
    /// The kernels with image and modules, the newest first.
    pub kernels: Vec<InstalledKernel>,
    /// Missing parts of other kernels, in words.
    pub lacking: Vec<String>,
    /// Running release, if known.
    pub running: Option<String>,
}

pub(crate) fn find(reader: &Reader) -> InstalledKernels {
    let mut found = InstalledKernels {
        running: reader.line(RUNNING).ok(),
        ..InstalledKernels::default()
    };
    for (release, image) in images(reader) {
        match with_modules(reader, &release) {
            Ok(modules) => {
                let is_running = found.running.as_deref() == Some(release.as_str());
                let (real_time, evidence) = real_time(reader, &release, is_running);
                found.kernels.push(InstalledKernel {
                    image,
                    modules,
                    real_time,
                    evidence,
                    release,
                });
            }
            Err(why) => found.lacking.push(format!("{}: {why}", image.display())),
        }
    }
    found
}

/// Release and image of each kernel, the newest first.
fn images(reader: &Reader) -> Vec<(String, PathBuf)> {
    let folder = |path: &str| reader.names(path, |_| true).unwrap_or_default();
    let boot = folder("/boot").into_iter().filter_map(|name| {
        let (kind, release) = name.split_once('-')?;
        let rank = IMAGES.iter().position(|known| *known == kind)?;
        Some((release.to_owned(), rank, format!("/boot/{name}")))
    });
    // Fedora, CentOS Stream and Arch keep it with its modules.
    let beside = folder(MODULES).into_iter().map(|release| {
        let path = format!("{MODULES}/{release}/vmlinuz");
        (release, IMAGES.len(), path)
    });
    let mut all: Vec<(String, usize, PathBuf)> = boot
        .chain(beside)
        .filter_map(|(release, rank, path)| Some((release, rank, file(reader, &path)?)))
        // `vmlinuz-0-rescue-…` of Fedora is a copy of another kernel.
        .filter(|(release, ..)| release.starts_with(|first: char| first.is_ascii_digit() && first != '0'))
        .collect();
    all.sort_by(|a, b| newest(&a.0, &b.0).then(a.1.cmp(&b.1)));
    all.dedup_by(|a, b| a.0 == b.0);
    all.into_iter().map(|(release, _, path)| (release, path)).collect()
}

/// Place of a file on the disk after following links, if it is a file.
fn file(reader: &Reader, path: &str) -> Option<PathBuf> {
    let place = reader.on_disk(&reader.target(path).ok()?);
    place.is_file().then_some(place)
}

/// Folder of a kernel's modules.
fn with_modules(reader: &Reader, release: &str) -> Result<PathBuf, String> {
    let path = format!("{MODULES}/{release}");
    let folder = reader
        .target(&path)
        .map_err(|error| format!("{path}, its modules: {}", error.reason()))?;
    match reader.exists(&format!("{path}/{DEPENDENCIES}")) {
        Ok(true) => Ok(reader.on_disk(&folder)),
        Ok(false) => Err(format!(
            "{path} has no {DEPENDENCIES}: `depmod -b {} {release}` makes it",
            reader.on_disk(Path::new("/")).display()
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// True if a kernel is PREEMPT_RT, with the evidence: the running kernel itself, its configuration, or else its name.
fn real_time(reader: &Reader, release: &str, is_running: bool) -> (bool, String) {
    if is_running && let Ok(model) = kernel::model(reader) {
        return (model == "PREEMPT_RT", format!("it runs as {model}"));
    }
    match Config::of(reader, release) {
        Ok(Some(config)) => {
            let on = OPTIONS.into_iter().find(|option| config.is_on(option));
            let path = reader.on_disk(Path::new(&config.path));
            let told = match on {
                Some(option) => format!("CONFIG_{option}=y in {}", path.display()),
                None => format!("no CONFIG_{}=y in {}", OPTIONS[0], path.display()),
            };
            (on.is_some(), told)
        }
        unknown => {
            let why = unknown.err().map_or("none there".to_owned(), |error| error.to_string());
            (
                is_named_so(release),
                format!("by its name; its configuration is not known: {why}"),
            )
        }
    }
}

/// `6.12-rt-amd64`, `5.14.0-70.13.1.rt21.83.el9`, `6.6.21-yocto-preempt-rt`, `5.15.0-1032-realtime`.
pub(crate) fn is_named_so(release: &str) -> bool {
    let words = release.split(|c: char| !c.is_ascii_alphanumeric());
    let mut bare = words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    bare.any(|word| matches!(word, "rt" | "realtime"))
}

/// Orders releases, the newest first: numbers by their value, the rest as text.
fn newest(a: &str, b: &str) -> Ordering {
    Reverse(parts(a)).cmp(&Reverse(parts(b)))
}

/// Splits `6.12-rt` into 6 `.` 12 `-rt`. Text sorts before a number and after the end, as in `sort --version-sort`.
fn parts(release: &str) -> Vec<(u64, &str)> {
    let mut parts = Vec::new();
    let mut rest = release;
    while !rest.is_empty() {
        let text = &rest[..rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len())];
        let number = &rest[text.len()..];
        let number = &number[..number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len())];
        parts.push((0, text));
        parts.push((number.parse().unwrap_or(u64::MAX), ""));
        rest = &rest[text.len() + number.len()..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{InstalledKernels, find, is_named_so, newest};
    use crate::reader::Reader;
    use std::cmp::Ordering;
    use std::path::Path;
    use tempfile::TempDir;

    /// A root with these files; a module file also creates the folder of its release.
    fn root(files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder above")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        root
    }

    fn found(root: &TempDir) -> InstalledKernels {
        find(&Reader::new(root.path()))
    }

    #[test]
    fn kernels_are_found_by_the_names_of_debian_yocto_and_fedora() {
        let root = root(&[
            ("boot/vmlinuz-6.1.0-9-amd64", ""),
            ("boot/config-6.1.0-9-amd64", "# CONFIG_PREEMPT_RT is not set\n"),
            ("lib/modules/6.1.0-9-amd64/modules.dep", ""),
            ("boot/bzImage-6.6.21-yocto-preempt-rt", ""),
            ("boot/bzImage", ""),
            ("lib/modules/6.6.21-yocto-preempt-rt/modules.dep", ""),
            ("lib/modules/5.14.0-503.el9+rt/vmlinuz", ""),
            ("lib/modules/5.14.0-503.el9+rt/config", "CONFIG_PREEMPT_RT=y\n"),
            ("lib/modules/5.14.0-503.el9+rt/modules.dep", ""),
            ("boot/vmlinuz-0-rescue-0f3a", ""),
            ("boot/vmlinuz-6.9.0", ""),
            ("boot/vmlinuz-6.10.0", ""),
            ("lib/modules/6.10.0/kernel/a.ko", ""),
            ("boot/initrd.img-6.9.0", ""),
            ("proc/sys/kernel/osrelease", "6.1.0-9-amd64\n"),
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n"),
        ]);
        let found = found(&root);
        assert_eq!(found.running.as_deref(), Some("6.1.0-9-amd64"));
        let told: Vec<(&str, bool, &Path)> = found
            .kernels
            .iter()
            .map(|kernel| {
                let image = kernel.image.strip_prefix(root.path()).expect("in the root");
                (kernel.release.as_str(), kernel.real_time, image)
            })
            .collect();
        assert_eq!(
            told,
            [
                (
                    "6.6.21-yocto-preempt-rt",
                    true,
                    Path::new("boot/bzImage-6.6.21-yocto-preempt-rt")
                ),
                ("6.1.0-9-amd64", false, Path::new("boot/vmlinuz-6.1.0-9-amd64")),
                (
                    "5.14.0-503.el9+rt",
                    true,
                    Path::new("lib/modules/5.14.0-503.el9+rt/vmlinuz")
                ),
            ]
        );
        let evidence = |at: usize| found.kernels[at].evidence.as_str();
        assert!(evidence(0).starts_with("by its name"), "{}", evidence(0));
        assert_eq!(evidence(1), "it runs as PREEMPT_DYNAMIC");
        assert!(
            evidence(2).starts_with("CONFIG_PREEMPT_RT=y in ") && evidence(2).ends_with("el9+rt/config"),
            "{}",
            evidence(2)
        );
        let [no_list, no_modules] = found.lacking.as_slice() else {
            panic!("{:?}", found.lacking)
        };
        assert!(no_modules.contains("vmlinuz-6.9.0: /lib/modules/6.9.0"), "{no_modules}");
        assert!(
            no_list.contains("depmod -b") && no_list.contains(" 6.10.0`"),
            "{no_list}"
        );
    }

    #[test]
    fn the_configuration_counts_more_than_the_name() {
        let root = root(&[
            ("boot/vmlinuz-6.1-rt", ""),
            ("boot/config-6.1-rt", "CONFIG_PREEMPT=y\n"),
            ("lib/modules/6.1-rt/modules.dep", ""),
            ("boot/vmlinuz-4.19", ""),
            ("boot/config-4.19", "CONFIG_PREEMPT_RT_FULL=y\n"),
            ("lib/modules/4.19/modules.dep", ""),
        ]);
        let real_time: Vec<bool> = found(&root).kernels.iter().map(|kernel| kernel.real_time).collect();
        assert_eq!(real_time, [false, true]);
    }

    #[test]
    fn an_empty_disk_has_none() {
        let found = found(&root(&[]));
        assert_eq!(found, InstalledKernels::default());
    }

    #[test]
    fn names_of_real_time_kernels() {
        for name in [
            "6.12.117+deb12-rt-amd64",
            "5.14.0-70.13.1.rt21.83.el9_0.x86_64",
            "5.14.0-503.el9.x86_64+rt",
            "6.6.21-yocto-preempt-rt",
            "5.15.0-1032-realtime",
            "6.6.30.1.realtime1-1-rt",
        ] {
            assert!(is_named_so(name), "{name}");
        }
        for name in ["6.1.0-9-amd64", "6.8.0-art-1", "6.1.0-smart", "5.10"] {
            assert!(!is_named_so(name), "{name}");
        }
    }

    #[test]
    fn newer_numbers_stand_before_older_ones() {
        for (newer, older) in [
            ("6.12", "6.9"),
            ("6.12.1", "6.12"),
            ("6.12.117+deb12-rt", "6.12.94+deb12-rt"),
            ("6.1.0-10-rt", "6.1.0-9-rt"),
            ("5.14.0-503.el9", "5.14.0-70.el9"),
        ] {
            assert_eq!(newest(newer, older), Ordering::Less, "{newer} {older}");
            assert_eq!(newest(older, newer), Ordering::Greater, "{newer} {older}");
        }
        assert_eq!(newest("6.1", "6.1"), Ordering::Equal);
    }
}
