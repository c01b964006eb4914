//! Sends the same frame repeatedly, receives the answers, and records the result for each frame.

use super::link::LinkState;
use super::notice::Notice;
use super::round_trips::{Measured, RoundTrips};
use super::stages::{ReturnedFrame, Stages};
use super::strange::Strange;
use super::tracker::{Arrival, Tracker};
use super::{ReflectConfig, series, tag_of};
use crate::error::ProbeError;
use crate::nic::Stamps;
use crate::port::Port;
use crate::reception::Receive;
use model::Counter;
use run::{Feed, Stop};
use sys::packet::{self, RxStamp};
use sys::wait::sleep_until;
use units::{Monotonic, Realtime};
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::test_frame::{self, COUNTS, Summary, TestFrame, TestFrameKind, TestFrameMut};

/// Time after which the thread sleeps while it waits for an answer, so that it does not spin endlessly for a lost frame. If the
/// answer still comes, its round trip is an upper limit.
pub(super) const GIVE_UP_NS: i64 = 100_000_000;

/// Number of tracked sequence numbers: two seconds at 250 us.
const TRACKED_FRAMES: usize = 8_192;

/// Number of polls of the ring between two readings of the clock, since a reading delays the next poll.
const LOOKS_PER_CLOCK: u32 = 64;

/// Longest sleep before a check for a stop, in ns.
const LONGEST_SLEEP_NS: i64 = 100_000_000;

/// Sleep in ns if the interface cannot be waited for.
const UNWAITABLE_NS: i64 = 1_000_000;

/// Number of clock readings without an answer after which noted round trips are recorded: some milliseconds.
const QUIET_LOOKS: u32 = 1_000;

/// A received frame of this session.
struct Came {
    frame: TestFrame,
    reflector: Mac,
    tag: Option<VlanTag>,
    at: Monotonic,
    /// Times at which the driver and the application received it, on one clock.
    stamps: Option<(RxStamp, Realtime)>,
}

/// The initiator's port, its frames and their results.
pub(super) struct Exchange {
    pub(super) config: ReflectConfig,
    pub(super) stop: Stop,
    port: Port,
    link: LinkState,
    stages: Option<Stages>,
    tracker: Tracker,
    frame: Vec<u8>,
    bye: Vec<u8>,
    session: u32,
    /// Answers that do not count.
    strange: Strange,
    greeted: bool,
    /// VLAN tag of the answer to a greeting.
    greeted_with: Option<VlanTag>,
    farewell: Option<Summary>,
    measuring: bool,
    round_trips: RoundTrips,
}

impl Exchange {
    pub(super) fn new(config: ReflectConfig, port: Port, stop: Stop) -> Self {
        let peer = config.peer.unwrap_or(Mac::BROADCAST);
        let own = Mac(port.mac());
        // The low bits of the clock differ from run to run, which is sufficient for a session number.
        let session = sys::clock::monotonic().as_ns() as u32;
        let first = TestFrame {
            kind: TestFrameKind::Hello,
            flags: 0,
            session,
            sequence: 0,
            sent_ns: 0,
        };
        let bye = TestFrame {
            kind: TestFrameKind::Bye,
            ..first
        };
        let stages = (config.stamps != Stamps::Off).then(|| Stages::new(config.stamps == Stamps::Hardware));
        let round_trips = RoundTrips::new(&config, stop.clone());
        let tag_octets = 4 * config.vlan.as_slice().len();
        Self {
            frame: first.encode(peer, own, config.vlan, config.frame_bytes + tag_octets),
            bye: bye.encode(peer, own, config.vlan, test_frame::BYE_OCTETS + tag_octets),
            config,
            stop,
            port,
            link: LinkState::default(),
            stages,
            tracker: Tracker::new(TRACKED_FRAMES),
            session,
            strange: Strange::new(peer),
            greeted: false,
            greeted_with: None,
            farewell: None,
            measuring: false,
            round_trips,
        }
    }

    /// Name of the interface.
    pub(super) fn interface(&self) -> &str {
        self.port.interface()
    }

    /// Starts the measurement. Frames still under way belong to the warm-up.
    pub(super) fn begin(&mut self) {
        self.tracker.forget();
        self.measuring = true;
    }

    /// Counts so far.
    pub(super) fn summary(&self) -> Summary {
        self.round_trips.summary()
    }

    /// Sends the next probe; returns the instant just before the send call.
    pub(super) fn send_probe(&mut self, feed: &mut Feed) -> Result<Monotonic, ProbeError> {
        let sequence = self.tracker.next();
        let sent = self.send(TestFrameKind::Probe, sequence, feed)?;
        // All slots were cleared before the measurement, so every missing answer counts here.
        let lost = self.tracker.sent(sent, |missing| feed.suspect(missing));
        if self.measuring {
            self.round_trips.sent();
            feed.count(series::RTT, Counter::Lost, sent, lost);
        }
        Ok(sent)
    }

