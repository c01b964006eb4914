//! Scheduler limits and periodic work of the kernel.

mod console;
mod hardening;

use crate::facts::Facts;
use crate::gather::kernel;
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::config::Config;
use host::error::HostError;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    console::gather(reader, facts);
    hardening::gather(reader, facts);
    facts.set("kernel.split-lock-detect", split_lock(reader));
    facts.set("kernel.efi", efi(reader));
    let firmware = efi_runtime(reader, facts);
    facts.set("kernel.efi-runtime", firmware);
}

fn split_lock(reader: &Reader) -> Result<String, Unknown> {
    let given = kernel::argument(reader, "split_lock_detect")?;
    Ok(given.unwrap_or_else(|| "not given".to_owned()))
}

/// True if the machine was booted by EFI firmware.
fn efi(reader: &Reader) -> Result<bool, HostError> {
    // Without /sys, the missing folder is no evidence.
    reader.line("/sys/devices/system/cpu/online")?;
    reader.exists("/sys/firmware/efi")
}

/// True if the kernel calls the firmware at run time: by the boot argument, else by the configuration, else by the kind of kernel.
fn efi_runtime(reader: &Reader, facts: &Facts) -> Result<bool, Unknown> {
    if kernel::argument(reader, "noefi")?.is_some() {
        return Ok(false);
    }
    let given = kernel::argument(reader, "efi")?.unwrap_or_default();
    let switch = given.split(',').rev().find_map(|word| match word {
        "runtime" => Some(true),
        "noruntime" => Some(false),
        _ => None,
    });
    if let Some(on) = switch {
        return Ok(on);
    }
    match Config::read(reader) {
        Ok(config) if config.is_on("EFI_DISABLE_RUNTIME") => Ok(false),
        Ok(config) if config.get("EFI").is_some() => Ok(true),
        _ => Ok(facts.get(None, "kernel.preempt")? != Value::Text("PREEMPT_RT".to_owned())),
    }
}
