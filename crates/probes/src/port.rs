//! The port through which a probe sends and receives: one of the kernel's mechanisms, and a copier that captures what
//! passes.

use crate::copier::FrameCopier;
use crate::error::ProbeError;
use crate::nic::{Directions, NicClock, NicStamps};
use run::Recorder;
use sys::SysError;
use sys::link::LinkStatistics;
use sys::packet::{
    self, PacketPort, PacketSender, PartialSend, PortOptions, RxFrame, RxStamp, TxBatch, TxEvent, VlanTag,
};
use sys::xdp::{XdpFrame, XdpPort, XdpSender};
use units::{Monotonic, Tai};

/// A port of either kind, tapped or not.
#[derive(Debug)]
pub struct Port {
    engine: Engine,
    copier: Option<FrameCopier>,
    /// Frames the packet socket has numbered so far.
    numbered: u32,
    /// The NIC whose stamps are measured with. Behind the socket, which needs them as long as it is open.
    nic: Option<NicStamps>,
}

/// The kernel's mechanism.
#[derive(Debug)]
enum Engine {
    Packet(PacketPort),
    Xdp(XdpPort),
    /// Receives through the ring, sends by AF_XDP.
    Mixed(PacketPort, XdpSender),
}

impl From<PacketPort> for Port {
    fn from(port: PacketPort) -> Self {
        Self {
            engine: Engine::Packet(port),
            copier: None,
            numbered: 0,
            nic: None,
        }
    }
}

impl From<XdpPort> for Port {
    fn from(port: XdpPort) -> Self {
        Self {
            engine: Engine::Xdp(port),
            copier: None,
            numbered: 0,
            nic: None,
        }
    }
}

impl From<(PacketPort, XdpSender)> for Port {
    fn from((port, sender): (PacketPort, XdpSender)) -> Self {
        Self {
            engine: Engine::Mixed(port, sender),
            copier: None,
            numbered: 0,
            nic: None,
        }
    }
}

impl Port {
    /// Opens a packet port on `interface`; where its options ask for stamps of the NIC, these are turned on first.
    ///
    /// # Errors
    /// As [`PacketPort::open`] and [`NicStamps::take`].
    pub fn open(interface: &str, options: &PortOptions) -> Result<Self, ProbeError> {
        let directions = Directions {
            received: options.rx_stamps && options.ring_frames > 0,
            sent: options.tx_stamps,
        };
        let nic = options.hardware_stamps.then(|| NicStamps::take(interface, directions));
        let nic = nic.transpose()?;
        let port = PacketPort::open(interface, options)?;
        Ok(Self {
            nic,
            ..Self::from(port)
        })
    }

    /// Has what is known of the NIC's clock, if frames are stamped by it, go into a run that begins.
    ///
    /// # Errors
    /// The kernel has no thread left to follow the clock.
    pub(crate) fn follow_nic(&mut self, recorder: &Recorder) -> Result<(), ProbeError> {
        self.nic.as_mut().map_or(Ok(()), |nic| nic.follow(recorder))
    }

    /// The NIC's clock, where the port's stamps are of it.
    pub(crate) fn nic_clock(&self) -> Option<NicClock> {
        self.nic.as_ref().map(|nic| nic.clock().clone())
    }

    /// The same port, with everything it sends and receives shown to `copier` too.
    #[must_use]
    pub fn with_copier(mut self, copier: Option<FrameCopier>) -> Self {
        self.copier = copier;
        self
    }

    /// Describes the mechanism that runs, and why no better one does.
    pub fn describe(&self) -> String {
        match &self.engine {
            Engine::Packet(_) => "AF_PACKET, TPACKET_V2 ring".to_owned(),
            Engine::Xdp(port) => format!("AF_XDP, {}", port.mode()),
            Engine::Mixed(port, _) if port.ring_frames() == 0 => "AF_XDP, sends only".to_owned(),
            Engine::Mixed(..) => "AF_PACKET, TPACKET_V2 ring; sends by AF_XDP".to_owned(),
        }
    }

    /// Reason to doubt that the port sees every frame, in a sentence; `None` where there is none.
    pub fn doubt(&self) -> Option<String> {
        let Engine::Xdp(port) = &self.engine else { return None };
        let queues = port.rx_queues().filter(|queues| *queues > 1)?;
        let name = port.interface();
        Some(format!(
            "{name} has {queues} receive queues, and an AF_XDP socket sees one of them: frames that the NIC puts into \
             another will count as lost (`ethtool -L {name} combined 1`, or rx 1, leaves one)"
        ))
    }

