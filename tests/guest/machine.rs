//! A guest under QEMU without any hardware help (TCG), with a real-time kernel of Debian.

use crate::image::Image;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use support::guest::{QEMU, guest};
use sys::netns::NetNs;
use tempfile::TempDir;

/// Longest life of a guest on a busy machine.
const LIFE: Duration = Duration::from_secs(600);

/// Space for the files that a guest leaves.
const DISK_OCTETS: u64 = 64 << 20;

/// A kernel that guests run.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    /// The newest real-time kernel.
    Rt612,
    /// The kernel of Debian 12: records of tracepoints have another layout.
    Rt61,
    /// The kernel of Debian 11, the oldest supported one.
    Rt510,
}

impl Kernel {
    fn name(self) -> &'static str {
        match self {
            Self::Rt612 => "6.12-rt",
            Self::Rt61 => "6.1-rt",
            Self::Rt510 => "5.10-rt",
        }
    }
}

/// Description of the guest to boot.
pub(crate) struct Setup<'a> {
    pub(crate) kernel: Kernel,
    /// Run by the guest one after the other when it is up; files of `tests/guest/bed`.
    pub(crate) scenarios: &'a [&'a str],
    /// Programs of this machine that the scenario uses in addition to `ip`.
    pub(crate) programs: &'a [&'a str],
    /// Other files of this machine that it uses.
    pub(crate) files: &'a [&'a str],
    /// C programs of `tests/guest/bed` that it uses.
    pub(crate) built: &'a [&'a str],
    /// True if it has an Intel card, whose driver knows a clock of the card; the card is not connected.
    pub(crate) has_card: bool,
    /// The namespace and the tap to which the guest's eth0 is connected.
    pub(crate) network: Option<(&'a NetNs, &'a str)>,
}

/// A running guest, killed when dropped.
pub(crate) struct Machine {
    child: Child,
    input: ChildStdin,
    console: Arc<Mutex<String>>,
    folder: TempDir,
    booted: Instant,
}

