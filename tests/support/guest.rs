//! Kernels of Debian for guests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the kernel `6.12-rt`, `6.1-rt` or `5.10-rt`, with `vmlinux`, `modules` and `order`; or the reason why it is not available.
///
/// # Panics
/// When the script fails for another reason.
pub fn kernel(name: &str) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let script = root.join("scripts/guest.sh");
    let output = Command::new(script).arg(name).output().expect("scripts/guest.sh");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => Ok(root.join("target/guest").join(name)),
        Some(3) => Err(said.trim().to_owned()),
        _ => panic!("scripts/guest.sh {name}: {said}"),
    }
}

/// The program that runs guests.
pub const QEMU: &str = "qemu-system-x86_64";

/// The same, with a check that a program to run guests exists.
///
/// # Panics
/// As of [`kernel`].
pub fn guest(name: &str) -> Result<PathBuf, String> {
    match Command::new(QEMU).arg("--version").output() {
        Ok(_) => kernel(name),
        Err(_) => Err(format!("{QEMU} is not installed")),
    }
}
