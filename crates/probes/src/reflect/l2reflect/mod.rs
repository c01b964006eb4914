//! One end of a game of DPDK's l2reflect: one frame, the ball, goes back and forth, and each end measures from its stroke to its next
//! reception.
//!
//! The states and times are those of `app/l2reflect/main.c` as Siemens proposed it for DPDK: HELO and EHLO find the other end, the end with
//! the larger address serves after a second, 42 rounds warm up, a lost ball ends the game, QUIT ends both ends, and RESET makes both find each
//! other again. l2reflect forwards each frame of its partner, a late HELO too; this end forwards only the ball.
//!
//! The ball has no sequence number. This end therefore writes a mark into octets that l2reflect does not use and returns unchanged
//! ([`wire::l2reflect`]), so that a ball that the network doubled is not played twice.

mod meeting;

use super::link::LinkState;
use super::notice::Notice;
use super::round_trips::{Measured, RoundTrips};
use super::{ReflectConfig, series};
use crate::error::ProbeError;
use crate::port::Port;
use crate::reception::Receive;
use meeting::{EVERY_NS, Met, frame_of, meet};
use model::Counter;
use run::{Feed, Stop};
use sys::wait::sleep_until;
use units::{Monotonic, Ns};
use wire::ether::{EthernetView, Mac};
use wire::l2reflect::{L2reflectEnd, L2reflectFrame, L2reflectKind, L2reflectMut, mark};
use wire::test_frame::{MAX_OCTETS, reflect};

/// Number of round trips at the beginning of a game that do not count, as in l2reflect.
const WARM_UP_ROUNDS: u64 = 41;

/// Time without a HELO after which the far end is taken to play. It sends one each [`EVERY_NS`] until then.
const SETTLED_NS: i64 = 2 * EVERY_NS;

/// Time after which the ball is lost. l2reflect gives up after about a million empty polls, some tens of milliseconds.
const LOST_NS: i64 = 1_000_000_000;

/// Time without the ball after which a spinning thread sleeps until a frame comes.
const IDLE_NS: i64 = 20_000_000;

/// Longest sleep before a check for a stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// Number of empty polls of the ring between two readings of the clock.
const LOOKS_PER_CLOCK: u32 = 64;

/// Number of strokes for which a second copy of a ball counts as a duplicate; older ones are foreign.
const REMEMBERED: u64 = 8_192;

/// The end of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// A stop, the duration, or a round trip above the limit.
    Here,
    /// The far end quit.
    There,
    /// The ball did not come back.
    Lost,
    /// The far end wants to begin again.
    Again,
}

pub(super) struct Player {
    config: ReflectConfig,
    port: Port,
    stop: Stop,
    link: LinkState,
    round_trips: RoundTrips,
    own: Mac,
    /// Buffer for the ball, and its length.
    ball: Vec<u8>,
    length: usize,
    /// Mark of the last stroke.
    mark: u64,
    /// Instant just before the last stroke; `None` before the first one of a game.
    out: Option<Monotonic>,
    /// Round trips of this game.
    rounds: u64,
    /// Time at which the measurement ends because of its duration.
    end: Option<Monotonic>,
    /// Longest round trip that counts, in ns.
    longest_ns: i64,
    too_long: u64,
    changed: u64,
}

impl Player {
    pub(super) fn new(config: ReflectConfig, port: Port, stop: Stop) -> Self {
        Self {
            round_trips: RoundTrips::new(&config, stop.clone()),
            own: Mac(port.mac()),
            config,
            port,
            stop,
            link: LinkState::default(),
            ball: vec![0; MAX_OCTETS],
            length: 0,
            // The clock differs from run to run, so that no ball of another run is taken for ours.
            mark: sys::clock::monotonic().as_ns().unsigned_abs() << 16,
            out: None,
            rounds: 0,
            end: None,
            longest_ns: 0,
            too_long: 0,
            changed: 0,
        }
    }

