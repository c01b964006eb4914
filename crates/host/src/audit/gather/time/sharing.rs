//! Others that take the frames of an interface that ptp4l listens on.

use crate::audit::value::Unknown;
use crate::error::HostError;
use crate::reader::Reader;

/// Devices that take frames from the one below before its own programs see them, as their `uevent` names them
/// (Linux: drivers/net/macvlan.c, macvtap.c, ipvlan/ipvlan_main.c).
const TAKERS: [&str; 3] = ["macvlan", "macvtap", "ipvlan"];

/// The bridge, bond, team or switch that an interface is a port of, and the devices upon it that take its frames, in words.
pub(super) fn of(reader: &Reader, interface: &str) -> Result<Vec<String>, Unknown> {
    let folder = format!("/sys/class/net/{interface}");
    let mut found = Vec::from_iter(master(reader, &folder)?.map(|name| format!("{interface} is a port of {name}")));
    for upper in reader.names(&folder, |name| name.starts_with("upper_"))? {
        let name = upper.trim_start_matches("upper_");
        let kind = kind(reader, name)?;
        if TAKERS.contains(&kind.as_str()) {
            found.push(format!("{kind} {name} is on {interface}"));
        }
    }
    Ok(found)
}

/// The device that the interface is a port of.
fn master(reader: &Reader, folder: &str) -> Result<Option<String>, HostError> {
    let target = match reader.target(&format!("{folder}/master")) {
        Err(error) if error.is_absent() => return Ok(None),
        target => target?,
    };
    Ok(target.file_name().map(|name| name.to_string_lossy().into_owned()))
}

/// The kind of a device; empty where it has none.
fn kind(reader: &Reader, name: &str) -> Result<String, HostError> {
    let text = reader.text(&format!("/sys/class/net/{name}/uevent"))?;
    let kind = text.lines().find_map(|line| line.strip_prefix("DEVTYPE="));
    Ok(kind.unwrap_or_default().to_owned())
}
