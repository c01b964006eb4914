//! Every network of the bed: frames pass both ways, and nothing is left when it is gone.

use bed::{Bed, BedError, Card, End, Network, device_end, device_if};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use sys::SysError;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::Capability;

const ETHERTYPE: u16 = 0x88b5;

/// Leftovers are counted in the whole process, so one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn can_run(test: &str) -> bool {
    let needs = [Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw];
    let can = needs.iter().all(|need| sys::privilege::has(*need));
    if !can {
        testing::skip(test, "needs root");
    }
    can
}

fn open(bed: &Bed, end: End) -> PacketPort {
    let options = PortOptions {
        ethertypes: vec![ETHERTYPE],
        ..PortOptions::default()
    };
    bed.port(end, &options).expect("a port")
}

fn frame(to: [u8; 6], from: [u8; 6], number: u8) -> Vec<u8> {
    let mut frame = [to, from].concat();
    frame.extend(ETHERTYPE.to_be_bytes());
    frame.resize(60, number);
    frame
}

/// Waits up to five seconds, because the first frame through Open vSwitch takes its slow path.
fn receive(port: &mut PacketPort, network: &str) -> Vec<u8> {
    assert!(port.wait(5_000_000_000).expect("poll"), "{network}: no frame came");
    port.next().expect("poll said there is a frame").data().to_vec()
}

/// Threads of this process that forward frames, child processes, and directories of Open vSwitch.
fn left_behind() -> BTreeSet<String> {
    let own = std::process::id().to_string();
    let threads = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
    let threads = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    let threads = threads.filter(|name| name.starts_with("triptime-"));
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let children = processes.filter_map(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let (head, rest) = stat.rsplit_once(')')?;
        let parent = rest.split_whitespace().nth(1)?;
        (parent == own).then(|| head.to_owned())
    });
    let directories = std::fs::read_dir(std::env::temp_dir()).expect("temp").flatten();
    let directories = directories.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let directories = directories.filter(|name| name.starts_with(&format!("triptime-ovs-{own}-")));
    threads.chain(children).chain(directories).collect()
}

