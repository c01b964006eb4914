//! Beds whose frames the kernel forwards.

use super::entry::Entry;
use super::names::{DEVICE_IF, DEVICE_PORT, TEST_SET_IF, TEST_SET_PORT};
use super::{Bed, EndInterface, Network};
use std::time::{Duration, Instant};
use sys::SysError;
use sys::link::{add_bridge, add_macvlan, add_veth, find, set_master, set_up};
use sys::netns::NetNs;

const BRIDGE: &str = "br0";

/// How long an interface may take to find its carrier; it takes milliseconds.
const CARRIER_PATIENCE: Duration = Duration::from_secs(5);

/// A veth pair, an end in each namespace.
pub(super) fn veth() -> Result<Bed, SysError> {
    let (test_set, device) = (NetNs::create()?, NetNs::create()?);
    test_set.run(|| add_veth(TEST_SET_IF, DEVICE_IF, &device))??;
    finish(Network::Veth, test_set, device, None, Entry::Device)
}

/// A bridge with a veth pair to each end.
pub(super) fn bridge() -> Result<Bed, SysError> {
    let (test_set, switch, device) = (NetNs::create()?, NetNs::create()?, NetNs::create()?);
    switch.run(|| add_bridge(BRIDGE))??;
    for (end, name, port) in [
        (&test_set, TEST_SET_IF, TEST_SET_PORT),
        (&device, DEVICE_IF, DEVICE_PORT),
    ] {
        switch.run(|| {
            add_veth(port, name, end)?;
            set_master(port, BRIDGE)?;
            set_up(port)
        })??;
        end.run(|| set_up(name))??;
    }
    switch.run(|| set_up(BRIDGE))??;
    wait_for_carrier(&switch, BRIDGE)?;
    let entry = Entry::Switch(TEST_SET_PORT);
    finish(Network::Bridge, test_set, device, Some(switch), entry)
}

/// A veth pair from the test set to the switch's namespace, where the device's macvlan stands on it.
pub(super) fn macvlan() -> Result<Bed, SysError> {
    let (test_set, switch, device) = (NetNs::create()?, NetNs::create()?, NetNs::create()?);
    switch.run(|| {
        add_veth(TEST_SET_PORT, TEST_SET_IF, &test_set)?;
        set_up(TEST_SET_PORT)?;
        add_macvlan(DEVICE_IF, TEST_SET_PORT, &device)
    })??;
    let entry = Entry::Switch(TEST_SET_PORT);
    finish(Network::Macvlan, test_set, device, Some(switch), entry)
}

/// Brings both ends up and waits until frames pass.
pub(super) fn finish(
    network: Network,
    test_set: NetNs,
    device: NetNs,
    switch: Option<NetNs>,
    entry: Entry,
) -> Result<Bed, SysError> {
    let ends = [(&test_set, TEST_SET_IF), (&device, DEVICE_IF)];
    for (namespace, name) in ends {
        namespace.run(|| set_up(name))??;
    }
    for (namespace, name) in ends {
        wait_for_carrier(namespace, name)?;
    }
    let place = |namespace, interface: &str| EndInterface {
        namespace: Some(namespace),
        interface: interface.to_owned(),
    };
    Ok(Bed {
        name: network.name().to_owned(),
        what: format!("network namespaces: {}", network.describe()),
        _forwarder: None,
        test_set: place(test_set, TEST_SET_IF),
        device: place(device, DEVICE_IF),
        entry,
        switch,
    })
}

/// Carrier appears a moment after both ends are up; frames sent before are dropped.
pub(super) fn wait_for_carrier(namespace: &NetNs, name: &str) -> Result<(), SysError> {
    let deadline = Instant::now() + CARRIER_PATIENCE;
    while !namespace.run(|| find(name).map(|link| link.carrier))?? {
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
