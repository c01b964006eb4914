//! Receiving until told to stop: what `subscribe` and `listen` have in common.

mod kernel_clock;

use crate::error::ProbeError;
use crate::nic::NicClock;
use crate::port::{Frame, Port};
use kernel_clock::KernelClock;
use run::{Feed, Stop};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::RxStamp;
use sys::wait::sleep_until;
use units::{Monotonic, Ns, Realtime};
use wire::ether::VlanTag;

/// How long a link that is down is left alone.
const LINK_DOWN_NS: i64 = 10_000_000;

/// How long the thread sleeps before it looks whether it is to stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// After a silence of this length the link is looked at, and again after each further one.
const SILENCE_NS: i64 = 100_000_000;

/// How long the thread stays awake after a frame before it sleeps: about what a sleep costs. Frames of synchronised publishers
/// come a microsecond apart, and a sleep before each would cost several times as much.
const LINGER_NS: i64 = 4_000;

/// How a thread waits for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receive {
    /// Look at the ring without pause: the network path alone
    Spin,
    /// Sleep until a frame comes: with the wake-up a real application pays
    Block,
}

impl Receive {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Block => "block",
        }
    }
}

/// When a frame came, by every clock that says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// The application's clock for schedules.
    pub(crate) at: Monotonic,
    /// The application's wall clock.
    pub(crate) wall: Realtime,
    /// The receive stamp on the wall clock: the kernel's, or the NIC's where the port measures with those. None of a frame that has no
    /// such stamp: the other one is not taken instead.
    pub(crate) kernel: Option<Realtime>,
    /// The same stamp on the clock that made it, in ns: for the time from one frame to the next.
    pub(crate) stamp_ns: Option<i64>,
    /// When the kernel had the frame, whatever the wall clock did meanwhile: what tells how long a stream was silent. An application
    /// that was held up has not heard the stream, but the kernel has. Without a stamp, when the application had it.
    pub(crate) heard: Monotonic,
}

impl Arrival {
    fn of(frame: &Frame<'_>, stamping: &mut Stamping) -> Self {
        let at = sys::clock::monotonic();
        let wall = sys::clock::realtime();
        let (kernel, stamp_ns) = placed(frame.stamp(), stamping.nic.as_ref());
        Self {
            at,
            wall,
            kernel,
            stamp_ns,
            heard: stamping.clock.hear(kernel, at, wall),
        }
    }
}

/// A frame's stamp on the wall clock, and as it was made.
#[inline]
fn placed(stamp: Option<RxStamp>, nic: Option<&NicClock>) -> (Option<Realtime>, Option<i64>) {
    match (stamp, nic) {
        (Some(RxStamp::Software(stamp) | RxStamp::Socket(stamp)), None) => (Some(stamp), Some(stamp.as_ns())),
        (Some(RxStamp::Hardware(stamp)), Some(nic)) => {
            let on_wall = nic.on_system_clock(stamp);
            (on_wall, on_wall.map(|_| stamp.as_ns()))
        }
        (Some(RxStamp::Hardware(_)), None) | (Some(RxStamp::Software(_) | RxStamp::Socket(_)), Some(_)) | (None, _) => {
            (None, None)
        }
    }
}

/// Clocks by which the stamps of frames are read.
#[derive(Debug, Default)]
struct Stamping {
    clock: KernelClock,
    /// The NIC's clock, where its stamps are measured with.
    nic: Option<NicClock>,
}

/// Account of the frames.
pub(crate) trait Account {
    /// Accounts for one frame with the outer VLAN tag the kernel took out of it; tells whether it was one to account for.
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool;

    /// The link went down, or frames come again.
    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed);

    /// When silence is to be looked at, if at any instant.
    fn deadline(&self) -> Option<Monotonic> {
        None
    }

    /// Looks at silence: every frame that came before `now` was taken.
    fn look(&mut self, _now: Monotonic, _feed: &mut Feed) {}
}

/// A port and how long and how it is received from.
pub(crate) struct Reception {
    pub(crate) port: Port,
    pub(crate) receive: Receive,
    pub(crate) duration_ns: Option<u64>,
    pub(crate) stop: Stop,
    /// Frames accounted for so far, for who looks on.
    pub(crate) frames: Arc<AtomicU64>,
    /// Frames that had no stamp that could be measured with.
    pub(crate) unstamped: u64,
}

/// State between two looks of someone who receives by a schedule of his own.
pub(crate) struct Polling {
    clock: Stamping,
    /// Frames accounted for so far.
    pub(crate) accepted: u64,
    is_down: bool,
    /// When a frame came, or the link was looked at, last.
    heard: Monotonic,
}

impl Polling {
    /// Begins at `now`.
    pub(crate) fn new(now: Monotonic) -> Self {
        Self {
            clock: Stamping::default(),
            accepted: 0,
            is_down: false,
            heard: now,
        }
    }
}

