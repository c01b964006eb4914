//! The port through which a probe sends and receives. It uses one of the kernel's mechanisms, and can copy all frames to a
//! capture.

mod sending;

pub(crate) use sending::Publisher;

use crate::copier::FrameCopier;
use crate::error::ProbeError;
use crate::frame::Frame;
use crate::nic::{Directions, NicClock, NicStamps, Stamps};
use crate::reception::Routed;
use crate::redundant::{Attendant, LanFault, Pair};
use run::Recorder;
use sys::SysError;
use sys::link::{LinkCounters, LinkStatistics};
use sys::packet::{PacketPort, PortOptions, TxBatch};
use sys::xdp::{XdpPort, XdpSender};
use wire::redundancy::{Lan, RCT};
use wire::routed::{Key, Wrapper};

/// A port that uses either mechanism, with or without a capture.
#[derive(Debug)]
pub struct Port {
    engine: Engine,
    copier: Option<FrameCopier>,
    /// Number of frames that the packet socket has numbered so far.
    numbered: u32,
    /// Writer of datagrams, if frames of GOOSE and sampled values are sent as such.
    wrapper: Option<Wrapper>,
    /// Keys of the datagrams that are received; `None` reads none.
    keys: Option<Vec<Key>>,
    /// The NIC's time stamping, if its stamps are used. Declared after the socket so that it is dropped after the socket.
    nic: Option<NicStamps>,
}

/// The kernel's mechanism.
#[derive(Debug)]
enum Engine {
    Packet(PacketPort),
    Xdp(XdpPort),
    /// Sends and receives in two LANs.
    Redundant(Box<Pair>),
    /// Receives through the ring, sends by AF_XDP.
    Mixed(PacketPort, XdpSender),
}

impl From<PacketPort> for Port {
    fn from(port: PacketPort) -> Self {
        Self {
            engine: Engine::Packet(port),
            copier: None,
            numbered: 0,
            wrapper: None,
            keys: None,
            nic: None,
        }
    }
}

impl From<Pair> for Port {
    fn from(pair: Pair) -> Self {
        Self {
            engine: Engine::Redundant(Box::new(pair)),
            copier: None,
            numbered: 0,
            wrapper: None,
            keys: None,
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
            wrapper: None,
            keys: None,
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
            wrapper: None,
            keys: None,
            nic: None,
        }
    }
}

impl Port {
    /// Opens a packet port on `interface`. If its options request stamps of the NIC, these are turned on first.
    ///
    /// # Errors
    /// Same as [`PacketPort::open`] and [`NicStamps::take`].
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

    /// Adds the known facts about the NIC's clock to a run that begins, if the NIC stamps the frames.
    ///
    /// # Errors
    /// The kernel cannot create the thread that follows the clock.
    pub(crate) fn follow_nic(&mut self, recorder: &Recorder) -> Result<(), ProbeError> {
        self.nic.as_mut().map_or(Ok(()), |nic| nic.follow(recorder))
    }

    /// The NIC's clock, if the NIC makes the port's stamps.
    pub(crate) fn nic_clock(&self) -> Option<NicClock> {
        self.nic.as_ref().map(|nic| nic.clock().clone())
    }

    /// Returns the same port; all frames that it sends and receives are also passed to `copier`.
    #[must_use]
    pub fn with_copier(mut self, copier: Option<FrameCopier>) -> Self {
        self.copier = copier;
        self
    }

    /// Returns the same port; it sends each frame of GOOSE and sampled values as a datagram. A batch is sent as it is: its maker wraps it.
    /// In two LANs, a datagram leaves room for PRP's trailer or HSR's tag, which have the same length.
    #[must_use]
    pub fn with_wrapper(mut self, wrapper: Option<Wrapper>) -> Self {
        self.wrapper = match self.is_redundant() {
            true => wrapper.map(|wrapper| wrapper.leaving(RCT)),
            false => wrapper,
        };
        self
    }

    /// Returns the same port; the messages of datagrams that it receives are accounted for like frames, and signatures checked with these
    /// keys, if there are any. `None` reads no datagrams.
    #[must_use]
    pub fn with_keys(mut self, keys: Option<Vec<Key>>) -> Self {
        self.keys = keys;
        self
    }

