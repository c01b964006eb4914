//! Sending through a port: single frames and batches, at once or at a launch time, also from another thread.

use super::{Engine, Port};
use crate::copier::FrameCopier;
use crate::error::ProbeError;
use sys::SysError;
use sys::packet::{self, PacketSender, PartialSend, TxBatch, TxEvent};
use units::{Monotonic, Tai};
use wire::routed::Wrapper;

impl Port {
    /// Sends one frame, given from its destination address on and without FCS.
    ///
    /// # Errors
    /// Same as [`PacketPort::send`].
    #[inline]
    pub fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        let at = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let frame = wrapped(self.wrapper.as_mut(), frame)?;
        let outcome = match &mut self.engine {
            Engine::Packet(port) => {
                let outcome = port.send(frame);
                self.numbered = self.numbered.wrapping_add(u32::from(packet::counts(&outcome)));
                outcome
            }
            Engine::Redundant(pair) => pair.send(frame),
            Engine::Xdp(port) => port.send(frame),
            Engine::Mixed(_, sender) => sender.send(frame),
        };
        copied(self.copier.as_mut(), at, frame, outcome)
    }

    /// Number of the next frame in the transmit time stamps.
    pub(crate) fn next_number(&self) -> u32 {
        self.numbered
    }

    /// Stops the stamping of sent frames, and discards the stamps not yet read.
    pub(crate) fn end_tx_stamps(&self) {
        if let Some(port) = self.packet() {
            port.end_tx_stamps();
        }
    }

    /// Sends a frame at the launch time `at`, which the queueing discipline or the NIC keeps.
    ///
    /// # Errors
    /// Same as [`PacketPort::send_at`]; AF_XDP has no launch times here.
    pub fn send_at(&mut self, frame: &[u8], at: Tai) -> Result<(), SysError> {
        let called = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let frame = wrapped(self.wrapper.as_mut(), frame)?;
        let outcome = match &mut self.engine {
            Engine::Packet(port) => {
                let outcome = port.send_at(frame, at);
                self.numbered = self.numbered.wrapping_add(u32::from(packet::counts(&outcome)));
                outcome
            }
            Engine::Redundant(pair) => pair.send(frame),
            Engine::Xdp(port) => port.send(frame),
            Engine::Mixed(_, sender) => sender.send(frame),
        };
        copied(self.copier.as_mut(), called, frame, outcome)
    }

    /// Oldest event of the kernel about sent frames that was not yet taken.
    pub fn next_tx_event(&self) -> Option<TxEvent> {
        self.packet().and_then(|port| port.next_tx_event().ok().flatten())
    }

    /// Sends a batch with as few system calls as possible.
    ///
    /// # Errors
    /// Number of frames sent, and why the next one failed: as [`PacketPort::send_all`].
    pub fn send_all(&mut self, batch: &mut TxBatch) -> Result<(), PartialSend> {
        let at = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let outcome = match &mut self.engine {
            Engine::Packet(port) => {
                let outcome = port.send_all(batch);
                self.numbered = self.numbered.wrapping_add(numbered(&outcome, batch.len()));
                outcome
            }
            Engine::Redundant(pair) => pair.send_all(batch),
            Engine::Xdp(port) => port.send_all(batch),
            Engine::Mixed(_, sender) => sender.send_all(batch),
        };
        if let (Some(copier), Some(at)) = (&mut self.copier, at) {
            let went = outcome.as_ref().map_or_else(|partial| partial.sent, |()| batch.len());
            for index in 0..went {
                copier.sent(at, batch.frame(index));
            }
        }
        outcome
    }

    /// Sends a batch for a publisher. If the kernel has no room for frames or the interface is down, these frames are skipped and
    /// never sent later. Returns the number of skipped frames.
    ///
    /// # Errors
    /// An error after which a publisher cannot continue.
    pub(crate) fn publish_all(&mut self, batch: &mut TxBatch) -> Result<u64, ProbeError> {
        match self.send_all(batch) {
            Ok(()) => Ok(0),
            Err(partial) if partial.cause.is_passing() => Ok((batch.len() - partial.sent) as u64),
            Err(partial) => Err(partial.cause.into()),
        }
    }

    /// Makes a publisher that sends through this port from another thread. Its frames are added to the port's capture, if there
    /// is one.
    ///
    /// # Errors
    /// The port is no packet socket, or the process has no file descriptor left.
    pub(crate) fn publisher(&self) -> Result<Publisher, ProbeError> {
        let Some(port) = self.packet() else {
            let interface = self.interface();
            return Err(ProbeError::Usage(format!(
                "{interface}: only a packet socket can be shared between threads"
            )));
        };
        Ok(Publisher {
            sender: port.sender()?,
            wrapper: self.wrapper.clone(),
            copier: self.copier.as_ref().map(FrameCopier::beside),
        })
    }

    /// Same as [`Port::publish_all`], for one frame.
    ///
    /// # Errors
    /// An error after which a publisher cannot continue.
    pub(crate) fn publish(&mut self, frame: &[u8]) -> Result<u64, ProbeError> {
        refused(self.send(frame))
    }

    /// Same as [`Port::publish`], with a launch time.
    ///
    /// # Errors
    /// An error after which a publisher cannot continue.
    pub(crate) fn publish_at(&mut self, frame: &[u8], at: Tai) -> Result<u64, ProbeError> {
        refused(self.send_at(frame, at))
    }
}

