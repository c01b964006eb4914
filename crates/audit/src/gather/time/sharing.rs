//! Others that receive the frames of an interface on which ptp4l listens.

use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;

/// Bridge, bond, team or switch that owns an interface, and the devices above it that receive its frames, in words. These devices are
/// macvlan, macvtap and ipvlan: of all devices above another one, only they name no kind in their `uevent` (Linux: no SET_NETDEV_DEVTYPE in
/// drivers/net/macvlan.c, macvtap.c, ipvlan/ipvlan_main.c).
pub(super) fn of(reader: &Reader, interface: &str) -> Result<Vec<String>, Unknown> {
    let folder = format!("/sys/class/net/{interface}");
    let master = master(reader, &folder)?;
    let mut found = Vec::from_iter(master.iter().map(|name| format!("{interface} is a port of {name}")));
    for upper in reader.names(&folder, |name| name.starts_with("upper_"))? {
        let name = upper.trim_start_matches("upper_");
        if master.as_deref() != Some(name) && !has_kind(reader, name)? {
            found.push(format!("{name} (macvlan, macvtap or ipvlan) is on {interface}"));
        }
    }
    Ok(found)
}

/// Device that owns the interface as a port.
fn master(reader: &Reader, folder: &str) -> Result<Option<String>, HostError> {
    let target = match reader.target(&format!("{folder}/master")) {
        Err(error) if error.is_absent() => {
            let link = reader.names(folder, |name| name == "master")?;
            return Ok(link.first().map(|_| "a device that is not in this tree".to_owned()));
        }
        target => target?,
    };
    Ok(target.file_name().map(|name| name.to_string_lossy().into_owned()))
}

fn has_kind(reader: &Reader, name: &str) -> Result<bool, HostError> {
    let text = reader.text(&format!("/sys/class/net/{name}/uevent"))?;
    Ok(text.lines().any(|line| line.starts_with("DEVTYPE=")))
}