/// A joined thread stays in /proc for a moment.
fn wait_until_nothing_is_left(after: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    while !left_behind().is_empty() {
        assert!(Instant::now() < until, "{after}: {:?}", left_behind());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Open network namespaces of this process, by their descriptors.
fn namespaces() -> usize {
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
    let targets = descriptors.filter_map(|fd| std::fs::read_link(fd.path()).ok());
    targets
        .filter(|target| target.to_string_lossy().starts_with("net:["))
        .count()
}

#[test]
fn frames_pass_both_ways_over_every_network_of_the_kernel_and_nothing_is_left() {
    if can_run("frames_pass_both_ways_over_every_network_of_the_kernel_and_nothing_is_left") {
        for network in Network::ALL {
            if network != Network::OpenVswitch {
                comes_and_goes(network).expect("a bed");
            }
        }
    }
}

#[test]
fn frames_pass_both_ways_over_open_vswitch_and_nothing_is_left() {
    const NAME: &str = "frames_pass_both_ways_over_open_vswitch_and_nothing_is_left";
    if !can_run(NAME) {
        return;
    }
    match comes_and_goes(Network::OpenVswitch) {
        Ok(()) => {
            let _alone = alone();
            reaches_all(&Bed::over(Network::OpenVswitch, 2).expect("a bed"), 2);
        }
        Err(BedError::NotAvailable(why)) if why.ends_with("is not installed") => testing::skip(NAME, &why),
        Err(error) => panic!("{error}"),
    }
}

/// Builds a bed, uses it, drops it.
fn comes_and_goes(network: Network) -> Result<(), BedError> {
    let _alone = alone();
    let interfaces = || {
        let links = sys::link::list().expect("links");
        links.into_iter().map(|link| link.name).collect::<Vec<_>>()
    };
    let before = (interfaces(), namespaces());
    wait_until_nothing_is_left("before");
    let bed = Bed::over(network, 1)?;
    both_ways(&bed, network);
    has_points(&bed, network);
    drop(bed);
    assert_eq!((interfaces(), namespaces()), before, "{}", network.name());
    wait_until_nothing_is_left(network.name());
    Ok(())
}

fn both_ways(bed: &Bed, network: Network) {
    assert_eq!(bed.name(), network.name());
    let (near, far) = (
        bed.mac(End::TestSet).expect("a MAC"),
        bed.mac(End::Device).expect("a MAC"),
    );
    assert_ne!(near, far, "{}", network.name());
    let (mut test_set, mut device) = (open(bed, End::TestSet), open(bed, End::Device));
    for number in 1..=50 {
        let (there, back) = (frame(far, near, number), frame(near, far, number + 100));
        test_set.send(&there).expect("sent");
        assert_eq!(receive(&mut device, network.name()), there);
        device.send(&back).expect("sent");
        assert_eq!(receive(&mut test_set, network.name()), back);
    }
    // A multicast group of sampled values without members: flooded, or at least passed up by the port bound to it.
    let group = frame([0x01, 0x0c, 0xcd, 0x04, 0, 1], far, 99);
    device.send(&group).expect("sent");
    assert_eq!(receive(&mut test_set, network.name()), group);
}

/// The points at which a frame to the device can be traced.
fn has_points(bed: &Bed, network: Network) {
    let path = bed.frame_path().expect("a path");
    let names: Vec<&str> = path.points.iter().map(|point| point.name.as_str()).collect();
    let wanted = match network {
        Network::Veth => "nic app",
        Network::Bridge => "nic port edge app",
        Network::Macvlan => "nic edge app",
        Network::Tap => "nic switch edge app",
        Network::OpenVswitch => "nic switch port edge app",
    };
    assert_eq!(names.join(" "), wanted, "{}", path.tree);
    assert!(path.tree.contains("dut0: "), "{}", path.tree);
    let chain: Vec<usize> = path.points.iter().map(|point| point.parent).collect();
    let before = |number: usize| number.saturating_sub(1);
    assert_eq!(
        chain,
        (0..chain.len()).map(before).collect::<Vec<_>>(),
        "one behind the other"
    );
    let hops = path.all_hops();
    assert!(hops.contains(&"nic-to-app".to_owned()), "{hops:?}");
    assert_eq!(hops.len(), 2 * (chain.len() - 1) - 1, "{hops:?}");
}

/// Checks that a frame to the group of sampled values reaches each device, and that each device's frames reach the test set.
fn reaches_all(bed: &Bed, devices: usize) {
    let options = PortOptions {
        ethertypes: vec![ETHERTYPE],
        promiscuous: true,
        ..PortOptions::default()
    };
    let port = |number| bed.port_of_device(number, &options).expect("a port");
    let mut ports: Vec<PacketPort> = (0..devices).map(port).collect();
    let mut test_set = open(bed, End::TestSet);
    let macs: BTreeSet<[u8; 6]> = ports.iter().map(PacketPort::mac).collect();
    assert_eq!(macs.len(), devices, "each has an address of its own");
    let group = frame([0x01, 0x0c, 0xcd, 0x04, 0, 1], bed.mac(End::TestSet).expect("a MAC"), 9);
    test_set.send(&group).expect("sent");
    for port in &mut ports {
        assert_eq!(receive(port, bed.name()), group);
    }
    for port in &mut ports {
        let answer = frame(bed.mac(End::TestSet).expect("a MAC"), port.mac(), 7);
        port.send(&answer).expect("sent");
        assert_eq!(receive(&mut test_set, bed.name()), answer);
    }
    let refused = bed.port_of_device(devices, &options).expect_err("no such device");
    assert!(refused.to_string().contains("no number"), "{refused}");
}

/// Two ports of the namespace of the calling thread, joined and up.
fn add_pair() -> Result<(), SysError> {
    sys::link::add_veth("a0", "b0", &sys::netns::NetNs::current()?)?;
    ["a0", "b0"].into_iter().try_for_each(sys::link::set_up)
}

fn until_carrier() -> Result<(), SysError> {
    let until = Instant::now() + Duration::from_secs(5);
    while !(sys::link::find("a0")?.carrier && sys::link::find("b0")?.carrier) {
        assert!(Instant::now() < until, "no carrier");
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

#[test]
fn several_devices_side_by_side_get_the_same_frames() {
    if !can_run("several_devices_side_by_side_get_the_same_frames") {
        return;
    }
    let _alone = alone();
    let before = namespaces();
    for network in [Network::Bridge, Network::Macvlan] {
        for devices in [2, 3] {
            reaches_all(&Bed::over(network, devices).expect("a bed"), devices);
        }
    }
    let refused = Bed::over(Network::Veth, 2).expect_err("it has two ends").to_string();
    assert!(
        refused.starts_with("a veth bed has one device under test, not 2"),
        "{refused}"
    );
    assert_eq!(namespaces(), before);
}

#[test]
fn several_devices_stand_on_one_port_of_this_machine_and_leave_it_as_it_was() {
    if !can_run("several_devices_stand_on_one_port_of_this_machine_and_leave_it_as_it_was") {
        return;
    }
    let _alone = alone();
    let namespace = sys::netns::NetNs::create().expect("a namespace");
    let outcome = namespace.run(|| {
        add_pair()?;
        until_carrier()?;
        let before = sys::link::list()?;
        let bed = Bed::of_ports("a0", "b0", 2)?;
        reaches_all(&bed, 2);
        assert!(
            bed.describe()
                .ends_with("2 side by side, each a macvlan in bridge mode on that port")
        );
        drop(bed);
        // The kernel takes the namespaces down in its own time, and their interfaces with them.
        let until = Instant::now() + Duration::from_secs(5);
        while sys::link::list()? != before {
            assert!(Instant::now() < until, "{:?}, not {before:?}", sys::link::list()?);
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok::<_, SysError>(())
    });
    outcome.expect("a thread").expect("done");
}

#[test]
fn ports_of_this_machine_are_used_as_they_are_and_named_when_they_cannot_be() {
    if !can_run("ports_of_this_machine_are_used_as_they_are_and_named_when_they_cannot_be") {
        return;
    }
    let _alone = alone();
    let namespace = sys::netns::NetNs::create().expect("a namespace");
    let outcome = namespace.run(|| {
        sys::link::add_veth("a0", "b0", &sys::netns::NetNs::current()?)?;
        sys::link::set_up("a0")?;
        let down = Bed::of_ports("a0", "b0", 1).expect_err("b0 is down").to_string();
        sys::link::set_up("b0")?;
        until_carrier()?;
        let before = sys::link::list()?;
        let bed = Bed::of_ports("a0", "b0", 1)?;
        assert_eq!(bed.name(), "veth interface");
        let (mut near, mut far) = (open(&bed, End::TestSet), open(&bed, End::Device));
        let there = frame(bed.mac(End::Device)?, bed.mac(End::TestSet)?, 1);
        near.send(&there)?;
        assert_eq!(receive(&mut far, "veth"), there);
        far.send(&frame(bed.mac(End::TestSet)?, bed.mac(End::Device)?, 2))?;
        assert_eq!(receive(&mut near, "veth")[59], 2);
        drop((near, far, bed));
        assert_eq!(sys::link::list()?, before, "neither moved nor changed");
        let refused = |a: &str, b: &str| Bed::of_ports(a, b, 1).expect_err("refused").to_string();
        Ok::<_, SysError>([down, refused("a0", "x0"), refused("a0", "a0")])
    });
    let [down, missing, twice] = outcome.expect("a thread").expect("done");
    assert_eq!(down, "b0 is down: bring it up with `ip link set b0 up`");
    assert!(missing.starts_with("x0: no such interface (have: "), "{missing}");
    assert!(twice.starts_with("a0 cannot be both ends"), "{twice}");
}

#[test]
fn a_bed_for_guests_has_what_their_cards_are_joined_to() {
    let test = "a_bed_for_guests_has_what_their_cards_are_joined_to";
    if !can_run(test) {
        return;
    }
    let _alone = alone();
    for (network, guests, card, kind) in [
        (Network::Bridge, 2, Card::Tap, "tun"),
        (Network::Macvlan, 2, Card::Macvtap, "macvtap"),
        (Network::Tap, 1, Card::Tap, "tun"),
    ] {
        let bed = Bed::for_guests(network, guests).expect("a bed");
        let mut addresses = vec![bed.mac(End::TestSet).expect("the test set's")];
        for number in 0..guests {
            let end = bed.device(number).expect("an end");
            let namespace = end.namespace.expect("one of the bed's");
            let link = namespace
                .run(|| sys::link::find(end.interface).expect("it"))
                .expect("entered");
            assert_eq!(
                (end.card, link.kind.as_deref(), link.up),
                (Some(card), Some(kind), true)
            );
            assert_eq!(link.master.is_some(), network == Network::Bridge);
            // Frames to another address than its own never come out of a macvtap.
            assert_eq!(link.mac == end.mac, card == Card::Macvtap, "{link:?}");
            addresses.push(end.mac);
        }
        let all = addresses.len();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), all, "each has an address of its own");
    }
    let error = Bed::for_guests(Network::Veth, 1).expect_err("no such bed");
    assert!(error.to_string().contains("use tap"), "{error}");
    let error = Bed::for_guests(Network::Tap, 2).expect_err("one takes it");
    assert!(
        error.to_string().contains("use a bridge, a macvlan or Open vSwitch"),
        "{error}"
    );
}

/// Frames as a hypervisor reads them from a macvtap: after the header of a virtual card, which is unused here.
#[test]
fn a_macvtap_hands_on_groups_and_tags_and_goes_with_its_bed() {
    let test = "a_macvtap_hands_on_groups_and_tags_and_goes_with_its_bed";
    if !can_run(test) {
        return;
    }
    const HEADER: usize = 10;
    let _alone = alone();
    let namespace = sys::netns::NetNs::create().expect("a namespace");
    let outcome = namespace.run(|| {
        add_pair()?;
        let bed = Bed::of_ports_for_guests("a0", "b0", 1)?;
        let end = bed.device(0)?;
        let name = end.interface.to_owned();
        let inside = end.namespace.expect("one of the bed's");
        let mut device = inside.run(|| sys::link::open_macvtap(&name))??;
        let index = inside.run(|| sys::link::find(&name))??.index;
        let mut test_set = open(&bed, End::TestSet);
        let own = bed.mac(End::TestSet)?;
        // A group of sampled values, tagged with VLAN 5 and priority 4.
        let mut tagged = frame([1, 0x0c, 0xcd, 4, 0, 1], own, 7);
        tagged.splice(12..12, [0x81, 0, 0x80, 5]);
        test_set.send(&tagged)?;
        let mut octets = [0; 256];
        let length = device.read(&mut octets).expect("a frame");
        assert_eq!(&octets[HEADER..length], &tagged[..]);
        let mut answer = vec![0; HEADER];
        answer.extend_from_slice(&frame(own, end.mac, 9));
        device.write_all(&answer).expect("taken");
        assert_eq!(receive(&mut test_set, "macvtap"), answer[HEADER..]);
        drop((test_set, bed));
        // The open device keeps the namespace; the kernel removes it some time later.
        drop(device);
        let until = Instant::now() + Duration::from_secs(5);
        while std::fs::exists(format!("/dev/tap{index}")).expect("looked") {
            assert!(Instant::now() < until, "the macvtap stays");
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok::<_, SysError>(())
    });
    outcome.expect("a thread").expect("done");
}

/// A frame of one LAN is at the far node's port in this LAN, and nowhere else.
#[test]
fn two_lans_share_their_nodes_and_no_frame() {
    if !can_run("two_lans_share_their_nodes_and_no_frame") {
        return;
    }
    let _alone = alone();
    let before = namespaces();
    for (network, devices) in [(Network::Bridge, 2), (Network::Veth, 1)] {
        let bed = Bed::over_two_lans(network, devices).expect("a bed");
        assert!(bed.has_two_lans());
        let all = bed.namespaces();
        let open = |name: &str, interface: &str| {
            let (_, namespace) = all.iter().find(|(found, _)| found == name).expect("a namespace");
            let options = PortOptions {
                ethertypes: vec![ETHERTYPE],
                ..PortOptions::default()
            };
            let port = namespace.run(|| PacketPort::open(interface, &options));
            port.expect("a thread in it").expect("a port")
        };
        let last = device_if(devices - 1);
        let [mut a, mut b] = ["", "-b"].map(|lan| open(&device_end(devices - 1), &format!("{last}{lan}")));
        for (lan, number) in [("", 7), ("-b", 9)] {
            let sender = open("ts", &format!("ts0{lan}"));
            sender.send(&frame([0xff; 6], sender.mac(), number)).expect("sent");
        }
        assert_eq!(receive(&mut a, network.name())[20], 7);
        assert_eq!(receive(&mut b, network.name())[20], 9);
        assert!(a.next().is_none() && b.next().is_none(), "{}", network.name());
        let names: Vec<String> = bed.links().into_iter().map(|(name, _)| name).collect();
        assert!(
            names.contains(&"ts0-b".to_owned()) && names.contains(&format!("{last}-b")),
            "{names:?}"
        );
    }
    assert_eq!(namespaces(), before);
    for network in [Network::Macvlan, Network::Tap, Network::OpenVswitch] {
        let error = Bed::over_two_lans(network, 1).expect_err("refused").to_string();
        assert!(error.contains("bridges or veth pairs"), "{error}");
    }
}