impl Reception {
    /// Takes what is there, without waiting. In silence the link is looked at now and then.
    ///
    /// # Errors
    /// The interface was removed.
    pub(crate) fn poll(
        &mut self,
        polling: &mut Polling,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> Result<(), ProbeError> {
        let Polling { clock, accepted, .. } = polling;
        let last = self.take_all(Until::End(None), clock, accepted, account, feed);
        let now = last.unwrap_or_else(sys::clock::monotonic);
        account.look(now, feed);
        let was_down = polling.is_down;
        if last.is_some() {
            polling.is_down = false;
            polling.heard = now;
        } else if now - polling.heard >= SILENCE_NS {
            polling.heard = now;
            self.port.gone()?;
            polling.is_down |= self.port.wait(0).is_err();
        }
        if polling.is_down != was_down {
            account.link(polling.is_down, now, feed);
        }
        Ok(())
    }

    /// Receives until the duration is over, a stop is asked for or the interface is gone. `accepted` is how many frames were
    /// accounted for. Every frame that the kernel had before the instant that is returned was taken.
    ///
    /// # Errors
    /// The interface was removed.
    pub(crate) fn run(
        &mut self,
        accepted: &mut u64,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> (Monotonic, Result<(), ProbeError>) {
        let end = self.duration_ns.map(|ns| sys::clock::monotonic() + Ns(ns));
        let mut clock = Stamping {
            nic: self.port.nic_clock(),
            ..Stamping::default()
        };
        let outcome = self.receive(end, &mut clock, accepted, account, feed);
        let now = sys::clock::monotonic();
        let until = end.filter(|end| *end < now && outcome.is_ok()).unwrap_or(now);
        // Frames that wait came while it was measured: an application that was held up has not looked yet.
        self.take_all(Until::Rest(until), &mut clock, accepted, account, feed);
        self.frames.store(*accepted, Ordering::Relaxed);
        (until, outcome)
    }

    fn receive(
        &mut self,
        end: Option<Monotonic>,
        clock: &mut Stamping,
        accepted: &mut u64,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> Result<(), ProbeError> {
        let mut is_down = false;
        let mut now = sys::clock::monotonic();
        let mut last_came = now;
        let mut looked = now;
        while !self.stop.requested() {
            let last = self.take_all(Until::End(end), clock, accepted, account, feed);
            account.look(now, feed);
            if let Some(at) = last
                && is_down
            {
                is_down = false;
                account.link(is_down, at, feed);
            }
            self.frames.store(*accepted, Ordering::Relaxed);
            now = last.unwrap_or_else(sys::clock::monotonic);
            if end.is_some_and(|end| now >= end) {
                break;
            }
            last_came = last.unwrap_or(last_came);
            if now - last_came < LINGER_NS {
                std::hint::spin_loop();
                continue;
            }
            let is_silent = now - last_came.max(looked) >= SILENCE_NS;
            if is_silent {
                looked = now;
                self.port.gone()?;
            }
            let waited = match (self.receive, is_silent) {
                (Receive::Block, _) => self.port.wait(until_look(account.deadline(), now)),
                // One that spins would not hear of the link otherwise.
                (Receive::Spin, true) => self.port.wait(0),
                (Receive::Spin, false) => Ok(false),
            };
            if waited.is_err() {
                if !is_down {
                    is_down = true;
                    account.link(is_down, now, feed);
                }
                // The kernel says once that the link is down; frames come again when it is up.
                sleep_until(now + LINK_DOWN_NS);
            }
        }
        Ok(())
    }

    /// Takes what is there; returns when the last frame came.
    fn take_all(
        &mut self,
        until: Until,
        clock: &mut Stamping,
        accepted: &mut u64,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> Option<Monotonic> {
        let mut last = None;
        while let Some(frame) = self.port.next() {
            let arrival = Arrival::of(&frame, clock);
            // Looked at with every frame: a sender that is faster than we are never lets the ring run empty.
            if until.is_over(arrival.heard) {
                return Some(arrival.at);
            }
            let vlan = frame.taken_tag().map(|tag| VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            });
            let is_accepted = account.take(frame.data(), vlan, &arrival, feed);
            *accepted += u64::from(is_accepted);
            self.unstamped += u64::from(is_accepted && arrival.kernel.is_none());
            last = Some(arrival.at);
            if matches!(until, Until::End(_)) && self.stop.requested() {
                break;
            }
        }
        last
    }
}

/// Limit of the frames that are taken.
#[derive(Clone, Copy)]
enum Until {
    /// Frames before the end, if there is one, and before a stop is asked for.
    End(Option<Monotonic>),
    /// Frames that came before this instant.
    Rest(Monotonic),
}

impl Until {
    fn is_over(self, heard: Monotonic) -> bool {
        match self {
            Self::End(end) => end.is_some_and(|end| heard >= end),
            Self::Rest(until) => heard >= until,
        }
    }
}

/// How long to wait for frames at the most: until the deadline and a little, lest it be looked at too early.
fn until_look(deadline: Option<Monotonic>, now: Monotonic) -> u64 {
    let left = deadline.map(|deadline| u64::try_from(deadline - now + 1).unwrap_or(0));
    left.map_or(LOOK_UP_NS, |left| left.min(LOOK_UP_NS))
}

/// The event of a link that went down, or of one that brings frames again.
pub(crate) fn link_text(is_down: bool, interface: &str) -> String {
    match is_down {
        true => format!("{interface} is down: nothing comes"),
        false => format!("frames come again on {interface}"),
    }
}
