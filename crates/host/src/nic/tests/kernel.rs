//! Interfaces of this machine, and some made in namespaces.

use super::value;
use crate::nic::{Measurement, doubts, facts, facts_of};
use model::{Fact, NOT_APPLICABLE};
use std::process::Command;
use sys::link;
use sys::netns::NetNs;
use sys::privilege::{Capability, has};

#[test]
fn an_interface_that_is_not_there_is_a_fact_without_a_value_and_a_doubt() {
    let facts = facts("eth99");
    assert_eq!((facts.len(), facts[0].group.as_str()), (1, "nic eth99"));
    assert!(
        facts[0]
            .value
            .as_ref()
            .is_err_and(|why| why.starts_with("eth99: no such interface (have: "))
    );
    let found = doubts("eth99", &Measurement::default());
    assert!(
        found[0].starts_with("eth99 cannot be examined: eth99: no such interface"),
        "{found:?}"
    );
}

#[test]
fn loopback_is_software_and_its_files_are_read() {
    let facts = facts("lo");
    assert_eq!(value(&facts, "kind"), Ok("loopback".to_owned()));
    assert!(value(&facts, "eee").is_ok_and(|value| value.starts_with(NOT_APPLICABLE)));
    assert_eq!(value(&facts, "hardware stamps"), Ok("none".to_owned()));
    assert_eq!(value(&facts, "MTU"), Ok("65536".to_owned()));
    let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "each name once: {names:?}");
}

/// Two namespaces joined by a veth; one of its ends is in a bridge, together with a tap.
fn bed(test: &str) -> Option<(NetNs, NetNs)> {
    if !has(Capability::SysAdmin) || !has(Capability::NetAdmin) {
        testing::skip(test, "needs CAP_SYS_ADMIN and CAP_NET_ADMIN");
        return None;
    }
    let (here, there) = (
        NetNs::create().expect("a namespace"),
        NetNs::create().expect("a namespace"),
    );
    here.run(|| {
        link::add_veth("a0", "b0", &there).expect("a veth");
        link::set_up("a0").expect("up");
    })
    .expect("a thread");
    Some((here, there))
}

