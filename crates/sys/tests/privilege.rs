//! Errors that a thread without privileges gets. Capabilities belong to threads, so each test drops them on its own thread.

mod common;

use common::{NETWORK, Pair, can_run};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::{Capability, has, require};
use sys::xdp::{XdpOptions, XdpPort};
use sys::{ErrorKind, SysError, link};

/// Runs `work` on a thread without any effective capability.
fn powerless<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    keeping(CapabilitySet::empty(), work)
}

/// Runs `work` on a thread with these effective capabilities only.
fn keeping<T: Send>(keep: CapabilitySet, work: impl FnOnce() -> T + Send) -> T {
    let lose_others = || {
        let mut sets = capabilities(None).expect("own capabilities");
        sets.effective = keep;
        set_capabilities(None, sets).expect("a smaller set");
        work()
    };
    std::thread::scope(|scope| scope.spawn(lose_others).join().expect("no panic"))
}

fn assert_missing(error: &SysError, capability: Capability, begins: &str) {
    assert!(
        matches!(error, SysError::MissingCapability { capability: missing, .. } if *missing == capability),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
    let begins = format!(
        "{begins}: needs {capability} (run as root, or: setcap {}+ep /",
        capability.setcap_name()
    );
    assert!(error.to_string().starts_with(&begins), "{error}");
}

#[test]
fn a_packet_socket_without_net_raw_is_refused_with_the_remedy() {
    if !can_run("a_packet_socket_without_net_raw_is_refused_with_the_remedy", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let open = || powerless(|| PacketPort::open("a0", &PortOptions::default()).map(drop));
    // The new thread starts in the namespace of the one that starts it.
    let error = pair.a.run(open).expect("a thread").expect_err("refused");
    assert_missing(&error, Capability::NetRaw, "open a packet socket on a0");
}

/// The socket asks for one privilege, the program for two more.
#[test]
fn an_xdp_port_names_the_privilege_that_is_missing() {
    if !can_run("an_xdp_port_names_the_privilege_that_is_missing", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let open = |keep: CapabilitySet| {
        let refused = || keeping(keep, || XdpPort::open("a0", &XdpOptions::default()).map(drop));
        pair.a.run(refused).expect("a thread")
    };
    let net = CapabilitySet::NET_RAW | CapabilitySet::IPC_LOCK;
    let error = open(CapabilitySet::empty()).expect_err("refused");
    assert_missing(&error, Capability::NetRaw, "open an AF_XDP socket on a0");
    let error = open(net).expect_err("refused");
    assert_missing(&error, Capability::NetAdmin, "make a map of AF_XDP sockets for a0");
    open(net | CapabilitySet::NET_ADMIN | CapabilitySet::BPF).expect("nothing more is needed");
}

#[test]
fn namespaces_and_links_without_privilege_are_refused_with_the_remedy() {
    let error = powerless(NetNs::create).expect_err("refused");
    assert_missing(&error, Capability::SysAdmin, "create a network namespace");
    let error = powerless(|| link::set_up("lo")).expect_err("refused");
    assert_missing(&error, Capability::NetAdmin, "bring up lo");
    let error = powerless(|| link::add_bridge("triptime-x")).expect_err("refused");
    assert_missing(&error, Capability::NetAdmin, "create bridge triptime-x");
}

#[test]
fn the_effective_set_decides() {
    powerless(|| {
        assert!(!has(Capability::NetRaw));
        let error = require(Capability::Bpf, "load the trace programs").expect_err("missing");
        assert_missing(&error, Capability::Bpf, "load the trace programs");
    });
    if can_run("the_effective_set_decides", &[Capability::NetRaw]) {
        require(Capability::NetRaw, "open a packet socket").expect("there");
    }
}
