//! Beds for guests: they have a tap or a macvtap for a hypervisor in place of a device's interface.
//!
//! A guest's card has the address that the device's interface would have.

use super::entry::{FrameEntry, to_tap};
use super::kernel::{BRIDGE, bridge_up, bridged, bring_up, namespaces, side_by_side};
use super::names::{TEST_SET_IF, TEST_SET_PORT, device_if, device_port};
use super::ports::mac_on;
use super::vswitch::{Files, Vswitch};
use super::{Bed, BedError, Card, EndInterface, Forwarder, Network};
use sys::SysError;
use sys::link::{LinkInfo, add_macvtap, add_veth, local_mac, set_all_multicast, set_mac, set_master, set_up};
use sys::netns::NetNs;
use sys::tap::Tap;

/// Parts of a bed for guests that depend on its network.
struct Made {
    /// The path from the test set to a guest.
    way: &'static str,
    test_set: NetNs,
    guests: Vec<EndInterface>,
    entry: FrameEntry,
    switch: Option<NetNs>,
    forwarder: Option<Box<dyn Forwarder>>,
}

pub(super) fn build(network: Network, guests: usize, files: Files) -> Result<Bed, BedError> {
    let made = match network {
        Network::Bridge => bridge(guests)?,
        Network::Macvlan => macvtaps(guests)?,
        Network::Tap => tap()?,
        Network::OpenVswitch => open_vswitch(guests, files)?,
        Network::Veth => {
            return Err(BedError::NotAvailable(
                "a guest cannot hold the end of a veth pair: use tap, which has nothing between test set and guest either".to_owned(),
            ));
        }
    };
    let several = side_by_side(guests);
    let test_set = EndInterface::within(made.test_set, TEST_SET_IF.to_owned());
    Ok(Bed {
        name: network.name().to_owned(),
        what: format!("network namespaces: test set {TEST_SET_IF}{}{several}", made.way),
        forwards: Ok(network.switch_of_guests()),
        _forwarder: made.forwarder,
        test_set: Some(test_set),
        devices: made.guests,
        entry: made.entry,
        switch: made.switch,
        lan_b: None,
    })
}

/// A bridge with a veth pair to the test set, and a tap for each guest.
fn bridge(guests: usize) -> Result<Made, SysError> {
    let (test_set, switch) = bridged()?;
    let guests = taps(&switch, guests, |tap| set_master(tap, BRIDGE))?;
    bridge_up(&switch)?;
    up(&test_set)?;
    Ok(Made {
        way: " - veth - bridge - tap - guest",
        test_set,
        guests,
        entry: FrameEntry::Switch(TEST_SET_PORT),
        switch: Some(switch),
        forwarder: None,
    })
}

/// A veth pair from the test set to the switch's namespace, and on its end there a macvtap for each guest.
fn macvtaps(guests: usize) -> Result<Made, SysError> {
    let (test_set, switch) = joined()?;
    let guests = (0..guests)
        .map(|number| {
            let name = device_if(number);
            switch.run(|| add_macvtap(&name, TEST_SET_PORT, &NetNs::current()?))??;
            macvtap(NetNs::open(&switch.path())?, name)
        })
        .collect::<Result<Vec<EndInterface>, SysError>>()?;
    up(&test_set)?;
    bring_up(guests.iter())?;
    Ok(Made {
        way: " - veth - macvtap in bridge mode - guest",
        test_set,
        guests,
        entry: FrameEntry::Switch(TEST_SET_PORT),
        switch: Some(switch),
        forwarder: None,
    })
}

/// This many guests on one port of this machine, each with a namespace for its macvtap. Their addresses are derived from the port's, because another
/// machine may have such guests on the same network.
pub(super) fn on_port(port: &LinkInfo, guests: usize) -> Result<Vec<EndInterface>, SysError> {
    let mut ends = Vec::new();
    for (number, namespace) in namespaces(guests)?.into_iter().enumerate() {
        let name = device_if(number);
        add_macvtap(&name, &port.name, &namespace)?;
        let address = mac_on(port, &name);
        namespace.run(|| set_mac(&name, address))??;
        ends.push(EndInterface {
            card: Some((Card::Macvtap, address)),
            ..macvtap(namespace, name)?
        });
    }
    bring_up(ends.iter())?;
    Ok(ends)
}

