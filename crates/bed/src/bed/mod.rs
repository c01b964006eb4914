//! The test bed: test set - network - device under test.
//!
//! ```text
//!   test set                                  device under test
//!   [ ts0 ]---veth---[ p-ts | bridge | p-dut ]---veth---[ dut0 ]
//! ```
//!
//! The middle between the ends is a [`Network`], by default a bridge. Ends and middle are network namespaces without names: each is held by a file
//! descriptor of this process only. The kernel removes a namespace, and every interface in it, when the last descriptor closes, so nothing is left
//! however the process ends: normally, by a signal, by a panic, or by `kill -9`. Alternatively the ends are two existing ports of this machine
//! ([`Bed::of_ports`]).
//!
//! Several devices under test can be side by side, each in its own namespace: on the bridge each has a port, and on one physical port each has a
//! macvlan. All get the same frames from the test set.

mod ends;
mod entry;
mod faulty;
mod guests;
mod interface;
mod kernel;
mod lans;
mod management;
mod names;
mod network;
mod ports;
mod tap;
pub mod vswitch;

pub use ends::Seat;
pub use faulty::FaultBed;
pub use guests::tap_of_guest;
pub use interface::{Card, DeviceEnd, EndInterface, named};
pub use management::{Management, SecondCard, StationWay};
pub use names::{DEVICE_IF, End, TEST_SET_IF, device_end, device_if};
pub use network::Network;
pub use ports::{Stands, behind, mac_on, that_is_up};

use crate::fault::{Faults, Wire};
use entry::{FrameEntry, over_taps};
use model::Fact;
use probes::{Directions, Need, NicStamps, Port, ProbeError};
use std::path::Path;
use std::sync::Arc;
use sys::SysError;
use sys::link::LinkInfo;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::Capability;
use vswitch::Files;

/// The rights needed for building a bed and measuring over it.
pub const NEEDS: [Need; 3] = [
    Need::Capability(Capability::SysAdmin, "build the test bed of network namespaces"),
    Need::Capability(Capability::NetAdmin, "join the test bed's namespaces"),
    Need::Capability(Capability::NetRaw, "open packet sockets in the test bed"),
];

/// The right needed for measuring over an existing port.
pub const NEEDS_OF_PORT: [Need; 1] = [Need::Capability(Capability::NetRaw, "open packet sockets")];

/// A test bed; dropping it removes it.
#[derive(Debug)]
pub struct Bed {
    name: String,
    what: String,
    /// Kind of switch that forwards the frames, or the reason why it is unknown.
    forwards: Result<&'static str, &'static str>,
    /// The thread or program that forwards. It is declared before the ends, so that it ends before they are removed.
    _forwarder: Option<Box<dyn Forwarder>>,
    /// `None` if the test set is on another machine, or if there is none.
    test_set: Option<EndInterface>,
    /// One device, or several side by side; none if it is on another machine.
    devices: Vec<EndInterface>,
    /// Entry of frames to the devices.
    entry: FrameEntry,
    /// Namespace of the middle; `None` if there is none, or if it is not ours.
    switch: Option<NetNs>,
    /// The second network of doubly attached nodes; `None` if the nodes have one interface.
    lan_b: Option<lans::LanB>,
}

/// Thread or program that forwards in user space; dropping it ends it.
trait Forwarder: std::fmt::Debug + Send + Sync {
    /// Reason why it no longer forwards; `None` if it does.
    fn ended(&self) -> Option<String>;
}

impl Forwarder for Arc<Wire> {
    fn ended(&self) -> Option<String> {
        self.broken()
    }
}

/// Reasons why a bed could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// Error of the kernel.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// A requirement of the bed is missing on this machine.
    #[error("{0}")]
    NotAvailable(String),
}

impl Bed {
    /// Builds the default bed, over a bridge, with one device.
    ///
    /// # Errors
    /// An error from the kernel; nothing of the bed remains then. Needs `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`.
    pub fn build() -> Result<Self, SysError> {
        kernel::bridge(1)
    }

    /// Builds a bed over `network` with this many devices: namespaces, interfaces and forwarder, all up.
    ///
    /// # Errors
    /// Several devices on a network for one, an error of the kernel, or a missing program; nothing of the bed remains then. Needs `CAP_SYS_ADMIN` and
    /// `CAP_NET_ADMIN`.
    pub fn over(network: Network, devices: usize) -> Result<Self, BedError> {
        Self::for_these(network, devices, Files::Private)
    }

    fn for_these(network: Network, devices: usize, files: Files) -> Result<Self, BedError> {
        check_number(network, devices)?;
        match network {
            Network::Veth => Ok(kernel::veth()?),
            Network::Bridge => Ok(kernel::bridge(devices)?),
            Network::Macvlan => Ok(kernel::macvlan(devices)?),
            Network::Tap => tap::build(),
            Network::OpenVswitch => vswitch::build(devices, files),
        }
    }

