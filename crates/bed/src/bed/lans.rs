//! The second network of a bed for doubly attached nodes (IEC 62439-3).
//!
//! ```text
//!   test set                                          device under test
//!   [ ts0   ]---veth---[ p-ts | bridge of LAN A | p-dut ]---veth---[ dut0   ]
//!   [ ts0-b ]---veth---[ p-ts | bridge of LAN B | p-dut ]---veth---[ dut0-b ]
//! ```
//!
//! Both networks are of one kind. The interfaces of a node are in one namespace; the networks share nothing.

use super::kernel::{bridge_up, bring_up, join, new_bridge};
use super::names::{TEST_SET_IF, TEST_SET_PORT, device_if, device_port, in_lan_b};
use super::{Bed, BedError, End, EndInterface, Network};
use probes::{Numbers, Pair, ProbeError};
use sys::SysError;
use sys::link::add_veth;
use sys::netns::NetNs;
use sys::packet::PortOptions;
use wire::redundancy::Protocol;

/// LAN B of a bed.
#[derive(Debug)]
pub(super) struct LanB {
    test_set: EndInterface,
    pub(super) devices: Vec<EndInterface>,
    /// Namespace of its bridge; `None` if there is none.
    pub(super) switch: Option<NetNs>,
}

impl LanB {
    /// Its ends, that of the test set first.
    pub(super) fn ends(&self) -> impl Iterator<Item = &EndInterface> + Clone {
        std::iter::once(&self.test_set).chain(&self.devices)
    }
}

impl Bed {
    /// Builds a bed of two LANs, each over `network`, with this many doubly attached devices.
    ///
    /// # Errors
    /// A network of which there are not two, several devices on a network for one, or an error of the kernel; nothing of the bed remains then.
    pub fn over_two_lans(network: Network, devices: usize) -> Result<Self, BedError> {
        if !network.takes_two_lans() {
            return Err(BedError::NotAvailable(format!(
                "a bed of two LANs is made of bridges or veth pairs, not of {}",
                network.name()
            )));
        }
        let mut bed = Self::over(network, devices)?;
        let lan_b = bed.second_lan(network)?;
        bed.what = format!(
            "network namespaces of doubly attached nodes: LAN A: {}; LAN B: the same between {} and {}",
            network.describe(),
            in_lan_b(TEST_SET_IF),
            in_lan_b(&device_if(0)),
        );
        bed.forwards = Ok(network.switch_of_two());
        bed.lan_b = Some(lan_b);
        Ok(bed)
    }

    fn second_lan(&self, network: Network) -> Result<LanB, SysError> {
        let test_set = beside(self.place(End::TestSet)?)?;
        let devices: Vec<EndInterface> = self.devices.iter().map(beside).collect::<Result<_, _>>()?;
        let switch = match network {
            Network::Bridge => Some(bridge(&test_set, &devices)?),
            _ => veth(&test_set, &devices[0]).map(|()| None)?,
        };
        let lan_b = LanB {
            test_set,
            devices,
            switch,
        };
        bring_up(lan_b.ends())?;
        Ok(lan_b)
    }

    /// True if its nodes are doubly attached.
    pub fn has_two_lans(&self) -> bool {
        self.lan_b.is_some()
    }

    /// Opens ports in both LANs at the test set, or at device number `number`, from 0. `numbers` are those of this node, for all its ports.
    ///
    /// # Errors
    /// The bed has one LAN or no such end, or an error of the kernel.
    pub fn pair(
        &self,
        (end, number): (End, usize),
        options: &PortOptions,
        protocol: Protocol,
        numbers: &Numbers,
    ) -> Result<Pair, ProbeError> {
        let lan_b = self.lan_b.as_ref().ok_or_else(|| SysError::Invalid {
            what: "the bed has one LAN".to_owned(),
        })?;
        let (in_a, in_b) = match end {
            End::TestSet => (self.place(end)?, &lan_b.test_set),
            End::Device => {
                let both = self.devices.get(number).zip(lan_b.devices.get(number));
                both.ok_or_else(|| self.no_device(number))?
            }
        };
        Pair::new(in_a.port(options)?, in_b.port(options)?, protocol, numbers)
    }
}

/// The interface in LAN B of a node with this one in LAN A; it does not exist yet.
fn beside(in_a: &EndInterface) -> Result<EndInterface, SysError> {
    let namespace = in_a.namespace.as_ref().ok_or_else(|| SysError::Invalid {
        what: format!("{} is no end of a bed that triptime makes", in_a.interface),
    })?;
    let namespace = NetNs::open(&namespace.path())?;
    Ok(EndInterface::within(namespace, in_lan_b(&in_a.interface)))
}

fn namespace_of(end: &EndInterface) -> Result<&NetNs, SysError> {
    end.namespace.as_ref().ok_or_else(|| SysError::Invalid {
        what: format!("{} has no namespace of its own", end.interface),
    })
}

fn veth(test_set: &EndInterface, device: &EndInterface) -> Result<(), SysError> {
    let far = namespace_of(device)?;
    test_set.run(|| add_veth(&test_set.interface, &device.interface, far))
}

fn bridge(test_set: &EndInterface, devices: &[EndInterface]) -> Result<NetNs, SysError> {
    let switch = new_bridge()?;
    join(&switch, namespace_of(test_set)?, &test_set.interface, TEST_SET_PORT)?;
    for (number, device) in devices.iter().enumerate() {
        join(&switch, namespace_of(device)?, &device.interface, &device_port(number))?;
    }
    bridge_up(&switch)?;
    Ok(switch)
}