impl Machine {
    /// Boots the guest, or returns the reason why no guest can be booted here.
    pub(crate) fn boot(setup: &Setup) -> Result<Self, String> {
        let kernel = guest(setup.kernel.name())?;
        let folder = tempfile::tempdir().expect("a directory");
        let image = folder.path().join("initrd");
        std::fs::write(&image, fill(setup, &kernel, folder.path())?).expect("written");
        let disk = folder.path().join("disk");
        let file = std::fs::File::create(&disk).expect("a file");
        file.set_len(DISK_OCTETS).expect("room");
        let mut command = match setup.network {
            None => Command::new(QEMU),
            Some((namespace, tap)) => {
                let mut command = Command::new("nsenter");
                command.arg(format!("--net={}", namespace.path().display())).arg(QEMU);
                command.args(["-device", "virtio-net-pci,netdev=n0,mac=02:00:00:00:00:02"]);
                command.args(["-netdev", &format!("tap,id=n0,ifname={tap},script=no,downscript=no")]);
                command
            }
        };
        command.args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
            "-serial",
            "stdio",
        ]);
        command.args([
            "-name",
            "guest=relay1,debug-threads=on",
            "-M",
            "q35",
            "-accel",
            // Two threads would race when the kernel patches its own code while another CPU runs it.
            "tcg,thread=single",
            "-cpu",
            "max",
        ]);
        command.args(["-smp", "2", "-m", "512"]);
        command.args(["-append", "console=ttyS0 quiet panic=-1 cryptomgr.notests"]);
        command
            .arg("-kernel")
            .arg(kernel.join("vmlinux"))
            .arg("-initrd")
            .arg(image);
        if setup.has_card {
            command.args(["-netdev", "hubport,id=h0,hubid=0", "-device", "e1000e,netdev=h0"]);
        }
        let drive = format!("file={},format=raw,if=none,id=d0,cache=unsafe", disk.display());
        command.args(["-drive", &drive, "-device", "virtio-blk-pci,drive=d0"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("QEMU");
        let console = Arc::new(Mutex::new(String::new()));
        let (shown, mut output) = (Arc::clone(&console), child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            let mut octets = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut octets) {
                let text = String::from_utf8_lossy(&octets[..count]);
                shown.lock().expect("no panic").push_str(&text);
            }
        });
        Ok(Self {
            input: child.stdin.take().expect("piped"),
            child,
            console,
            folder,
            booted: Instant::now(),
        })
    }

    /// Text that its console showed.
    pub(crate) fn console(&self) -> String {
        self.console.lock().expect("no panic").clone()
    }

    /// Waits until its console shows this text.
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.console().contains(text) {
            let ended = self.child.try_wait().expect("its state");
            self.must(ended.is_none() && self.booted.elapsed() < LIFE, text);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Types an empty line on its console.
    pub(crate) fn go_on(&mut self) {
        self.input.write_all(b"\n").expect("the console");
    }

    /// Waits until it has ended; returns its files.
    pub(crate) fn finish(mut self) -> Left {
        while self.child.try_wait().expect("its state").is_none() {
            self.must(self.booted.elapsed() < LIFE, "its end");
            std::thread::sleep(Duration::from_millis(20));
        }
        let out = self.folder.path().join("out");
        std::fs::create_dir(&out).expect("a directory");
        let disk = self.folder.path().join("disk");
        let unpacked = Command::new("tar").arg("-xf").arg(disk).arg("-C").arg(&out).status();
        self.must(unpacked.is_ok_and(|status| status.success()), "what it left");
        let left = Left {
            console: self.console(),
            folder: std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a directory")),
        };
        assert_eq!(left.text("status"), "0", "{}", left.console);
        left
    }

    fn must(&self, condition: bool, wanted: &str) {
        assert!(
            condition,
            "the guest did not come to {wanted}; its console:\n{}",
            self.console()
        );
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Files left by a guest with this kernel that is connected to no other machine, or the reason why it cannot run. It is booted once for all tests
/// of this process: under emulation, the start takes longer than the work.
pub(crate) fn alone(kernel: Kernel) -> Result<&'static Left, &'static str> {
    static LEFT: [OnceLock<Result<Left, String>>; 3] = [const { OnceLock::new() }; 3];
    let boot = || {
        let setup = Setup {
            kernel,
            scenarios: match kernel {
                Kernel::Rt510 => &["follow.sh", "round_trip.sh", "cpu_sets.sh", "oldest.sh"],
                _ => &["follow.sh", "round_trip.sh", "nic_stamps.sh", "cpu_sets.sh"],
            },
            programs: &[],
            files: &[],
            built: &[],
            has_card: true,
            network: None,
        };
        Machine::boot(&setup).map(Machine::finish)
    };
    let left = LEFT[kernel as usize].get_or_init(boot);
    left.as_ref().map_err(String::as_str)
}

/// Files that a guest left in `/out`, and its console.
pub(crate) struct Left {
    folder: TempDir,
    pub(crate) console: String,
}

impl Left {
    /// A file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("out").join(name)
    }

    /// A file's text without white space around it.
    pub(crate) fn text(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}; the guest's console:\n{}", self.console));
        text.trim().to_owned()
    }
}

/// The guest's files.
fn fill(setup: &Setup, kernel: &Path, folder: &Path) -> Result<Vec<u8>, String> {
    let mut image = Image::default();
    let bed = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest/bed");
    for (file, path) in [("init.sh", "/init"), ("steps.sh", "/steps.sh")] {
        image.copy(&bed.join(file), path);
    }
    for (number, file) in setup.scenarios.iter().enumerate() {
        image.copy(&bed.join(file), &format!("/scenarios/{number}"));
    }
    for path in ["/bin/busybox", "/bin/ip"].iter().chain(setup.programs) {
        if !image.program(path) {
            return Err(format!("{path} is not installed"));
        }
    }
    for path in setup.files {
        image.copy(Path::new(path), path);
    }
    image.copy(&support::binary(), "/bin/triptime");
    image.copy(&kernel.join("order"), "/modules/order");
    let order = std::fs::read_to_string(kernel.join("order")).expect("the modules' names");
    for module in order.lines() {
        let file = format!("modules/{module}.ko");
        image.copy(&kernel.join(&file), &format!("/{file}"));
    }
    for name in setup.built {
        let program = folder.join(name);
        let source = bed.join(format!("{name}.c"));
        let built = Command::new("gcc")
            .args(["-static", "-O2", "-Wall", "-Werror", "-o"])
            .arg(&program)
            .arg(source)
            .output();
        let output = built.expect("gcc is installed");
        assert!(output.status.success(), "{name}: {}", support::stderr(&output));
        image.copy(&program, &format!("/bin/{name}"));
    }
    Ok(image.finish())
}
