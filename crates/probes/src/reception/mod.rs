//! Receiving until a stop is requested: common parts of `subscribe` and `listen`.

mod kernel_clock;
mod lans;
mod listening;
mod routed;

use crate::error::ProbeError;
use crate::frame::Frame;
use crate::nic::NicClock;
use crate::port::Port;
use kernel_clock::KernelClock;
pub(crate) use lans::Lans;
pub use listening::{Listen, Listening, Overheard};
pub(crate) use routed::Routed;
use run::{Feed, Stop};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::RxStamp;
use sys::wait::sleep_until;
use units::{Monotonic, Ns, Realtime};
use wire::ether::VlanTag;
use wire::routed::Proof;

/// Time without a check of the link while it is down.
const LINK_DOWN_NS: i64 = 10_000_000;

/// Longest sleep of the thread before it checks for a stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// After a silence of this length, and again after each further one, the link is checked.
const SILENCE_NS: i64 = 100_000_000;

/// Time for which the thread stays awake after a frame: about the cost of a sleep. Frames of synchronised publishers come a
/// microsecond apart, and a sleep before each would cost several times as much.
const LINGER_NS: i64 = 4_000;

/// Method of waiting for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receive {
    /// Poll the ring without pause: measures only the network path
    Spin,
    /// Sleep until a frame arrives: includes the wake-up latency of a real application
    Block,
}

impl Receive {
    /// Name of the method on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Block => "block",
        }
    }
}

/// Time of a frame on every clock that reports it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// The application's clock for schedules.
    pub(crate) at: Monotonic,
    /// The application's wall clock.
    pub(crate) wall: Realtime,
    /// Receive stamp on the wall clock: of the NIC if the port uses NIC stamps, otherwise of the kernel. `None` if the frame has
    /// no such stamp; the other kind is never used instead.
    pub(crate) kernel: Option<Realtime>,
    /// The same stamp in ns on the clock that made it, for the time from one frame to the next.
    pub(crate) stamp_ns: Option<i64>,
    /// Time when the kernel received the frame, independent of changes of the wall clock. The length of a silence is measured
    /// with it: while an application is held up, the kernel still receives the stream. Without a stamp, the time when the
    /// application received the frame.
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

/// A frame's stamp on the wall clock and on the clock that made it.
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

/// Clocks for the stamps of frames.
#[derive(Debug, Default)]
struct Stamping {
    clock: KernelClock,
    /// The NIC's clock, if its stamps are used.
    nic: Option<NicClock>,
}

/// Account of the received frames.
pub(crate) trait Account {
    /// Accounts for one frame with the outer VLAN tag that the kernel removed from it; returns true if the frame counts.
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool;

    /// Counts a message of a datagram whose signature is not known to be right. If the result refuses it, it is not taken.
    fn proved(&mut self, _data: &[u8], _vlan: Option<VlanTag>, _proof: Proof, _arrival: &Arrival, _feed: &mut Feed) {}

    /// Records that the link went down, or that frames arrive again.
    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed);

    /// Time of the next check for silence; `None` if no check is needed.
    fn deadline(&self) -> Option<Monotonic> {
        None
    }

    /// Checks for silence; every frame received before `now` has been taken.
    fn look(&mut self, _now: Monotonic, _feed: &mut Feed) {}
}

/// A port, with the method and duration of receiving from it.
pub(crate) struct Reception {
    pub(crate) port: Port,
    pub(crate) receive: Receive,
    /// After a frame has woken the thread, more are awaited for this long before any is read. `None` reads each at once.
    pub(crate) gather_ns: Option<u64>,
    pub(crate) duration_ns: Option<u64>,
    pub(crate) stop: Stop,
    /// Number of frames accounted for so far, for other threads that read it.
    pub(crate) frames: Arc<AtomicU64>,
    /// Number of frames without a usable stamp.
    pub(crate) unstamped: u64,
    /// Account of both LANs, for a port of two.
    pub(crate) lans: Option<Lans>,
    /// Reader of datagrams, for a port that receives them.
    pub(crate) routed: Option<Routed>,
}

/// State between two polls, for a thread that receives at its own times.
pub(crate) struct Polling {
    clock: Stamping,
    /// Number of frames accounted for so far.
    pub(crate) accepted: u64,
    is_down: bool,
    /// Time of the last frame or the last check of the link, whichever is later.
    heard: Monotonic,
}

impl Polling {
    /// Starts polling at `now`.
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
    /// Takes all waiting frames without sleeping. During silence it checks the link at intervals.
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
        if let Some(lans) = &mut self.lans {
            lans.look(now, feed);
        }
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

    /// Receives until the duration is over, a stop is requested or the interface is removed. Adds the number of counted frames to
    /// `accepted`. Every frame that the kernel had received before the returned instant has been taken.
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
        // Waiting frames came during the measurement; an application that was held up has not read them yet.
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
            if let Some(lans) = &mut self.lans {
                lans.look(now, feed);
            }
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
            if self.gather_ns.is_none() && now - last_came < LINGER_NS {
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
                // A spinning thread would not learn of a link that goes down otherwise.
                (Receive::Spin, true) => self.port.wait(0),
                (Receive::Spin, false) => Ok(false),
            };
            if let (Some(ns), Ok(true)) = (self.gather_ns, &waited) {
                sleep_until(sys::clock::monotonic() + Ns(ns));
            }
            if waited.is_err() {
                if !is_down {
                    is_down = true;
                    account.link(is_down, now, feed);
                }
                // The kernel reports a link that goes down once; frames arrive again when it is up.
                sleep_until(now + LINK_DOWN_NS);
            }
        }
        Ok(())
    }

    /// Takes all waiting frames; returns the time of the last one.
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
            // Checked with every frame: if the sender is faster than this thread, the ring never becomes empty.
            if until.is_over(arrival.heard) {
                return Some(arrival.at);
            }
            let vlan = frame.taken_tag().map(|tag| VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            });
            last = Some(arrival.at);
            if let Some((lans, lan)) = self.lans.as_mut().zip(frame.lan())
                && !lans.is_for_application(frame.data(), vlan, lan, &arrival, feed)
            {
                continue;
            }
            let count = match &mut self.routed {
                Some(routed) => routed.take(frame.data(), vlan, &arrival, account, feed),
                None => u64::from(account.take(frame.data(), vlan, &arrival, feed)),
            };
            *accepted += count;
            self.unstamped += u64::from(count > 0 && arrival.kernel.is_none());
            if matches!(until, Until::End(_)) && self.stop.requested() {
                break;
            }
        }
        last
    }
}

/// Limit of the frames to take.
#[derive(Clone, Copy)]
enum Until {
    /// Frames received before the end, if there is one, and before a stop is requested.
    End(Option<Monotonic>),
    /// Frames received before this instant.
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

/// Longest wait for a frame: until just after the deadline, so that the check is not too early.
fn until_look(deadline: Option<Monotonic>, now: Monotonic) -> u64 {
    let left = deadline.map(|deadline| u64::try_from(deadline - now + 1).unwrap_or(0));
    left.map_or(LOOK_UP_NS, |left| left.min(LOOK_UP_NS))
}

/// Text of the event that the link went down, or that frames arrive again.
pub(crate) fn link_text(is_down: bool, interface: &str) -> String {
    match is_down {
        true => format!("{interface} is down: no frames arrive"),
        false => format!("frames arrive again on {interface}"),
    }
}
