//! Two ports as those of a doubly attached node (IEC 62439-3): every frame is sent on both, and those of both are received.
//!
//! The node marks each sent frame with a sequence number that both copies share. It passes on all received copies: discarding and
//! accounting are the receiver's work.

mod fault;
mod node;

pub use fault::LanFault;
pub(crate) use node::{Attendant, attended};

use crate::error::ProbeError;
use fault::Delayed;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use sys::SysError;
use sys::packet::{PacketPort, PartialSend, RxFrame, TxBatch, wait_either};
use units::{Monotonic, Ns};
use wire::redundancy::{AddError, Lan, Patch, Protocol, add};

/// Octets by which marks and padding lengthen a frame.
const LONGER: usize = 64;
/// Room for a frame with its marks.
const LONGEST: usize = 2_048;

/// The sequence numbers of a node, and the LANs that it has cut off: shared by all its ports.
#[derive(Debug, Clone, Default)]
pub struct Numbers(Arc<State>);

#[derive(Debug, Default)]
struct State {
    number: AtomicU16,
    cut: [AtomicBool; 2],
}

impl Numbers {
    fn next(&self) -> u16 {
        self.0.number.fetch_add(1, Ordering::Relaxed)
    }

    /// True if nothing passes in this LAN.
    fn is_cut(&self, lan: Lan) -> bool {
        self.0.cut[lan.number()].load(Ordering::Relaxed)
    }

    fn cut(&self, lan: Lan, is_cut: bool) {
        self.0.cut[lan.number()].store(is_cut, Ordering::Relaxed);
    }
}

/// A fault of the LANs under way.
#[derive(Debug, Clone, Copy)]
struct Active {
    fault: LanFault,
    since: Monotonic,
}

/// Ports in LAN A and LAN B.
#[derive(Debug)]
pub struct Pair {
    a: PacketPort,
    b: PacketPort,
    protocol: Protocol,
    numbers: Numbers,
    frame: Vec<u8>,
    batches: Option<[TxBatch; 2]>,
    down: Cell<[bool; 2]>,
    /// Frames that only the other LAN's port accepted.
    refused: [u64; 2],
    active: Option<Active>,
    /// The LAN that [`Pair::prepare`] has memory to delay.
    delays: Lan,
    delayed: Option<Box<Delayed>>,
}

impl Pair {
    /// Joins two ports. Frames of both have the source address of the first one, as the caller writes it.
    ///
    /// # Errors
    /// Both ports are on one interface.
    pub fn new(a: PacketPort, b: PacketPort, protocol: Protocol, numbers: &Numbers) -> Result<Self, ProbeError> {
        if a.interface() == b.interface() {
            return Err(ProbeError::Usage(format!(
                "{}: LAN A and LAN B need an interface each: name another with --lan-b",
                a.interface()
            )));
        }
        Ok(Self {
            a,
            b,
            protocol,
            numbers: numbers.clone(),
            frame: Vec::with_capacity(LONGEST),
            batches: None,
            down: Cell::new([false; 2]),
            refused: [0; 2],
            active: None,
            delays: Lan::B,
            delayed: None,
        })
    }

    /// The port in LAN A.
    pub(crate) fn a(&self) -> &PacketPort {
        &self.a
    }

    /// Both ports, that of LAN A first.
    pub(crate) fn ports(&self) -> [&PacketPort; 2] {
        [&self.a, &self.b]
    }

    /// Both ports, that of LAN A first.
    pub(crate) fn ports_mut(&mut self) -> [&mut PacketPort; 2] {
        [&mut self.a, &mut self.b]
    }

    /// Protocol and interfaces of the node, in words.
    pub(crate) fn describe(&self) -> String {
        format!("{} on {}, AF_PACKET", self.protocol.word(), self.interfaces())
    }

    /// Both interfaces, in words.
    pub(crate) fn interfaces(&self) -> String {
        format!("{} (LAN A) and {} (LAN B)", self.a.interface(), self.b.interface())
    }

    /// Frames that the port of a LAN did not accept, but the other one did.
    pub(crate) fn refused(&self, lan: Lan) -> u64 {
        self.refused[lan.number()]
    }