    /// The interface's hardware address when the port was opened.
    pub fn mac(&self) -> [u8; 6] {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.mac(),
            Engine::Xdp(port) => port.mac(),
        }
    }

    /// The interface's largest payload in octets, without the 14 of the Ethernet header.
    pub fn mtu(&self) -> u32 {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.mtu(),
            Engine::Xdp(port) => port.mtu(),
        }
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.interface(),
            Engine::Xdp(port) => port.interface(),
        }
    }

    /// The packet port, where that is the mechanism both ways.
    pub fn packet(&self) -> Option<&PacketPort> {
        match &self.engine {
            Engine::Packet(port) => Some(port),
            Engine::Xdp(_) | Engine::Mixed(..) => None,
        }
    }

    /// Sends one frame, from the destination address, without FCS.
    ///
    /// # Errors
    /// As [`PacketPort::send`].
    #[inline]
    pub fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        let at = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let outcome = match &mut self.engine {
            Engine::Packet(port) => {
                let outcome = port.send(frame);
                self.numbered = self.numbered.wrapping_add(u32::from(packet::counts(&outcome)));
                outcome
            }
            Engine::Xdp(port) => port.send(frame),
            Engine::Mixed(_, sender) => sender.send(frame),
        };
        self.sent(at, frame, outcome)
    }

    /// Shows the copier a frame that the kernel took at `at`.
    #[inline]
    fn sent(&mut self, at: Option<Monotonic>, frame: &[u8], outcome: Result<(), SysError>) -> Result<(), SysError> {
        if let (Some(copier), Some(at), Ok(())) = (&mut self.copier, at, &outcome) {
            copier.sent(at, frame);
        }
        outcome
    }

    /// The number that the next frame has in the stamps of sent frames.
    pub(crate) fn next_number(&self) -> u32 {
        self.numbered
    }

    /// No longer has sent frames stamped, and drops the stamps that nobody took.
    pub(crate) fn end_tx_stamps(&self) {
        if let Some(port) = self.packet() {
            port.end_tx_stamps();
        }
    }

    /// Has a frame sent at `at`, by the queueing discipline or the NIC.
    ///
    /// # Errors
    /// As [`PacketPort::send_at`]; AF_XDP has no launch times here.
    pub fn send_at(&mut self, frame: &[u8], at: Tai) -> Result<(), SysError> {
        let called = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let outcome = match &mut self.engine {
            Engine::Packet(port) => {
                let outcome = port.send_at(frame, at);
                self.numbered = self.numbered.wrapping_add(u32::from(packet::counts(&outcome)));
                outcome
            }
            Engine::Xdp(port) => port.send(frame),
            Engine::Mixed(_, sender) => sender.send(frame),
        };
        self.sent(called, frame, outcome)
    }

    /// Event of the kernel about sent frames: the oldest that was not yet taken.
    pub fn next_tx_event(&self) -> Option<TxEvent> {
        self.packet().and_then(|port| port.next_tx_event().ok().flatten())
    }

    /// Sends a batch with as few system calls as the kernel takes.
    ///
    /// # Errors
    /// How many frames went, and why the next one did not: as [`PacketPort::send_all`].
    pub fn send_all(&mut self, batch: &mut TxBatch) -> Result<(), PartialSend> {
        let at = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let outcome = match &mut self.engine {
            Engine::Packet(port) => {
                let outcome = port.send_all(batch);
                self.numbered = self.numbered.wrapping_add(numbered(&outcome, batch.len()));
                outcome
            }
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

    /// Sends a batch as a publisher does, who goes on when the kernel has no room for frames or the interface is down: they are not
    /// sent later. Returns how many those are.
    ///
    /// # Errors
    /// Errors that end a publisher.
    pub(crate) fn publish_all(&mut self, batch: &mut TxBatch) -> Result<u64, ProbeError> {
        match self.send_all(batch) {
            Ok(()) => Ok(0),
            Err(partial) if partial.cause.is_passing() => Ok((batch.len() - partial.sent) as u64),
            Err(partial) => Err(partial.cause.into()),
        }
    }

    /// Makes a publisher that sends through this port from another thread. Its frames are in the port's capture, if there is one.
    ///
    /// # Errors
    /// The port is no packet socket, or the process has no descriptor left.
    pub(crate) fn publisher(&self) -> Result<Publisher, ProbeError> {
        let Some(port) = self.packet() else {
            let interface = self.interface();
            return Err(ProbeError::Usage(format!(
                "{interface}: only a packet socket is shared between threads"
            )));
        };
        Ok(Publisher {
            sender: port.sender()?,
            copier: self.copier.as_ref().map(FrameCopier::beside),
        })
    }

    /// As [`Port::publish_all`], with one frame.
    ///
    /// # Errors
    /// Errors that end a publisher.
    pub(crate) fn publish(&mut self, frame: &[u8]) -> Result<u64, ProbeError> {
        refused(self.send(frame))
    }

    /// As [`Port::publish`], with a launch time.
    ///
    /// # Errors
    /// Errors that end a publisher.
    pub(crate) fn publish_at(&mut self, frame: &[u8], at: Tai) -> Result<u64, ProbeError> {
        refused(self.send_at(frame, at))
    }

    /// The oldest received frame not yet taken.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the port, which no Iterator's item can"
    )]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let frame = match &mut self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => Frame::Packet(port.next()?),
            Engine::Xdp(port) => Frame::Xdp(port.next()?),
        };
        if let Some(copier) = &mut self.copier {
            copier.received(&frame);
        }
        Some(frame)
    }

    /// Sleeps until a frame is there, at most `timeout_ns`.
    ///
    /// # Errors
    /// As [`PacketPort::wait`].
    pub fn wait(&self, timeout_ns: u64) -> Result<bool, SysError> {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.wait(timeout_ns),
            Engine::Xdp(port) => port.wait(timeout_ns),
        }
    }

    /// The interface was removed, if it was: one system call, which nothing else that receives makes up for.
    pub(crate) fn gone(&self) -> Result<(), SysError> {
        let is_gone = match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.is_gone(),
            Engine::Xdp(port) => port.is_gone(),
        };
        match is_gone {
            true => Err(SysError::InterfaceGone {
                name: self.interface().into(),
            }),
            false => Ok(()),
        }
    }

    /// Counters of the interface since it was made; `None` where the mechanism cannot tell, or the interface is gone.
    pub(crate) fn link_statistics(&mut self) -> Option<LinkStatistics> {
        match &mut self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.link_statistics().ok(),
            Engine::Xdp(_) => None,
        }
    }

    /// Frames that the port lost since this was last asked, because they were not taken in time; 0 when the kernel does not
    /// say.
    pub fn dropped(&mut self) -> u64 {
        match &mut self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.statistics().map_or(0, |counted| counted.dropped),
            Engine::Xdp(port) => port
                .statistics()
                .map_or(0, |counted| counted.dropped + counted.ring_full),
        }
    }
}