fn ip(words: &str) -> bool {
    Command::new("ip")
        .args(words.split(' '))
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn a_veth_in_a_namespace_comes_with_its_own_files() {
    let Some((here, there)) = bed("a_veth_in_a_namespace_comes_with_its_own_files") else {
        return;
    };
    let (before, found) = here
        .run(|| (facts("a0"), doubts("a0", &Measurement::default())))
        .expect("a thread");
    assert_eq!(value(&before, "carrier"), Ok("no".to_owned()));
    assert!(
        found
            .iter()
            .any(|doubt| doubt == "a0 has no carrier: no frame leaves it"),
        "{found:?}"
    );
    there.run(|| link::set_up("b0").expect("up")).expect("a thread");
    let now = here.run(|| facts("a0")).expect("a thread");
    assert_eq!(value(&now, "driver"), Ok("veth".to_owned()));
    assert_eq!(value(&now, "queueing discipline"), Ok("noqueue".to_owned()));
    assert_eq!(
        value(&now, "MTU"),
        Ok("1500".to_owned()),
        "from the /sys of its namespace"
    );
    assert_eq!(value(&now, "master"), Ok("none".to_owned()));
    assert_eq!(value(&now, "interrupts"), Ok("none".to_owned()));
    for name in ["eee", "rx-usecs", "tx-frames", "adaptive-rx", "speed"] {
        assert!(
            value(&now, name).is_ok_and(|value| value.starts_with(NOT_APPLICABLE)),
            "{name}"
        );
    }
    assert!(
        !std::path::Path::new("/sys/class/net/a0").exists(),
        "our own /sys is as it was"
    );
}

#[test]
fn what_is_made_on_others_comes_with_those() {
    let Some((here, there)) = bed("what_is_made_on_others_comes_with_those") else {
        return;
    };
    let groups = |facts: &[Fact]| {
        let mut groups: Vec<String> = facts.iter().map(|fact| fact.group.clone()).collect();
        groups.dedup();
        groups
    };
    here.run(|| {
        assert!(ip("link add m0 link a0 type macvlan mode bridge"), "a macvlan");
        let on_one = facts("m0");
        assert_eq!(groups(&on_one), ["nic m0", "nic a0"]);
        assert_eq!(value(&on_one, "kind"), Ok("macvlan on a0".to_owned()));
        assert!(value(&on_one, "eee").is_ok_and(|value| value.ends_with("see a0")));
        let both = facts_of(&["a0".to_owned(), "m0".to_owned()]);
        assert_eq!(groups(&both), ["nic a0", "nic m0"], "each once");
        assert!(ip("tuntap add t0 mode tap"), "a tap");
        link::add_bridge("br0").expect("a bridge");
        link::set_master("t0", "br0").expect("a port");
        let bridge = facts("br0");
        assert_eq!(groups(&bridge), ["nic br0", "nic t0"]);
        assert_eq!(value(&bridge, "kind"), Ok("bridge on t0".to_owned()));
        let port: Vec<Fact> = bridge.into_iter().filter(|fact| fact.group == "nic t0").collect();
        assert_eq!(value(&port, "kind"), Ok("tun".to_owned()));
        assert_eq!(value(&port, "master"), Ok("br0".to_owned()));
        assert!(value(&port, "eee").is_ok_and(|value| value.starts_with(NOT_APPLICABLE)));
        let path = there.path();
        assert!(
            ip(&format!("link set m0 netns {}", path.display())),
            "the macvlan moves out"
        );
    })
    .expect("a thread");
    let away = there.run(|| facts("m0")).expect("a thread");
    assert_eq!(groups(&away), ["nic m0"]);
    assert!(value(&away, "kind").is_ok_and(|kind| kind.ends_with("in another network namespace")));
    assert!(
        value(&away, "eee").is_err(),
        "what the card below does is not known from here"
    );
}

#[test]
fn launch_times_take_a_discipline_that_knows_them() {
    let Some((here, _there)) = bed("launch_times_take_a_discipline_that_knows_them") else {
        return;
    };
    let asked = |launch_times| Measurement {
        launch_times,
        ..Measurement::default()
    };
    let has_doubt = |launch_times| {
        let found = here.run(|| doubts("a0", &asked(launch_times))).expect("a thread");
        found.iter().any(|doubt| doubt.contains("launch times are not kept"))
    };
    assert_eq!((has_doubt(true), has_doubt(false)), (true, false));
}

#[test]
fn offloads_are_for_information() {
    let Some((here, _there)) = bed("offloads_are_for_information") else {
        return;
    };
    let found = here.run(|| doubts("a0", &Measurement::default())).expect("a thread");
    let about = found
        .iter()
        .find(|doubt| doubt.contains("TSO"))
        .expect("a veth has TSO on");
    assert!(about.starts_with("for information: a0 has "), "{about}");
}

#[test]
fn every_device_of_this_machine_has_its_interrupts_and_a_driver() {
    let devices = link::list()
        .expect("interfaces")
        .into_iter()
        .filter(|one| one.kind.is_none() && one.name != "lo");
    for device in devices {
        let facts = facts(&device.name);
        assert!(value(&facts, "driver").is_ok(), "{}", device.name);
        let all_cpus = Measurement {
            cpus: sys::thread::allowed_cpus(),
            ..Measurement::default()
        };
        let served = doubts(&device.name, &all_cpus)
            .iter()
            .filter(|doubt| doubt.contains("is measured"))
            .count();
        let known = facts.iter().filter(|fact| {
            fact.name.starts_with("interrupt ")
                && !fact.name.ends_with(" so far")
                && fact.value.as_ref().is_ok_and(|value| !value.contains("unknown"))
        });
        assert!(served <= known.count(), "{}", device.name);
    }
}
