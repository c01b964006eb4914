//! Beds whose frames the kernel forwards.

use super::entry::FrameEntry;
use super::names::{DEVICE_IF, TEST_SET_IF, TEST_SET_PORT, device_if, device_port};
use super::{Bed, EndInterface, Network};
use std::time::{Duration, Instant};
use sys::SysError;
use sys::link::{add_bridge, add_macvlan, add_veth, find, set_master, set_up};
use sys::netns::NetNs;

pub(super) const BRIDGE: &str = "br0";

/// Time that an interface may take to get its carrier; it usually takes milliseconds.
const CARRIER_PATIENCE: Duration = Duration::from_secs(5);

/// A veth pair with an end in each namespace.
pub(super) fn veth() -> Result<Bed, SysError> {
    let (test_set, device) = (NetNs::create()?, NetNs::create()?);
    test_set.run(|| add_veth(TEST_SET_IF, DEVICE_IF, &device))??;
    finish(Network::Veth, test_set, vec![device], None, FrameEntry::Device)
}

/// A bridge with a veth pair to each end.
pub(super) fn bridge(devices: usize) -> Result<Bed, SysError> {
    let devices = namespaces(devices)?;
    let (test_set, switch) = bridged()?;
    for (number, device) in devices.iter().enumerate() {
        join(&switch, device, &device_if(number), &device_port(number))?;
    }
    bridge_up(&switch)?;
    let entry = FrameEntry::Switch(TEST_SET_PORT);
    finish(Network::Bridge, test_set, devices, Some(switch), entry)
}

/// The namespaces of a test set and of a bridge, connected.
pub(super) fn bridged() -> Result<(NetNs, NetNs), SysError> {
    let (test_set, switch) = (NetNs::create()?, new_bridge()?);
    join(&switch, &test_set, TEST_SET_IF, TEST_SET_PORT)?;
    Ok((test_set, switch))
}

/// The namespace of a bridge that nothing is connected to.
pub(super) fn new_bridge() -> Result<NetNs, SysError> {
    let switch = NetNs::create()?;
    switch.run(|| add_bridge(BRIDGE))??;
    Ok(switch)
}

pub(super) fn bridge_up(switch: &NetNs) -> Result<(), SysError> {
    switch.run(|| set_up(BRIDGE))??;
    until_carrier(BRIDGE, || switch.run(|| carrier(BRIDGE))?)
}

pub(super) fn side_by_side(devices: usize) -> String {
    match devices {
        1 => String::new(),
        count => format!(", {count} devices under test side by side"),
    }
}

/// Connects `end` to the bridge in `switch` by a veth pair.
pub(super) fn join(switch: &NetNs, end: &NetNs, name: &str, port: &str) -> Result<(), SysError> {
    switch.run(|| {
        add_veth(port, name, end)?;
        set_master(port, BRIDGE)?;
        set_up(port)
    })??;
    end.run(|| set_up(name))?
}

/// A veth pair from the test set to the switch's namespace, and on its end there a macvlan for each device.
pub(super) fn macvlan(devices: usize) -> Result<Bed, SysError> {
    let (test_set, switch, devices) = (NetNs::create()?, NetNs::create()?, namespaces(devices)?);
    switch.run(|| {
        add_veth(TEST_SET_PORT, TEST_SET_IF, &test_set)?;
        set_up(TEST_SET_PORT)?;
        for (number, device) in devices.iter().enumerate() {
            add_macvlan(&device_if(number), TEST_SET_PORT, device)?;
        }
        Ok::<_, SysError>(())
    })??;
    let entry = FrameEntry::Switch(TEST_SET_PORT);
    finish(Network::Macvlan, test_set, devices, Some(switch), entry)
}

/// This many network namespaces.
pub(super) fn namespaces(count: usize) -> Result<Vec<NetNs>, SysError> {
    (0..count).map(|_| NetNs::create()).collect()
}

/// Brings all ends up and waits until frames pass.
pub(super) fn finish(
    network: Network,
    test_set: NetNs,
    devices: Vec<NetNs>,
    switch: Option<NetNs>,
    entry: FrameEntry,
) -> Result<Bed, SysError> {
    let several = side_by_side(devices.len());
    let test_set = EndInterface::within(test_set, TEST_SET_IF.to_owned());
    let devices: Vec<EndInterface> = devices
        .into_iter()
        .enumerate()
        .map(|(number, device)| EndInterface::within(device, device_if(number)))
        .collect();
    bring_up(std::iter::once(&test_set).chain(&devices))?;
    Ok(Bed {
        name: network.name().to_owned(),
        what: format!("network namespaces: {}{several}", network.describe()),
        forwards: Ok(network.switch()),
        _forwarder: None,
        test_set: Some(test_set),
        devices,
        entry,
        switch,
        lan_b: None,
    })
}

/// Brings interfaces of the bed up and waits for their carrier.
pub(super) fn bring_up<'a>(ends: impl Iterator<Item = &'a EndInterface> + Clone) -> Result<(), SysError> {
    for end in ends.clone() {
        end.run(|| set_up(&end.interface))?;
    }
    for end in ends {
        until_carrier(&end.interface, || end.run(|| carrier(&end.interface)))?;
    }
    Ok(())
}

fn carrier(name: &str) -> Result<bool, SysError> {
    find(name).map(|link| link.carrier)
}

/// Waits for the carrier, which appears a moment after both ends are up; frames sent before are dropped.
fn until_carrier(name: &str, has: impl Fn() -> Result<bool, SysError>) -> Result<(), SysError> {
    let deadline = Instant::now() + CARRIER_PATIENCE;
    while !has()? {
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
