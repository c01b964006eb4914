//! The sending loop.

use super::frame::{Change, Frame};
use super::series::{CREDIT, DEPARTURE, Notice, SEND, TALK};
use super::{TalkConfig, Totals};
use crate::departures::{Called, Departures};
use crate::error::ProbeError;
use crate::framing::mark;
use crate::port::Port;
use analysis::Credit;
use model::Counter;
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sys::packet::TxEvent;
use sys::wait::{Wait, WakeClock};
use units::{Grid, Monotonic, Ns, SignedNs, Tai};

/// Maximum number of cycles before the first recorded one, which load the loop's code and data into memory and caches.
const WARM_UP_CYCLES: u64 = 16;

/// Longest time for these cycles, so that they do not last longer than the measurement. With a long interval there are fewer
/// cycles.
const WARM_UP_NS: u64 = 200_000_000;

/// Duration of the end marks after the last frame, in ns. They follow in consecutive cycles, so that a counter that wraps each
/// second shows no loss. The time is long enough that a frame overtaken on its way still arrives before the last mark.
const END_NS: i64 = 15_000_000;

/// Minimum number of end marks, since they can be lost like any other frame.
const END_FRAMES: u64 = 3;

/// Number of cycles between two collections of launch errors; the kernel keeps some thousands. Stamps are collected in each
/// cycle, since the time of a sample is that of its collection.
const CYCLES_PER_COLLECTION: u64 = 256;

/// Three clock readings in a row take less than this, in ns, unless they are interrupted.
const NARROW_NS: i64 = 5_000;

pub(super) struct Sender {
    config: TalkConfig,
    port: Port,
    frame: Frame,
    stop: Stop,
    totals: Arc<Totals>,
    wait: Wait,
    /// Time from the hand-over of a frame to its due instant, in ns; 0 without launch times.
    lead_ns: i64,
    /// `CLOCK_TAI` minus `CLOCK_MONOTONIC`.
    tai_ahead_ns: i64,
    /// Number of the next frame; grows by one with each cycle that is not missed.
    number: u64,
    sent: u64,
    late: u64,
    missed: u64,
    max_ns: i64,
    /// Number of frames that the kernel refused.
    refused: u64,
    /// Number of frames that the queueing discipline dropped because they missed their launch time.
    dropped: u64,
    departures: Option<Departures>,
    /// Credit of the port's shaper; `None` if it is not judged.
    credit: Option<Credit>,
}

impl Sender {
    pub(super) fn new(config: TalkConfig, port: Port, frame: Frame, stop: Stop, totals: Arc<Totals>) -> Self {
        let departures = Departures::of(&port, config.stamps);
        let ahead_ns = config.spin_ahead_ns;
        let (spin_ns, lead_ns) = match config.launch_time {
            true => (0, i64::try_from(ahead_ns).unwrap_or(0)),
            false => (ahead_ns, 0),
        };
        Self {
            config,
            port,
            frame,
            stop,
            totals,
            wait: Wait::spinning_ahead(spin_ns),
            lead_ns,
            tai_ahead_ns: Wait::on(WakeClock::Tai, 0).reading_at(Monotonic::from_ns(0)),
            number: 0,
            sent: 0,
            late: 0,
            missed: 0,
            max_ns: 0,
            refused: 0,
            dropped: 0,
            departures,
            credit: None,
        }
    }

    /// Measures how far frames are sent before the shaper has the credit for them.
    pub(super) fn judging(self, credit: Option<Credit>) -> Self {
        Self { credit, ..self }
    }