    /// Sends a frame that is not measured.
    pub(super) fn send(
        &mut self,
        kind: TestFrameKind,
        sequence: u64,
        feed: &mut Feed,
    ) -> Result<Monotonic, ProbeError> {
        let flags = if self.measuring { COUNTS } else { 0 };
        if let Ok(mut frame) = TestFrameMut::new(&mut self.frame) {
            frame.set_kind(kind);
            frame.set_flags(flags);
            frame.set_sequence(sequence);
        }
        let is_measured = kind == TestFrameKind::Probe && self.measuring;
        let before = self.stages.as_ref().map(|_| sys::clock::realtime());
        let sent = sys::clock::monotonic();
        let number = self.port.next_number();
        let outcome = self.port.send(&self.frame);
        if let (Some(stages), Some(before)) = (&mut self.stages, before)
            && is_measured
            && packet::counts(&outcome)
        {
            stages.sent(sequence, number, before);
        }
        self.link.after_send(outcome, sent, feed)?;
        Ok(sent)
    }

    /// Sends a greeting and sleeps for at most `ns` until it is answered.
    pub(super) fn greet(&mut self, ns: i64, feed: &mut Feed) -> Result<bool, ProbeError> {
        self.greeted = false;
        let sent = self.send(TestFrameKind::Hello, 0, feed)?;
        self.take_until(sent + ns, feed, Self::sleep, |exchange| exchange.greeted);
        Ok(self.greeted)
    }

    /// VLAN tag of the answer to the last greeting.
    pub(super) fn greeted_with(&self) -> Option<VlanTag> {
        self.greeted_with
    }

    /// Sends this end's counts and waits at most `ns` for those of the reflector.
    pub(super) fn part(&mut self, ns: i64, feed: &mut Feed) -> Result<Option<Summary>, ProbeError> {
        self.round_trips.record(feed);
        let summary = self.summary();
        if let Ok(mut bye) = TestFrameMut::new(&mut self.bye) {
            bye.set_summary(&summary);
        }
        let sent = sys::clock::monotonic();
        let outcome = self.port.send(&self.bye);
        self.link.after_send(outcome, sent, feed)?;
        self.take_until(sent + ns, feed, Self::sleep, |exchange| exchange.farewell.is_some());
        Ok(self.farewell)
    }

    /// Takes answers until `due` or until `is_done`; `pause` waits between two polls.
    fn take_until(
        &mut self,
        due: Monotonic,
        feed: &mut Feed,
        pause: impl Fn(&mut Self, i64, &mut Feed),
        is_done: impl Fn(&Self) -> bool,
    ) {
        loop {
            self.look(feed);
            let left = due - sys::clock::monotonic();
            if is_done(self) || left <= 0 {
                return;
            }
            pause(self, left, feed);
        }
    }

    /// Takes answers until `due`: awake while one is expected, otherwise asleep.
    pub(super) fn wait_for(&mut self, due: Monotonic, feed: &mut Feed) {
        loop {
            self.look(feed);
            let now = sys::clock::monotonic();
            if now >= due || self.stop.requested() {
                return;
            }
            self.give_up(now, feed);
            if self.tracker.under_way() == 0 {
                self.round_trips.record(feed);
                sleep_until(due.min(now + LONGEST_SLEEP_NS));
            } else {
                self.pause(due - now, feed);
            }
        }
    }

    /// Takes answers until fewer than `frames` are under way.
    pub(super) fn await_room(&mut self, frames: u64, feed: &mut Feed) {
        let mut quiet = 0;
        while self.tracker.under_way() >= frames && !self.stop.requested() {
            if self.look(feed) {
                continue;
            }
            quiet += 1;
            if quiet == QUIET_LOOKS {
                self.round_trips.record(feed);
            }
            self.give_up(sys::clock::monotonic(), feed);
            if self.tracker.under_way() >= frames {
                self.pause(GIVE_UP_NS, feed);
            }
        }
    }

    /// Gives up frames that were sent too long before `now`.
    fn give_up(&mut self, now: Monotonic, feed: &Feed) {
        let measuring = self.measuring;
        self.tracker.give_up(now + -GIVE_UP_NS, |sent| {
            if measuring {
                feed.suspect(sent);
            }
        });
    }

