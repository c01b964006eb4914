//! The devices of a libvirt domain.

use super::element::{Element, Wrong};

/// Name of the channel to the agent in a guest of ours, as `triptime emit guest` writes it.
const OWN_CHANNEL: &str = "triptime";

/// Devices that matter to real-time work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Devices {
    /// `model` of `<memballoon>`; `None`: libvirt adds one.
    pub(crate) balloon: Option<String>,
    /// Devices that a relay does not need, such as `usb controller` or `graphics vnc`.
    pub(crate) needless: Vec<String>,
    /// True if a USB controller is defined, even with the model `none`. Otherwise libvirt adds one.
    pub(crate) usb_named: bool,
    /// `action` of each `<watchdog>`; `reset` if it is left out.
    pub(crate) watchdogs: Vec<String>,
    pub(crate) interfaces: Vec<Interface>,
    /// PCI devices of the host that the guest owns.
    pub(crate) host_devices: Vec<HostDevice>,
    pub(crate) disks: Vec<Disk>,
}

/// A network interface of the guest that is not a PCI device of the host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interface {
    /// `bridge`, `direct`, `network`…
    pub(crate) kind: String,
    /// Virtual network, if the kind is `network`.
    pub(crate) network: Option<String>,
    pub(crate) model: Option<String>,
    /// `vhost` or `qemu`; `None`: `vhost` if the host has it.
    pub(crate) driver: Option<String>,
    pub(crate) rx_queue: Option<u32>,
    pub(crate) tx_mode: Option<String>,
}

/// A PCI device of the host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostDevice {
    /// Address in the notation of `/sys/bus/pci/devices`: `0000:09:00.0`.
    pub(crate) address: String,
    /// True if libvirt detaches it from its driver at the start.
    pub(crate) managed: bool,
    /// VLAN that libvirt gives an `<interface>` at the start; 0: none, which removes an older one (libvirt: virNetDevSetNetConfig). `None`
    /// for a plain `<hostdev>`: it keeps the VLAN that somebody else set.
    pub(crate) own_vlan: Option<u32>,
}

/// A disk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disk {
    pub(crate) target: String,
    pub(crate) cache: Option<String>,
    /// True if an I/O thread works for it, or none could: they work for virtio only (libvirt: formatdomain, iothread).
    pub(crate) has_io_thread: bool,
}

impl Devices {
    pub(crate) fn read(domain: Element<'_>) -> Result<Self, Wrong> {
        let all: Vec<Element<'_>> = domain.at("devices").into_iter().flat_map(Element::children).collect();
        let named = |name: &'static str| all.iter().copied().filter(move |device| device.name() == name);
        let is_usb = |device: &Element<'_>| device.attribute("type") == Some("usb");
        let watchdogs = named("watchdog").map(|watchdog| watchdog.attribute("action").unwrap_or("reset").to_owned());
        let passed = named("interface").filter(|interface| is_passed(*interface));
        let passed = named("hostdev")
            .filter(|device| device.attribute("type") == Some("pci"))
            .chain(passed);
        let others = named("interface").filter(|interface| !is_passed(*interface));
        Ok(Self {
            balloon: named("memballoon")
                .next()
                .map(|balloon| balloon.attribute("model").unwrap_or("virtio").to_owned()),
            needless: all.iter().filter_map(|device| needless(*device)).collect(),
            usb_named: named("controller").any(|controller| is_usb(&controller)),
            watchdogs: watchdogs.collect(),
            interfaces: others.map(interface).collect::<Result<_, Wrong>>()?,
            host_devices: passed
                .filter_map(|device| host_device(device).transpose())
                .collect::<Result<_, Wrong>>()?,
            disks: named("disk").filter(|disk| is_disk(*disk)).map(disk).collect(),
        })
    }
}

/// Positions of the devices that a relay does not need.
pub(super) fn needless_places(domain: Element<'_>) -> Vec<std::ops::Range<usize>> {
    let devices = domain.at("devices").into_iter().flat_map(Element::children);
    devices
        .filter(|device| needless(*device).is_some())
        .map(Element::range)
        .collect()
}

