//! A bed of two taps, connected by a thread: the simplest switch in user space.

use super::entry::{FrameEntry, over_taps};
use super::names::{DEVICE_IF, TEST_SET_IF};
use super::{Bed, BedError, Forwarder, Network, kernel};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{PipeReader, PipeWriter};
use std::thread::JoinHandle;
use sys::SysError;
use sys::link::{local_mac, set_mac};
use sys::netns::NetNs;
use sys::tap::Tap;

/// The longest frame of an interface with an MTU of 65535.
const LONGEST_FRAME: usize = 65_535 + 18;

/// The switch thread. Dropping it ends the thread and removes both taps.
#[derive(Debug)]
pub(super) struct Switch {
    /// Dropping it ends the thread.
    go_on: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// Two taps and the thread between them, on the CPUs of the calling thread with the normal policy.
pub(super) fn build() -> Result<Bed, BedError> {
    let (test_set, device) = (NetNs::create()?, NetNs::create()?);
    let near = test_set.run(|| create(TEST_SET_IF))??;
    let far = device.run(|| create(DEVICE_IF))??;
    let switch = Switch::start(near, far)?;
    let entry = FrameEntry::Known(over_taps(&test_set, &device)?);
    let mut bed = kernel::finish(Network::Tap, test_set, vec![device], None, entry)?;
    bed._forwarder = Some(Box::new(switch));
    Ok(bed)
}

/// A tap whose address is derived from its name, so that it is the same in every bed.
fn create(name: &str) -> Result<Tap, SysError> {
    let tap = Tap::create(name)?;
    set_mac(name, local_mac(name))?;
    Ok(tap)
}

impl Switch {
    fn start(near: Tap, far: Tap) -> Result<Self, BedError> {
        let failed = |what: &str, error: std::io::Error| BedError::NotAvailable(format!("{what}: {error}"));
        let (stopped, go_on) = std::io::pipe().map_err(|error| failed("make a pipe", error))?;
        let forward = move || {
            let mut frame = vec![0; LONGEST_FRAME];
            while wait(&near, &far, &stopped) {
                let passed = pass(&near, &far, &mut frame).and_then(|()| pass(&far, &near, &mut frame));
                if passed.is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("triptime-switch".to_owned())
            .spawn(forward)
            .map_err(|error| failed("start a thread", error))?;
        Ok(Self {
            go_on: Some(go_on),
            thread: Some(thread),
        })
    }
}

impl Forwarder for Switch {
    fn ended(&self) -> Option<String> {
        let is_over = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        is_over.then(|| "the thread between the taps has ended: a tap is gone".to_owned())
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.go_on = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Sleeps until a tap has a frame; returns false when the thread must end.
fn wait(near: &Tap, far: &Tap, stopped: &PipeReader) -> bool {
    let mut fds = [
        PollFd::new(near, PollFlags::IN),
        PollFd::new(far, PollFlags::IN),
        PollFd::new(stopped, PollFlags::IN),
    ];
    match poll(&mut fds, None) {
        Ok(_) => fds[2].revents().is_empty(),
        Err(errno) => errno == Errno::INTR,
    }
}

/// Forwards all available frames. A frame that the other side does not accept is dropped, as by any switch.
fn pass(from: &Tap, to: &Tap, frame: &mut [u8]) -> Result<(), SysError> {
    while let Some(octets) = from.read(frame)? {
        to.write(&frame[..octets])?;
    }
    Ok(())
}
