//! Namespaces, veth pairs and bridges.

mod common;

use common::{NETWORK, Pair, can_run, frame, frame_with, inside, number, receive, wait_for_carrier};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use sys::link::Below;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::{ErrorKind, link};

fn names(namespace: &NetNs) -> Vec<String> {
    inside(namespace, || {
        Ok(link::list()?.into_iter().map(|link| link.name).collect())
    })
}

fn wait_until_gone(namespace: &NetNs, name: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    while names(namespace).iter().any(|other| other == name) {
        assert!(Instant::now() < until, "{name} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_new_namespace_has_nothing_but_loopback_without_ipv6() {
    if !can_run("a_new_namespace_has_nothing_but_loopback_without_ipv6", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let empty = NetNs::create().expect("a namespace");
    let lo = inside(&empty, || link::find("lo"));
    assert_eq!(names(&empty), ["lo"]);
    assert!(lo.up && lo.carrier);
    // IPv6 addresses, one per line; the interfaces of the pair are up and would have some.
    let addresses = inside(&pair.a, || {
        Ok(std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default())
    });
    assert_eq!(addresses, "");
    let own = NetNs::current().expect("own namespace");
    assert_eq!(names(&own), names(&own));
    assert!(
        std::fs::read_link(empty.path())
            .expect("a path others can open")
            .to_string_lossy()
            .starts_with("net:[")
    );
    assert_ne!(
        std::fs::read_link(empty.path()).ok(),
        std::fs::read_link(own.path()).ok()
    );
}

#[test]
fn work_in_a_namespace_leaves_the_callers_thread_where_it_was() {
    if !can_run("work_in_a_namespace_leaves_the_callers_thread_where_it_was", NETWORK) {
        return;
    }
    let here = || std::fs::read_link("/proc/thread-self/ns/net").expect("own namespace");
    let before = here();
    let namespace = NetNs::create().expect("a namespace");
    assert_eq!(here(), before, "create");
    assert_ne!(namespace.run(here).expect("a thread"), before);
    assert_eq!(here(), before, "run");
    let panicked = std::panic::catch_unwind(|| namespace.run(|| panic!("inside")));
    assert_eq!(
        panicked.expect_err("the panic goes on").downcast_ref::<&str>(),
        Some(&"inside")
    );
}

#[test]
fn a_dropped_namespace_takes_its_interfaces_along() {
    if !can_run("a_dropped_namespace_takes_its_interfaces_along", NETWORK) {
        return;
    }
    let Pair { a, b } = Pair::build(1500);
    assert!(names(&a).contains(&"a0".to_owned()));
    drop(b);
    wait_until_gone(&a, "a0");
}

/// Set for the process that [`a_killed_process_leaves_no_namespace_behind`] starts from its own program.
const CHILD: &str = "TRIPTIME_TEST_CHILD";

#[test]
fn a_killed_process_leaves_no_namespace_behind() {
    const NAME: &str = "a_killed_process_leaves_no_namespace_behind";
    if !can_run(NAME, NETWORK) {
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        let held = NetNs::create().expect("a namespace");
        link::add_veth("k0", "k1", &held).expect("a veth pair");
        // On standard error: standard output belongs to the test harness.
        std::io::Write::write_all(&mut std::io::stderr(), b"ready\n").expect("the parent reads");
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    let start = || {
        let program = std::env::current_exe().expect("own program");
        let mut command = Command::new(program);
        command
            .args(["--exact", NAME, "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Ok(command.spawn().expect("a second process"))
    };
    let mut child = inside(&namespace, start);
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    assert!(
        lines.map_while(Result::ok).any(|line| line == "ready"),
        "the second process did not get ready"
    );
    assert!(names(&namespace).contains(&"k0".to_owned()));
    child.kill().expect("SIGKILL");
    child.wait().expect("its end");
    wait_until_gone(&namespace, "k0");
}

#[test]
fn links_show_what_was_set() {
    if !can_run("links_show_what_was_set", NETWORK) {
        return;
    }
    let pair = Pair::build(9000);
    inside(&pair.a, || {
        link::add_bridge("br0")?;
        link::set_master("a0", "br0")?;
        link::set_mac("br0", [2, 0xaa, 0, 0, 0, 1])?;
        let (port, bridge) = (link::find("a0")?, link::find("br0")?);
        assert_eq!(
            (port.kind.as_deref(), port.master, port.mtu),
            (Some("veth"), Some(bridge.index), 9000)
        );
        assert_eq!(
            (port.mac, port.up, port.carrier, port.operstate),
            (link::local_mac("a0"), true, true, "up")
        );
        assert_eq!(
            (bridge.kind.as_deref(), bridge.master, bridge.up),
            (Some("bridge"), None, false)
        );
        assert_eq!(bridge.mac, [2, 0xaa, 0, 0, 0, 1]);
        link::set_down("a0")?;
        let port = link::find("a0")?;
        assert_eq!((port.up, port.carrier), (false, false));
        link::delete("a0")
    });
    wait_until_gone(&pair.b, "b0");
}

#[test]
fn a_macvlan_stands_on_an_interface_of_another_namespace_and_forwards_both_ways() {
    if !can_run(
        "a_macvlan_stands_on_an_interface_of_another_namespace_and_forwards_both_ways",
        NETWORK,
    ) {
        return;
    }
    let pair = Pair::build(1500);
    let device = NetNs::create().expect("a namespace");
    inside(&pair.b, || link::add_macvlan("m0", "b0", &device));
    inside(&device, || link::set_up("m0"));
    wait_for_carrier(&device, "m0");
    let upper = inside(&device, || link::find("m0"));
    let lower = inside(&pair.b, || link::find("b0")).index;
    let id = inside(&device, || link::namespace_id(&pair.b));
    let below = Below::Elsewhere {
        index: lower,
        namespace: id.expect("a macvlan joins them"),
    };
    assert_eq!(
        (upper.kind.as_deref(), upper.below, upper.mac),
        (Some("macvlan"), below, link::local_mac("m0"))
    );
    let mut near = pair.port_a(&PortOptions::default());
    let mut far = inside(&device, || PacketPort::open("m0", &PortOptions::default()));
    let mut there = frame(1, 60);
    there[..6].copy_from_slice(&upper.mac);
    near.send(&there).expect("sent");
    receive(&mut far, |got| assert_eq!(number(got.data()), 1));
    far.send(&frame(2, 60)).expect("sent");
    receive(&mut near, |got| assert_eq!(number(got.data()), 2));
    let missing = pair.b.run(|| link::add_macvlan("m1", "x0", &device));
    let missing = missing.expect("a thread").expect_err("no lower interface");
    assert_eq!(missing.to_string(), "x0: no such interface (have: lo, b0)");
}

/// /sys shows the namespace of the thread that mounted it, so the settings of the bridge are read with `ip`.
#[test]
fn a_bridge_is_a_plain_switch() {
    const NAME: &str = "a_bridge_is_a_plain_switch";
    if !can_run(NAME, NETWORK) {
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    inside(&namespace, || link::add_bridge("br0"));
    let ask = || Ok(Command::new("ip").args(["-details", "link", "show", "br0"]).output());
    let Ok(answer) = inside(&namespace, ask) else {
        testing::skip(NAME, "needs ip of iproute2");
        return;
    };
    let answer = String::from_utf8_lossy(&answer.stdout);
    for setting in ["forward_delay 0 ", "stp_state 0 ", "mcast_snooping 0 "] {
        assert!(answer.contains(setting), "{setting}: {answer}");
    }
}

#[test]
fn refusals_name_the_operation_the_interface_and_the_reason() {
    if !can_run("refusals_name_the_operation_the_interface_and_the_reason", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let refused = |work: fn(&NetNs) -> Result<(), sys::SysError>| {
        pair.a.run(|| work(&pair.b)).expect("a thread").expect_err("refused")
    };
    let taken = refused(|other| link::add_veth("a0", "b1", other));
    assert_eq!(taken.to_string(), "create veth a0: File exists (os error 17)");
    let taken = refused(|other| link::add_veth("a1", "b0", other));
    assert_eq!(taken.to_string(), "create veth a1: File exists (os error 17)");
    let unsound = refused(|_| link::add_bridge("a name too long by far"));
    assert_eq!(unsound.kind(), ErrorKind::Usage);
    for missing in [
        refused(|_| link::set_up("x0")),
        refused(|_| link::delete("x0")),
        refused(|_| link::set_master("a0", "x0")),
        refused(|_| link::set_mtu("x0", 1500)),
    ] {
        assert_eq!(missing.to_string(), "x0: no such interface (have: lo, a0)");
    }
    let range = refused(|_| link::set_mtu("a0", 10));
    assert!(range.to_string().starts_with("set the MTU of a0: "), "{range}");
}

/// Three ends on one switch, named as in [`Switch::port`].
struct Switch {
    middle: NetNs,
    ends: Vec<NetNs>,
}

impl Switch {
    fn build() -> Self {
        let middle = NetNs::create().expect("a namespace");
        let ends: Vec<NetNs> = (0..3).map(|_| NetNs::create().expect("a namespace")).collect();
        inside(&middle, || link::add_bridge("br0").and_then(|()| link::set_up("br0")));
        for (index, end) in ends.iter().enumerate() {
            let (inner, outer) = (format!("p{index}"), format!("e{index}"));
            inside(&middle, || {
                link::add_veth(&inner, &outer, end)?;
                link::set_master(&inner, "br0")?;
                link::set_up(&inner)
            });
            inside(end, || link::set_up(&outer));
            wait_for_carrier(end, &outer);
            wait_for_carrier(&middle, &inner);
        }
        Self { middle, ends }
    }

    fn port(&self, index: usize) -> PacketPort {
        let options = PortOptions {
            ring_frames: 64,
            ..PortOptions::default()
        };
        inside(&self.ends[index], || PacketPort::open(&format!("e{index}"), &options))
    }
}

#[test]
fn a_bridge_of_three_ports_forwards_at_once() {
    if !can_run("a_bridge_of_three_ports_forwards_at_once", NETWORK) {
        return;
    }
    let switch = Switch::build();
    wait_for_carrier(&switch.middle, "br0");
    let mut ports: Vec<PacketPort> = (0..3).map(|index| switch.port(index)).collect();
    ports[0].send(&frame(1, 60)).expect("sent");
    for port in &mut ports[1..] {
        receive(port, |got| assert_eq!(number(got.data()), 1));
    }
    // A multicast group that nobody joined, with a tag: flooded together with its tag.
    let mut sampled_values = frame_with(&[(0x8100, 0x8005)], common::ETHERTYPE, 2, 64);
    sampled_values[..6].copy_from_slice(&[0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]);
    ports[1].send(&sampled_values).expect("sent");
    for index in [0, 2] {
        receive(&mut ports[index], |got| {
            assert_eq!((number(got.data()), got.vlan().map(|tag| tag.tci)), (2, Some(0x8005)));
        });
    }
    // Only to the station learned at port 0: its source address came in there with the first frame.
    let mut unicast = frame(3, 60);
    unicast[..12].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9]);
    let mut teach = frame(0, 60);
    teach[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    ports[0].send(&teach).expect("sent");
    for port in &mut ports[1..] {
        receive(port, |got| assert_eq!(number(got.data()), 0));
    }
    ports[2].send(&unicast).expect("sent");
    receive(&mut ports[0], |got| assert_eq!(number(got.data()), 3));
    assert!(
        ports.iter_mut().all(|port| port.next().is_none()),
        "a frame more than was sent"
    );
}

#[test]
fn beds_with_the_same_names_do_not_disturb_each_other() {
    if !can_run("beds_with_the_same_names_do_not_disturb_each_other", NETWORK) {
        return;
    }
    let run = |mark: u32| {
        let pair = Pair::build(1500);
        let options = PortOptions {
            ring_frames: 64,
            ..PortOptions::default()
        };
        let (a, mut b) = (pair.port_a(&options), pair.port_b(&options));
        for round in 0..200 {
            a.send(&frame(mark + round, 60)).expect("sent");
            receive(&mut b, |got| assert_eq!(number(got.data()), mark + round));
        }
        let counted = b.statistics().expect("counters");
        assert_eq!((counted.received, counted.dropped), (200, 0), "frames of another bed");
    };
    std::thread::scope(|scope| {
        for bed in 0..4 {
            scope.spawn(move || run(bed * 1_000));
        }
    });
}