    /// Writer of datagrams, if the port sends such.
    pub(crate) fn wrapper(&self) -> Option<&Wrapper> {
        self.wrapper.as_ref()
    }

    /// Reader of datagrams, if the port receives such.
    pub(crate) fn routed(&self) -> Option<Routed> {
        self.keys.clone().map(Routed::new)
    }

    /// Describes the mechanism in use, and why no better one is used.
    pub fn describe(&self) -> String {
        match &self.engine {
            Engine::Packet(_) => "AF_PACKET, TPACKET_V2 ring".to_owned(),
            Engine::Redundant(pair) => pair.describe(),
            Engine::Xdp(port) => format!("AF_XDP, {}", port.mode()),
            Engine::Mixed(port, _) if port.ring_frames() == 0 => "AF_XDP, sends only".to_owned(),
            Engine::Mixed(..) => "AF_PACKET, TPACKET_V2 ring; sends by AF_XDP".to_owned(),
        }
    }

    /// Errors if the port was opened without these stamps.
    pub(crate) fn check_stamps(&self, stamps: Stamps) -> Result<(), String> {
        let interface = self.interface();
        match (stamps, self.packet()) {
            (Stamps::Off, _) | (Stamps::Software, Some(_)) => Ok(()),
            (_, None) if self.is_redundant() => Err(format!(
                "{interface}: two LANs have no stamps of sent frames: use --stamps off, or leave out --lan-b"
            )),
            (_, None) => Err(format!(
                "{interface}: AF_XDP has no time stamps here: use --stamps off, or --engine packet"
            )),
            (Stamps::Hardware, Some(packet)) if packet.hardware_tx_stamps() && self.nic_clock().is_some() => Ok(()),
            (Stamps::Hardware, Some(_)) => Err(format!("{interface}: its port was opened without stamps of the NIC")),
        }
    }

    /// Reason to doubt that the port sees every frame, as a sentence; `None` if there is none.
    pub fn doubt(&self) -> Option<String> {
        let Engine::Xdp(port) = &self.engine else { return None };
        let queues = port.rx_queues().filter(|queues| *queues > 1)?;
        let name = port.interface();
        Some(format!(
            "{name} has {queues} receive queues, and an AF_XDP socket sees one of them: frames that the NIC puts into \
             another will count as lost (`ethtool -L {name} combined 1`, or rx 1, leaves one)"
        ))
    }

