//! Test set and device under test at the two ends of a wire with faults.

use super::counts::LineCounts;
use super::injector::{Injector, Observer};
use super::rule::{Direction, Rule};
use crate::bed::{DEVICE_IF, End, TEST_SET_IF};
use std::time::{Duration, Instant};
use sys::SysError;
use sys::link;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::tap::Tap;

/// Frames that a tap keeps for the injector while its thread is held up: at 4800 frames/s, two seconds.
const QUEUE_FRAMES: u32 = 10_000;

/// How long an interface may take to find its carrier; it takes milliseconds.
const CARRIER_PATIENCE: Duration = Duration::from_secs(5);

/// Two namespaces, a tap in each, and an injector between them. Gone when dropped.
#[derive(Debug)]
pub struct FaultBed {
    /// Before the namespaces, so that it ends before they go.
    injector: Injector,
    test_set: NetNs,
    device: NetNs,
}

impl FaultBed {
    /// Builds the bed, up, with these faults on its wire; `observer` is told of every frame.
    ///
    /// # Errors
    /// A rule that cannot be, or what the kernel refused. Needs `CAP_SYS_ADMIN`, `CAP_NET_ADMIN` and `/dev/net/tun`.
    pub fn build(rules: &[Rule], seed: u64, observer: Option<Observer>) -> Result<Self, SysError> {
        let (test_set, device) = (NetNs::create()?, NetNs::create()?);
        let near = test_set.run(|| tap(TEST_SET_IF))??;
        let far = device.run(|| tap(DEVICE_IF))??;
        let bed = Self {
            injector: Injector::start(near, far, rules, seed, observer)?,
            test_set,
            device,
        };
        for end in [End::TestSet, End::Device] {
            bed.set_up(end)?;
        }
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

    /// Brings one end up and waits until frames pass.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn set_up(&self, end: End) -> Result<(), SysError> {
        let (namespace, name) = self.end(end);
        namespace.run(|| {
            link::set_up(name)?;
            let deadline = Instant::now() + CARRIER_PATIENCE;
            while !link::find(name)?.carrier {
                if Instant::now() > deadline {
                    return Err(SysError::NoCarrier {
                        interface: name.to_owned(),
                        seconds: CARRIER_PATIENCE.as_secs(),
                    });
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        })?
    }

    /// Brings one end down.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn set_down(&self, end: End) -> Result<(), SysError> {
        let (namespace, name) = self.end(end);
        namespace.run(|| link::set_down(name))?
    }

    /// What became of the frames that went this way so far.
    pub fn counts(&self, direction: Direction) -> LineCounts {
        self.injector.counts(direction)
    }

    fn end(&self, end: End) -> (&NetNs, &'static str) {
        match end {
            End::TestSet => (&self.test_set, TEST_SET_IF),
            End::Device => (&self.device, DEVICE_IF),
        }
    }
}

fn tap(name: &str) -> Result<Tap, SysError> {
    let tap = Tap::create(name)?;
    link::set_queue(name, QUEUE_FRAMES)?;
    Ok(tap)
}