/// Publishes frames from another thread through a port.
#[derive(Debug)]
pub(crate) struct Publisher {
    sender: PacketSender,
    wrapper: Option<Wrapper>,
    copier: Option<FrameCopier>,
}

impl Publisher {
    /// Same as [`Port::publish`].
    ///
    /// # Errors
    /// An error after which a publisher cannot continue.
    pub(crate) fn publish(&mut self, frame: &[u8]) -> Result<u64, ProbeError> {
        let at = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let frame = wrapped(self.wrapper.as_mut(), frame)?;
        let outcome = self.sender.send(frame);
        refused(copied(self.copier.as_mut(), at, frame, outcome))
    }
}

/// The datagram for a frame, if the port sends such; otherwise the frame as it is.
#[inline]
fn wrapped<'a>(wrapper: Option<&'a mut Wrapper>, frame: &'a [u8]) -> Result<&'a [u8], SysError> {
    let Some(wrapper) = wrapper else { return Ok(frame) };
    let datagram = wrapper.wrap(frame).map_err(|error| SysError::Invalid {
        what: format!("a message for --routed: {error}"),
    })?;
    Ok(datagram.unwrap_or(frame))
}

/// Passes a frame that the kernel accepted at `at` to the copier.
#[inline]
fn copied(
    copier: Option<&mut FrameCopier>,
    at: Option<Monotonic>,
    frame: &[u8],
    outcome: Result<(), SysError>,
) -> Result<(), SysError> {
    if let (Some(copier), Some(at), Ok(())) = (copier, at, &outcome) {
        copier.sent(at, frame);
    }
    outcome
}

/// Number of frame numbers that a batch of `frames` used. If a second call sent the rest of the batch and one more frame was
/// refused there, that number is not counted: later stamps are then assigned to the wrong frames.
fn numbered(outcome: &Result<(), PartialSend>, frames: usize) -> u32 {
    let count = match outcome {
        Ok(()) => frames,
        Err(partial) => partial.sent + usize::from(partial.is_numbered()),
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Number of frames (none or one) that a send call refused. Errors if every other frame would be refused, too.
fn refused(outcome: Result<(), SysError>) -> Result<u64, ProbeError> {
    match outcome {
        Ok(()) => Ok(0),
        Err(cause) if cause.is_passing() => Ok(1),
        Err(cause) => Err(cause.into()),
    }
}
