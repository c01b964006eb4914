//! Decides whether KVM runs a guest. The existence of `/dev/kvm` does not prove that a kernel boots: under the KVM of some clouds an ordinary kernel
//! never comes up. So KVM is tried, once per kernel in the life of this process.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const DEVICE: &str = "/dev/kvm";

/// Modules of KVM on x86, one per vendor: one of them is loaded if the processor supports virtualisation.
const VENDORS: [&str; 2] = ["kvm_intel", "kvm_amd"];

/// Time that a kernel may take to boot in the trial; a few seconds are usual.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same if the processor supports no virtualisation: then a boot under KVM is unlikely.
const LITTLE_PATIENCE: Duration = Duration::from_secs(5);

/// Message of QEMU when KVM failed; QEMU then stops.
pub(super) const GAVE_UP: &str = "KVM internal error";

/// Result of the trial of each kernel: the reason if it does not boot.
static FOUND: Mutex<Option<HashMap<PathBuf, Result<(), String>>>> = Mutex::new(None);

/// Result of the trial of this kernel under KVM; `None` if it was not tried yet.
pub(super) fn known(kernel: &Path) -> Option<Result<(), String>> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.as_ref().and_then(|found| found.get(kernel).cloned())
}

/// Stores the result of a trial.
pub(super) fn keep(kernel: &Path, outcome: Result<(), String>) {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.get_or_insert_default().insert(kernel.to_owned(), outcome);
}

/// Checks that KVM exists.
///
/// # Errors
/// The reason why it cannot be used.
pub(super) fn can_be_tried() -> Result<(), String> {
    let opened = OpenOptions::new().read(true).write(true).open(DEVICE);
    opened.map(|_| ()).map_err(|error| format!("{DEVICE}: {error}"))
}

/// Time limit of the trial.
pub(super) fn patience() -> Duration {
    let is_real = VENDORS
        .iter()
        .any(|module| Path::new("/sys/module").join(module).exists());
    if is_real { PATIENCE } else { LITTLE_PATIENCE }
}

#[cfg(test)]
mod tests {
    use super::{keep, known};
    use std::path::Path;

    #[test]
    fn what_was_found_of_a_kernel_is_kept() {
        let (one, other) = (Path::new("/boot/one"), Path::new("/boot/other"));
        keep(one, Err("it hangs".to_owned()));
        assert_eq!(known(one), Some(Err("it hangs".to_owned())));
        assert_eq!(known(other), None);
    }
}
