//! The port of the channel to the host.

use super::super::CHANNEL;
use super::machine::line;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions, read_dir};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The ports of virtio-serial, each a folder with its name.
const PORTS: &str = "/sys/class/virtio-ports";
/// Port under a hypervisor without virtio: the second serial port. The first is the console.
const SERIAL: &str = "/dev/ttyS1";

/// Time that the kernel may take to find the ports; it usually takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens triptime's virtio port, or the second serial port.
///
/// # Errors
/// Neither exists.
pub(super) fn open() -> Result<File, String> {
    let begun = Instant::now();
    loop {
        // The ports of a device appear one after another.
        match find(Path::new(PORTS)) {
            Some(port) => return opened(&port),
            None if !has_ports() || begun.elapsed() > PATIENCE => break,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    serial().map_err(|why| format!("no port \"{CHANNEL}\" of virtio-serial, and {why}"))
}

/// True if there is a device of virtio-serial (virtio specification: device 3).
fn has_ports() -> bool {
    let devices = read_dir("/sys/bus/virtio/devices").into_iter().flatten().flatten();
    let mut kinds = devices.filter_map(|device| line(device.path().join("device").to_str()?).ok());
    kinds.any(|kind| kind == "0x0003")
}

/// The device file of the port with our name. udev would make a link with that name, but a guest has no udev.
fn find(ports: &Path) -> Option<PathBuf> {
    let mut ports = read_dir(ports).ok()?.flatten();
    let port = ports.find(|port| {
        let name = std::fs::read_to_string(port.path().join("name"));
        name.is_ok_and(|name| name.trim() == CHANNEL)
    })?;
    Some(Path::new("/dev").join(port.file_name()))
}

fn opened(path: &Path) -> Result<File, String> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| format!("{}: {error}", path.display()))
}

/// The second serial port in raw mode.
fn serial() -> Result<File, String> {
    let file = opened(Path::new(SERIAL))?;
    // A port without hardware has no settings.
    let mut settings = tcgetattr(&file).map_err(|_| format!("no {SERIAL}"))?;
    settings.make_raw();
    let set = settings
        .set_speed(115_200)
        .and_then(|()| tcsetattr(&file, OptionalActions::Now, &settings));
    set.map_err(|errno| format!("{SERIAL}: {errno}"))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::path::Path;

    #[test]
    fn the_port_is_found_by_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        for (port, name) in [("vport0p1", "other\n"), ("vport0p2", "triptime\n")] {
            std::fs::create_dir(folder.path().join(port)).expect("made");
            std::fs::write(folder.path().join(port).join("name"), name).expect("written");
        }
        assert_eq!(find(folder.path()).as_deref(), Some(Path::new("/dev/vport0p2")));
        assert_eq!(find(Path::new("/nowhere")), None);
    }
}
