//! The management network of a bed: a second interface of each device, on a separate bridge.
//!
//! ```text
//!   station                                       device under test
//!   [ ts0 ]---veth---[ p-ts | bridge | p-mgmt0 ]---veth---[ mgmt0, beside dut0 ]
//!                    [               | p-mgmt0 ]---tap----[ a second card of the guest ]
//! ```
//!
//! The device's kernel has an address there, and answers ARP and ICMP echo itself. None of this traffic is on the process bus.

use super::kernel::{BRIDGE, bridge_up, bridged, bring_up, join};
use super::names::{TEST_SET_IF, management_if, management_port};
use super::{Bed, BedError, EndInterface};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use sys::link::{add_address, local_mac, set_master, set_up};
use sys::netns::NetNs;
use sys::tap::Tap;
use units::CpuList;

/// The network: a part of the range reserved for benchmarks (RFC 2544), so that it is in no other use. The first address is the station's, the
/// following ones are the devices'.
const NETWORK: [u8; 3] = [198, 18, 0];
const STATION: u8 = 1;
const PREFIX: u8 = 24;

/// A management network; dropping it removes it.
#[derive(Debug)]
pub struct Management {
    /// Sender of the requests.
    station: EndInterface,
    switch: NetNs,
    devices: Vec<Device>,
    /// The CPUs of a guest for the interrupts of its second card.
    interrupts: CpuList,
}

/// A device's end of the network.
#[derive(Debug)]
struct Device {
    /// Its interface, or the tap of its card.
    interface: String,
    /// Name of the device for messages.
    who: String,
    mac: [u8; 6],
    address: Ipv4Addr,
    /// True if it is the card of a guest.
    is_card: bool,
}

/// Path from the station of a management network to a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationWay {
    /// The station's network namespace.
    pub namespace: PathBuf,
    /// Its interface there.
    pub interface: String,
    /// Its address.
    pub from: Ipv4Addr,
    /// Address of the device.
    pub to: Ipv4Addr,
    /// Address of the device's card.
    pub to_mac: [u8; 6],
    /// Name of the answering device for messages: `dut0`.
    pub who: String,
}

/// A second card of a guest.
#[derive(Debug)]
pub struct SecondCard<'a> {
    /// The namespace of its tap.
    pub namespace: &'a NetNs,
    /// The tap.
    pub tap: &'a str,
    /// The card's address.
    pub mac: [u8; 6],
    /// Settings of the card for the guest's kernel, as an argument of the agent.
    pub argument: String,
}

impl Management {
    /// Connects all devices of `bed` to a management network. The cards of guests interrupt the guests' CPUs `interrupts`.
    ///
    /// # Errors
    /// A device without its own network namespace, or an error of the kernel; nothing of the network remains then.
    pub fn beside(bed: &Bed, interrupts: CpuList) -> Result<Self, BedError> {
        let (station, switch) = bridged()?;
        let mut devices = Vec::new();
        for (number, device) in bed.devices.iter().enumerate() {
            devices.push(Device::join(number, device, &switch)?);
        }
        bridge_up(&switch)?;
        let station = EndInterface::within(station, TEST_SET_IF.to_owned());
        bring_up(std::iter::once(&station))?;
        station.run(|| add_address(&station.interface, address(STATION.into()), PREFIX))?;
        Ok(Self {
            station,
            switch,
            devices,
            interrupts,
        })
    }

    /// The path to each device, valid as long as this value exists.
    pub fn ways(&self) -> Vec<StationWay> {
        let namespace = self.station.namespace.as_ref().map(NetNs::path).unwrap_or_default();
        let to = |device: &Device| StationWay {
            namespace: namespace.clone(),
            interface: self.station.interface.clone(),
            from: address(STATION.into()),
            to: device.address,
            to_mac: device.mac,
            who: match device.is_card {
                true => format!("{} (it interrupts cpu {} of the guest)", device.who, self.interrupts),
                false => device.who.clone(),
            },
        };
        self.devices.iter().map(to).collect()
    }

    /// The card of guest number `number`, from 0; `None` if that device is not a guest.
    pub fn card(&self, number: usize) -> Option<SecondCard<'_>> {
        let device = self.devices.get(number).filter(|device| device.is_card)?;
        Some(SecondCard {
            namespace: &self.switch,
            tap: &device.interface,
            mac: device.mac,
            argument: format!(
                "{},{}/{PREFIX},{}",
                wire::ether::Mac(device.mac),
                device.address,
                self.interrupts
            ),
        })
    }

    /// The network in one line, for the report.
    pub fn describe(&self) -> String {
        let ends: Vec<&str> = self.devices.iter().map(|device| device.who.as_str()).collect();
        format!(
            "management network, apart from the process bus: station {} - veth - bridge - {}",
            self.station.interface,
            ends.join(", ")
        )
    }
}

impl Device {
    fn join(number: usize, device: &EndInterface, switch: &NetNs) -> Result<Self, BedError> {
        let name = management_if(number);
        let address = address(usize::from(STATION) + 1 + number);
        let mac = local_mac(&name);
        match (&device.namespace, device.card) {
            (_, Some(_)) => {
                let port = management_port(number);
                switch.run(|| {
                    Tap::create(&port)?.leave()?;
                    set_master(&port, BRIDGE)?;
                    set_up(&port)
                })??;
                Ok(Self {
                    interface: port,
                    who: format!("a second card of guest {}", number + 1),
                    mac,
                    address,
                    is_card: true,
                })
            }
            (Some(namespace), None) => {
                join(switch, namespace, &name, &management_port(number))?;
                let end = EndInterface::within(NetNs::open(&namespace.path())?, name.clone());
                bring_up(std::iter::once(&end))?;
                end.run(|| add_address(&name, address, PREFIX))?;
                Ok(Self {
                    who: format!("{name} beside {}", device.interface),
                    interface: name,
                    mac,
                    address,
                    is_card: false,
                })
            }
            (None, None) => Err(BedError::NotAvailable(format!(
                "the device at {} is in this machine's own network namespace, which is not given a second interface: measure over a \
                 bed, or in a guest",
                device.interface
            ))),
        }
    }
}

/// Address number `number` of the network.
fn address(number: usize) -> Ipv4Addr {
    let [a, b, c] = NETWORK;
    Ipv4Addr::new(a, b, c, u8::try_from(number).unwrap_or(u8::MAX))
}
