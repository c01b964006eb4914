//! Options that say what a guest is to be.

use crate::arguments::size;
use crate::failure::Failure;
use lab::place::guest::{Accel, Channel, GuestSpec, MEMORY};
use std::path::PathBuf;
use units::CpuList;

/// Options that say what a guest is to be.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Guest")]
pub(crate) struct MachineArgs {
    /// Its kernel: vmlinuz or vmlinux [default: the one that runs here]
    #[arg(long, value_name = "FILE", requires = "modules")]
    kernel: Option<PathBuf>,
    /// That kernel's modules: a folder such as /lib/modules/RELEASE
    #[arg(long, value_name = "DIR", requires = "kernel")]
    modules: Option<PathBuf>,
    /// More arguments for its kernel
    #[arg(long, value_name = "ARGUMENTS", default_value = "", hide_default_value = true)]
    append: String,
    /// Its virtual CPUs
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    vcpus: u32,
    /// Those that its kernel isolates; "" for none [default: all but 0]
    #[arg(long, value_name = "LIST")]
    isolate: Option<CpuList>,
    /// Its memory
    #[arg(long, value_name = "SIZE", default_value_t = MEMORY, hide_default_value = true, value_parser = size)]
    memory: u64,
    /// A CPU of this machine for each of its CPUs, in order; under KVM they run there with real-time priority
    #[arg(long, value_name = "LIST")]
    host_cpus: Option<CpuList>,
    /// What runs it: kvm, tcg (emulated), or auto: KVM where it boots the kernel
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = accel)]
    accel: Accel,
    /// Virtual time: an instruction takes 2^N ns, and every boot is the same; for tests
    #[arg(long, value_name = "N", hide = true)]
    icount: Option<u8>,
    /// Talk to it over its second serial port, as without virtio
    #[arg(long, hide = true)]
    serial: bool,
}

impl MachineArgs {
    /// The guest that is asked for.
    ///
    /// # Errors
    /// No kernel is named, and the own one is not there.
    pub(crate) fn spec(&self) -> Result<GuestSpec, Failure> {
        let (kernel, modules) = match (&self.kernel, &self.modules) {
            (Some(kernel), Some(modules)) => (kernel.clone(), modules.clone()),
            _ => GuestSpec::own_kernel()?,
        };
        Ok(GuestSpec {
            arguments: self.append.clone(),
            cpus: self.vcpus,
            isolated: self.isolate.clone().unwrap_or_else(|| (1..self.vcpus).collect()),
            memory: self.memory,
            host_cpus: self.host_cpus.clone(),
            accel: self.accel,
            icount: self.icount,
            channel: if self.serial { Channel::Serial } else { Channel::Virtio },
            ..GuestSpec::new(kernel, modules)
        })
    }
}

fn accel(text: &str) -> Result<Accel, String> {
    let known = [Accel::Auto, Accel::Kvm, Accel::Tcg];
    let found = known.into_iter().find(|accel| accel.name() == text);
    found.ok_or_else(|| format!("use {}", known.map(Accel::name).join(", ")))
}
