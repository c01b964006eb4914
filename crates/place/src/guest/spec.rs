//! Settings for making a guest.

use super::super::PlaceError;
use super::super::container::RuntimeName;
use super::asked::AGENT;
use super::kernel::GuestKernel;
use super::share::{Share, emulator_shares};
use crate::cpu_list;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use units::CpuList;

/// Settings for making a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestSpec {
    /// Its kernel: `vmlinuz`, or the decompressed `vmlinux`.
    pub kernel: PathBuf,
    /// That kernel's modules: `/lib/modules/RELEASE`, or a folder with NAME.ko and a file `order`.
    pub modules: PathBuf,
    /// Reason for this kernel.
    #[serde(default)]
    pub why_kernel: String,
    /// More arguments for the kernel.
    pub arguments: String,
    /// Virtual CPUs.
    pub cpus: u32,
    /// Virtual CPUs that the guest's kernel isolates.
    #[serde(with = "cpu_list")]
    pub isolated: CpuList,
    /// Memory in bytes.
    pub memory: u64,
    /// CPUs of this machine for the virtual ones, in their order. `None`: the virtual CPUs are not pinned.
    #[serde(default, with = "cpu_list::maybe")]
    pub host_cpus: Option<CpuList>,
    /// CPUs of this machine for the virtual ones of all guests side by side; `None`: this guest is the only one.
    #[serde(skip)]
    pub of_all_guests: Option<CpuList>,
    /// Processor or emulation.
    pub accel: Accel,
    /// Virtual time: each instruction takes 2^N ns, and sleeping takes none (QEMU's `-icount`). Every boot then executes the same instructions; no
    /// measured time says anything about this machine.
    pub icount: Option<u8>,
    /// Channel between guest and host.
    pub channel: Channel,
    /// Runtime for a container in it, added to the image. `None`: it has no containers.
    #[serde(default)]
    pub runtime: Option<RuntimeName>,
}

/// Choice between the processor and an emulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accel {
    /// KVM if it boots the kernel, otherwise emulation.
    #[default]
    Auto,
    /// KVM only.
    Kvm,
    /// Emulation only.
    Tcg,
}

impl Accel {
    /// Its name in QEMU.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }
}

/// Channel between guest and host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Over a port of virtio-serial.
    #[default]
    Virtio,
    /// Second serial port, for hypervisors without virtio.
    Serial,
}

/// Default memory of a guest; the unpacked image uses a part of it.
pub const MEMORY: u64 = 768 << 20;

/// Reason for a kernel that the user named.
const NAMED: &str = "named";

/// Default number of virtual CPUs of a guest.
pub const VCPUS: u32 = 2;

impl GuestSpec {
    /// The defaults with an automatically chosen kernel.
    pub fn with(kernel: GuestKernel) -> Self {
        Self {
            why_kernel: kernel.why,
            ..Self::new(kernel.image, kernel.modules)
        }
    }

    /// Two virtual CPUs, the second isolated, with this kernel.
    pub fn new(kernel: PathBuf, modules: PathBuf) -> Self {
        Self {
            kernel,
            modules,
            why_kernel: NAMED.to_owned(),
            arguments: String::new(),
            cpus: VCPUS,
            isolated: CpuList::from_iter([1]),
            memory: MEMORY,
            host_cpus: None,
            of_all_guests: None,
            accel: Accel::Auto,
            icount: None,
            channel: Channel::Virtio,
            runtime: None,
        }
    }

    /// The same for firmware and boot loaders, which cannot load a `vmlinux`: with the `vmlinuz` of the same folder, if there is one.
    #[must_use]
    pub fn for_loader(self) -> Self {
        let packed = self.modules.join("vmlinuz");
        match self.kernel == self.modules.join("vmlinux") && packed.is_file() {
            true => Self { kernel: packed, ..self },
            false => self,
        }
    }

    /// Its kernel, the kernel's modules, and the reason for the choice.
    pub fn kernel_in_words(&self) -> String {
        let (kernel, modules) = (self.kernel.display(), self.modules.display());
        format!("{kernel} with the modules of {modules} ({})", self.why_kernel)
    }

    /// Boot arguments of the kernel.
    pub fn kernel_arguments(&self) -> String {
        // Self-tests of the kernel's cryptography take a sixth of an emulated boot.
        let mut arguments = vec![format!("console=ttyS0 quiet panic=-1 cryptomgr.notests {AGENT}")];
        if !self.isolated.is_empty() {
            let (isolated, others) = (&self.isolated, self.all_cpus().without(&self.isolated));
            arguments.push(format!(
                "isolcpus=managed_irq,domain,{isolated} rcu_nocbs={isolated} irqaffinity={others}"
            ));
        }
        if self.icount.is_some() {
            // Makes all boots alike.
            arguments.push("nokaslr norandmaps".to_owned());
        }
        if !self.arguments.is_empty() {
            arguments.push(self.arguments.clone());
        }
        arguments.join(" ")
    }

