//! Frames of a port for a listener that has no recorder: it listens for years, and keeps its own account.

use super::{Arrival, LINK_DOWN_NS, Lans, SILENCE_NS, Stamping, until_look};
use crate::error::ProbeError;
use crate::port::Port;
use run::Stop;
use sys::wait::sleep_until;
use units::{Monotonic, Realtime};
use wire::ether::VlanTag;

/// A frame as it came.
#[derive(Debug, Clone, Copy)]
pub struct Overheard<'a> {
    /// Its octets.
    pub data: &'a [u8],
    /// The outer VLAN tag that the kernel took out of it.
    pub vlan: Option<VlanTag>,
    /// When the kernel received it, on a clock that is never stepped.
    pub heard: Monotonic,
    /// The kernel's stamp on the wall clock.
    pub wall: Realtime,
}

/// A listener.
pub trait Listen {
    /// Takes a frame.
    fn frame(&mut self, frame: &Overheard<'_>);

    /// The link went down, or frames come again.
    fn link(&mut self, is_down: bool, at: Monotonic);

    /// Every frame that came before `now` was taken, but for `dropped` ones since the last call, which the kernel had no room for.
    fn look(&mut self, now: Monotonic, dropped: u64);

    /// When it wants to look although no frame comes.
    fn deadline(&self) -> Option<Monotonic>;
}

/// Frames of one round, and most rounds without a look: a port that never falls silent must not keep the listener from looking. Together they
/// are more than any ring holds.
const FRAMES: usize = 4_096;
const ROUNDS: u32 = 8;

/// A port that is listened to.
pub struct Listening {
    port: Port,
    stop: Stop,
    stamping: Stamping,
}

impl Listening {
    /// Listens at a port in one LAN until a stop is requested.
    ///
    /// # Errors
    /// The port is one of two LANs: their copies are not told apart here.
    pub fn new(port: Port, stop: Stop) -> Result<Self, ProbeError> {
        if Lans::of(&port, None).is_some() {
            return Err(ProbeError::Usage("it listens in one LAN".into()));
        }
        let stamping = Stamping {
            nic: port.nic_clock(),
            ..Stamping::default()
        };
        Ok(Self { port, stop, stamping })
    }

    /// Gives frames to the listener until a stop is requested.
    ///
    /// # Errors
    /// The interface was removed.
    pub fn run(&mut self, listener: &mut impl Listen) -> Result<(), ProbeError> {
        let mut is_down = false;
        let mut last_came = sys::clock::monotonic();
        let mut checked = last_came;
        let mut rounds = 0;
        while !self.stop.requested() {
            // Read before the frames are: all that came until then have been taken when none waits any more.
            let mut now = sys::clock::monotonic();
            let (last, is_empty) = self.take(listener);
            if let Some(at) = last {
                last_came = at;
                if std::mem::take(&mut is_down) {
                    listener.link(false, at);
                }
            }
            rounds += 1;
            // Frames that were dropped came after all that wait, so they are asked for when none waits, or when it never ends.
            if !is_empty && rounds < ROUNDS {
                continue;
            }
            rounds = 0;
            let dropped = self.port.dropped();
            if !is_empty {
                now = if dropped > 0 {
                    sys::clock::monotonic()
                } else {
                    now.min(last_came)
                };
            }
            listener.look(now, dropped);
            if !is_empty {
                continue;
            }
            if now - last_came.max(checked) >= SILENCE_NS {
                checked = now;
                self.port.gone()?;
            }
            if self.port.wait(until_look(listener.deadline(), now)).is_err() {
                if !is_down {
                    is_down = true;
                    listener.link(true, now);
                }
                sleep_until(now + LINK_DOWN_NS);
            }
        }
        Ok(())
    }

    /// Takes the frames that wait. Returns when the last one was heard, and whether none waits any more.
    fn take(&mut self, listener: &mut impl Listen) -> (Option<Monotonic>, bool) {
        let mut last = None;
        for _ in 0..FRAMES {
            let Some(frame) = self.port.next() else {
                return (last, true);
            };
            let arrival = Arrival::of(&frame, &mut self.stamping);
            last = Some(arrival.heard);
            listener.frame(&Overheard {
                data: frame.data(),
                vlan: frame.taken_tag().map(|tag| VlanTag {
                    tpid: tag.tpid,
                    tci: tag.tci,
                }),
                heard: arrival.heard,
                wall: arrival.kernel.unwrap_or(arrival.wall),
            });
        }
        (last, false)
    }
}
