//! Beds whose ends are ports, here the ends of a veth pair: they are used without changes, and have their earlier state afterwards.

use super::can;
use super::named::{Named, out, until};
use rustix::process::Signal;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::left::Before;
use support::{binary, signal, stderr};
use sys::link::{LinkInfo, find, list, set_down};
use sys::netns::NetNs;
use testing::Running;

/// A machine with two connected ports, `v0` and `v1`.
struct Machine(NetNs);

impl Machine {
    fn new() -> Self {
        let machine = Self(support::namespace());
        // The first port shows its carrier a moment later.
        until(|| machine.ports().matches("\"operstate\":\"UP\"").count() == 2);
        machine
    }

    /// A command on it.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.0.path().display())).arg(program);
        command
    }

    fn triptime(&self, words: &[&str]) -> Output {
        let binary = binary().display().to_string();
        self.command(&binary).args(words).output().expect("started")
    }

    fn up(&self, bed: &Named, more: &[&str]) -> Output {
        self.triptime(&[&["lab", "up", &bed.0], more].concat())
    }

    /// Visible state of its ports.
    fn ports(&self) -> String {
        let shown = self
            .command("ip")
            .args(["-d", "-j", "link", "show"])
            .output()
            .expect("ip");
        out(&shown)
    }

    fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.run(work).expect("a thread in it")
    }
}

/// The device's interface in a namespace of the bed.
fn device(bed: &Named, end: &str, interface: &str) -> Option<LinkInfo> {
    let namespace = NetNs::open(format!("/run/netns/triptime-{}-{end}", bed.0).as_ref()).ok()?;
    namespace.run(|| find(interface)).expect("a thread in it").ok()
}

#[test]
fn ports_are_the_ends_and_are_afterwards_as_they_were() {
    let Some(_alone) = can("ports_are_the_ends_and_are_afterwards_as_they_were", "nsenter") else {
        return;
    };
    let before = Before::look();
    let machine = Machine::new();
    let ports = machine.ports();
    let (bed, other) = (Named::new("ports"), Named::new("other"));

    let made = machine.up(&bed, &["--nic", "v0,v1"]);
    assert!(
        out(&made).contains("ports v0 and v1, 1 device native; made"),
        "{}",
        stderr(&made)
    );
    assert_eq!(
        (bed.way(&out(&made), "test set"), bed.way(&out(&made), "device 0")),
        own()
    );
    let refused = machine.up(&other, &["--nic", "v1"]);
    assert!(
        stderr(&refused).contains(&format!("end of the lab {}", bed.0)),
        "{}",
        stderr(&refused)
    );
    assert!(bed_down(&machine, &bed));
    assert_eq!(machine.ports(), ports, "as it is");

    // The test set is on another machine: the ends are both devices.
    let made = machine.up(&bed, &["--nic", "v1", "--devices", "2"]);
    assert!(!out(&made).contains("test set  "), "{}", out(&made));
    assert_ne!(machine.ports(), ports, "v1 takes the frames of its macvlans");
    let sent = [
        "publish",
        "v0",
        "--streams",
        "1",
        "--duration",
        "1s",
        "--quiet",
        "--dst",
        "ff:ff:ff:ff:ff:ff",
    ];
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("run.triptime").display().to_string();
    let sent = machine.triptime(&[&sent[..], &["--out", &file]].concat());
    assert!(matches!(sent.status.code(), Some(0 | 3)), "{}", stderr(&sent));
    let frames = super::received(&bed.way(&out(&made), "device 1"), "dut1");
    assert!(frames > 1_000, "{frames}");

    // Namespaces that were deleted by hand, one of them with a process in it.
    let way = bed.way(&out(&made), "device 0");
    let inside = Running::start(Command::new(&way[0]).args([&way[1], "sleep", "100"]));
    std::thread::sleep(Duration::from_millis(200));
    for end in ["dut", "dut1"] {
        NetNs::unpin(format!("/run/netns/triptime-{}-{end}", bed.0).as_ref()).expect("deleted");
    }
    let listed = bed.listed().expect("listed");
    assert!(
        listed.contains("STALE") && listed.contains("not a network namespace"),
        "{listed}"
    );
    assert!(bed_down(&machine, &bed));
    until(|| machine.ports() == ports);
    drop(inside);
    before.nothing_is_left();
}

