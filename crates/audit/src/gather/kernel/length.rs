//! Length of the line of arguments, and its maximum.

use super::boot::GRUB_ENVIRONMENT;
use crate::facts::Facts;
use crate::gather::shared::unclear;
use crate::value::Unknown;
use host::cpuinfo::CpuInfo;
use host::error::HostError;
use host::reader::Reader;

/// Number of characters that the kernel keeps (COMMAND_LINE_SIZE of x86 and arm64, less the final zero).
const MOST: usize = 2047;
/// Size of GRUB's environment in bytes, including its signature (GRUB: `GRUB_ENVBLK_DEFAULT_SIZE`).
const ENVIRONMENT: usize = 1024;
/// Environment variable that TuneD writes if the boot loader keeps entries in files (TuneD: plugin_bootloader.py).
const VARIABLE: &str = "tuned_params=";
/// File in which TuneD notes its wanted arguments.
const WANTED: &str = "/etc/tuned/bootcmdline";

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("boot.line-bytes", line_bytes(reader).map_err(unclear));
    facts.set("boot.line-most", most(reader));
    facts.set("boot.environment-short-of", short_of(reader));
}

/// A capture contains only the kernel's part of the line, so it stores the full length separately.
fn line_bytes(reader: &Reader) -> Result<usize, HostError> {
    let of_line = || reader.line("/proc/cmdline").map(|line| line.len());
    match reader.answer("boot-line-bytes", || of_line().map(|bytes| bytes.to_string())) {
        Ok(answer) => answer
            .trim()
            .parse()
            .map_err(|_| HostError::unexpected("/.answers/boot-line-bytes", "a number of bytes", &answer)),
        Err(why) if why.is_absent() => of_line(),
        Err(why) => Err(why),
    }
}

fn most(reader: &Reader) -> Result<usize, Unknown> {
    let is_x86 = CpuInfo::read(reader).map_err(unclear)?.has_flag("tsc").is_some();
    let is_arm64 = || reader.line("/proc/sys/kernel/arch").is_ok_and(|arch| arch == "aarch64");
    match is_x86 || is_arm64() {
        true => Ok(MOST),
        false => Err(Unknown::unclear(
            "the number of characters that the kernel keeps is known for x86 and arm64 only",
        )),
    }
}

/// Bytes that GRUB's environment lacks for TuneD's arguments; absent if one of the two does not exist.
fn short_of(reader: &Reader) -> Result<usize, Unknown> {
    let wanted = reader.text(WANTED)?;
    let wanted = wanted
        .lines()
        .find_map(|line| line.trim().strip_prefix("TUNED_BOOT_CMDLINE="));
    let wanted = wanted.ok_or_else(|| Unknown::absent(format!("{WANTED} lists no arguments")))?;
    let wanted = wanted.trim_matches(['"', '\'']);
    let environment = GRUB_ENVIRONMENT.iter().find_map(|path| reader.text(path).ok());
    let environment = environment.ok_or_else(|| Unknown::absent("there is no environment of GRUB"))?;
    // GRUB fills the free bytes at the end with #.
    let lines = environment.trim_end_matches(['#', '\n']).lines();
    let others: usize = lines
        .filter(|line| !line.starts_with(VARIABLE))
        .map(|line| line.len() + 1)
        .sum();
    let needed = others + VARIABLE.len() + wanted.len() + 1;
    Ok(needed.saturating_sub(ENVIRONMENT))
}
