//! A test bed whose wire loses, doubles, delays, reorders and corrupts chosen frames, and counts exactly which.
//!
//! ```text
//!   test set                this process                device under test
//!   [ ts0 ]---tap---[ rules, each direction ]---tap---[ dut0 ]
//! ```
//!
//! It tests that counters count: the same rules and the same seed choose the same frames in every run. Its latency is that of a thread of ordinary
//! priority, and is no property of the host.

use super::names::{DEVICE_IF, End, TEST_SET_IF};
use crate::fault::{Faults, Wire};
use std::time::{Duration, Instant};
use sys::SysError;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::tap::Tap;

/// Time that an interface may take to get its carrier; it usually takes milliseconds.
const CARRIER_PATIENCE: Duration = Duration::from_secs(5);

/// A test bed of two namespaces and a faulty wire; dropping it removes it.
#[derive(Debug)]
pub struct FaultBed {
    wire: Wire,
    test_set: NetNs,
    device: NetNs,
}

impl FaultBed {
    /// Builds the bed; its interfaces are up.
    ///
    /// # Errors
    /// An error from the kernel; nothing of the bed remains then. Needs /dev/net/tun, `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`.
    pub fn build(faults: Faults) -> Result<Self, SysError> {
        let (test_set, device) = (NetNs::create()?, NetNs::create()?);
        let near = test_set.run(|| add_tap(TEST_SET_IF))??;
        let far = device.run(|| add_tap(DEVICE_IF))??;
        let wire = Wire::start(near, far, faults)?;
        Ok(Self { wire, test_set, device })
    }

    /// Opens a packet port at one end.
    ///
    /// # Errors
    /// An error from the kernel.
    pub fn port(&self, end: End, options: &PortOptions) -> Result<PacketPort, SysError> {
        let (namespace, name) = self.end(end);
        namespace.run(|| PacketPort::open(name, options))?
    }

    /// Takes the interface of one end down, or brings it up and waits until it can send frames.
    ///
    /// # Errors
    /// An error from the kernel.
    pub fn set_link(&self, end: End, is_up: bool) -> Result<(), SysError> {
        let (namespace, name) = self.end(end);
        namespace.run(|| {
            if is_up {
                bring_up(name)
            } else {
                sys::link::set_down(name)
            }
        })?
    }

    /// The wire and the namespaces of both ends: test set, device.
    pub(crate) fn into_parts(self) -> (Wire, NetNs, NetNs) {
        (self.wire, self.test_set, self.device)
    }

    /// The wire, for its counts.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Takes the bed down, and reports the error of the wire, if there was one.
    ///
    /// # Errors
    /// An error of reading from or writing to the taps.
    pub fn end_wire(self) -> Result<(), SysError> {
        self.wire.end()
    }

    fn end(&self, end: End) -> (&NetNs, &'static str) {
        match end {
            End::TestSet => (&self.test_set, TEST_SET_IF),
            End::Device => (&self.device, DEVICE_IF),
        }
    }
}

fn add_tap(name: &str) -> Result<Tap, SysError> {
    let tap = Tap::create(name)?;
    // The kernel would choose a different address in every run.
    sys::link::set_mac(name, sys::link::local_mac(name))?;
    bring_up(name)?;
    Ok(tap)
}

/// Waits for the carrier, because frames sent before it are dropped.
fn bring_up(name: &str) -> Result<(), SysError> {
    sys::link::set_up(name)?;
    let deadline = Instant::now() + CARRIER_PATIENCE;
    while !sys::link::find(name)?.carrier {
        if Instant::now() > deadline {
            return Err(SysError::NoCarrier {
                interface: name.to_owned(),
                seconds: CARRIER_PATIENCE.as_secs(),
            });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{End, FaultBed, Faults};
    use std::time::{Duration, Instant};

    #[test]
    fn a_wire_whose_interface_is_gone_says_so() {
        let test = "a_wire_whose_interface_is_gone_says_so";
        if !rustix::process::geteuid().is_root() || !std::path::Path::new("/dev/net/tun").exists() {
            return testing::skip(test, "needs root and /dev/net/tun");
        }
        let bed = FaultBed::build(Faults::default()).expect("a bed");
        assert_eq!(bed.wire().broken(), None);
        let (namespace, name) = bed.end(End::TestSet);
        let deleted = namespace.run(|| sys::link::delete(name));
        deleted.expect("entered").expect("deleted");
        let patience = Instant::now() + Duration::from_secs(10);
        while bed.wire().broken().is_none() {
            assert!(Instant::now() < patience, "nobody is told");
            std::thread::sleep(Duration::from_millis(5));
        }
        let why = bed.wire().broken().expect("broken");
        assert!(why.contains(name), "{why}");
        assert!(bed.end_wire().is_err());
    }
}