    /// Waits the usual time for frames under way at the end, then counts them as lost.
    pub(super) fn close(&mut self, feed: &mut Feed) {
        let end = sys::clock::monotonic() + GIVE_UP_NS;
        self.take_until(end, feed, Self::pause, |exchange| exchange.tracker.unanswered() == 0);
        self.round_trips.record(feed);
        let now = sys::clock::monotonic();
        self.give_up(now + GIVE_UP_NS, feed);
        feed.count(series::RTT, Counter::Lost, now, self.tracker.unanswered());
        // An answer that arrives during the farewell is already counted as lost.
        self.tracker.forget();
        if let Some(stages) = &mut self.stages {
            stages.close(&self.port, feed);
        }
        self.strange.say(now, feed);
        let unsplit = self.stages.as_ref().map_or(0, Stages::unsplit);
        if unsplit > 0 {
            for (slot, _) in self.unsplit_in() {
                feed.notice(*slot, Notice::Unsplit, now, unsplit, 0);
            }
        }
        let dropped = self.port.dropped();
        if dropped > 0 {
            feed.notice(0, Notice::SocketDrop, now, dropped, 0);
        }
    }

    /// Series that report round trips that could not be split: each series that lacks them if this is a doubt, otherwise only the
    /// main one.
    fn unsplit_in(&self) -> &'static [(u16, &'static str)] {
        match self.config.stamps {
            Stamps::Hardware => series::stages(Stamps::Hardware),
            Stamps::Off | Stamps::Software => &[(series::RTT, "")],
        }
    }

    /// In blocking mode, sleeps until a frame arrives, for at most `ns`.
    fn pause(&mut self, ns: i64, feed: &mut Feed) {
        if self.config.receive == Receive::Block {
            self.sleep(ns, feed);
        }
    }

    /// Sleeps until a frame arrives, for at most `ns`.
    fn sleep(&mut self, ns: i64, feed: &mut Feed) {
        self.round_trips.record(feed);
        // A stamp that is not taken would end every wait at once.
        if let Some(stages) = &mut self.stages {
            stages.collect(&self.port, None, feed);
        }
        if self.port.wait(u64::try_from(ns).unwrap_or(0)).is_err() {
            sleep_until(sys::clock::monotonic() + ns.min(UNWAITABLE_NS));
        }
    }

    /// Polls the ring several times and takes all frames; returns true if there were any.
    fn look(&mut self, feed: &mut Feed) -> bool {
        let looks = match self.config.receive {
            Receive::Spin => LOOKS_PER_CLOCK,
            Receive::Block => 1,
        };
        for _ in 0..looks {
            let mut took = false;
            while let Some(came) = self.next_answer() {
                took = true;
                match came.frame.kind {
                    TestFrameKind::Probe => self.answered(&came, feed),
                    TestFrameKind::Hello => self.greeted_by(&came),
                    TestFrameKind::Rest | TestFrameKind::Stream | TestFrameKind::Claim | TestFrameKind::Bye => {}
                }
            }
            if took {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// Next frame of this session in the ring.
    fn next_answer(&mut self) -> Option<Came> {
        loop {
            let frame = self.port.next()?;
            let at = sys::clock::monotonic();
            let stamp = self.stages.as_ref().and_then(|_| frame.stamp());
            let stamps = stamp.map(|stamp| (stamp, sys::clock::realtime()));
            let Ok(ethernet) = EthernetView::parse(frame.data()) else {
                continue;
            };
            match TestFrame::parse(&ethernet) {
                Ok(answer) if answer.session == self.session => {
                    if !self.strange.is_answer(answer.kind, &ethernet, &self.frame) {
                        continue;
                    }
                    if answer.kind == TestFrameKind::Bye {
                        self.farewell = Summary::parse(&ethernet);
                    }
                    return Some(Came {
                        frame: answer,
                        reflector: ethernet.src(),
                        tag: tag_of(&frame, &ethernet),
                        at,
                        stamps,
                    });
                }
                _ => {}
            }
        }
    }

    fn greeted_by(&mut self, came: &Came) {
        self.greeted = true;
        self.greeted_with = came.tag;
        self.strange.met(came.reflector);
        for frame in [&mut self.frame, &mut self.bye] {
            if let Ok(mut frame) = TestFrameMut::new(frame) {
                frame.set_destination(came.reflector);
            }
        }
    }

    fn answered(&mut self, came: &Came, feed: &mut Feed) {
        let (sequence, at) = (came.frame.sequence, came.at);
        let arrival = self.tracker.received(sequence);
        if !self.measuring {
            return;
        }
        match arrival {
            Arrival::First { sent, reordered } => {
                let rtt_ns = at - sent;
                let measured = Measured {
                    rtt_ns,
                    sequence,
                    at,
                    reordered,
                };
                self.round_trips.note(measured, feed);
                if let (Some(stages), Some((stamp, seen))) = (&mut self.stages, came.stamps) {
                    let answer = ReturnedFrame {
                        stamp,
                        seen,
                        at,
                        rtt_ns,
                    };
                    stages.answered(sequence, answer, &self.port, feed);
                }
            }
            Arrival::Duplicate => {
                self.strange.again(sequence);
                self.round_trips.duplicate(at, feed);
            }
            Arrival::Stale => {}
        }
    }
}
