//! The sending loop.

use super::frames::CapturedFrames;
use super::{MOST_AT_ONCE, ReplayConfig, series};
use crate::error::ProbeError;
use crate::port::Port;
use model::Counter;
use run::{Feed, Stop};
use sys::packet::TxBatch;
use sys::wait::Wait;
use units::{Monotonic, Ns};

pub(super) struct Sender {
    config: ReplayConfig,
    port: Port,
    stop: Stop,
    batch: TxBatch,
    /// Due instant of each frame of the batch.
    dues: [Monotonic; MOST_AT_ONCE],
    /// Number of frames that the kernel refused.
    refused: u64,
}

/// Position of the sender in the rounds.
#[derive(Debug, Clone, Copy)]
struct Position {
    round: u64,
    index: usize,
    /// Start of the round.
    begin: Monotonic,
}

impl Position {
    fn due(&self, frames: &CapturedFrames) -> Monotonic {
        self.begin + Ns(frames.entry(self.index).at_ns)
    }

    fn go_on(&mut self, frames: &CapturedFrames) {
        self.index += 1;
        if self.index == frames.count() {
            self.index = 0;
            self.round += 1;
            self.begin = self.begin + Ns(frames.period_ns());
        }
    }
}

impl Sender {
    pub(super) fn new(config: ReplayConfig, mut port: Port, stop: Stop) -> Self {
        let batch = TxBatch::new(MOST_AT_ONCE, config.frames.longest());
        port.make_room(&batch);
        Self {
            config,
            port,
            stop,
            batch,
            dues: [Monotonic::from_ns(0); MOST_AT_ONCE],
            refused: 0,
        }
    }

    /// Sends from the second that begins at `start`.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let replayed = self.replay(start, feed);
        if self.refused > 0 {
            let now = sys::clock::monotonic();
            feed.notice(series::LATENESS, series::Notice::Refused, now, self.refused, 0);
        }
        replayed
    }

    fn replay(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let phase_ns = i64::try_from(self.config.frames.phase_ns()).unwrap_or(0);
        let end = self.config.duration_ns.map(|ns| start + Ns(ns));
        let wait = Wait::spinning_ahead(self.config.spin_ahead_ns);
        let mut place = Position {
            round: 0,
            index: 0,
            begin: start + phase_ns,
        };
        while self.is_left(&place, end) && !self.stop.requested() {
            let due = place.due(&self.config.frames);
            let now = wait.until(due);
            if now < due {
                continue;
            }
            let first = place.round * self.config.frames.count() as u64 + place.index as u64;
            self.gather(&mut place, now, end);
            let refused = self.port.publish_all(&mut self.batch)?;
            self.note(first, refused, feed);
        }
        Ok(())
    }

    fn is_left(&self, place: &Position, end: Option<Monotonic>) -> bool {
        self.config.rounds.is_none_or(|rounds| place.round < rounds)
            && end.is_none_or(|end| place.due(&self.config.frames) < end)
    }

    /// Adds the frames that are due at `now` to the batch, at least one.
    fn gather(&mut self, place: &mut Position, now: Monotonic, end: Option<Monotonic>) {
        let mut count = 0;
        while count < MOST_AT_ONCE && self.is_left(place, end) {
            let due = place.due(&self.config.frames);
            if count > 0 && due > now {
                break;
            }
            let room = self.batch.frame_mut(count);
            let octets = self.config.frames.write(place.index, place.round, room);
            self.batch.set_len(count, octets);
            self.dues[count] = due;
            count += 1;
            place.go_on(&self.config.frames);
        }
        self.batch.set_count(count);
    }

    fn note(&mut self, first: u64, refused: u64, feed: &mut Feed) {
        let sent = sys::clock::monotonic();
        let late_after_ns = i64::try_from(self.config.late_after_ns).unwrap_or(i64::MAX);
        let mut late = 0;
        let went = self.batch.len() - usize::try_from(refused).unwrap_or(0).min(self.batch.len());
        for (due, number) in self.dues[..went].iter().zip(first..) {
            let late_ns = sent - *due;
            feed.sample(series::LATENESS, sent, late_ns, number);
            late += u64::from(late_ns > late_after_ns);
        }
        feed.count(series::LATENESS, Counter::Late, sent, late);
        feed.count(series::LATENESS, Counter::Lost, sent, refused);
        self.refused += refused;
    }
}
