//! The end that sends and measures.

use super::tracker::{Arrival, Tracker};
use super::{Receive, ReflectConfig, series};
use crate::error::ProbeError;
use crate::record::{Counter, Feed};
use crate::stop::Stop;
use sys::packet::PacketPort;
use sys::wait::sleep_until;
use units::{Grid, Monotonic};
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{Kind, TestFrame, TestFrameMut};

/// Round trips before the first recorded one.
const WARM_UP_FRAMES: u64 = 64;

/// An answer that takes longer is waited for asleep: the thread must not spin for ever for a frame that is gone. Its round
/// trip, should it still come, is then an upper bound.
const GIVE_UP_NS: i64 = 100_000_000;

/// How long a first answer is waited for.
const FIRST_ANSWER_NS: i64 = 3_000_000_000;

/// How long the answer to a greeting after a rest is waited for; it only makes sure that the reflector is up again.
const GREETING_NS: i64 = 10_000_000;

/// Sequence numbers kept: at 250 us, two seconds.
const TRACKED_FRAMES: usize = 8_192;

pub(super) struct Initiator {
    config: ReflectConfig,
    port: PacketPort,
    stop: Stop,
    tracker: Tracker,
    frame: Vec<u8>,
    session: u32,
    /// Oldest sequence number that may still be answered soon.
    watched: u64,
    greeted: bool,
    recording: bool,
}

