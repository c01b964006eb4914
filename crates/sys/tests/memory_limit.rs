//! Locking memory without the capability. In a separate program, because its limit applies to the whole process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use sys::{ErrorKind, SysError};

#[test]
fn the_message_names_limit_and_capability() {
    let mut sets = capabilities(None).expect("own capabilities");
    sets.effective -= CapabilitySet::IPC_LOCK;
    set_capabilities(None, sets).expect("a smaller set");
    let maximum = getrlimit(Resource::Memlock).maximum;
    // Includes a limit that fits all present memory: a later allocation would exceed it.
    for limit_kib in [64, maximum.unwrap_or(1 << 30) >> 10] {
        let limit = Rlimit {
            current: Some(limit_kib << 10),
            maximum,
        };
        setrlimit(Resource::Memlock, limit).expect("a lower limit");
        let error = sys::memory::lock_all().expect_err("a limit");
        assert!(matches!(error, SysError::MemoryLockLimit { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
        let begins = format!(
            "lock memory: RLIMIT_MEMLOCK is {limit_kib} KiB and CAP_IPC_LOCK is missing (ulimit -l unlimited, or run as root, or: setcap"
        );
        assert!(error.to_string().starts_with(&begins), "{error}");
    }
}
