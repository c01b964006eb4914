//! Receiving until told to stop: what `subscribe` and `listen` have in common.

use crate::error::ProbeError;
use crate::port::{Frame, Port};
use crate::record::Feed;
use crate::reflect::Receive;
use crate::stop::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::RxStamp;
use sys::wait::sleep_until;
use units::{Monotonic, Realtime};
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

/// When a frame came, by every clock that says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// The application's clock for schedules.
    pub(crate) at: Monotonic,
    /// The application's wall clock.
    pub(crate) wall: Realtime,
    /// The kernel's receive stamp, unless the NIC's own clock made it.
    pub(crate) kernel: Option<Realtime>,
}

impl Arrival {
    fn of(frame: &Frame<'_>) -> Self {
        let at = sys::clock::monotonic();
        let wall = sys::clock::realtime();
        let kernel = match frame.stamp() {
            Some(RxStamp::Software(stamp) | RxStamp::Socket(stamp)) => Some(stamp),
            Some(RxStamp::Hardware(_)) | None => None,
        };
        Self { at, wall, kernel }
    }

    /// How long nothing came since `before`, by every clock that says so: an application that was held up has not heard the
    /// stream, but the kernel has; and a step of the wall clock is no silence.
    pub(crate) fn silence_ns(&self, before: &Self) -> u64 {
        let by_application = self.at - before.at;
        let by_kernel = self.kernel.zip(before.kernel).map(|(now, before)| now - before);
        let silent_ns = by_kernel.map_or(by_application, |ns| ns.min(by_application));
        u64::try_from(silent_ns).unwrap_or(0)
    }
}

/// What becomes of the frames.
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
}

impl Reception {
    /// Receives until the duration is over, a stop is asked for or the interface is gone. `accepted` is how many frames were
    /// accounted for.
    ///
    /// # Errors
    /// The interface was removed.
    pub(crate) fn run(
        &mut self,
        accepted: &mut u64,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> Result<(), ProbeError> {
        let duration = self.duration_ns.and_then(|ns| i64::try_from(ns).ok());
        let end = duration.map(|ns| sys::clock::monotonic() + ns);
        let mut is_down = false;
        let mut now = sys::clock::monotonic();
        let mut last_came = now;
        let mut looked = now;
        while !self.stop.requested() {
            let last = self.take_all(end, accepted, account, feed);
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
        end: Option<Monotonic>,
        accepted: &mut u64,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> Option<Monotonic> {
        let mut last = None;
        while let Some(frame) = self.port.next() {
            let arrival = Arrival::of(&frame);
            let vlan = frame.taken_tag().map(|tag| VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            });
            *accepted += u64::from(account.take(frame.data(), vlan, &arrival, feed));
            last = Some(arrival.at);
            // Looked at after every frame: a sender that is faster than we are never lets the ring run empty.
            if self.stop.requested() || end.is_some_and(|end| arrival.at >= end) {
                break;
            }
        }
        last
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

#[cfg(test)]
mod tests {
    use super::Arrival;
    use units::{Monotonic, Realtime};

    #[test]
    fn neither_a_clock_step_nor_a_held_up_application_is_a_silence() {
        let arrival = |at: i64, kernel: Option<i64>| Arrival {
            at: Monotonic::from_ns(at),
            wall: Realtime::from_ns(0),
            kernel: kernel.map(Realtime::from_ns),
        };
        let before = arrival(1_000, Some(5_000));
        assert_eq!(
            arrival(1_100, Some(2_000_005_000)).silence_ns(&before),
            100,
            "clock stepped on"
        );
        assert_eq!(
            arrival(1_100, Some(-7_000)).silence_ns(&before),
            0,
            "clock stepped back"
        );
        assert_eq!(arrival(3_000_001_000, Some(5_100)).silence_ns(&before), 100, "held up");
        assert_eq!(arrival(3_000, Some(7_000)).silence_ns(&before), 2_000);
        assert_eq!(arrival(3_000, None).silence_ns(&before), 2_000);
    }
}
