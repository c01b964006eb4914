//! Tap devices in a separate namespace.

use std::time::Duration;
use sys::link;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::{Capability, has};
use sys::tap::{Tap, wait_readable};

fn can_run(test: &str) -> bool {
    let needs = [Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw];
    let missing = needs.into_iter().find(|need| !has(*need));
    let why = match missing {
        Some(capability) => format!("needs {capability}"),
        None if !std::path::Path::new("/dev/net/tun").exists() => "needs /dev/net/tun".into(),
        None => return true,
    };
    testing::skip(test, &why);
    false
}

fn frame(number: u8) -> Vec<u8> {
    let mut frame = vec![0x02, 0, 0, 0, 0, 9, 0x02, 0, 0, 0, 0, 8, 0x88, 0xb5];
    frame.resize(60, number);
    frame
}

#[test]
fn what_was_left_is_opened_for_a_hypervisor_and_has_an_address_of_its_own() {
    if !can_run("what_was_left_is_opened_for_a_hypervisor_and_has_an_address_of_its_own") {
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    let work = || {
        Tap::create("tap0").and_then(Tap::leave).expect("left");
        let file = Tap::for_hypervisor("tap0").expect("opened");
        let taken = Tap::for_hypervisor("tap0").expect_err("somebody has it");
        assert!(taken.to_string().starts_with("tap0: "), "{taken}");
        drop(file);
        drop(Tap::for_hypervisor("tap0").expect("opened again"));
        let address = std::net::Ipv4Addr::new(198, 18, 0, 1);
        link::add_address("tap0", address, 24).expect("given");
        assert!(link::add_address("tap0", address, 24).is_err(), "it has it already");
        let missing = link::add_address("tap9", address, 24).expect_err("none");
        assert!(missing.to_string().contains("tap9: no such interface"), "{missing}");
        let routes = std::fs::read_to_string("/proc/thread-self/net/fib_trie").expect("addresses");
        assert!(routes.contains("198.18.0.1"), "{routes}");
    };
    namespace.run(work).expect("a thread in the namespace");
}

#[test]
fn frames_pass_both_ways() {
    if !can_run("frames_pass_both_ways") {
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    let options = PortOptions {
        ethertypes: vec![0x88b5],
        promiscuous: true,
        ..PortOptions::default()
    };
    let (tap, mut port) = namespace
        .run(|| {
            let tap = Tap::create("tap0").expect("a tap device");
            link::set_up("tap0").expect("it comes up");
            (tap, PacketPort::open("tap0", &options).expect("a port"))
        })
        .expect("a thread in the namespace");
    assert_eq!(tap.name(), "tap0");
    let mut buffer = [0; 2_000];
    assert_eq!(tap.read(&mut buffer).expect("reads"), None);
    assert!(!wait_readable(&[&tap], Some(Duration::from_millis(1))).expect("waits"));
    for number in 0..100 {
        port.send(&frame(number)).expect("sent");
        assert!(wait_readable(&[&tap], Some(Duration::from_secs(10))).expect("waits"));
        let length = tap.read(&mut buffer).expect("reads").expect("a frame");
        assert_eq!(buffer[..length], frame(number));
        assert!(tap.write(&frame(number + 1)).expect("writes"));
        port.wait(10_000_000_000).expect("waits");
        assert_eq!(port.next().expect("a frame").data(), frame(number + 1));
    }
}

#[test]
fn one_that_is_down_takes_nothing_and_one_that_is_dropped_is_gone() {
    if !can_run("one_that_is_down_takes_nothing_and_one_that_is_dropped_is_gone") {
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    namespace
        .run(|| {
            let tap = Tap::create("tap0").expect("a tap device");
            assert!(!tap.write(&frame(1)).expect("writes"));
            assert_eq!(tap.read(&mut [0; 100]).expect("reads"), None);
            let taken = Tap::create("tap0").expect_err("the name is taken");
            assert!(taken.to_string().contains("exists already"), "{taken}");
            assert!(link::find("tap0").is_ok());
            drop(tap);
            assert!(link::find("tap0").is_err());
        })
        .expect("a thread in the namespace");
}
