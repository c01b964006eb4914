//! Network interfaces, from `/sys/class/net`.

use crate::error::HostError;
use crate::reader::Reader;

/// The folder with an entry for each interface.
pub const ROOT: &str = "/sys/class/net";

/// Kinds of interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfaceKind {
    /// `lo`.
    Loopback,
    /// A device: a card, a virtual function, a virtio device.
    Device,
    /// A bridge of the kernel.
    Bridge,
    /// A bond of the kernel.
    Bond,
    /// A VLAN on another interface.
    Vlan,
    /// A macvlan or macvtap on another interface.
    Macvlan,
    /// A TUN or TAP interface of a process, such as a virtual machine.
    Tap,
    /// One end of a pair, or another interface tied to a second one; veth has no mark of its own.
    Paired,
    /// Another interface without a device.
    Virtual,
}

impl InterfaceKind {
    /// Its name for a reader.
    pub fn word(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Device => "device",
            Self::Bridge => "bridge",
            Self::Bond => "bond",
            Self::Vlan => "VLAN",
            Self::Macvlan => "macvlan",
            Self::Tap => "TUN/TAP",
            Self::Paired => "pair (veth)",
            Self::Virtual => "virtual",
        }
    }
}

/// A network interface. `None` means unknown (or that the interface lacks it); the facts give the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Index in its namespace.
    pub index: Option<u32>,
    /// Hardware address, as `02:00:00:00:00:01`.
    pub mac: Option<String>,
    /// Maximum payload in bytes.
    pub mtu: Option<u32>,
    /// Driver of its device, such as `igb` or `virtio_net`.
    pub driver: Option<String>,
    /// Speed in Mbit/s. Unknown while the link is down, and for most virtual devices.
    pub speed_mbit: Option<u32>,
    /// `up`, `down`, `unknown`…: the kernel's operational state (RFC 2863).
    pub operstate: Option<String>,
    /// Its kind.
    pub kind: InterfaceKind,
}

/// Interfaces of the namespace whose `/sys` is mounted, by name.
///
/// # Errors
/// The folder cannot be listed.
pub fn all(reader: &Reader) -> Result<Vec<Interface>, HostError> {
    let names = reader.names(ROOT, |name| {
        reader.exists(&format!("{ROOT}/{name}/ifindex")).unwrap_or(false)
    })?;
    Ok(names.into_iter().map(|name| one(reader, name)).collect())
}

fn one(reader: &Reader, name: String) -> Interface {
    Interface {
        index: reader.parsed(&format!("{ROOT}/{name}/ifindex"), "a number").ok(),
        mac: reader.line(&format!("{ROOT}/{name}/address")).ok(),
        mtu: reader.parsed(&format!("{ROOT}/{name}/mtu"), "octets").ok(),
        driver: driver(reader, &name).ok(),
        speed_mbit: speed(reader, &name).ok(),
        operstate: reader.line(&format!("{ROOT}/{name}/operstate")).ok(),
        kind: kind(reader, &name),
        name,
    }
}

/// Name of the driver of an interface.
///
/// # Errors
/// It has no driver, or the link cannot be read.
pub fn driver(reader: &Reader, name: &str) -> Result<String, HostError> {
    let path = format!("{ROOT}/{name}/device/driver");
    let target = reader.target(&path)?;
    let name = target.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    name.ok_or_else(|| HostError::unexpected(&path, "a link to a driver", &target.display().to_string()))
}

/// Speed in Mbit/s. The kernel shows -1 if it does not know it.
pub fn speed(reader: &Reader, name: &str) -> Result<u32, HostError> {
    let path = format!("{ROOT}/{name}/speed");
    let speed: i64 = reader.parsed(&path, "a speed in Mbit/s")?;
    match u32::try_from(speed) {
        Ok(speed) if speed > 0 => Ok(speed),
        _ => Err(HostError::Undecided(format!("the driver does not know it ({speed})"))),
    }
}

fn kind(reader: &Reader, name: &str) -> InterfaceKind {
    let folder = format!("{ROOT}/{name}");
    let has = |file: &str| reader.exists(&format!("{folder}/{file}")).unwrap_or(false);
    let line = |file: &str| reader.line(&format!("{folder}/{file}")).unwrap_or_default();
    // ARPHRD_LOOPBACK of linux/if_arp.h.
    if line("type") == "772" {
        return InterfaceKind::Loopback;
    }
    if has("device") || is_on_a_bus(reader, name) {
        return InterfaceKind::Device;
    }
    if has("tun_flags") {
        return InterfaceKind::Tap;
    }
    let uevent = line("uevent");
    match uevent.split_whitespace().find_map(|word| word.strip_prefix("DEVTYPE=")) {
        Some("bridge") => InterfaceKind::Bridge,
        Some("bond") => InterfaceKind::Bond,
        Some("vlan") => InterfaceKind::Vlan,
        Some("macvlan" | "macvtap") => InterfaceKind::Macvlan,
        Some(_) => InterfaceKind::Virtual,
        None if line("iflink") != line("ifindex") => InterfaceKind::Paired,
        None => InterfaceKind::Virtual,
    }
}

/// True if its place in `/sys` is below a device. Interfaces without one are below `/sys/devices/virtual` (Linux: drivers/base/core.c,
/// get_device_parent).
pub fn is_on_a_bus(reader: &Reader, name: &str) -> bool {
    let place = reader.target(&format!("{ROOT}/{name}"));
    place.is_ok_and(|place| place.starts_with("/sys/devices") && !place.starts_with("/sys/devices/virtual"))
}

/// A file or directory of the device; for virtio, of the PCI device that carries it.
pub(super) fn of_device<T>(
    name: &str,
    file: &str,
    read: impl Fn(&str) -> Result<T, HostError>,
) -> Result<T, HostError> {
    match read(&format!("{ROOT}/{name}/device/{file}")) {
        Err(error) if error.is_absent() => read(&format!("{ROOT}/{name}/device/../{file}")).map_err(|_| error),
        result => result,
    }
}
