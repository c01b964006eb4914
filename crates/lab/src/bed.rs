//! The test bed of network namespaces: test set - switch - device under test.
//!
//! ```text
//!   test set            switch               device under test
//!   [ ts0 ]---veth---[ p-ts | bridge | p-dut ]---veth---[ dut0 ]
//! ```
//!
//! The namespaces have no names: each is held by a file descriptor of this process alone. The kernel removes a namespace,
//! and every interface in it, when the last descriptor closes, so nothing is left behind however the process ends:
//! normally, by a signal, by a panic, or by `kill -9`.

use std::time::{Duration, Instant};
use store::model::Fact;
use sys::SysError;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};

/// Name of the test set's interface.
pub const TEST_SET_IF: &str = "ts0";
/// Name of the device under test's interface.
pub const DEVICE_IF: &str = "dut0";

/// How long an interface may take to find its carrier; it takes milliseconds.
const CARRIER_PATIENCE: Duration = Duration::from_secs(5);

/// A test bed, gone when dropped.
#[derive(Debug)]
pub struct Bed {
    test_set: NetNs,
    switch: NetNs,
    device: NetNs,
}

/// One of the two ends of the bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where merging units and the trip test set are.
    TestSet,
    /// Where the relay is.
    Device,
}

impl Bed {
    /// Builds the bed: three namespaces, a bridge in the middle one, two veth pairs, all up.
    ///
    /// # Errors
    /// What the kernel refused; nothing of the bed remains then. Needs `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`.
    pub fn build() -> Result<Self, SysError> {
        let bed = Self {
            test_set: NetNs::create()?,
            switch: NetNs::create()?,
            device: NetNs::create()?,
        };
        bed.switch.run(|| sys::link::add_bridge("br0"))??;
        for (end, name, port) in [(&bed.test_set, TEST_SET_IF, "p-ts"), (&bed.device, DEVICE_IF, "p-dut")] {
            bed.switch.run(|| {
                sys::link::add_veth(port, name, end)?;
                sys::link::set_master(port, "br0")?;
                sys::link::set_up(port)
            })??;
            end.run(|| sys::link::set_up(name))??;
        }
        bed.switch.run(|| sys::link::set_up("br0"))??;
        bed.wait_for_carrier()?;
        Ok(bed)
    }

    /// Opens a packet port at one end.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn port(&self, end: End, options: &PortOptions) -> Result<PacketPort, SysError> {
        let (namespace, name) = self.end(end);
        namespace.run(|| PacketPort::open(name, options))?
    }

    /// MAC address of one end.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn mac(&self, end: End) -> Result<[u8; 6], SysError> {
        let (namespace, name) = self.end(end);
        namespace.run(|| sys::link::find(name).map(|link| link.mac))?
    }

    /// What is known of the interfaces at both ends.
    ///
    /// # Errors
    /// A namespace cannot be entered.
    pub fn nic_facts(&self) -> Result<Vec<Fact>, SysError> {
        let mut facts = Vec::new();
        for end in [End::TestSet, End::Device] {
            let (namespace, name) = self.end(end);
            facts.extend(namespace.run(|| crate::nic::facts(name))?);
        }
        Ok(facts)
    }

    /// The bed in one line, for the report.
    pub fn describe(&self) -> String {
        format!("network namespaces: test set {TEST_SET_IF} - veth - bridge - veth - {DEVICE_IF} device under test")
    }

    fn end(&self, end: End) -> (&NetNs, &'static str) {
        match end {
            End::TestSet => (&self.test_set, TEST_SET_IF),
            End::Device => (&self.device, DEVICE_IF),
        }
    }

    /// Carrier appears a moment after both ends are up; frames sent before are dropped.
    fn wait_for_carrier(&self) -> Result<(), SysError> {
        for (namespace, name) in [
            (&self.test_set, TEST_SET_IF),
            (&self.device, DEVICE_IF),
            (&self.switch, "br0"),
        ] {
            let deadline = Instant::now() + CARRIER_PATIENCE;
            while !namespace.run(|| sys::link::find(name).map(|link| link.carrier))?? {
                if Instant::now() > deadline {
                    return Err(SysError::NoCarrier {
                        interface: name.to_owned(),
                        seconds: CARRIER_PATIENCE.as_secs(),
                    });
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(())
    }
}