impl Initiator {
    pub(super) fn new(config: ReflectConfig, port: PacketPort, stop: Stop) -> Self {
        let peer = config.peer.unwrap_or(Mac::BROADCAST);
        // The low bits of the clock differ from run to run, which is all that a session number is for.
        let session = sys::clock::monotonic().as_ns() as u32;
        let greeting = TestFrame {
            kind: Kind::Hello,
            flags: 0,
            session,
            sequence: 0,
            sent_ns: 0,
        };
        let frame = greeting.encode(peer, Mac(port.mac()), config.frame_bytes);
        Self {
            config,
            port,
            stop,
            tracker: Tracker::new(TRACKED_FRAMES),
            frame,
            session,
            watched: 0,
            greeted: false,
            recording: false,
        }
    }

    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        sleep_until(start);
        self.find_reflector(feed)?;
        self.warm_up(feed)?;
        let begin = sys::clock::monotonic();
        let end = self
            .config
            .duration_ns
            .and_then(|ns| i64::try_from(ns).ok())
            .map(|ns| begin + ns);
        if self.config.interval_ns == 0 {
            self.back_to_back(end, feed)
        } else {
            self.paced(begin, feed)
        }?;
        self.collect_late_answers(feed);
        let dropped = self.port.statistics().map(|statistics| statistics.dropped).unwrap_or(0);
        if dropped > 0 {
            feed.notice(0, series::SOCKET_DROP, sys::clock::monotonic(), dropped, 0);
        }
        Ok(())
    }

    /// Greets until a reflector answers and so shows its address.
    fn find_reflector(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let until = sys::clock::monotonic() + FIRST_ANSWER_NS;
        while sys::clock::monotonic() < until && !self.stop.requested() {
            if self.greet(feed)? {
                return Ok(());
            }
        }
        if self.stop.requested() {
            return Ok(());
        }
        Err(ProbeError::NoTraffic(format!(
            "reflect: no reflector answered on {} within 3 s: start `triptime reflect IF --role reflector` at the far end, \
             and check the cable and the peer's MAC address",
            self.port.interface()
        )))
    }

    /// Sends a greeting and waits a moment for its answer.
    fn greet(&mut self, feed: &mut Feed) -> Result<bool, ProbeError> {
        self.greeted = false;
        self.send(Kind::Hello, 0)?;
        let until = sys::clock::monotonic() + GREETING_NS;
        loop {
            self.take_answers(feed);
            let left = until - sys::clock::monotonic();
            if self.greeted || left <= 0 {
                return Ok(self.greeted);
            }
            self.pause(left);
        }
    }

    fn warm_up(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        for _ in 0..WARM_UP_FRAMES {
            if self.stop.requested() {
                break;
            }
            let sent = self.send_probe(feed)?;
            self.await_answer(sent, feed);
        }
        // What is still on its way belongs to the warm-up.
        self.tracker.forget();
        self.recording = true;
        Ok(())
    }

    fn back_to_back(&mut self, end: Option<Monotonic>, feed: &mut Feed) -> Result<(), ProbeError> {
        let mut rested = sys::clock::monotonic();
        while !self.stop.requested() {
            let sent = self.send_probe(feed)?;
            self.await_answer(sent, feed);
            if end.is_some_and(|end| sent >= end) {
                break;
            }
            if self.rest_is_due(rested, sent) {
                rested = self.rest(feed)?;
            }
        }
        Ok(())
    }

    fn paced(&mut self, begin: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let grid = Grid::every_ns(begin, self.config.interval_ns);
        let end = self.config.duration_ns.map(|ns| ns / self.config.interval_ns + 1);
        let mut rested = begin;
        let mut cycle = 1;
        while end.is_none_or(|end| cycle < end) && !self.stop.requested() {
            self.wait_for(grid.due(cycle), feed);
            let sent = self.send_probe(feed)?;
            let next = grid.first_after(sent).max(cycle + 1);
            // Cycles behind the end were never due.
            let next = end.map_or(next, |end| next.min(end));
            feed.count(series::RTT, Counter::Missed, sent, next - cycle - 1);
            cycle = next;
            if self.rest_is_due(rested, sent) {
                self.await_answer(sent, feed);
                rested = self.rest(feed)?;
                cycle = grid.first_after(rested);
            }
        }
        Ok(())
    }

    fn send_probe(&mut self, feed: &mut Feed) -> Result<Monotonic, ProbeError> {
        let sequence = self.tracker.next();
        let sent = self.send(Kind::Probe, sequence)?;
        let lost = self.tracker.sent(sent);
        if self.recording {
            feed.count(series::RTT, Counter::Lost, sent, lost);
        }
        Ok(sent)
    }

    /// Sends a frame; returns the instant just before the send call.
    fn send(&mut self, kind: Kind, sequence: u64) -> Result<Monotonic, ProbeError> {
        if let Ok(mut frame) = TestFrameMut::new(&mut self.frame) {
            frame.set_kind(kind);
            frame.set_sequence(sequence);
        }
        let sent = sys::clock::monotonic();
        match self.port.send(&self.frame) {
            // A full transmit queue loses this frame, which is then counted as lost; the run goes on.
            Err(error) if !error.is_transient() => Err(error.into()),
            _ => Ok(sent),
        }
    }

    /// Takes answers until `due`: awake as long as one is expected, else asleep.
    fn wait_for(&mut self, due: Monotonic, feed: &mut Feed) {
        loop {
            self.take_answers(feed);
            let now = sys::clock::monotonic();
            if now >= due || self.stop.requested() {
                return;
            }
            if !self.expecting(now) {
                sleep_until(due);
            } else {
                self.pause(due - now);
            }
        }
    }

    /// Takes answers until the newest frame, sent at `sent`, is answered or given up.
    fn await_answer(&mut self, sent: Monotonic, feed: &mut Feed) {
        let newest = self.tracker.next() - 1;
        loop {
            self.take_answers(feed);
            let waited = sys::clock::monotonic() - sent;
            if !self.tracker.outstanding(newest) || waited > GIVE_UP_NS || self.stop.requested() {
                return;
            }
            self.pause(GIVE_UP_NS - waited);
        }
    }

    /// In blocking mode, sleeps until a frame comes, at most `ns`.
    fn pause(&self, ns: i64) {
        if self.config.receive == Receive::Block {
            let _ = self.port.wait(u64::try_from(ns).unwrap_or(0));
        }
    }

    fn expecting(&mut self, now: Monotonic) -> bool {
        while self.watched < self.tracker.next() {
            match self.tracker.sent_at(self.watched) {
                Some(sent) if now - sent < GIVE_UP_NS => return true,
                _ => self.watched += 1,
            }
        }
        false
    }

    fn take_answers(&mut self, feed: &mut Feed) {
        while let Some((answer, reflector, now)) = self.next_answer() {
            match answer.kind {
                Kind::Probe => self.answered(answer.sequence, now, feed),
                Kind::Hello => self.greeted_by(reflector),
                Kind::Rest | Kind::Stream => {}
            }
        }
    }

    /// The next frame of this session in the ring, where it came from, and when it was seen.
    fn next_answer(&mut self) -> Option<(TestFrame, Mac, Monotonic)> {
        loop {
            let frame = self.port.next()?;
            let now = sys::clock::monotonic();
            let Ok(ethernet) = EthernetView::parse(frame.data()) else {
                continue;
            };
            match TestFrame::parse(&ethernet) {
                Ok(answer) if answer.session == self.session => return Some((answer, ethernet.src(), now)),
                _ => {}
            }
        }
    }

    fn greeted_by(&mut self, reflector: Mac) {
        self.greeted = true;
        if let Ok(mut frame) = TestFrameMut::new(&mut self.frame) {
            frame.set_destination(reflector);
        }
    }

    fn answered(&mut self, sequence: u64, now: Monotonic, feed: &mut Feed) {
        let arrival = self.tracker.received(sequence);
        if !self.recording {
            return;
        }
        match arrival {
            Arrival::First { sent, reordered } => {
                let rtt_ns = now - sent;
                feed.sample(series::RTT, now, rtt_ns, sequence);
                let late = u64::try_from(rtt_ns).is_ok_and(|ns| ns > self.config.late_after_ns);
                feed.count(series::RTT, Counter::Late, now, u64::from(late));
                feed.count(series::RTT, Counter::Reordered, now, u64::from(reordered));
            }
            Arrival::Duplicate => feed.count(series::RTT, Counter::Duplicate, now, 1),
            Arrival::Stale => {}
        }
    }

    fn rest_is_due(&self, rested: Monotonic, now: Monotonic) -> bool {
        let every_ns = self.config.rest.every_ns;
        self.config.rest.is_on() && u64::try_from(now - rested).is_ok_and(|ns| ns >= every_ns)
    }

    /// Announces a rest, sleeps through it, and makes sure that the reflector is up again. Returns when it was over.
    fn rest(&mut self, feed: &mut Feed) -> Result<Monotonic, ProbeError> {
        let length_ns = self.config.rest.length_ns;
        self.send(Kind::Rest, length_ns)?;
        sleep_until(sys::clock::monotonic() + i64::try_from(length_ns).unwrap_or(0));
        for _ in 0..5 {
            if self.stop.requested() || self.greet(feed)? {
                break;
            }
        }
        Ok(sys::clock::monotonic())
    }

    /// What is on its way at the end gets the time it would have had, then counts as lost.
    fn collect_late_answers(&mut self, feed: &mut Feed) {
        let until = sys::clock::monotonic() + GIVE_UP_NS;
        while self.tracker.still_out() > 0 {
            self.take_answers(feed);
            let left = until - sys::clock::monotonic();
            if left <= 0 {
                break;
            }
            self.pause(left);
        }
        feed.count(
            series::RTT,
            Counter::Lost,
            sys::clock::monotonic(),
            self.tracker.still_out(),
        );
    }
}
