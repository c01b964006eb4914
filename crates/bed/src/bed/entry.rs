//! Entry of frames into a bed, and so their path to the device under test inside this kernel.

use super::Bed;
use super::names::{DEVICE_IF, DEVICE_PORT, End, TEST_SET_IF, TEST_SET_PORT};
use sys::SysError;
use sys::netns::NetNs;
use trace::hops::{Point, PointKind};
use trace::path::{FIRST, FramePath};

/// Name of the point at which a forwarding program has received the frame.
const TAKEN_BY_SWITCH: &str = "switch";

/// Entry of frames to the device under test.
#[derive(Debug)]
pub(super) enum FrameEntry {
    /// The device's own interface: nothing of this machine is before it, or nothing is known about the path before it.
    Device,
    /// This port in the namespace of this process: the frames come from another machine.
    Port(String),
    /// This port of the switch; the path is searched from here.
    Switch(&'static str),
    /// A known path, which a search could not find because a program forwards the frames.
    Known(FramePath),
}

/// The end of every path: the device's interface after point number `parent`, and its receiver.
fn device(namespace: &NetNs, parent: usize) -> Result<[Point; 2], SysError> {
    namespace.run(|| {
        Ok([
            Point::at("edge", parent, DEVICE_IF, &[PointKind::Receive])?,
            Point::at("app", parent + 1, DEVICE_IF, &PointKind::APPLICATION)?,
        ])
    })?
}

/// The path over two taps: the test set's tap receives the frame, the switch reads it, and writes it to the device's tap.
pub(super) fn over_taps(test_set: &NetNs, device_end: &NetNs) -> Result<FramePath, SysError> {
    let [first, taken] = test_set.run(|| {
        Ok::<_, SysError>([
            Point::at(FIRST, 0, TEST_SET_IF, &[PointKind::Transmit])?,
            Point::at(TAKEN_BY_SWITCH, 0, TEST_SET_IF, &[PointKind::Consume])?,
        ])
    })??;
    let [edge, app] = device(device_end, 1)?;
    let process = std::process::id();
    Ok(FramePath::known(
        format!(
            "{TEST_SET_IF}: tap, in the network namespace of the test set\n  process triptime (pid {process}), which forwards\n    \
             {DEVICE_IF}: tap, in the network namespace of the device under test\n"
        ),
        vec![first, taken, edge, app],
    ))
}

/// The path over a switch in user space that forwards frames from one veth port to the other.
pub(super) fn over_ports(switch: &NetNs, program: &str, device_end: &NetNs) -> Result<FramePath, SysError> {
    let (from, to) = (TEST_SET_PORT, DEVICE_PORT);
    let [first, taken, port] = switch.run(|| {
        Ok::<_, SysError>([
            Point::at(FIRST, 0, from, &[PointKind::Receive])?,
            Point::at(TAKEN_BY_SWITCH, 0, from, &PointKind::APPLICATION)?,
            Point::at("port", 1, to, &[PointKind::Transmit])?,
        ])
    })??;
    let [edge, app] = device(device_end, 2)?;
    Ok(FramePath::known(
        format!(
            "{from}: veth\n  process {program}, which forwards\n    {to}: veth\n      {DEVICE_IF}: veth, in the network namespace of \
             the device under test\n"
        ),
        vec![first, taken, port, edge, app],
    ))
}

/// The path over the same switch to the tap of a guest; this kernel cannot trace inside the guest.
pub(super) fn to_tap(switch: &NetNs, program: &str) -> Result<FramePath, SysError> {
    let (from, to) = (TEST_SET_PORT, DEVICE_PORT);
    let points = switch.run(|| {
        Ok::<_, SysError>(vec![
            Point::at(FIRST, 0, from, &[PointKind::Receive])?,
            Point::at(TAKEN_BY_SWITCH, 0, from, &PointKind::APPLICATION)?,
            Point::at("tap", 1, to, &[PointKind::Transmit])?,
        ])
    })??;
    let text = format!("{from}: veth\n  process {program}, which forwards\n    {to}: tap of the guest\n");
    Ok(FramePath::known(text, points))
}

fn elsewhere() -> SysError {
    SysError::Invalid {
        what: "the device under test is on another machine; `triptime trace IF` there shows a frame's way inside it"
            .to_owned(),
    }
}

impl Bed {
    /// The path of frames from the test set to the device under test, and the points on it that can be traced.
    ///
    /// # Errors
    /// The device is on another machine, or an error of the kernel.
    pub fn frame_path(&self) -> Result<FramePath, SysError> {
        match (&self.entry, &self.switch) {
            (FrameEntry::Known(path), _) => Ok(path.clone()),
            (FrameEntry::Switch(port), Some(switch)) => switch.run(|| FramePath::behind(port))?,
            (FrameEntry::Port(port), _) if self.has_devices() => FramePath::behind(port),
            (FrameEntry::Switch(_), None) | (FrameEntry::Device | FrameEntry::Port(_), _) => {
                let device = self.place(End::Device).map_err(|_| elsewhere())?;
                device.run(|| FramePath::behind(&device.interface))
            }
        }
    }
}
