//! The sending loop.

use super::group::Group;
use super::recording::OnTape;
use super::{PublishConfig, series};
use crate::departures::{Called, Departures};
use crate::error::ProbeError;
use crate::port::Port;
use model::Counter;
use run::{Feed, Stop};
use sys::wait::Wait;
use units::Monotonic;

/// If at least this much time is left, frames of other groups are prepared before the next ones are sent.
const SPARE_NS: i64 = 100_000;

pub(super) struct Sender {
    config: PublishConfig,
    port: Port,
    groups: Vec<Group>,
    stop: Stop,
    /// Number of frames that the kernel refused.
    refused: u64,
    departures: Option<Departures>,
    /// The streams, if every frame is recorded.
    on_tape: Option<OnTape>,
}

impl Sender {
    pub(super) fn new(
        config: PublishConfig,
        (port, on_tape): (Port, Option<OnTape>),
        groups: Vec<Group>,
        stop: Stop,
    ) -> Self {
        Self {
            departures: Departures::of(&port, config.stamps),
            config,
            port,
            groups,
            stop,
            refused: 0,
            on_tape,
        }
    }

    /// Publishes from the second that begins at `start` until the duration is over or a stop is requested.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        for group in &mut self.groups {
            group.begin(start, self.config.duration_ns);
        }
        if let Some(on_tape) = &self.on_tape {
            on_tape.begin(feed);
        }
        let published = self.publish(feed);
        OnTape::end(feed);
        if self.refused > 0 {
            let now = sys::clock::monotonic();
            feed.notice(series::LATENESS, series::Notice::Refused, now, self.refused, 0);
        }
        for (lan, refused) in (0..).zip(self.port.refused_on()).filter(|(_, refused)| *refused > 0) {
            feed.notice(
                series::LATENESS,
                series::Notice::RefusedOnLan,
                sys::clock::monotonic(),
                refused,
                lan,
            );
        }
        self.close_departures(feed);
        published
    }

    fn publish(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let wait = Wait::spinning_ahead(self.config.spin_ahead_ns);
        while let Some((due, index)) = self.next().filter(|_| !self.stop.requested()) {
            self.make(due, index);
            if wait.until(due) < due {
                continue;
            }
            let called = self
                .departures
                .as_ref()
                .map(|_| (Called::now(), self.port.next_number()));
            let handed_over = self.on_tape.as_ref().map(|_| sys::clock::pair());
            let refused = self.port.publish_all(self.groups[index].batch())?;
            if let Some((on_tape, at)) = self.on_tape.as_ref().zip(handed_over) {
                on_tape.sent(&self.groups[index], due, at, feed);
            }
            if let Some((called, first)) = called {
                self.note_departures(due, index, called, first);
            }
            self.note(due, index, refused, feed);
            if let Some(departures) = &mut self.departures {
                departures.collect(&self.port, feed, |_| {});
            }
        }
        Ok(())
    }

    /// Records the frames that the kernel accepted, numbered from `first`.
    fn note_departures(&mut self, due: Monotonic, index: usize, called: Called, first: u32) {
        let count = self.port.next_number().wrapping_sub(first);
        let group = &self.groups[index];
        let slot = series::departure(group.slot, self.groups.len());
        if let Some(departures) = &mut self.departures {
            departures.sent((first, count), due, called, slot, group.timetable.frame);
        }
    }

    /// Reports the publisher's number of frames without a stamp on each series of stamps; it is not known which streams they
    /// belong to.
    fn close_departures(&mut self, feed: &mut Feed) {
        let Some(departures) = &mut self.departures else { return };
        let unstamped = departures.close(&self.port, feed);
        if unstamped == 0 {
            return;
        }
        let now = sys::clock::monotonic();
        for group in &self.groups {
            let slot = series::departure(group.slot, self.groups.len());
            feed.notice(slot, series::Notice::Unstamped, now, unstamped, 0);
        }
    }

    /// The group that is due next, and its due instant.
    fn next(&self) -> Option<(Monotonic, usize)> {
        let due = |(index, group): (usize, &Group)| group.timetable.due().map(|due| (due, index));
        self.groups.iter().enumerate().filter_map(due).min()
    }

    /// Prepares the next frames while there is time, so that only the send call follows the due instant.
    fn make(&mut self, due: Monotonic, index: usize) {
        self.groups[index].make();
        for group in &mut self.groups {
            if due - sys::clock::monotonic() < SPARE_NS {
                break;
            }
            group.make();
        }
    }

    fn note(&mut self, due: Monotonic, index: usize, refused: u64, feed: &mut Feed) {
        let group = &mut self.groups[index];
        let (slot, frame, streams) = (group.slot, group.timetable.frame, group.streams());
        let sent = sys::clock::monotonic();
        let late_ns = sent - due;
        let went = u64::from(streams).saturating_sub(refused);
        feed.samples(slot, sent, late_ns, frame, u16::try_from(went).unwrap_or(streams));
        feed.count(slot, Counter::Lost, sent, refused);
        self.refused += refused;
        let is_late = late_ns as f64 > group.timetable.pace.interval_ns();
        let missed = group.go_on(sent, is_late);
        if is_late {
            feed.count(slot, Counter::Late, sent, went);
            feed.count(slot, Counter::Missed, sent, missed * u64::from(streams));
        }
    }
}
