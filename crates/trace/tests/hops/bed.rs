//! A publisher, a bridge and a device, each in its own network namespace:
//!
//! ```text
//! [ ts0 ]---veth---[ p-ts | bridge | p-dut ]---veth---[ dut0 ]
//! ```

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};
use sys::link::{add_bridge, add_veth, find, set_master, set_up};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use trace::hops::{Hook, PointKind};
use wire::sv::Message;

pub(crate) struct Bed {
    pub(crate) publisher: NetNs,
    pub(crate) switch: NetNs,
    pub(crate) device: NetNs,
    sender: PacketPort,
}

impl Bed {
    /// Builds the bed; `None` if the test is skipped.
    pub(crate) fn build(test: &str) -> Option<Self> {
        let namespace = || match NetNs::create() {
            Ok(namespace) => Some(namespace),
            Err(error) => {
                testing::skip(test, &error.to_string());
                None
            }
        };
        let (publisher, switch, device) = (namespace()?, namespace()?, namespace()?);
        switch.run(|| add_bridge("br0").expect("a bridge")).expect("to enter");
        for (end, name, port) in [(&publisher, "ts0", "p-ts"), (&device, "dut0", "p-dut")] {
            let join = || {
                add_veth(port, name, end).expect("a veth pair");
                set_master(port, "br0").expect("a port");
                set_up(port).expect("up");
            };
            switch.run(join).expect("to enter");
            end.run(|| set_up(name).expect("up")).expect("to enter");
        }
        switch.run(|| set_up("br0").expect("up")).expect("to enter");
        for (namespace, name) in [
            (&switch, "br0"),
            (&switch, "p-ts"),
            (&switch, "p-dut"),
            (&publisher, "ts0"),
            (&device, "dut0"),
        ] {
            wait_for_carrier(namespace, name);
        }
        let sender = send_port(&publisher, "ts0");
        Some(Self {
            publisher,
            switch,
            device,
            sender,
        })
    }

    /// Sends a frame from the publisher.
    pub(crate) fn send(&self, message: &Message) {
        let frame = message.encode().expect("a frame");
        self.sender.send(&frame).expect("to send");
    }
}

pub(crate) fn send_port(namespace: &NetNs, interface: &str) -> PacketPort {
    let options = PortOptions {
        ring_frames: 0,
        ..receive_options()
    };
    namespace
        .run(|| PacketPort::open(interface, &options).expect("a port"))
        .expect("to enter")
}

pub(crate) fn receive_options() -> PortOptions {
    PortOptions {
        ethertypes: vec![0x88ba],
        hidden: false,
        ring_frames: 4096,
        frame_bytes: 512,
        promiscuous: true,
        multicast: Vec::new(),
        qdisc_bypass: false,
        hardware_stamps: false,
        rx_stamps: false,
        vlan_tags: true,
        tx_stamps: false,
        launch_times: false,
        udp_port: None,
    }
}

pub(crate) fn wait_for_carrier(namespace: &NetNs, name: &str) {
    let end = Instant::now() + Duration::from_secs(5);
    while !namespace
        .run(|| find(name).expect("an interface").carrier)
        .expect("to enter")
    {
        assert!(Instant::now() < end, "{name} has no carrier");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// An interface in a namespace, with a kind of event.
pub(crate) fn place(namespace: &NetNs, interface: &str, kind: PointKind) -> Hook {
    let ifindex = namespace
        .run(|| find(interface).expect("an interface").index)
        .expect("to enter");
    let inode = std::fs::metadata(namespace.path()).expect("the namespace").ino();
    Hook {
        ifindex,
        netns: u32::try_from(inode).expect("inodes of namespaces are small"),
        kind,
    }
}