    /// Builds a bed over `network` for this many guests: instead of a device's interface there is a tap or macvtap for a hypervisor ([`Bed::device`]
    /// describes it). A tap has no carrier until it is opened.
    ///
    /// # Errors
    /// A network that guests cannot use, several guests on a network for one, or an error of the kernel; nothing of the bed remains then. Needs
    /// /dev/net/tun or a devtmpfs at /dev, `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`.
    pub fn for_guests(network: Network, guests: usize) -> Result<Self, BedError> {
        check_number(network, guests)?;
        guests::build(network, guests, Files::Private)
    }

    /// Like [`Bed::for_guests`] for guests, otherwise like [`Bed::over`], for a process that keeps the bed: a forwarding program has its files in
    /// `folder`.
    ///
    /// # Errors
    /// See these functions.
    pub fn kept(network: Network, devices: usize, are_guests: bool, folder: &Path) -> Result<Self, BedError> {
        let files = Files::In(folder.to_owned());
        match are_guests {
            true => check_number(network, devices).and_then(|()| guests::build(network, devices, files)),
            false => Self::for_these(network, devices, files),
        }
    }

    /// The ends of its devices; parts of the bed without a name are removed.
    pub fn into_devices(self) -> Vec<EndInterface> {
        self.devices
    }

    /// Reason why forwarding in user space has stopped; `None` if it runs.
    pub fn ended(&self) -> Option<String> {
        self._forwarder.as_ref()?.ended()
    }

    /// Builds a bed over a wire that makes faults; also returns the wire, for its counts.
    ///
    /// # Errors
    /// An error from the kernel; nothing of the bed remains then. Needs /dev/net/tun, `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`.
    pub fn with_faults(faults: Faults) -> Result<(Self, Arc<Wire>), SysError> {
        let (wire, test_set, device) = FaultBed::build(faults)?.into_parts();
        let wire = Arc::new(wire);
        let entry = FrameEntry::Known(over_taps(&test_set, &device)?);
        let bed = Self {
            name: "wire with faults".to_owned(),
            what: "test set ts0, a tap - wire that makes faults, a thread in user space - tap dut0 device under test"
                .to_owned(),
            forwards: Ok("wire that makes faults"),
            _forwarder: Some(Box::new(Arc::clone(&wire))),
            test_set: Some(EndInterface::within(test_set, TEST_SET_IF.to_owned())),
            devices: vec![EndInterface::within(device, DEVICE_IF.to_owned())],
            switch: None,
            lan_b: None,
            entry,
        };
        Ok((bed, wire))
    }

    /// Uses two ports of this namespace as the ends, without moving or changing them. The path between them is external. Several devices each get a
    /// macvlan on the device's port, in their own namespaces; these are removed with the bed.
    ///
    /// # Errors
    /// A port that is missing, is down, or is both ends; a macvlan that the kernel refused.
    pub fn of_ports(test_set: &str, device: &str, devices: usize) -> Result<Self, SysError> {
        ports::take(test_set, device, Stands::These(devices))
    }

    /// The same for this many guests: each gets a macvtap on the device's port, in its own namespace; these are removed with the bed. While they
    /// exist, the port receives the frames of every multicast group.
    ///
    /// # Errors
    /// See [`Bed::of_ports`]; or the kernel refused a macvtap.
    pub fn of_ports_for_guests(test_set: &str, device: &str, guests: usize) -> Result<Self, SysError> {
        ports::take(test_set, device, Stands::Guests(guests))
    }

    /// Uses one existing port of this namespace as this end; the other end is on another machine. What stands at the port is as in
    /// [`Bed::of_ports`] and [`Bed::of_ports_for_guests`].
    ///
    /// # Errors
    /// The port is missing or down, or the kernel refused an interface on it.
    pub fn to_far_machine(end: End, port: &str, stands: Stands) -> Result<Self, SysError> {
        let other = match end {
            End::TestSet => "device under test on another machine",
            End::Device => "test set on another machine",
        };
        ports::take_one(end, port, stands, other)
    }

    /// Uses one existing port of this namespace as the device's end; at the other end is a relay that is not of this program. What stands at the port
    /// is as in [`Bed::to_far_machine`].
    ///
    /// # Errors
    /// See [`Bed::to_far_machine`].
    pub fn to_relay(relay: &str, port: &str, stands: Stands) -> Result<Self, SysError> {
        ports::take_one(End::Device, port, stands, &format!("relay {relay}"))
    }