    /// Sends from `start` until the duration is over or a stop is requested.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let sent = self.cycles(start, feed);
        self.finish(feed);
        sent
    }

    fn cycles(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let grid = Grid::new(start, self.config.period);
        let first = self.warm_up(&grid, feed)?;
        let cycles = self.config.duration_ns.map(|ns| self.config.period.count_in(ns));
        let end = cycles.map(|cycles| first.saturating_add(cycles));
        let mut cycle = first;
        while end.is_none_or(|end| cycle < end) && !self.stop.requested() {
            let due = grid.due(cycle);
            let launch = self.make(cycle, 0, due);
            let planned = due - self.lead_ns;
            let ran = self.wait.until(planned);
            if ran < planned {
                // A signal woke the thread early; the same cycle is still due.
                continue;
            }
            let called = self
                .departures
                .as_ref()
                .map(|_| (Called::now(), self.port.next_number()));
            let went = self.send(launch)?;
            let returned = sys::clock::monotonic();
            if let (Some(departures), Some((called, number)), true) = (&mut self.departures, called, went) {
                departures.sent((number, 1), due, called, DEPARTURE, self.number);
            }
            match went {
                true => self.account(ran - planned, ran, returned, feed),
                // The frame was not sent, so the time at which the thread ran is not a lateness.
                false => feed.count(TALK, Counter::Lost, ran, 1),
            }
            self.number += 1;
            let is_due = self.config.launch_time && self.number.is_multiple_of(CYCLES_PER_COLLECTION);
            if is_due || self.departures.is_some() {
                self.collect(returned, feed);
            }
            let next = next_cycle(&grid, cycle, returned + self.lead_ns);
            // Cycles after the end were never due.
            let next = end.map_or(next, |end| next.min(end));
            self.missed += next - cycle - 1;
            feed.count(TALK, Counter::Missed, returned, next - cycle - 1);
            cycle = next;
        }
        self.say_end(&grid, cycle)
    }

    /// Sends marked frames until the loop is warm; returns the first cycle to count.
    fn warm_up(&mut self, grid: &Grid, feed: &mut Feed) -> Result<u64, ProbeError> {
        let fitting = WARM_UP_NS / self.config.period.whole_ns();
        let cycles = fitting.clamp(1, WARM_UP_CYCLES);
        let mut cycle = 0;
        while cycle < cycles && !self.stop.requested() {
            let due = grid.due(cycle);
            let launch = self.make(cycle, mark::BEGIN, due);
            self.wait.until(due - self.lead_ns);
            self.send(launch)?;
            cycle = next_cycle(grid, cycle, sys::clock::monotonic() + self.lead_ns);
        }
        if cycle > cycles {
            feed.notice(TALK, Notice::LateStart, grid.due(cycle), cycle - cycles, 0);
        }
        Ok(cycle)
    }

    /// Prepares the frame of a cycle while there is time, so that only the send call follows the due instant. Returns the due
    /// instant on the clock of launch times.
    fn make(&mut self, cycle: u64, flags: u16, due: Monotonic) -> Tai {
        let launch = self.on_tai(due);
        self.frame.patch(&Change {
            cycle,
            sequence: self.number,
            flags,
            due: launch,
        });
        launch
    }

    /// Converts an instant to `CLOCK_TAI`. That clock can be stepped while the thread runs, so it is read each time; a reading
    /// that was interrupted is not used.
    fn on_tai(&mut self, at: Monotonic) -> Tai {
        let before = sys::clock::monotonic();
        let tai = sys::clock::tai();
        let span_ns = sys::clock::monotonic() - before;
        if span_ns < NARROW_NS {
            self.tai_ahead_ns = tai.as_ns() - before.as_ns() - span_ns / 2;
        }
        Tai::from_ns(at.as_ns() + self.tai_ahead_ns)
    }

    /// Sends the prepared frame; returns true if the kernel accepted it.
    fn send(&mut self, launch: Tai) -> Result<bool, ProbeError> {
        let frame = self.frame.bytes();
        let refused = match self.config.launch_time {
            true => self.port.publish_at(frame, launch)?,
            false => self.port.publish(frame)?,
        };
        self.refused += refused;
        Ok(refused == 0)
    }

    fn account(&mut self, delta_ns: i64, ran: Monotonic, returned: Monotonic, feed: &mut Feed) {
        feed.sample(TALK, ran, delta_ns, self.number);
        feed.sample(SEND, returned, returned - ran, self.number);
        if let Some(credit) = &mut self.credit {
            feed.sample(CREDIT, ran, credit.lead_ns(ran.as_ns()), self.number);
        }
        let late = SignedNs(delta_ns) > Ns(self.config.late_after_ns);
        feed.count(TALK, Counter::Late, ran, u64::from(late));
        self.late += u64::from(late);
        self.max_ns = self.max_ns.max(delta_ns);
        self.sent += 1;
    }

    /// True if the kernel reports events of sent frames.
    fn tells(&self) -> bool {
        self.config.launch_time || self.departures.is_some()
    }

    /// Takes the kernel's events about sent frames: their departure times, and the frames dropped because they missed their
    /// launch time.
    fn collect(&mut self, at: Monotonic, feed: &mut Feed) {
        let mut dropped = 0;
        let mut count = |event| dropped += u64::from(matches!(event, TxEvent::Dropped(_)));
        match &mut self.departures {
            Some(departures) => departures.collect(&self.port, feed, count),
            None => {
                while let Some(event) = self.port.next_tx_event() {
                    count(event);
                }
            }
        }
        feed.count(TALK, Counter::Late, at, dropped);
        self.late += dropped;
        self.dropped += dropped;
    }

    /// Continues from cycle `first` with end marks. After a stall no cycle is skipped here: these frames are not measured, and a
    /// skipped cycle would look like a loss.
    fn say_end(&mut self, grid: &Grid, first: u64) -> Result<(), ProbeError> {
        let until = grid.due(first) + END_NS;
        let (mut cycle, mut said) = (first, 0);
        while said < END_FRAMES || grid.due(cycle) < until {
            let due = grid.due(cycle);
            let launch = self.make(cycle, mark::END, due);
            let planned = due - self.lead_ns;
            // A signal may wake the thread early.
            while self.wait.until(planned) < planned {}
            self.send(launch)?;
            said += 1;
            cycle += 1;
        }
        Ok(())
    }

    fn finish(&mut self, feed: &mut Feed) {
        let now = sys::clock::monotonic();
        if self.tells() {
            self.collect(now, feed);
        }
        for (notice, count) in [(Notice::Refused, self.refused), (Notice::Launch, self.dropped)] {
            if count > 0 {
                feed.notice(TALK, notice, now, count, 0);
            }
        }
        let waited = self
            .departures
            .as_mut()
            .map(|departures| departures.close(&self.port, feed));
        // A frame that missed its launch time has no stamp and is already reported.
        let unstamped = waited.unwrap_or(0).saturating_sub(self.dropped);
        if unstamped > 0 {
            feed.notice(DEPARTURE, Notice::Unstamped, now, unstamped, 0);
        }
        self.totals.sent.store(self.sent, Ordering::Release);
        self.totals.late.store(self.late, Ordering::Release);
        self.totals.missed.store(self.missed, Ordering::Release);
        self.totals.max_ns.store(self.max_ns, Ordering::Release);
    }
}

/// The first later cycle whose due instant is after `at`. The usual case needs no division.
fn next_cycle(grid: &Grid, cycle: u64, at: Monotonic) -> u64 {
    if grid.due(cycle + 1) > at {
        cycle + 1
    } else {
        grid.first_after(at).max(cycle + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::next_cycle;
    use units::{Grid, Monotonic};

    #[test]
    fn a_stall_skips_the_cycles_it_slept_through() {
        let grid = Grid::every_ns(Monotonic::from_ns(0), 1_000);
        let due = grid.due(5);
        for (later, next) in [(-50, 6), (0, 6), (999, 6), (1_000, 7), (1_001, 7), (7_400, 13)] {
            assert_eq!(next_cycle(&grid, 5, due + later), next, "{later} after the due instant");
        }
    }
}