    /// Allocates what a fault of the LANs needs.
    pub(crate) fn prepare(&mut self, fault: LanFault) {
        if let LanFault::Delay(lan, _) = fault {
            self.delays = lan;
            self.delayed = Some(Box::new(Delayed::new()));
        }
    }

    /// Allocates what a batch of this many frames of up to `frame_bytes` octets needs.
    pub(crate) fn make_room(&mut self, frames: usize, frame_bytes: usize) {
        let now = self.batches.as_ref();
        let now = now.map_or((0, 0), |[batch, _]| (batch.capacity(), batch.frame_bytes()));
        // Batches of several senders of one node: the largest of each fits.
        let needed = (frames.max(now.0), (frame_bytes + LONGER).max(now.1));
        if needed != now {
            self.batches = Some([0, 1].map(|_| TxBatch::new(needed.0, needed.1)));
        }
    }

    /// Begins a fault of the LANs at the next frame, or ends it.
    pub(crate) fn set_fault(&mut self, fault: Option<LanFault>) {
        self.active = fault.map(|fault| Active {
            fault,
            since: sys::clock::monotonic(),
        });
        self.follow_fault();
    }

    /// Cuts and joins the LANs as the fault wants it now, and sends what was delayed.
    fn follow_fault(&mut self) {
        let now = sys::clock::monotonic();
        for lan in Lan::BOTH {
            let cuts = |active: Active| active.fault.cuts(lan, u64::try_from(now - active.since).unwrap_or(0));
            self.numbers.cut(lan, self.active.is_some_and(cuts));
        }
        if let Some(delayed) = &mut self.delayed {
            // Only one LAN is delayed, and only by the fault for which there is memory.
            let port = match self.delays {
                Lan::A => &self.a,
                Lan::B => &self.b,
            };
            self.refused[self.delays.number()] += delayed.send_due(port, now);
        }
    }

    /// Time by which this LAN is delayed now, in ns.
    fn delay_ns(&self, lan: Lan) -> Option<u64> {
        match self.active?.fault {
            LanFault::Delay(delayed, ns) if delayed == lan => Some(ns),
            _ => None,
        }
    }

    /// Sends the marked frame on one LAN, now or later; `None` if the LAN is cut.
    fn send_on(&mut self, lan: Lan) -> Option<Result<(), SysError>> {
        if self.numbers.is_cut(lan) {
            return None;
        }
        let delay_ns = self.delay_ns(lan);
        if let Some((ns, delayed)) = delay_ns.zip(self.delayed.as_mut())
            && delayed.keep(&self.frame, sys::clock::monotonic() + Ns(ns))
        {
            return Some(Ok(()));
        }
        Some(match lan {
            Lan::A => self.a.send(&self.frame),
            Lan::B => self.b.send(&self.frame),
        })
    }