    /// Settings of guest number `number`, from 0, if several are made: with its part of this machine's CPUs, if there are enough.
    pub(super) fn of(&self, number: usize) -> Self {
        let cpus = self.cpus as usize;
        let several = self.host_cpus.as_ref().filter(|host| host.len() > cpus);
        let part = several.map(|host| host.iter().skip(number * cpus).take(cpus).collect());
        Self {
            of_all_guests: self.host_cpus.clone(),
            host_cpus: part.or_else(|| self.host_cpus.clone()),
            ..self.clone()
        }
    }

    /// Message if the virtual CPUs take every CPU that this process may use, so that none is left for QEMU's own threads.
    pub fn leaves_no_cpu(&self) -> Option<String> {
        Share::here(self).leaves_no_cpu.then(emulator_shares)
    }

    fn all_cpus(&self) -> CpuList {
        (0..self.cpus).collect()
    }

    /// # Errors
    /// The impossible setting, in terms of the command line.
    pub fn check(&self) -> Result<(), PlaceError> {
        let refuse = |why: String| Err(PlaceError::NotAvailable(why));
        for path in [&self.kernel, &self.modules] {
            if let Err(error) = std::fs::metadata(path) {
                return Err(PlaceError::Io {
                    path: path.clone(),
                    error,
                });
            }
        }
        if self.cpus == 0 {
            return refuse("a guest needs at least one virtual CPU".to_owned());
        }
        if self.all_cpus().without(&self.isolated).is_empty() {
            return refuse(
                "the guest's kernel cannot isolate all of its CPUs: one is needed for housekeeping".to_owned(),
            );
        }
        if let Some(beyond) = self.isolated.without(&self.all_cpus()).first() {
            return refuse(format!(
                "the guest has no CPU {beyond} to isolate: it has {}",
                self.cpus
            ));
        }
        if self.icount.is_some() && self.accel == Accel::Kvm {
            return refuse("virtual time is for emulated guests: KVM cannot count instructions".to_owned());
        }
        match &self.host_cpus {
            Some(host) if host.len() != self.cpus as usize => refuse(format!(
                "{} virtual CPUs, but {} of this machine ({host}): each virtual CPU needs its own",
                self.cpus,
                host.len()
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GuestSpec;
    use units::CpuList;

    fn spec() -> GuestSpec {
        GuestSpec::new("/proc/version".into(), "/proc".into())
    }

    #[test]
    fn the_kernel_is_told_what_to_isolate() {
        let mut spec = spec();
        let line = spec.kernel_arguments();
        assert!(
            line.contains("isolcpus=managed_irq,domain,1 rcu_nocbs=1 irqaffinity=0"),
            "{line}"
        );
        assert!(line.contains("triptime.agent") && !line.contains("nokaslr"), "{line}");
        spec.isolated = CpuList::from_iter([]);
        spec.arguments = "nosmt".to_owned();
        spec.icount = Some(2);
        let line = spec.kernel_arguments();
        assert!(
            !line.contains("isolcpus") && line.ends_with("nokaslr norandmaps nosmt"),
            "{line}"
        );
    }

    #[test]
    fn a_boot_loader_is_given_the_packed_kernel() {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = |name: &str| GuestSpec::new(folder.path().join(name), folder.path().to_owned()).for_loader();
        assert!(spec("vmlinux").kernel.ends_with("vmlinux"));
        std::fs::write(folder.path().join("vmlinuz"), "").expect("written");
        assert!(spec("vmlinux").kernel.ends_with("vmlinuz"));
        assert!(spec("bzImage").kernel.ends_with("bzImage"));
    }

    #[test]
    fn guests_side_by_side_share_no_cpu() {
        let mut spec = spec();
        spec.host_cpus = Some(CpuList::from_iter([2, 3, 6, 7]));
        let of = |number| spec.of(number).host_cpus.map(|cpus| cpus.to_string());
        assert_eq!((of(0).as_deref(), of(1).as_deref()), (Some("2-3"), Some("6-7")));
        spec.host_cpus = Some((1..=16).collect());
        spec.cpus = 4;
        let four = (0..4).map(|number| spec.of(number).host_cpus.map(|cpus| cpus.to_string()));
        let four: Vec<String> = four.flatten().collect();
        assert_eq!(four, ["1-4", "5-8", "9-12", "13-16"]);
        spec.host_cpus = Some(CpuList::from_iter([2, 3, 6, 7]));
        spec.cpus = 2;
        // No CPU is left for a third virtual CPU.
        assert!(spec.of(2).check().is_err());
    }

    #[test]
    fn what_cannot_be_is_told() {
        let said = |change: fn(&mut GuestSpec)| {
            let mut spec = spec();
            change(&mut spec);
            spec.check().expect_err("refused").to_string()
        };
        assert!(spec().check().is_ok());
        assert!(said(|spec| spec.cpus = 0).contains("at least"));
        assert!(said(|spec| spec.isolated = CpuList::from_iter([0, 1])).contains("needed for housekeeping"));
        assert!(said(|spec| spec.isolated = CpuList::from_iter([3])).contains("no CPU 3"));
        assert!(said(|spec| spec.host_cpus = Some(CpuList::from_iter([1]))).contains("2 virtual CPUs, but 1"));
        assert!(said(|spec| spec.kernel = "/nowhere".into()).contains("/nowhere"));
    }
}