/// A received frame, where the kernel put it.
#[derive(Debug)]
pub enum Frame<'a> {
    /// In a packet socket's ring.
    Packet(RxFrame<'a>),
    /// In an AF_XDP socket's memory.
    Xdp(XdpFrame<'a>),
}

impl Frame<'_> {
    /// The frame from its destination address, without FCS and without the tag that is in [`Frame::taken_tag`].
    #[inline]
    pub fn data(&self) -> &[u8] {
        match self {
            Self::Packet(frame) => frame.data(),
            Self::Xdp(frame) => frame.data(),
        }
    }

    /// The outer VLAN tag, where the kernel took it out of the data.
    #[inline]
    pub fn taken_tag(&self) -> Option<VlanTag> {
        match self {
            Self::Packet(frame) => frame.vlan(),
            Self::Xdp(_) => None,
        }
    }

    /// When it was received, where the mechanism says so.
    #[inline]
    pub fn stamp(&self) -> Option<RxStamp> {
        match self {
            Self::Packet(frame) => Some(frame.stamp()),
            Self::Xdp(_) => None,
        }
    }

    /// Octets the frame had when it was received.
    pub fn original_len(&self) -> usize {
        match self {
            Self::Packet(frame) => frame.original_len(),
            Self::Xdp(frame) => frame.data().len(),
        }
    }
}

/// Publishes through the port of another thread.
#[derive(Debug)]
pub(crate) struct Publisher {
    sender: PacketSender,
    copier: Option<FrameCopier>,
}

impl Publisher {
    /// As [`Port::publish`].
    ///
    /// # Errors
    /// Errors that end a publisher.
    pub(crate) fn publish(&mut self, frame: &[u8]) -> Result<u64, ProbeError> {
        let at = self.copier.as_ref().map(|_| sys::clock::monotonic());
        let outcome = self.sender.send(frame);
        if let (Some(copier), Some(at), Ok(())) = (&mut self.copier, at, &outcome) {
            copier.sent(at, frame);
        }
        refused(outcome)
    }
}

/// How many numbers a batch of `frames` took. One more that was refused and went in a second call is not known of: the stamps behind it
/// are then of the frames before those that they are taken for.
fn numbered(outcome: &Result<(), PartialSend>, frames: usize) -> u32 {
    let count = match outcome {
        Ok(()) => frames,
        Err(partial) => partial.sent + usize::from(partial.is_numbered()),
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How many frames (none or one) a send call refused, unless no other one would go either.
fn refused(outcome: Result<(), SysError>) -> Result<u64, ProbeError> {
    match outcome {
        Ok(()) => Ok(0),
        Err(cause) if cause.is_passing() => Ok(1),
        Err(cause) => Err(cause.into()),
    }
}
