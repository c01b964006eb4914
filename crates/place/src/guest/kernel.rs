//! Chooses an installed kernel for a guest if none is named.

use super::super::PlaceError;
use host::{Host, InstalledKernel, InstalledKernels};
use std::path::{Path, PathBuf};

/// Names of a kernel image in a folder that also has its modules.
const BESIDE: [&str; 3] = ["vmlinux", "vmlinuz", "bzImage"];

/// Advice if no kernel is installed.
const ADVICE: &str = "install one (Debian: apt-get install linux-image-rt-amd64; CentOS Stream: dnf install kernel-rt), or name one with \
                      --kernel FILE --modules DIR";

/// A kernel for guests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestKernel {
    /// Its image.
    pub image: PathBuf,
    /// Its modules.
    pub modules: PathBuf,
    /// Reason for the choice.
    pub why: String,
}

impl GuestKernel {
    /// Chooses from the installed kernels: the running one if it is PREEMPT_RT, otherwise the newest PREEMPT_RT one, otherwise the running one,
    /// otherwise the newest.
    ///
    /// # Errors
    /// No kernel is installed with its modules; the error lists what each lacks.
    pub fn installed() -> Result<Self, PlaceError> {
        chosen(&Host::live().installed_kernels(), "here")
    }

    /// The kernel of a folder: `vmlinux` or `vmlinuz` with the list of its modules, or the root of a system with installed kernels, such as an
    /// unpacked package.
    ///
    /// # Errors
    /// The folder cannot be read, or has no kernel with its modules.
    pub fn in_folder(folder: &Path) -> Result<Self, PlaceError> {
        if super::modules::is_folder(folder)
            && let Some(name) = BESIDE.into_iter().find(|name| folder.join(name).is_file())
        {
            return Ok(Self {
                image: folder.join(name),
                modules: folder.to_owned(),
                why: format!("named: {}", folder.display()),
            });
        }
        let host = Host::at(folder).map_err(|error| PlaceError::NotAvailable(error.to_string()))?;
        let mut installed = host.installed_kernels();
        // None of them counts as running, even if the same release runs on this machine.
        installed.running = None;
        chosen(&installed, &format!("in {}", folder.display()))
    }
}

/// The choice among these kernels, which are installed at `place`.
fn chosen(installed: &InstalledKernels, place: &str) -> Result<GuestKernel, PlaceError> {
    let running = installed.running.as_deref();
    let is_running = |kernel: &&InstalledKernel| running == Some(kernel.release.as_str());
    let kernels = || installed.kernels.iter();
    let not_real_time = || match (running, kernels().find(is_running)) {
        (None, _) => String::new(),
        (Some(release), None) => format!("; the running one, {release}, is not on the disk with its modules"),
        (Some(release), Some(kernel)) => {
            format!("; the running one, {release}, is not PREEMPT_RT: {}", kernel.evidence)
        }
    };
    let taken = if let Some(kernel) = kernels().find(|kernel| kernel.real_time && is_running(kernel)) {
        Some((kernel, format!("the running one, PREEMPT_RT: {}", kernel.evidence)))
    } else if let Some(kernel) = kernels().find(|kernel| kernel.real_time) {
        let why = format!("the newest PREEMPT_RT one installed {place}: {}", kernel.evidence);
        Some((kernel, why + &not_real_time()))
    } else if let Some(kernel) = kernels().find(is_running) {
        let why = format!("the running one, as none installed {place} is PREEMPT_RT");
        Some((kernel, why + &not_real_time()))
    } else {
        let why = || format!("the newest installed {place}, as none is PREEMPT_RT") + &not_real_time();
        kernels().next().map(|kernel| (kernel, why()))
    };
    match taken {
        Some((kernel, why)) => Ok(GuestKernel {
            image: kernel.image.clone(),
            modules: kernel.modules.clone(),
            why: format!("{}, {why}", kernel.release),
        }),
        None => Err(PlaceError::NotAvailable(none(installed, place))),
    }
}

fn none(installed: &InstalledKernels, place: &str) -> String {
    let lacking = match installed.lacking.is_empty() {
        true => "looked for boot/vmlinuz-RELEASE or boot/bzImage-RELEASE with lib/modules/RELEASE".to_owned(),
        false => installed.lacking.join("; "),
    };
    format!("a guest needs a kernel, and none is installed {place} with its modules ({lacking}): {ADVICE}")
}

