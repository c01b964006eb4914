//! Options that say what a guest is to be.

use crate::arguments::size;
use crate::failure::Failure;
use place::guest::{Accel, Channel, GuestKernel, GuestSpec, MEMORY};
use std::path::PathBuf;
use units::CpuList;

/// Heading of these options.
const GUEST: &str = "Guest";

/// Options that say what a guest is to be.
// Each with its heading: one for the struct would go on over the options of the command it is flattened into.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MachineArgs {
    /// Its kernel: vmlinuz or vmlinux; or a folder: vmlinux with modules beside it, or a root with boot and lib/modules [default: an
    /// installed one, PREEMPT_RT if there is one]
    #[arg(long, value_name = "FILE|DIR", help_heading = GUEST)]
    kernel: Option<PathBuf>,
    /// Folder of modules, if --kernel is a file, such as /lib/modules/RELEASE
    #[arg(long, value_name = "DIR", requires = "kernel", help_heading = GUEST)]
    modules: Option<PathBuf>,
    /// More arguments for its kernel
    #[arg(long, value_name = "ARGUMENTS", default_value = "", hide_default_value = true, help_heading = GUEST)]
    append: String,
    /// Its virtual CPUs [default: 2, or as the plan says]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), help_heading = GUEST)]
    vcpus: Option<u32>,
    /// CPUs that its kernel isolates; "" for none [default: all but 0]
    #[arg(long, value_name = "LIST", help_heading = GUEST)]
    isolate: Option<CpuList>,
    /// Memory [default: 768MiB]
    #[arg(long, value_name = "SIZE", default_value_t = MEMORY, hide_default_value = true, value_parser = size, help_heading = GUEST)]
    memory: u64,
    /// A CPU of this machine for each of its CPUs, in order; under KVM they run there with real-time priority
    #[arg(long, value_name = "LIST", help_heading = GUEST)]
    host_cpus: Option<CpuList>,
    /// Hypervisor: kvm, tcg (emulated), or auto: KVM where it boots the kernel
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = accel, help_heading = GUEST)]
    accel: Accel,
    /// Virtual time: an instruction takes 2^N ns, and every boot is the same; for tests
    #[arg(long, value_name = "N", hide = true)]
    icount: Option<u8>,
    /// Talk to it over its second serial port, as without virtio
    #[arg(long, hide = true)]
    serial: bool,
}

impl MachineArgs {
    /// The same guest on a command line, all but what it isolates.
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

    /// True if a kernel is named, or CPUs of this machine: then a guest is meant.
    pub(crate) fn is_named(&self) -> bool {
        self.kernel.is_some() || self.host_cpus.is_some()
    }

    /// True if it is said which of its CPUs its kernel isolates.
    pub(crate) fn isolates(&self) -> bool {
        self.isolate.is_some()
    }

    /// How many virtual CPUs are asked for.
    pub(crate) fn vcpus(&self) -> Option<u32> {
        self.vcpus
    }

    /// The guest that is asked for, with this many virtual CPUs where nothing is said.
    ///
    /// # Errors
    /// No kernel is named, and none is installed; a file is named without its modules, or a folder with others.
    pub(crate) fn spec(&self, usual_vcpus: u32) -> Result<GuestSpec, Failure> {
        let usual = match (&self.kernel, &self.modules) {
            (Some(folder), modules) if folder.is_dir() => match modules {
                None => GuestSpec::with(GuestKernel::in_folder(folder)?),
                Some(_) => {
                    return Err(Failure::Usage(format!(
                        "--kernel {}: of a folder, the modules are in it: leave --modules out",
                        folder.display()
                    )));
                }
            },
            (Some(kernel), Some(modules)) => GuestSpec::new(kernel.clone(), modules.clone()),
            (Some(kernel), None) => {
                return Err(Failure::Usage(format!(
                    "--kernel {}: name its modules with --modules DIR, or the folder of both",
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

fn accel(text: &str) -> Result<Accel, String> {
    let known = [Accel::Auto, Accel::Kvm, Accel::Tcg];
    let found = known.into_iter().find(|accel| accel.name() == text);
    found.ok_or_else(|| format!("use {}", known.map(Accel::name).join(", ")))
}