/// The guest's card has the macvtap's address, because frames for other addresses do not reach it. The guest's multicast groups are unknown here, so
/// it gets frames of all groups.
fn macvtap(namespace: NetNs, name: String) -> Result<EndInterface, SysError> {
    namespace.run(|| set_all_multicast(&name))??;
    Ok(EndInterface {
        card: Some((Card::Macvtap, local_mac(&name))),
        ..EndInterface::within(namespace, name)
    })
}

/// The test set directly on the tap of the guest's card.
fn tap() -> Result<Made, SysError> {
    let test_set = NetNs::create()?;
    test_set.run(|| {
        Tap::create(TEST_SET_IF)?.leave()?;
        set_mac(TEST_SET_IF, local_mac(TEST_SET_IF))?;
        // It gets a carrier when the guest starts.
        set_up(TEST_SET_IF)
    })??;
    let guest = EndInterface {
        namespace: Some(NetNs::open(&test_set.path())?),
        interface: TEST_SET_IF.to_owned(),
        card: Some((Card::Tap, local_mac(&device_if(0)))),
    };
    Ok(Made {
        way: ", the tap of the guest - guest",
        test_set,
        guests: vec![guest],
        entry: FrameEntry::Device,
        switch: None,
        forwarder: None,
    })
}

/// A private Open vSwitch with a veth pair to the test set, and a tap for each guest.
fn open_vswitch(guests: usize, files: Files) -> Result<Made, BedError> {
    Vswitch::is_installed()?;
    let (test_set, switch) = joined()?;
    let guests = taps(&switch, guests, |_| Ok(()))?;
    let ports = guests.iter().map(|guest| guest.interface.clone());
    let ports = std::iter::once(TEST_SET_PORT.to_owned()).chain(ports).collect();
    let entry = FrameEntry::Known(to_tap(&switch, "ovs-vswitchd")?);
    let vswitch = Vswitch::start(NetNs::open(&switch.path())?, ports, files)?;
    up(&test_set)?;
    Ok(Made {
        way: " - veth - Open vSwitch, datapath in user space - tap - guest",
        test_set,
        guests,
        entry,
        switch: Some(switch),
        forwarder: Some(Box::new(vswitch)),
    })
}

/// The namespaces of a test set and of the switch, connected by a veth pair.
fn joined() -> Result<(NetNs, NetNs), SysError> {
    let (test_set, switch) = (NetNs::create()?, NetNs::create()?);
    switch.run(|| {
        add_veth(TEST_SET_PORT, TEST_SET_IF, &test_set)?;
        set_up(TEST_SET_PORT)
    })??;
    Ok((test_set, switch))
}

/// A tap in `switch` for each guest, up, after the additional setup.
fn taps(
    switch: &NetNs,
    guests: usize,
    join: impl Fn(&str) -> Result<(), SysError> + Sync,
) -> Result<Vec<EndInterface>, SysError> {
    (0..guests)
        .map(|number| {
            let tap = device_port(number);
            switch.run(|| {
                Tap::create(&tap)?.leave()?;
                join(&tap)?;
                set_up(&tap)
            })??;
            Ok(tap_of_guest(NetNs::open(&switch.path())?, number))
        })
        .collect()
}

/// The end of guest number `number`, from 0, at its tap in the namespace of a switch.
pub fn tap_of_guest(switch: NetNs, number: usize) -> EndInterface {
    EndInterface {
        namespace: Some(switch),
        interface: device_port(number),
        card: Some((Card::Tap, local_mac(&device_if(number)))),
    }
}

/// Brings the test set's interface up, and waits for its carrier.
fn up(test_set: &NetNs) -> Result<(), SysError> {
    let end = EndInterface::within(NetNs::open(&test_set.path())?, TEST_SET_IF.to_owned());
    bring_up(std::iter::once(&end))
}