    /// Hardware address of the interface at the time the port was opened.
    pub fn mac(&self) -> [u8; 6] {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.mac(),
            Engine::Redundant(pair) => pair.a().mac(),
            Engine::Xdp(port) => port.mac(),
        }
    }

    /// Largest payload of the interface in bytes, without the 14 bytes of the Ethernet header.
    pub fn mtu(&self) -> u32 {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.mtu(),
            Engine::Redundant(pair) => pair.a().mtu(),
            Engine::Xdp(port) => port.mtu(),
        }
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.interface(),
            Engine::Redundant(pair) => pair.a().interface(),
            Engine::Xdp(port) => port.interface(),
        }
    }

    /// The interfaces, in words.
    pub fn interfaces(&self) -> String {
        match &self.engine {
            Engine::Redundant(pair) => pair.interfaces(),
            Engine::Packet(_) | Engine::Xdp(_) | Engine::Mixed(..) => self.interface().to_owned(),
        }
    }

    /// The packet port, if it is used for both sending and receiving.
    pub fn packet(&self) -> Option<&PacketPort> {
        match &self.engine {
            Engine::Packet(port) => Some(port),
            Engine::Redundant(_) | Engine::Xdp(_) | Engine::Mixed(..) => None,
        }
    }

    /// True for a port of two LANs.
    pub fn is_redundant(&self) -> bool {
        matches!(self.engine, Engine::Redundant(_))
    }

    /// Allocates what a fault of the LANs needs; does nothing at a port that is none of two LANs.
    pub(crate) fn prepare_fault(&mut self, fault: LanFault) {
        if let Engine::Redundant(pair) = &mut self.engine {
            pair.prepare(fault);
        }
    }

    /// Allocates what batches as large as this one need, so that sending allocates nothing.
    pub(crate) fn make_room(&mut self, batch: &TxBatch) {
        if let Engine::Redundant(pair) = &mut self.engine {
            pair.make_room(batch.capacity(), batch.frame_bytes());
        }
    }

    /// The work of a doubly attached node beside its measuring threads; `None` for a port in one LAN. A node that sends `announces` itself.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub(crate) fn attendant(&self, announces: bool) -> Result<Option<Attendant>, ProbeError> {
        match &self.engine {
            Engine::Redundant(pair) => pair.attendant(announces).map(Some),
            Engine::Packet(_) | Engine::Xdp(_) | Engine::Mixed(..) => Ok(None),
        }
    }

    /// The links of its interfaces, for another thread; none for AF_XDP.
    pub(crate) fn links(&self) -> Vec<LinkCounters> {
        match &self.engine {
            Engine::Packet(port) => vec![port.link()],
            Engine::Redundant(pair) => pair.ports().map(PacketPort::link).into(),
            Engine::Xdp(_) | Engine::Mixed(..) => Vec::new(),
        }
    }

    /// Begins or ends a fault of the LANs; does nothing at a port that is none of two LANs.
    pub(crate) fn set_lan_fault(&mut self, fault: Option<LanFault>) {
        if let Engine::Redundant(pair) = &mut self.engine {
            pair.set_fault(fault);
        }
    }

    /// Frames that the port of one LAN did not accept, but that of the other did: of LAN A and LAN B.
    pub(crate) fn refused_on(&self) -> [u64; 2] {
        match &self.engine {
            Engine::Redundant(pair) => Lan::BOTH.map(|lan| pair.refused(lan)),
            Engine::Packet(_) | Engine::Xdp(_) | Engine::Mixed(..) => [0; 2],
        }
    }

    /// Oldest received frame that was not yet taken.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the port, which no Iterator's item can"
    )]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let frame = match &mut self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => Frame::Packet(port.next()?),
            Engine::Redundant(pair) => {
                let (lan, frame) = pair.next()?;
                Frame::Lan(lan, frame)
            }
            Engine::Xdp(port) => Frame::Xdp(port.next()?),
        };
        if let Some(copier) = &mut self.copier {
            copier.received(&frame);
        }
        Some(frame)
    }

    /// Sleeps until a frame arrives, for at most `timeout_ns`.
    ///
    /// # Errors
    /// Same as [`PacketPort::wait`].
    pub fn wait(&self, timeout_ns: u64) -> Result<bool, SysError> {
        match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.wait(timeout_ns),
            Engine::Redundant(pair) => pair.wait(timeout_ns),
            Engine::Xdp(port) => port.wait(timeout_ns),
        }
    }

    /// The error if the interface was removed. Costs one system call, since a receive call does not report the removal.
    pub(crate) fn gone(&self) -> Result<(), SysError> {
        let is_gone = match &self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.is_gone(),
            Engine::Redundant(pair) => pair.is_gone(),
            Engine::Xdp(port) => port.is_gone(),
        };
        match is_gone {
            true => Err(SysError::InterfaceGone {
                name: self.interface().into(),
            }),
            false => Ok(()),
        }
    }

    /// Counters of the interface since it was created; `None` if the mechanism has none, or the interface is gone.
    pub(crate) fn link_statistics(&mut self) -> Option<LinkStatistics> {
        match &mut self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.link_statistics().ok(),
            Engine::Redundant(pair) => {
                let [a, b] = pair.ports_mut().map(|port| port.link_statistics().ok());
                a.zip(b).map(|(a, b)| a.and(b))
            }
            Engine::Xdp(_) => None,
        }
    }

    /// Frames that the port lost since the last call because they were not taken in time; 0 if the kernel does not report them.
    pub fn dropped(&mut self) -> u64 {
        match &mut self.engine {
            Engine::Packet(port) | Engine::Mixed(port, _) => port.statistics().map_or(0, |counted| counted.dropped),
            Engine::Redundant(pair) => {
                let dropped = |port: &mut PacketPort| port.statistics().map_or(0, |counted| counted.dropped);
                pair.ports_mut().into_iter().map(dropped).sum()
            }
            Engine::Xdp(port) => port
                .statistics()
                .map_or(0, |counted| counted.dropped + counted.ring_full),
        }
    }
}
