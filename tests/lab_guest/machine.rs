//! A virtual machine that the test starts, not the program.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::guest::QEMU;
use testing::Running;

/// Longest life of such a machine on a busy computer.
const LIFE: Duration = Duration::from_secs(300);

/// An emulated machine with these devices and boot options; its first serial port writes to the file `shown`.
pub(crate) fn start(shown: &Path, devices: &[&str]) -> Running {
    let mut command = Command::new(QEMU);
    command
        .args(["-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"])
        // Several threads would race when the kernel patches its own code while another CPU runs it.
        .args(["-M", "q35", "-accel", "tcg,thread=single", "-cpu", "max", "-m", "1024"])
        .args(devices)
        .stdin(Stdio::null())
        .stdout(File::create(shown).expect("a file"));
    Running::start(&mut command)
}

/// Its whole output, after it has powered off.
pub(crate) fn until_off(mut running: Running, shown: &Path) -> String {
    until(shown, "power off", |_| running.try_wait().expect("its state").is_some())
}

/// Waits until it shows this.
pub(crate) fn until_shown(shown: &Path, wanted: &str) {
    until(shown, wanted, |text| text.contains(wanted));
}

fn until(shown: &Path, what: &str, mut is_so: impl FnMut(&str) -> bool) -> String {
    let text = || String::from_utf8_lossy(&std::fs::read(shown).expect("text")).into_owned();
    let end = Instant::now() + LIFE;
    while !is_so(&text()) {
        assert!(Instant::now() < end, "{what}: not in {LIFE:?}: {}", text());
        std::thread::sleep(Duration::from_millis(50));
    }
    text()
}