    /// True if its devices are on this machine.
    pub fn has_devices(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Opens a packet port at one end.
    ///
    /// # Errors
    /// There is no such end on this machine, or an error of the kernel.
    pub fn port(&self, end: End, options: &PortOptions) -> Result<PacketPort, SysError> {
        self.place(end)?.port(options)
    }

    /// Opens a port at one end with the stamps that its options ask for.
    ///
    /// # Errors
    /// There is no such end on this machine, an error of the kernel, or a NIC without such stamps.
    pub fn stamped_port(&self, end: End, options: &PortOptions) -> Result<Port, ProbeError> {
        self.place(end)?.stamped_port(options)
    }

    /// Checks that the NICs at the test set and at the device can stamp these frames, if they are on this machine.
    ///
    /// # Errors
    /// The NIC that cannot, and the reason.
    pub fn can_stamp(&self, [test_set, device]: [Directions; 2]) -> Result<(), ProbeError> {
        let first = self.devices.first().map(|end| (end, device));
        let near = self.test_set.iter().map(|end| (end, test_set));
        for (end, directions) in near.chain(first) {
            if directions != Directions::default() {
                end.run(|| Ok(NicStamps::check(&end.interface, directions)))??;
            }
        }
        Ok(())
    }

    /// Opens a packet port at device number `number`, from 0.
    ///
    /// # Errors
    /// There is no such device, or an error of the kernel.
    pub fn port_of_device(&self, number: usize, options: &PortOptions) -> Result<PacketPort, SysError> {
        match self.devices.get(number) {
            Some(device) => device.port(options),
            None => Err(self.no_device(number)),
        }
    }

    /// The end of device number `number`, from 0, for a place.
    ///
    /// # Errors
    /// There is no such device, or its address cannot be read.
    pub fn device(&self, number: usize) -> Result<DeviceEnd<'_>, SysError> {
        let end = self.devices.get(number).ok_or_else(|| self.no_device(number))?;
        end.device()
    }

    /// The test set's end, for a place.
    ///
    /// # Errors
    /// It is on another machine, or its address cannot be read.
    pub fn test_set(&self) -> Result<DeviceEnd<'_>, SysError> {
        self.place(End::TestSet)?.device()
    }

    fn no_device(&self, number: usize) -> SysError {
        SysError::Invalid {
            what: format!(
                "the bed has {} devices under test, and no number {number}",
                self.devices.len()
            ),
        }
    }

    /// MAC address of one end.
    ///
    /// # Errors
    /// There is no such end on this machine, or an error of the kernel.
    pub fn mac(&self, end: End) -> Result<[u8; 6], SysError> {
        self.place(end)?.mac()
    }

    /// Facts about the interfaces at both ends.
    ///
    /// # Errors
    /// A namespace cannot be entered.
    pub fn nic_facts(&self) -> Result<Vec<Fact>, SysError> {
        let mut facts = Vec::new();
        for place in self.test_set.iter().chain(&self.devices).chain(self.in_lan_b()) {
            facts.extend(place.run(|| Ok(host::nic::facts(&place.interface)))?);
        }
        Ok(facts)
    }

    /// The links of both ends, as far as they are on this machine; `None` for an interface that is gone.
    pub fn links(&self) -> Vec<(String, Option<LinkInfo>)> {
        let places = self.test_set.iter().chain(&self.devices).chain(self.in_lan_b());
        let look = |place: &EndInterface| {
            let link = place.run(|| sys::link::find(&place.interface));
            (place.interface.clone(), link.ok())
        };
        places.map(look).collect()
    }

    /// Short name of the network between the ends: `bridge`, `SR-IOV virtual function of eth0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bed in one line, for the report.
    pub fn describe(&self) -> &str {
        &self.what
    }

    /// Switch that forwards frames between the ends, for the picture of the bed: a kind of switch, or none.
    pub fn switch(&self) -> Result<String, String> {
        self.forwards.map(str::to_owned).map_err(str::to_owned)
    }

    fn in_lan_b(&self) -> impl Iterator<Item = &EndInterface> {
        self.lan_b.iter().flat_map(lans::LanB::ends)
    }

    /// Its network namespaces by name: `ts`, `dut`, `dut1` and so on, `sw` for the middle, and `sw-b` for that of LAN B.
    pub fn namespaces(&self) -> Vec<(String, &NetNs)> {
        let test_set = self
            .test_set
            .iter()
            .filter_map(|test_set| test_set.namespace.as_ref())
            .map(|test_set| ("ts".to_owned(), test_set));
        let switch = self.switch.iter().map(|switch| ("sw".to_owned(), switch));
        let switch_b = self.lan_b.iter().filter_map(|lan| lan.switch.as_ref());
        let switch_b = switch_b.map(|switch| ("sw-b".to_owned(), switch));
        test_set
            .chain(named(&self.devices))
            .chain(switch)
            .chain(switch_b)
            .collect()
    }

    fn place(&self, end: End) -> Result<&EndInterface, SysError> {
        match end {
            End::TestSet => self.test_set.as_ref().ok_or_else(|| SysError::Invalid {
                what: "the test set is on another machine".to_owned(),
            }),
            End::Device => self.devices.first().ok_or_else(|| self.no_device(0)),
        }
    }
}

/// Checks that this network can have this many devices.
fn check_number(network: Network, devices: usize) -> Result<(), BedError> {
    match devices != 1 && !network.takes_several() {
        true => Err(BedError::NotAvailable(format!(
            "a {} bed has one device under test, not {devices}: use a bridge, a macvlan or Open vSwitch",
            network.name()
        ))),
        false => Ok(()),
    }
}