    /// Plays until the duration, a stop, or the far end ends the game.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        sleep_until(start);
        while let Some(met) = meet(&self.config, &mut self.port, &self.stop)? {
            self.tell(&met, feed);
            let over = self.game(&met, feed)?;
            self.close(over, &met, feed)?;
            if over != Over::Again {
                break;
            }
        }
        Ok(())
    }

    fn tell(&self, met: &Met, feed: &mut Feed) {
        let [a, b, c, d, e, f] = met.far.0;
        let far = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let code = match met.end {
            L2reflectEnd::Server => Notice::Serves,
            L2reflectEnd::Receiver => Notice::Receives,
        };
        feed.notice(series::RTT, code, sys::clock::monotonic(), far, met.octets as u64);
    }

    fn game(&mut self, met: &Met, feed: &mut Feed) -> Result<Over, ProbeError> {
        (self.out, self.rounds) = (None, 0);
        if let Some(over) = self.await_start(met, feed)? {
            return Ok(over);
        }
        self.play(met, feed)
    }

    /// Waits until the far end plays, or until its ball is there, and makes the first stroke. The far end may still look for this one, so
    /// its HELOs are answered.
    fn await_start(&mut self, met: &Met, feed: &mut Feed) -> Result<Option<Over>, ProbeError> {
        let begin = sys::clock::monotonic();
        let mut helo = begin;
        while !self.stop.requested() {
            while let Some((kind, at)) = self.take(met, feed) {
                match kind {
                    L2reflectKind::Helo => {
                        helo = at;
                        self.say(L2reflectKind::Ehlo, met, feed)?;
                    }
                    L2reflectKind::Quit => return Ok(Some(Over::There)),
                    L2reflectKind::Reset => return Ok(Some(Over::Again)),
                    L2reflectKind::Data if met.end == L2reflectEnd::Receiver => {
                        self.stroke(met, feed)?;
                        return Ok(None);
                    }
                    L2reflectKind::Data | L2reflectKind::Ehlo => {}
                }
            }
            let now = sys::clock::monotonic();
            if met.end == L2reflectEnd::Server && now - helo > SETTLED_NS {
                self.serve(met, feed)?;
                return Ok(None);
            }
            if now > begin + Ns(self.config.patience_ns) {
                return Err(ProbeError::NoTraffic(format!(
                    "reflect: {} on {} has the larger MAC address and sent no ball within {}: start both ends again",
                    met.far,
                    self.port.interface(),
                    Ns(self.config.patience_ns)
                )));
            }
            self.sleep(LOOK_UP_NS);
        }
        Ok(Some(Over::Here))
    }

    /// Brings the ball into play.
    fn serve(&mut self, met: &Met, feed: &mut Feed) -> Result<(), ProbeError> {
        let frame = frame_of(&self.config, L2reflectKind::Data).encode(self.own, met.far, met.octets);
        self.length = frame.len().min(self.ball.len());
        self.ball[..self.length].copy_from_slice(&frame[..self.length]);
        self.stroke(met, feed)
    }

    /// Returns the ball until the end.
    fn play(&mut self, met: &Met, feed: &mut Feed) -> Result<Over, ProbeError> {
        // Frames that came while nobody read them are of the handshake.
        let _ = self.port.dropped();
        let mut looks = 0;
        loop {
            while let Some((kind, at)) = self.take(met, feed) {
                looks = 0;
                match kind {
                    L2reflectKind::Data if self.is_at_the_end(at) => {
                        self.came(at, feed);
                        return Ok(Over::Here);
                    }
                    L2reflectKind::Data => {
                        let before = self.out;
                        self.stroke(met, feed)?;
                        self.returned(before, at, feed);
                    }
                    L2reflectKind::Quit => return Ok(Over::There),
                    L2reflectKind::Reset => return Ok(Over::Again),
                    // l2reflect forwards those that reach it late.
                    L2reflectKind::Helo | L2reflectKind::Ehlo => {}
                }
            }
            looks += 1;
            std::hint::spin_loop();
            if self.config.receive == Receive::Spin && looks < LOOKS_PER_CLOCK {
                continue;
            }
            looks = 0;
            if self.is_lost(feed)? {
                return Ok(Over::Lost);
            }
        }
    }

    fn is_at_the_end(&self, now: Monotonic) -> bool {
        self.stop.requested() || self.end.is_some_and(|end| now >= end)
    }

    /// True if the ball has been out for too long; sleeps if it has been out for long.
    fn is_lost(&mut self, feed: &mut Feed) -> Result<bool, ProbeError> {
        let Some(out) = self.out else { return Ok(false) };
        let out_ns = sys::clock::monotonic() - out;
        if out_ns > LOST_NS {
            return Ok(true);
        }
        if self.config.receive == Receive::Block || out_ns > IDLE_NS {
            self.round_trips.record(feed);
            self.sleep((LOST_NS - out_ns).unsigned_abs().min(LOOK_UP_NS));
            if out_ns > IDLE_NS {
                self.port.gone()?;
            }
        }
        Ok(false)
    }

    fn sleep(&self, ns: u64) {
        if self.port.wait(ns).is_err() {
            sleep_until(sys::clock::monotonic() + Ns(ns.min(1_000_000)));
        }
    }

    /// Sends the ball in the buffer back.
    #[inline]
    fn stroke(&mut self, met: &Met, feed: &mut Feed) -> Result<(), ProbeError> {
        let ball = &mut self.ball[..self.length];
        reflect(ball, self.own);
        self.mark = self.mark.wrapping_add(1);
        if let Ok(mut ball) = L2reflectMut::new(ball) {
            ball.set_mark(met.end, self.mark);
        }
        let sent = sys::clock::monotonic();
        let outcome = self.port.send(&self.ball[..self.length]);
        self.out = Some(sent);
        self.link.after_send(outcome, sent, feed)
    }

    /// Notes the round trip of the ball that came back at `at`, after its next stroke.
    #[inline]
    fn returned(&mut self, sent: Option<Monotonic>, at: Monotonic, feed: &mut Feed) {
        let Some(sent) = sent else { return };
        self.rounds += 1;
        if self.rounds <= WARM_UP_ROUNDS {
            return;
        }
        if self.end.is_none() {
            self.end = self.config.duration_ns.map(|ns| at + Ns(ns));
        }
        let rtt_ns = at - sent;
        self.longest_ns = self.longest_ns.max(rtt_ns);
        self.round_trips.sent();
        let measured = Measured {
            rtt_ns,
            sequence: self.rounds - WARM_UP_ROUNDS - 1,
            at,
            reordered: false,
        };
        self.round_trips.note(measured, feed);
    }

    /// Notes the last round trip; the ball stays here.
    fn came(&mut self, at: Monotonic, feed: &mut Feed) {
        let sent = self.out.take();
        self.returned(sent, at, feed);
    }

    /// The next frame of the far end and the instant at which it was seen; a ball is then in the buffer.
    fn take(&mut self, met: &Met, feed: &mut Feed) -> Option<(L2reflectKind, Monotonic)> {
        loop {
            let frame = self.port.next()?;
            let at = sys::clock::monotonic();
            let Ok(ethernet) = EthernetView::parse(frame.data()) else {
                continue;
            };
            let to = ethernet.dst();
            if ethernet.src() != met.far || (to != self.own && !to.is_multicast()) {
                continue;
            }
            let Ok(said) = L2reflectFrame::parse(&ethernet) else {
                continue;
            };
            if said.kind != L2reflectKind::Data {
                return Some((said.kind, at));
            }
            if frame.original_len() > frame.data().len() || frame.data().len() > self.ball.len() {
                self.too_long += 1;
                continue;
            }
            // The first ball of the server has no mark of ours.
            let behind = self.mark.wrapping_sub(mark(&ethernet, met.end));
            if self.out.is_some() && behind > 0 {
                if behind <= REMEMBERED {
                    self.round_trips.duplicate(at, feed);
                } else {
                    self.changed += 1;
                }
                continue;
            }
            self.length = frame.data().len();
            self.ball[..self.length].copy_from_slice(frame.data());
            return Some((said.kind, at));
        }
    }

    /// Sends a frame of the handshake or of the end.
    fn say(&mut self, kind: L2reflectKind, met: &Met, feed: &mut Feed) -> Result<(), ProbeError> {
        let frame = frame_of(&self.config, kind).encode(met.far, self.own, 0);
        let sent = sys::clock::monotonic();
        let outcome = self.port.send(&frame);
        self.link.after_send(outcome, sent, feed)
    }

    /// Records what is left of a game, and tells the far end if it ended here.
    fn close(&mut self, over: Over, met: &Met, feed: &mut Feed) -> Result<(), ProbeError> {
        self.round_trips.record(feed);
        let now = sys::clock::monotonic();
        match over {
            Over::Here => self.say(L2reflectKind::Quit, met, feed)?,
            Over::Lost => {
                self.say(L2reflectKind::Quit, met, feed)?;
                self.lost(now, feed);
            }
            Over::There => self.left(Notice::FarQuit, now, feed),
            Over::Again => self.left(Notice::FarReset, now, feed),
        }
        let counts = [
            (Notice::SocketDrop, self.port.dropped()),
            (Notice::BallTooLong, std::mem::take(&mut self.too_long)),
            (Notice::Changed, std::mem::take(&mut self.changed)),
        ];
        for (code, count) in counts {
            if count > 0 {
                feed.notice(series::RTT, code, now, count, 0);
            }
        }
        Ok(())
    }

    fn lost(&mut self, now: Monotonic, feed: &mut Feed) {
        if let Some(sent) = self.out.take() {
            self.round_trips.sent();
            feed.suspect(sent);
            feed.count(series::RTT, Counter::Lost, now, 1);
        }
        feed.notice(series::RTT, Notice::BallLost, now, self.rounds, LOST_NS.unsigned_abs());
        // The run ends before its time.
        self.stop.request();
    }

    /// Reports that the far end left the game. A ball that was out then for longer than any other has an unknown round trip.
    fn left(&mut self, code: Notice, now: Monotonic, feed: &mut Feed) {
        let out_ns = self.out.take().map_or(0, |sent| now - sent);
        feed.notice(series::RTT, code, now, self.rounds, 0);
        if self.rounds > WARM_UP_ROUNDS && out_ns > self.longest_ns {
            feed.notice(series::RTT, Notice::BallOut, now, out_ns.unsigned_abs(), 0);
        }
        let is_early = self.config.duration_ns.is_some() && self.end.is_none_or(|end| now < end);
        if code == Notice::FarQuit && is_early {
            self.stop.request();
        }
    }
}
