//! Helpers of the tests that need the kernel.

// Every test program includes this file and uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::time::{Duration, Instant};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::Capability;
use sys::{SysError, link};

/// EtherType of the test frames: IEEE 802 local experimental 1.
pub const ETHERTYPE: u16 = 0x88b5;

/// True if the test can run here. Panics if it cannot, unless skips are allowed; then it writes a note to standard error.
pub fn can_run(test: &str, needs: &[Capability]) -> bool {
    let missing: Vec<String> = needs
        .iter()
        .filter(|need| !sys::privilege::has(**need))
        .map(Capability::to_string)
        .collect();
    if missing.is_empty() {
        return true;
    }
    testing::skip(test, &format!("needs {}", missing.join(", ")));
    false
}

/// Capabilities that network tests need.
pub const NETWORK: &[Capability] = &[Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw];

/// Two namespaces joined by a veth pair: `a0` in the first, `b0` in the second.
pub struct Pair {
    pub a: NetNs,
    pub b: NetNs,
}

impl Pair {
    pub fn build(mtu: u32) -> Self {
        let pair = Self {
            a: NetNs::create().expect("a namespace"),
            b: NetNs::create().expect("a namespace"),
        };
        inside(&pair.a, || {
            link::add_veth("a0", "b0", &pair.b)?;
            link::set_mtu("a0", mtu)?;
            link::set_up("a0")
        });
        inside(&pair.b, || {
            link::set_mtu("b0", mtu)?;
            link::set_up("b0")
        });
        wait_for_carrier(&pair.a, "a0");
        wait_for_carrier(&pair.b, "b0");
        pair
    }

    pub fn port_a(&self, options: &PortOptions) -> PacketPort {
        inside(&self.a, || PacketPort::open("a0", options))
    }

    pub fn port_b(&self, options: &PortOptions) -> PacketPort {
        inside(&self.b, || PacketPort::open("b0", options))
    }
}

/// Runs `work` in a namespace and panics if it fails.
pub fn inside<T: Send>(namespace: &NetNs, work: impl FnOnce() -> Result<T, SysError> + Send) -> T {
    match namespace.run(work).expect("a thread in the namespace") {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until frames pass over the interface.
pub fn wait_for_carrier(namespace: &NetNs, name: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    while !inside(namespace, || link::find(name)).carrier {
        assert!(Instant::now() < until, "{name} got no carrier");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A broadcast test frame: header, a number, and the octet 0xba up to a length of `octets`.
pub fn frame(number: u32, octets: usize) -> Vec<u8> {
    frame_with(&[], ETHERTYPE, number, octets)
}

/// The same with the given tags (TPID, TCI) and EtherType.
pub fn frame_with(tags: &[(u16, u16)], ethertype: u16, number: u32, octets: usize) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1]);
    for (tpid, tci) in tags {
        frame.extend(tpid.to_be_bytes());
        frame.extend(tci.to_be_bytes());
    }
    frame.extend(ethertype.to_be_bytes());
    frame.extend(number.to_be_bytes());
    frame.resize(octets, 0xba);
    frame
}

/// The number in an untagged test frame.
pub fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[14..18].try_into().expect("a test frame"))
}

/// Waits up to two seconds for a frame and passes it to `look`.
pub fn receive<T>(port: &mut PacketPort, look: impl FnOnce(&sys::packet::RxFrame<'_>) -> T) -> T {
    assert!(port.wait(2_000_000_000).expect("poll"), "no frame came");
    look(&port.next().expect("poll said there is a frame"))
}
