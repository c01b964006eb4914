//! The end that returns every frame at once.

use super::forward::Forward;
use super::link::LinkState;
use super::notice::Notice;
use super::{ReflectConfig, Role, is_of, series, tag_of};
use crate::error::ProbeError;
use crate::frame::Frame;
use crate::port::Port;
use crate::reception::Receive;
use run::{Feed, Stop};
use sys::cycles::{self, Rate};
use sys::wait::sleep_until;
use units::{Monotonic, Ns};
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{self, CLAIM_REFLECTOR, COUNTS, Summary, TestFrame, TestFrameKind, TestFrameMut};

/// Time without a frame after which the thread stops spinning and sleeps until one comes, since no measurement is running.
const IDLE_NS: i64 = 20_000_000;

/// Longest sleep before a check for a stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// Time for which an elected reflector still answers farewells, in case its answer was lost.
const FAREWELL_NS: i64 = 100_000_000;

/// Number of empty polls of the ring between two readings of the clock, so that polling costs almost nothing.
const LOOKS_PER_CLOCK: u32 = 256;

/// Number of answers noted before they are counted and recorded. Code that runs once in so many frames does not evict the
/// kernel's code from the instruction cache with each frame, which would cost more than the code itself.
const NOTED: usize = 8;

/// Bytes of the two addresses, after which a VLAN tag follows.
const ADDRESSES: usize = 12;

/// A measured frame that was answered.
#[derive(Debug, Clone, Copy, Default)]
struct Answered {
    session: u32,
    sequence: u64,
    /// The CPU's counter when the frame was seen, and when its answer was sent.
    seen: u64,
    done: u64,
}

pub(super) struct Reflector {
    config: ReflectConfig,
    port: Port,
    stop: Stop,
    link: LinkState,
    /// Buffer for the frame to be sent back.
    frame: Vec<u8>,
    length: usize,
    forward: Forward,
    /// The CPU's counter, since reading a clock before every answer would cost twice as much.
    counter: Rate,
    noted: [Answered; NOTED],
    notes: usize,
    /// The session that has sent its farewell.
    parted_from: Option<u32>,
    /// The session that requested the last rest, and the end of that rest.
    rested: Option<(u32, Monotonic)>,
    /// Number of frames that did not fit a slot of the ring.
    too_long: u64,
    /// Time at which the reflector ends because of its duration or a farewell.
    end: Option<Monotonic>,
}