/// The prefix of a command at ports that are used directly.
fn own() -> (Vec<String>, Vec<String>) {
    let way = vec!["triptime".to_owned()];
    (way.clone(), way)
}

/// The namespace of its ports, in which they are checked.
fn bed_down(machine: &Machine, bed: &Named) -> bool {
    let down = machine.triptime(&["lab", "down", &bed.0]);
    assert!(down.status.success(), "{}", stderr(&down));
    bed.listed().is_none()
}

#[test]
fn a_bed_on_ports_that_was_killed_leaves_them_as_they_were() {
    let Some(_alone) = can("a_bed_on_ports_that_was_killed_leaves_them_as_they_were", "runc") else {
        return;
    };
    let before = Before::look();
    let machine = Machine::new();
    let ports = machine.ports();
    let bed = Named::new("killed-ports");
    let words = [
        "--nic",
        "v0,v1",
        "--place",
        "container",
        "--devices",
        "2",
        "--runtime",
        "runc",
    ];
    for wait_ms in [20, 60, 150] {
        let binary = binary().display().to_string();
        let mut command = machine.command(&binary);
        command.args(["lab", "up", &bed.0]).args(words).stdout(Stdio::null());
        let mut child = Running::start(&mut command);
        std::thread::sleep(Duration::from_millis(wait_ms));
        signal(&child, Signal::KILL);
        child.wait().expect("its end");
        let down = machine.triptime(&["lab", "down", &bed.0]);
        assert!(matches!(down.status.code(), Some(0 | 2)), "{}", stderr(&down));
        until(|| machine.ports() == ports);
        before.nothing_is_left();
    }
    let made = machine.up(&bed, &words);
    assert!(out(&made).contains("; made"), "{}", stderr(&made));
    assert!(device(&bed, "dut1", "dut1").is_some());
    // The removal of a port also removes the interfaces on it.
    machine.run(|| set_down("v1")).expect("down");
    let listed = machine.triptime(&["lab", "list"]);
    assert!(out(&listed).contains("v1 is down"), "{}", out(&listed));
    assert!(bed_down(&machine, &bed));
    assert_eq!(machine.run(list).expect("ports").len(), 3, "lo, v0 and v1");
    before.nothing_is_left();
}

#[test]
fn the_way_to_this_machine_is_no_port_of_a_bed() {
    let Some(_alone) = can("the_way_to_this_machine_is_no_port_of_a_bed", "nsenter") else {
        return;
    };
    let machine = Machine::new();
    let bed = Named::new("way");
    let ip = |words: &str| {
        let done = machine.command("ip").args(words.split(' ')).output().expect("ip");
        assert!(done.status.success(), "{}", stderr(&done));
    };
    ip("addr add 192.0.2.1/24 dev v0");
    let refused = |port: &str, session: &str| {
        let binary = binary().display().to_string();
        let mut command = machine.command(&binary);
        command.env("SSH_CONNECTION", session);
        let refused = command
            .args(["lab", "up", &bed.0, "--nic", port])
            .output()
            .expect("started");
        assert_eq!(bed.listed(), None);
        assert_eq!(refused.status.code(), Some(2), "{}", out(&refused));
        stderr(&refused)
    };
    let why = refused("v0,v1", "192.0.2.9 50000 192.0.2.1 22");
    assert!(why.contains("v0 carries the connection to this machine"), "{why}");
    ip("route add default via 192.0.2.2");
    let why = refused("v1,v0", "");
    assert!(why.contains("v0 carries the connection to this machine"), "{why}");
    let why = refused("v1,v1", "");
    assert!(why.contains("cannot be both ends"), "{why}");
}
