//! A publisher, a bridge, and an application, each in its own network namespace.

use crate::{binary, until_sent, until_thread};
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::link::{add_bridge, add_veth, find, set_master, set_up};
use sys::netns::NetNs;
use testing::Running;

/// The publisher's namespace (`ts0`), the bridge's (`p-ts`, `p-dut`) and the application's (`dut0`), connected.
pub fn bed() -> [NetNs; 3] {
    let [publisher, switch, device] = [(); 3].map(|()| NetNs::create().expect("a namespace"));
    switch.run(|| add_bridge("br0").expect("a bridge")).expect("entered");
    for (end, name, port) in [(&publisher, "ts0", "p-ts"), (&device, "dut0", "p-dut")] {
        let join = || {
            add_veth(port, name, end).expect("a pair");
            set_master(port, "br0").expect("a port");
            set_up(port).expect("up");
        };
        switch.run(join).expect("entered");
        end.run(|| set_up(name).expect("up")).expect("entered");
    }
    switch.run(|| set_up("br0").expect("up")).expect("entered");
    for (namespace, name) in [(&publisher, "ts0"), (&switch, "br0"), (&device, "dut0")] {
        while !namespace.run(|| find(name).expect("there").carrier).expect("entered") {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    [publisher, switch, device]
}

/// The program inside a namespace.
pub fn inside(namespace: &NetNs, arguments: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", namespace.path().display()));
    command.arg(binary()).args(arguments).stdin(Stdio::null());
    command
}

/// A stream of 1000 frames a second at `ts0`, with further options of `publish`; it has begun when this returns, and ends when the value is dropped.
pub fn publishing(namespace: &NetNs, out: &str, more: &[&str]) -> Running {
    let words = [
        "publish",
        "ts0",
        "--rate",
        "1000",
        "--duration",
        "60s",
        "-q",
        "--out",
        out,
    ];
    let mut command = inside(namespace, &[&words[..], more].concat());
    let mut running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    until_thread(&mut running, "publish");
    // Its first second begins up to a second later. The kernel also sends a few frames on the interface.
    until_sent(&running, "ts0", 100);
    running
}