/// Name of a device that a relay does not need.
fn needless(device: Element<'_>) -> Option<String> {
    let kind = |attribute| device.attribute(attribute).unwrap_or_default();
    let named = |needless: bool, attribute| needless.then(|| format!("{} {}", device.name(), kind(attribute)));
    match device.name() {
        "controller" => named(kind("type") == "usb" && kind("model") != "none", "type"),
        "video" => {
            let model = device.attribute_at("model", "type").unwrap_or_default();
            (model != "none").then(|| format!("video {model}"))
        }
        "audio" => named(kind("type") != "none", "type"),
        "input" => named(kind("bus") == "usb", "bus"),
        "disk" => named(["cdrom", "floppy"].contains(&kind("device")), "device"),
        "channel" => named(!is_own(device), "type"),
        "graphics" | "redirdev" => named(true, "type"),
        "sound" | "rng" => named(true, "model"),
        "smartcard" | "hub" => named(true, "mode"),
        _ => None,
    }
    .map(|name| name.trim_end().to_owned())
}

/// True for the channel over which a guest of ours is asked: nothing passes through it while the guest measures.
fn is_own(channel: Element<'_>) -> bool {
    let name = channel.attribute_at("target", "name");
    name.as_deref() == Some(OWN_CHANNEL)
}

/// True for a function from a pool or a named one: both are PCI devices. For a pool only a status file shows which one.
fn is_passed(interface: Element<'_>) -> bool {
    let actual = interface.at("actual").and_then(|actual| actual.attribute("type"));
    [interface.attribute("type"), actual].contains(&Some("hostdev"))
}

fn interface(element: Element<'_>) -> Result<Interface, Wrong> {
    let driver = element.at("driver");
    let of_driver = |name| driver.and_then(|driver| driver.attribute(name)).map(str::to_owned);
    Ok(Interface {
        kind: element.attribute("type").unwrap_or_default().to_owned(),
        network: element.attribute_at("source", "network"),
        model: element.attribute_at("model", "type"),
        driver: of_driver("name"),
        rx_queue: driver
            .map(|driver| driver.number("rx_queue_size"))
            .transpose()?
            .flatten(),
        tx_mode: of_driver("txmode"),
    })
}

/// Returns `None` for a function from a pool, which is chosen at the start.
fn host_device(element: Element<'_>) -> Result<Option<HostDevice>, Wrong> {
    let source = element.at("actual/source").or_else(|| element.at("source"));
    let Some(address) = source.and_then(|source| source.at("address")) else {
        return Ok(None);
    };
    let mut parts = [0u32; 4];
    for (part, name) in parts.iter_mut().zip(["domain", "bus", "slot", "function"]) {
        let text = address.attribute(name).unwrap_or("0");
        let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
        *part = u32::from_str_radix(digits, radix)
            .map_err(|_| format!("<address {name}='{text}'>: a number such as 0x09 was expected"))?;
    }
    let [domain, bus, slot, function] = parts;
    Ok(Some(HostDevice {
        address: format!("{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"),
        managed: element.attribute("managed") == Some("yes"),
        own_vlan: (element.name() == "interface").then(|| vlan(element)).transpose()?,
    }))
}

fn vlan(interface: Element<'_>) -> Result<u32, Wrong> {
    let vlan = interface.at("actual/vlan").or_else(|| interface.at("vlan"));
    let tag = vlan.and_then(|vlan| vlan.at("tag"));
    tag.map_or(Ok(0), |tag| tag.needed("id"))
}

fn is_disk(disk: Element<'_>) -> bool {
    matches!(disk.attribute("device"), None | Some("disk"))
}

/// Bus of a disk; without one, libvirt derives it from the name of the target.
fn is_virtio(disk: Element<'_>) -> bool {
    match disk.attribute_at("target", "bus") {
        Some(bus) => bus == "virtio",
        None => disk
            .attribute_at("target", "dev")
            .is_none_or(|target| target.starts_with("vd")),
    }
}

fn disk(disk: Element<'_>) -> Disk {
    Disk {
        target: disk
            .attribute_at("target", "dev")
            .unwrap_or_else(|| "a disk".to_owned()),
        cache: disk.attribute_at("driver", "cache"),
        has_io_thread: disk.attribute_at("driver", "iothread").is_some()
            || disk.at("driver/iothreads").is_some()
            || !is_virtio(disk),
    }
}
