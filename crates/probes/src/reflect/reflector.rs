//! The end that returns every frame at once.

use super::forward::Forward;
use super::link::LinkState;
use super::notice::Notice;
use super::{ReflectConfig, Role, is_of, series, tag_of};
use crate::error::ProbeError;
use crate::port::{Frame, Port};
use crate::reception::Receive;
use run::{Feed, Stop};
use sys::cycles::{self, Rate};
use sys::wait::sleep_until;
use units::{Monotonic, Ns};
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{self, CLAIM_REFLECTOR, COUNTS, Summary, TestFrame, TestFrameKind, TestFrameMut};

/// Without a frame for this long, the thread stops spinning and sleeps until one comes: nobody is measuring.
const IDLE_NS: i64 = 20_000_000;

/// How long it sleeps before it looks whether it is to stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// How long an elected reflector stays to answer further farewells, in case its answer was lost.
const FAREWELL_NS: i64 = 100_000_000;

/// The clock is read once in so many empty looks at the ring, so that looking costs next to nothing.
const LOOKS_PER_CLOCK: u32 = 256;

/// Answers noted before they are counted and recorded. Code that runs once in so many frames does not push the kernel's out of
/// the instruction cache at each, which costs more than the code itself.
const NOTED: usize = 8;

/// Octets of the two addresses, behind which a VLAN tag stands.
const ADDRESSES: usize = 12;

/// A measured frame, answered.
#[derive(Debug, Clone, Copy, Default)]
struct Answered {
    session: u32,
    sequence: u64,
    /// The CPU's counter when it was seen, and when its answer was on its way.
    seen: u64,
    done: u64,
}

pub(super) struct Reflector {
    config: ReflectConfig,
    port: Port,
    stop: Stop,
    link: LinkState,
    /// The frame to be sent back.
    frame: Vec<u8>,
    length: usize,
    forward: Forward,
    /// A clock would cost twice as much as this counter, before every answer.
    counter: Rate,
    noted: [Answered; NOTED],
    notes: usize,
    /// The session that has said farewell.
    parted_from: Option<u32>,
    /// The session that had it rest last, and when that was over.
    rested: Option<(u32, Monotonic)>,
    /// Frames that did not fit a place of the ring.
    too_long: u64,
    /// When to end because of it.
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
        // Until the roles were known it might have been the initiator, which stamps what it sends.
        self.port.end_tx_stamps();
        // Greetings that came while this thread was being made ready may have found no place.
        let _ = self.port.dropped();
        let begin = sys::clock::monotonic();
        let duration_ns = self.config.duration_ns;
        // One that was elected stays as long as the initiator does.
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

    /// An initiator that went without a farewell does not keep an elected reflector for ever.
    fn is_left_alone(&self, idle_ns: u64) -> bool {
        self.is_elected() && idle_ns > self.config.patience_ns
    }

    fn idle(&self, idle_ns: u64) -> Result<(), ProbeError> {
        if (self.config.receive == Receive::Block || idle_ns > IDLE_NS.cast_unsigned())
            && self.port.wait(LOOK_UP_NS).is_err()
        {
            // The link is down; frames come again when it is up.
            sleep_until(sys::clock::monotonic() + IDLE_NS);
        }
        if idle_ns > LOOK_UP_NS {
            self.port.gone()?;
        }
        Ok(())
    }

    /// The next test frame meant for us, turned around in our buffer, and the CPU's counter when it was seen.
    fn take(&mut self) -> Option<(TestFrame, u64)> {
        let own = Mac(self.port.mac());
        let frame = self.port.next()?;
        let seen = cycles::now();
        let ethernet = EthernetView::parse(frame.data()).ok()?;
        let to = ethernet.dst();
        // A packet socket also gets frames that a bridge floods to stations they are not meant for.
        if to != own && !to.is_multicast() {
            return None;
        }
        // Answered in a VLAN it did not come in, it would measure two networks.
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
            // A talker's; nobody waits for its return.
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

    /// Counts and records what was noted.
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

    /// Sleeps as long as it is told; not for a copy of the frame that told so, which a redundant network delivers.
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

    /// Answers a farewell with what arrived here, and tells what the initiator measured.
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

    /// Sends the buffer.
    fn give_back(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let outcome = self.port.send(&self.frame[..self.length]);
        match outcome {
            Ok(()) if !self.link.is_down() => Ok(()),
            other => self.link.after_send(other, sys::clock::monotonic(), feed),
        }
    }
}

/// Copies a frame, with the VLAN tag that the kernel took out put back; returns its length.
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