#[cfg(test)]
mod tests {
    use super::{GuestKernel, chosen};
    use host::{InstalledKernel, InstalledKernels};

    /// Kernels, the newest first: release, and whether it is PREEMPT_RT.
    fn installed(kernels: &[(&str, bool)], running: Option<&str>) -> InstalledKernels {
        let kernel = |(release, real_time): &(&str, bool)| InstalledKernel {
            release: (*release).to_owned(),
            image: format!("/boot/vmlinuz-{release}").into(),
            modules: format!("/lib/modules/{release}").into(),
            real_time: *real_time,
            evidence: "as its configuration says".to_owned(),
        };
        InstalledKernels {
            kernels: kernels.iter().map(kernel).collect(),
            lacking: Vec::new(),
            running: running.map(str::to_owned),
        }
    }

    #[test]
    fn a_real_time_kernel_is_taken_and_the_running_one_before_others() {
        let all = [("6.12", false), ("6.6-rt", true), ("6.1-rt", true), ("6.1", false)];
        let none = [("6.12", false), ("6.1", false)];
        for (kernels, running, taken, why) in [
            (&all[..], "6.1-rt", "6.1-rt", "the running one, PREEMPT_RT"),
            (&all, "6.1", "6.6-rt", "the running one, 6.1, is not PREEMPT_RT"),
            (&all, "6.18", "6.6-rt", "the running one, 6.18, is not on the disk"),
            (&none, "6.1", "6.1", "the running one, as none installed here is"),
            (&none, "6.18", "6.12", "the newest installed here, as none is"),
        ] {
            let kernel = chosen(&installed(kernels, Some(running)), "here").expect("one");
            assert_eq!(kernel.image.to_str(), Some(format!("/boot/vmlinuz-{taken}").as_str()));
            assert_eq!(kernel.modules.to_str(), Some(format!("/lib/modules/{taken}").as_str()));
            assert!(
                kernel.why.starts_with(taken) && kernel.why.contains(why),
                "{running}: {}",
                kernel.why
            );
        }
    }

    #[test]
    fn without_a_kernel_it_is_told_what_to_install() {
        let said = |installed: &InstalledKernels| chosen(installed, "here").expect_err("none").to_string();
        let nothing = said(&InstalledKernels::default());
        for wanted in [
            "boot/vmlinuz-RELEASE",
            "apt-get install linux-image-rt-amd64",
            "dnf install kernel-rt",
            "--kernel FILE --modules DIR",
        ] {
            assert!(nothing.contains(wanted), "no {wanted} in {nothing}");
        }
        let lacking = said(&InstalledKernels {
            lacking: vec!["/boot/vmlinuz-6.1: no modules".to_owned()],
            ..InstalledKernels::default()
        });
        assert!(lacking.contains("/boot/vmlinuz-6.1: no modules"), "{lacking}");
    }

    #[test]
    fn a_folder_has_its_kernel_beside_the_modules_or_is_a_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder above")).expect("made");
            std::fs::write(path, "").expect("written");
        };
        let taken = || GuestKernel::in_folder(folder.path());
        let refused = taken().expect_err("nothing is in it").to_string();
        assert!(
            refused.contains(&format!("in {}", folder.path().display())),
            "{refused}"
        );
        write("boot/vmlinuz-6.1-rt");
        let refused = taken().expect_err("without modules").to_string();
        assert!(
            refused.contains("boot/vmlinuz-6.1-rt: /lib/modules/6.1-rt"),
            "{refused}"
        );
        write("lib/modules/6.1-rt/modules.dep");
        let kernel = taken().expect("a root");
        assert_eq!(kernel.image, folder.path().join("boot/vmlinuz-6.1-rt"));
        assert_eq!(kernel.modules, folder.path().join("lib/modules/6.1-rt"));
        assert!(kernel.why.contains("installed in "), "{}", kernel.why);
        write("vmlinux");
        write("order");
        let kernel = taken().expect("one beside its modules");
        assert_eq!(
            (kernel.image, kernel.modules),
            (folder.path().join("vmlinux"), folder.path().to_owned())
        );
    }
}
