//! Decides if the processor runs a guest. That there is a `/dev/kvm` does not say that it boots a kernel: under some clouds' KVM an
//! ordinary kernel never comes up. So it is tried, once for each kernel in the life of this process.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const DEVICE: &str = "/dev/kvm";

/// Modules of KVM on x86, one for each vendor: one is loaded where the processor itself virtualises.
const VENDORS: [&str; 2] = ["kvm_intel", "kvm_amd"];

/// How long a kernel may take to boot when that is tried: seconds are usual.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same where nothing virtualises the processor: then it hardly boots at all.
const LITTLE_PATIENCE: Duration = Duration::from_secs(5);

/// Message of QEMU when KVM gave up; QEMU then stands still.
pub(super) const GAVE_UP: &str = "KVM internal error";

/// Outcome of the trial of each kernel: why it does not boot, if it does not.
static FOUND: Mutex<Option<HashMap<PathBuf, Result<(), String>>>> = Mutex::new(None);

/// Outcome of the trial of this kernel under KVM; `None`: it was not tried yet.
pub(super) fn known(kernel: &Path) -> Option<Result<(), String>> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.as_ref().and_then(|found| found.get(kernel).cloned())
}

/// Keeps what was found out.
pub(super) fn keep(kernel: &Path, outcome: Result<(), String>) {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.get_or_insert_default().insert(kernel.to_owned(), outcome);
}

/// Checks that there is a KVM to try.
///
/// # Errors
/// Why not.
pub(super) fn can_be_tried() -> Result<(), String> {
    let opened = OpenOptions::new().read(true).write(true).open(DEVICE);
    opened.map(|_| ()).map_err(|error| format!("{DEVICE}: {error}"))
}

/// How long the trial may take.
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