    /// Sends a frame on both LANs.
    ///
    /// # Errors
    /// Neither port accepted it.
    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        let patch = mark(&mut self.frame, frame, self.protocol, &self.numbers)?;
        if self.active.is_some() || self.delayed.is_some() {
            self.follow_fault();
        }
        let a = self.send_on(Lan::A);
        patch.set_lan(&mut self.frame, Lan::B);
        let b = self.send_on(Lan::B);
        match (a, b) {
            (Some(a), Some(b)) => self
                .joined(a.map_err(|cause| (1, cause)), b.map_err(|cause| (1, cause)))
                .map_err(|(_, cause)| cause),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => Ok(()),
        }
    }

    /// Sends a batch on both LANs.
    ///
    /// # Errors
    /// Neither port accepted all of it: the greater number of sent frames, and why the next one failed.
    pub(crate) fn send_all(&mut self, batch: &TxBatch) -> Result<(), PartialSend> {
        if self.active.is_some() || self.delayed.is_some() {
            // One by one, because the LANs differ.
            for index in 0..batch.len() {
                self.send(batch.frame(index))
                    .map_err(|cause| PartialSend { sent: index, cause })?;
            }
            return Ok(());
        }
        // A sender makes room before it begins.
        self.make_room(batch.capacity(), batch.frame_bytes());
        let Some(batches) = &mut self.batches else {
            return Ok(());
        };
        for index in 0..batch.len() {
            let patch = mark(&mut self.frame, batch.frame(index), self.protocol, &self.numbers)
                .map_err(|cause| PartialSend { sent: 0, cause })?;
            for (lan, own) in Lan::BOTH.into_iter().zip(batches.iter_mut()) {
                patch.set_lan(&mut self.frame, lan);
                own.frame_mut(index)[..self.frame.len()].copy_from_slice(&self.frame);
                own.set_len(index, self.frame.len());
            }
        }
        let [in_a, in_b] = batches;
        in_a.set_count(batch.len());
        in_b.set_count(batch.len());
        let a = self.a.send_all(in_a);
        let b = self.b.send_all(in_b);
        let left = |of: PartialSend| (batch.len() - of.sent, of.cause);
        self.joined(a.map_err(left), b.map_err(left))
            .map_err(|(left, cause)| PartialSend {
                sent: batch.len() - left,
                cause,
            })
    }

    /// A frame was sent if one port accepted it. An error has the number of frames that its port did not accept.
    fn joined(
        &mut self,
        a: Result<(), (usize, SysError)>,
        b: Result<(), (usize, SysError)>,
    ) -> Result<(), (usize, SysError)> {
        match (a, b) {
            (Ok(()), Ok(())) => Ok(()),
            (Err((left, _)), Ok(())) => {
                self.refused[0] += left as u64;
                Ok(())
            }
            (Ok(()), Err((left, _))) => {
                self.refused[1] += left as u64;
                Ok(())
            }
            (Err(a), Err(b)) => {
                let both = a.0.min(b.0);
                self.refused[0] += (a.0 - both) as u64;
                self.refused[1] += (b.0 - both) as u64;
                Err((both, a.1))
            }
        }
    }

    /// Received frame with the oldest stamp of both LANs: after a pause of this program, their frames come in the order of their arrival.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Lan, RxFrame<'_>)> {
        for lan in Lan::BOTH.into_iter().filter(|lan| self.numbers.is_cut(*lan)) {
            // Nothing arrives from a LAN that this node has cut off.
            match lan {
                Lan::A => while self.a.next().is_some() {},
                Lan::B => while self.b.next().is_some() {},
            }
        }
        let lan = match (self.a.next_stamp_ns(), self.b.next_stamp_ns()) {
            (Some(a), Some(b)) if b < a => Lan::B,
            (Some(_), _) => Lan::A,
            (None, Some(_)) => Lan::B,
            (None, None) => return None,
        };
        let mut down = self.down.get();
        down[lan.number()] = false;
        self.down.set(down);
        let port = match lan {
            Lan::A => &mut self.a,
            Lan::B => &mut self.b,
        };
        port.next().map(|frame| (lan, frame))
    }

    /// Sleeps until a frame arrives on any LAN.
    ///
    /// # Errors
    /// Both interfaces are down or gone.
    pub(crate) fn wait(&self, timeout_ns: u64) -> Result<bool, SysError> {
        let waited = wait_either([&self.a, &self.b], timeout_ns);
        let mut down = self.down.get();
        for (down, waited) in down.iter_mut().zip(&waited) {
            *down |= waited.is_err();
        }
        self.down.set(down);
        match (down, waited) {
            ([true, true], [Err(error), _] | [_, Err(error)]) => Err(error),
            (_, [a, b]) => Ok(a.unwrap_or(false) || b.unwrap_or(false)),
        }
    }

    /// True if both interfaces were removed.
    pub(crate) fn is_gone(&self) -> bool {
        self.a.is_gone() && self.b.is_gone()
    }
}

/// Text of the event that a LAN's port did not accept frames.
pub(crate) fn refused_text(name: &str, frames: u64, lan: u64) -> String {
    let lan = if lan == 0 { Lan::A } else { Lan::B };
    format!(
        "{name}: {frames} frames were not sent on {lan}, only on the other one: its link was down, or the kernel had no room"
    )
}

/// Copies a frame into `own` and marks it for LAN A with the next number.
fn mark(own: &mut Vec<u8>, frame: &[u8], protocol: Protocol, numbers: &Numbers) -> Result<Patch, SysError> {
    own.clear();
    own.extend_from_slice(frame);
    add(own, protocol, Lan::A, numbers.next()).map_err(|error: AddError| SysError::Invalid {
        what: format!("a frame cannot be sent redundantly: {error}"),
    })
}
