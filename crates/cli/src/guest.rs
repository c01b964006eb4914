//! Options of a guest.

use crate::arguments::size;
use crate::failure::{Failure, say};
use place::guest::{Accel, Channel, GuestKernel, GuestSpec, MEMORY};
use std::path::PathBuf;
use units::CpuList;

/// Heading of these options.
const GUEST: &str = "Guest";

/// Options of a guest.
// Each option has its own heading: a heading of the struct would also apply to the following options of the command it is flattened into.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MachineArgs {
    /// Guest kernel: vmlinuz or vmlinux; or a folder: vmlinux with modules next to it, or a root with boot and lib/modules [default: an
    /// installed one, PREEMPT_RT if there is one]
    #[arg(long, value_name = "FILE|DIR", help_heading = GUEST)]
    kernel: Option<PathBuf>,
    /// Folder of modules, if --kernel is a file, such as /lib/modules/RELEASE
    #[arg(long, value_name = "DIR", requires = "kernel", help_heading = GUEST)]
    modules: Option<PathBuf>,
    /// More arguments for the guest kernel
    #[arg(long, value_name = "ARGUMENTS", default_value = "", hide_default_value = true, help_heading = GUEST)]
    append: String,
    /// Number of virtual CPUs [default: 2, or as the plan says]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), help_heading = GUEST)]
    vcpus: Option<u32>,
    /// Guest CPUs to isolate (isolcpus); "" isolates none [default: all but 0]
    #[arg(long, value_name = "LIST", help_heading = GUEST)]
    isolate: Option<CpuList>,
    /// Guest memory [default: 768MiB]
    #[arg(long, value_name = "SIZE", default_value_t = MEMORY, hide_default_value = true, value_parser = size, help_heading = GUEST)]
    memory: u64,
    /// A CPU of this machine for each virtual CPU, in order; under KVM they run there with real-time priority
    #[arg(long, value_name = "LIST", help_heading = GUEST)]
    host_cpus: Option<CpuList>,
    /// Hypervisor: kvm, tcg (emulated), or auto: KVM where it boots the kernel
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = accel, help_heading = GUEST)]
    accel: Accel,
    /// Virtual time: an instruction takes 2^N ns, and every boot is identical; for tests
    #[arg(long, value_name = "N", hide = true)]
    icount: Option<u8>,
    /// Use the guest's second serial port as the channel, as without virtio
    #[arg(long, hide = true)]
    serial: bool,
}

impl MachineArgs {
    /// Options of the same guest on a command line, all but the isolated CPUs.
    pub(crate) fn words(&self) -> Vec<String> {
        let path = |path: &PathBuf| path.display().to_string();
        let valued = [
            ("--kernel", self.kernel.as_ref().map(path)),
            ("--modules", self.modules.as_ref().map(path)),
            (
                "--append",
                Some(self.append.clone()).filter(|append| !append.is_empty()),
            ),
            ("--vcpus", self.vcpus.map(|count| count.to_string())),
            ("--memory", Some(format!("{}B", self.memory))),
            ("--host-cpus", self.host_cpus.as_ref().map(ToString::to_string)),
            ("--accel", Some(self.accel.name().to_owned())),
            ("--icount", self.icount.map(|shift| shift.to_string())),
        ];
        let valued = valued
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        valued.chain(self.serial.then(|| "--serial".to_owned())).collect()
    }

    /// True if a kernel, or CPUs of this machine, are given: then a guest is wanted.
    pub(crate) fn is_named(&self) -> bool {
        self.kernel.is_some() || self.host_cpus.is_some()
    }

    /// True if the guest's isolated CPUs are given.
    pub(crate) fn isolates(&self) -> bool {
        self.isolate.is_some()
    }

    /// Number of virtual CPUs requested.
    pub(crate) fn vcpus(&self) -> Option<u32> {
        self.vcpus
    }

    /// CPUs of this machine that are named for it.
    pub(crate) fn host_cpus(&self) -> Option<&CpuList> {
        self.host_cpus.as_ref()
    }

    /// The requested guest, with this many virtual CPUs by default.
    ///
    /// # Errors
    /// No kernel is named and none is installed; a file is named without its modules, or a folder with separate modules.
    pub(crate) fn spec(&self, usual_vcpus: u32) -> Result<GuestSpec, Failure> {
        let usual = match (&self.kernel, &self.modules) {
            (Some(folder), modules) if folder.is_dir() => match modules {
                None => GuestSpec::with(GuestKernel::in_folder(folder)?),
                Some(_) => {
                    return Err(Failure::Usage(format!(
                        "--kernel {}: a folder contains its modules: leave --modules out",
                        folder.display()
                    )));
                }
            },
            (Some(kernel), Some(modules)) => GuestSpec::new(kernel.clone(), modules.clone()),
            (Some(kernel), None) => {
                return Err(Failure::Usage(format!(
                    "--kernel {}: name its modules with --modules DIR, or the folder that contains both",
                    kernel.display()
                )));
            }
            (None, _) => GuestSpec::with(GuestKernel::installed()?),
        };
        let cpus = self.vcpus.unwrap_or(usual_vcpus);
        Ok(GuestSpec {
            arguments: self.append.clone(),
            cpus,
            isolated: self.isolate.clone().unwrap_or_else(|| (1..cpus).collect()),
            memory: self.memory,
            host_cpus: self.host_cpus.clone(),
            accel: self.accel,
            icount: self.icount,
            channel: if self.serial { Channel::Serial } else { Channel::Virtio },
            ..usual
        })
    }
}

/// The same guest, after a message if it leaves no CPU for QEMU's own threads.
pub(crate) fn told(spec: GuestSpec) -> GuestSpec {
    if let Some(why) = spec.leaves_no_cpu() {
        say(&why);
    }
    spec
}

fn accel(text: &str) -> Result<Accel, String> {
    let known = [Accel::Auto, Accel::Kvm, Accel::Tcg];
    let found = known.into_iter().find(|accel| accel.name() == text);
    found.ok_or_else(|| format!("use {}", known.map(Accel::name).join(", ")))
}
