//! Two machines, their far end, and runs between them.

use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use support::{generous_limits, signal, stderr, triptime, until_sent, wait};
use sys::netns::NetNs;
use testing::Running;

pub(crate) const HEAD: &str = r#"
name = "short"
what = "Each step in a few seconds, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "wakeup"
duration = "1s"
interval = "1ms"
policy = "fifo:80"
"#;

pub(crate) const STEPS: &str = r#"
[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
receive = "block"

[[step]]
probe = "sampled-values"
duration = "2s"
streams = 2
rate = 4000
asdus = 1
trace = true
policy = "fifo:60"

[[step]]
probe = "talk-listen"
duration = "1s"
interval = "1ms"
policy = "fifo:60"

[[step]]
probe = "trip"
duration = "4s"
relay = "bays1"
streams = 1
scenario = ["overcurrent"]
settle = "300ms"
policy = "fifo:60"
"#;

pub(crate) const LONG: &str = r#"
[[step]]
probe = "reflect"
duration = "10m"
interval = "1ms"
policy = "fifo:60"
receive = "block"
"#;

pub(crate) const NEXT: &str = r#"
[[step]]
probe = "talk-listen"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
"#;

/// Two machines: interfaces `pb` are the process bus, `mg` the second network, with a switch.
pub(crate) struct Machines {
    pub(crate) here: NetNs,
    there: NetNs,
    switch: NetNs,
}

impl Machines {
    pub(crate) fn new() -> Self {
        let [here, there, switch] = [(); 3].map(|()| NetNs::create().expect("a namespace"));
        let joined = here.run(|| {
            sys::link::add_veth("pb0", "pb1", &there)?;
            sys::link::add_veth("mg0", "near", &switch)
        });
        joined.expect("a thread in it").expect("veth pairs");
        let joined = there.run(|| sys::link::add_veth("mg1", "far", &switch));
        joined.expect("a thread in it").expect("a veth pair");
        ip(&switch, &["link", "add", "switch", "type", "bridge"]);
        for port in ["near", "far"] {
            ip(&switch, &["link", "set", port, "master", "switch", "up"]);
        }
        ip(&switch, &["link", "set", "switch", "up"]);
        for (machine, names, address) in [
            (&here, ["pb0", "mg0"], "192.0.2.1/24"),
            (&there, ["pb1", "mg1"], "192.0.2.2/24"),
        ] {
            ip(machine, &["addr", "add", address, "dev", names[1]]);
            names
                .iter()
                .chain(&["lo"])
                .for_each(|name| ip(machine, &["link", "set", name, "up"]));
        }
        let until = Instant::now() + Duration::from_secs(10);
        let is_up = || here.run(|| sys::link::find("pb0").map(|link| link.carrier));
        while !matches!(is_up(), Ok(Ok(true))) {
            assert!(Instant::now() < until, "no carrier");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { here, there, switch }
    }

    /// Takes the link of the process bus down, at the far machine.
    pub(crate) fn unplug(&self) {
        ip(&self.there, &["link", "set", "pb1", "down"]);
    }

    /// Takes the port of the test set down, and up again.
    pub(crate) fn blink(&self) {
        ip(&self.here, &["link", "set", "pb0", "down"]);
        ip(&self.here, &["link", "set", "pb0", "up"]);
    }

    /// Makes the switch of the second network forward nothing; its ports stay up.
    pub(crate) fn cut(&self) {
        ip(&self.switch, &["link", "set", "switch", "down"]);
    }
}

fn ip(machine: &NetNs, words: &[&str]) {
    let output = machine.run(|| Command::new("ip").args(words).output());
    let output = output.expect("a thread in it").expect("iproute2 is installed");
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
}

fn start_in(machine: &NetNs, words: &[&str]) -> Running {
    machine.run(|| support::start(words)).expect("a thread in it")
}

/// A running `triptime far`.
pub(crate) struct FarEnd {
    running: Running,
    said: Arc<Mutex<String>>,
}

impl FarEnd {
    pub(crate) fn start(machines: &Machines, secret: &str) -> Self {
        Self::with(machines, secret, &[])
    }

    pub(crate) fn with(machines: &Machines, secret: &str, more: &[&str]) -> Self {
        Self::of(triptime(), machines, secret, more)
    }

    /// The far end of this program.
    pub(crate) fn of(mut command: Command, machines: &Machines, secret: &str, more: &[&str]) -> Self {
        command.args(["far", "pb1", "--listen", "192.0.2.2", "--secret", secret, "--disturb"]);
        command.args(more);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let running = machines.there.run(|| Running::start(&mut command));
        let mut running = running.expect("a thread in it");
        let lines = BufReader::new(running.stderr.take().expect("piped")).lines();
        let said: Arc<Mutex<String>> = Arc::default();
        let told = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *told.lock().expect("no panic") += &format!("{line}\n");
            }
        });
        let this = Self { running, said };
        this.until_said("listening on 192.0.2.2:18850");
        this
    }

    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("no panic").clone()
    }

    pub(crate) fn until_said(&self, what: &str) {
        self.until_any_said(&[what]);
    }

    /// Waits until the other end is gone: one that is killed with frames unread resets its connection.
    pub(crate) fn until_gone(&self) {
        self.until_any_said(&["has left", "was disconnected"]);
    }

    fn until_any_said(&self, all: &[&str]) {
        let until = Instant::now() + Duration::from_secs(60);
        while !all.iter().any(|what| self.said().contains(what)) {
            assert!(Instant::now() < until, "{all:?}: {}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn end(self, by: Signal) -> Output {
        signal(&self.running, by);
        wait(self.running, &["far"])
    }
}

/// One test at a time, because each checks the remains in the folder for temporary files.
static ALONE: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until each `triptime device` whose far end is gone has ended.
pub(crate) fn until_no_device() {
    let until = Instant::now() + Duration::from_secs(30);
    let is_one = |process: std::fs::DirEntry| {
        let folder = std::fs::read_link(process.path().join("cwd"));
        folder.is_ok_and(|folder| folder.to_string_lossy().contains("/triptime-far-"))
    };
    while std::fs::read_dir("/proc").expect("processes").flatten().any(is_one) {
        assert!(Instant::now() < until, "a device goes on without its far end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn secret(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
    path.display().to_string()
}

/// Arguments of a run of these steps.
pub(crate) fn words(directory: &Path, steps: &str, secret: &str, out: &str) -> Vec<String> {
    let plan = directory.join("short.toml");
    std::fs::write(&plan, format!("{HEAD}{steps}")).expect("written");
    let (plan, limits) = (plan.display().to_string(), generous_limits(directory));
    let words = ["qualify", &plan, "--limits", &limits, "--out", out, "--secret", secret];
    let more = ["--nic", "pb0", "--far", "192.0.2.2", "--json", "--quiet", "--disturb"];
    words.iter().chain(&more).map(|word| (*word).to_owned()).collect()
}

pub(crate) fn start(machines: &Machines, words: &[String]) -> Running {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    start_in(&machines.here, &words)
}

pub(crate) fn qualify(machines: &Machines, words: &[String]) -> Output {
    wait(start(machines, words), &["qualify"])
}

/// Starts a long run, and waits until its round trips have begun.
pub(crate) fn long(machines: &Machines, far: &FarEnd, words: &[String]) -> Running {
    let child = start(machines, words);
    far.until_said("round trip of the plan short");
    // The time of three windows.
    until_sent(&child, "pb0", 1_500);
    child
}