impl Reflector {
    pub(super) fn new(config: ReflectConfig, port: Port, stop: Stop) -> Self {
        Self {
            config,
            port,
            stop,
            link: LinkState::default(),
            frame: vec![0; super::LONGEST_FRAME + 4],
            length: 0,
            forward: Forward::new(),
            counter: Rate::measure(),
            noted: [Answered::default(); NOTED],
            notes: 0,
            parted_from: None,
            rested: None,
            too_long: 0,
            end: None,
        }
    }

    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        // Until the roles were known, this end could have become the initiator, which needs stamps of sent frames.
        self.port.end_tx_stamps();
        // Greetings that came during the preparation may have been dropped; they do not count.
        let _ = self.port.dropped();
        let begin = sys::clock::monotonic();
        let duration_ns = self.config.duration_ns;
        // An elected reflector runs as long as the initiator.
        self.end = duration_ns.filter(|_| !self.is_elected()).map(|ns| begin + Ns(ns));
        let ended = self.reflect(feed);
        self.record(feed);
        let dropped = self.port.dropped();
        for (code, count) in [(Notice::SocketDrop, dropped), (Notice::TooLong, self.too_long)] {
            if count > 0 {
                feed.notice(0, code, sys::clock::monotonic(), count, 0);
            }
        }
        ended
    }

    /// Returns frames until the end.
    fn reflect(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let mut last_frame = cycles::now();
        let mut looks = 0_u32;
        while !self.stop.requested() {
            if let Some((request, seen)) = self.take() {
                self.treat(&request, seen, feed)?;
                last_frame = seen;
                looks = 0;
                continue;
            }
            looks += 1;
            std::hint::spin_loop();
            if self.config.receive == Receive::Block || looks >= LOOKS_PER_CLOCK {
                looks = 0;
                self.record(feed);
                let idle_ns = self.counter.ns(cycles::now().saturating_sub(last_frame));
                if self.end.is_some_and(|end| sys::clock::monotonic() >= end) || self.is_left_alone(idle_ns) {
                    break;
                }
                self.idle(idle_ns)?;
            }
        }
        Ok(())
    }

    fn is_elected(&self) -> bool {
        self.config.role == Role::Auto
    }

    /// True if the initiator ended without a farewell: an elected reflector then does not wait for ever.
    fn is_left_alone(&self, idle_ns: u64) -> bool {
        self.is_elected() && idle_ns > self.config.patience_ns
    }

    fn idle(&self, idle_ns: u64) -> Result<(), ProbeError> {
        if (self.config.receive == Receive::Block || idle_ns > IDLE_NS.cast_unsigned())
            && self.port.wait(LOOK_UP_NS).is_err()
        {
            // The link is down; frames arrive again when it is up.
            sleep_until(sys::clock::monotonic() + IDLE_NS);
        }
        if idle_ns > LOOK_UP_NS {
            self.port.gone()?;
        }
        Ok(())
    }

    /// The next test frame for this station, with its addresses swapped in the buffer, and the CPU's counter when it was seen.
    fn take(&mut self) -> Option<(TestFrame, u64)> {
        let own = Mac(self.port.mac());
        let frame = self.port.next()?;
        let seen = cycles::now();
        let ethernet = EthernetView::parse(frame.data()).ok()?;
        let to = ethernet.dst();
        // A packet socket also receives frames that a bridge floods to other stations.
        if to != own && !to.is_multicast() {
            return None;
        }
        // A frame from another VLAN is not answered: the round trip would cover two networks.
        if self
            .config
            .vlan
            .is_some_and(|ours| !is_of(ours, tag_of(&frame, &ethernet)))
        {
            return None;
        }
        let request = TestFrame::parse(&ethernet).ok()?;
        if frame.original_len() > frame.data().len() {
            self.too_long += 1;
            return None;
        }
        self.length = copy_tagged(&frame, &mut self.frame);
        drop(frame);
        test_frame::reflect(&mut self.frame, own);
        Some((request, seen))
    }

    fn treat(&mut self, request: &TestFrame, seen: u64, feed: &mut Feed) -> Result<(), ProbeError> {
        match request.kind {
            TestFrameKind::Probe => {
                self.give_back(feed)?;
                if request.flags & COUNTS != 0 {
                    self.note(request, seen, feed);
                }
                Ok(())
            }
            TestFrameKind::Hello => self.give_back(feed),
            TestFrameKind::Rest => {
                self.rest(request);
                Ok(())
            }
            TestFrameKind::Claim => {
                if let Ok(mut claim) = TestFrameMut::new(&mut self.frame[..self.length]) {
                    claim.set_flags(CLAIM_REFLECTOR);
                }
                self.give_back(feed)
            }
            TestFrameKind::Bye => self.part(request.session, feed),
            // A frame of a talker, which expects no answer.
            TestFrameKind::Stream => Ok(()),
        }
    }

    /// Notes an answer that was just sent.
    #[inline]
    fn note(&mut self, request: &TestFrame, seen: u64, feed: &mut Feed) {
        self.noted[self.notes] = Answered {
            session: request.session,
            sequence: request.sequence,
            seen,
            done: cycles::now(),
        };
        self.notes += 1;
        if self.notes == NOTED {
            self.record(feed);
        }
    }

    /// Counts and records the noted answers.
    #[inline(never)]
    fn record(&mut self, feed: &mut Feed) {
        let (now, counter_now) = (sys::clock::monotonic(), cycles::now());
        for answered in &self.noted[..std::mem::take(&mut self.notes)] {
            let ns = |from, to: u64| i64::try_from(self.counter.ns(to.saturating_sub(from))).unwrap_or(i64::MAX);
            let at = now + -ns(answered.done, counter_now);
            feed.sample(
                series::TURNAROUND,
                at,
                ns(answered.seen, answered.done),
                answered.sequence,
            );
            self.forward.came(answered.session, answered.sequence);
        }
    }

    /// Sleeps for the requested rest, unless the request is a copy delivered by a redundant network.
    fn rest(&mut self, request: &TestFrame) {
        let length_ns = i64::try_from(request.sequence.min(LOOK_UP_NS)).unwrap_or(0);
        let now = sys::clock::monotonic();
        let is_copy = self
            .rested
            .is_some_and(|(session, end)| session == request.session && now - end < length_ns);
        if !is_copy {
            sleep_until(now + length_ns);
            self.rested = Some((request.session, sys::clock::monotonic()));
        }
    }

    /// Answers a farewell with the counts of this end, and reports the results of the initiator.
    fn part(&mut self, session: u32, feed: &mut Feed) -> Result<(), ProbeError> {
        self.record(feed);
        let now = sys::clock::monotonic();
        let measured = self.summary_of_the_buffer();
        if let Ok(mut answer) = TestFrameMut::new(&mut self.frame[..self.length]) {
            answer.set_summary(&self.forward.summary_of(session));
        }
        self.give_back(feed)?;
        if self.parted_from == Some(session) {
            return Ok(());
        }
        self.parted_from = Some(session);
        if let Some(there) = measured {
            feed.notice(0, Notice::FarCounts, now, there.sent, there.received);
            feed.notice(0, Notice::FarTimes, now, there.mean_ns, there.max_ns);
            let arrived = self.forward.summary_of(session);
            feed.notice(
                0,
                Notice::Arrived,
                now,
                arrived.received,
                arrived.duplicate + arrived.reordered,
            );
        }
        if self.is_elected() {
            self.end = Some(now + FAREWELL_NS);
        }
        Ok(())
    }

    fn summary_of_the_buffer(&self) -> Option<Summary> {
        Summary::parse(&EthernetView::parse(&self.frame[..self.length]).ok()?)
    }

    /// Sends the frame in the buffer.
    fn give_back(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let outcome = self.port.send(&self.frame[..self.length]);
        match outcome {
            Ok(()) if !self.link.is_down() => Ok(()),
            other => self.link.after_send(other, sys::clock::monotonic(), feed),
        }
    }
}

/// Copies a frame and restores the VLAN tag that the kernel removed; returns its length.
fn copy_tagged(frame: &Frame<'_>, buffer: &mut [u8]) -> usize {
    let data = frame.data();
    let Some(tag) = frame.taken_tag() else {
        let length = data.len().min(buffer.len());
        buffer[..length].copy_from_slice(&data[..length]);
        return length;
    };
    let length = data.len().min(buffer.len() - 4);
    buffer[..ADDRESSES].copy_from_slice(&data[..ADDRESSES]);
    buffer[ADDRESSES..ADDRESSES + 2].copy_from_slice(&tag.tpid.to_be_bytes());
    buffer[ADDRESSES + 2..ADDRESSES + 4].copy_from_slice(&tag.tci.to_be_bytes());
    buffer[ADDRESSES + 4..length + 4].copy_from_slice(&data[ADDRESSES..length]);
    length + 4
}
