//! Checks that the measuring threads run with their settings and on time, and reports which threads share their CPUs.

use super::{FeedState, Work};
use crate::delays::Turns;
use crate::recorder::since;
use model::{Event, EventKind, SeriesId};
use std::collections::BTreeSet;
use sys::thread::Standing;

/// Interval between two looks at the threads: two system calls each, none of them in the measuring thread.
const EVERY_NS: u64 = 1_000_000_000;

/// A series of a feed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) id: SeriesId,
    /// True if a delay of any thread of its step shows in it.
    pub(super) passes_threads: bool,
}

/// A doubt about the series of a feed, including series that are announced later.
pub(super) struct Doubt {
    pub(super) event: Event,
    /// True for a doubt about the feed's own thread, and so about all of its series; false for one about another thread of its
    /// step.
    is_own: bool,
}

impl Doubt {
    pub(super) fn touches(&self, series: &Known) -> bool {
        self.is_own || series.passes_threads
    }
}

impl FeedState {
    fn step(&self) -> usize {
        self.source.described.step
    }

    /// True if this was already reported for its own thread.
    fn is_told(&self, event: &Event) -> bool {
        let same = |told: &Doubt| told.event.kind == event.kind && told.event.text == event.text;
        self.doubts.iter().any(|told| told.is_own && same(told))
    }

    /// Adds the event for the series that it affects, now and when they are announced.
    fn tell(&mut self, event: &Event, is_own: bool, events: &mut Vec<Event>) {
        let doubt = Doubt {
            event: event.clone(),
            is_own,
        };
        // Two feeds may have the same thread.
        let is_new = |series: &&Known| {
            let mut same = self.doubts.iter().filter(|told| told.event == *event);
            doubt.touches(series) && !same.any(|told| told.touches(series))
        };
        let touched = self.known.iter().filter(is_new);
        events.extend(touched.map(|series| of_series(event, series.id)));
        self.doubts.push(doubt);
    }
}

impl Work {
    /// Checks at intervals how the measuring threads run.
    pub(super) fn watch_threads(&mut self, now_ns: u64) {
        if self.threads_seen_ns.is_some_and(|seen| now_ns < seen + EVERY_NS) {
            return;
        }
        self.threads_seen_ns = Some(now_ns);
        let standings: Vec<(usize, Standing)> = self
            .feeds
            .iter()
            .filter_map(|(number, feed)| Some((*number, feed.source.thread.runs_as()?)))
            .collect();
        for (number, standing) in standings {
            self.runs_as(number, &standing, now_ns);
            self.waited(number, &standing);
        }
    }

    /// Notes the present policy and CPUs of a thread: each change is reported once.
    pub(super) fn runs_as(&mut self, number: usize, standing: &Standing, at_ns: u64) {
        let Some(feed) = self.feeds.get_mut(&number) else {
            return;
        };
        let Some(began) = feed.source.thread.began_as() else {
            return;
        };
        let last = feed.changed_to.as_ref().unwrap_or(began);
        if last == standing {
            return;
        }
        let text = changed(began, standing);
        feed.changed_to = Some(standing.clone());
        let event = Event {
            at_ns,
            since_ns: None,
            kind: EventKind::ThreadChanged,
            series: None,
            text,
        };
        self.tell(&[number], &event);
    }

    /// Reports a real-time thread that has waited long for its CPU since the last look.
    fn waited(&mut self, number: usize, standing: &Standing) {
        let thread = self.feeds.get(&number).and_then(|feed| feed.source.thread.load());
        let Some((_, thread)) = thread.filter(|_| standing.is_real_time) else {
            return;
        };
        if let Some(now) = Turns::of(thread) {
            let name = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
            self.has_had(number, now, name.unwrap_or_default().trim_end());
        }
    }

    /// Notes the CPU time of the real-time thread `name`.
    pub(super) fn has_had(&mut self, number: usize, now: Turns, name: &str) {
        let Some(feed) = self.feeds.get_mut(&number) else {
            return;
        };
        let before = feed.turns.replace(now).or_else(|| feed.source.thread.began_with());
        let Some(delay) = before.and_then(|before| now.delay_since(before)) else {
            return;
        };
        let is_shared = feed
            .doubts
            .iter()
            .any(|told| told.event.kind == EventKind::SecondMeasurement);
        let event = Event {
            at_ns: since(self.start, now.at),
            since_ns: Some(since(self.start, delay.since)),
            kind: match delay.is_throttling() {
                true => EventKind::RtThrottled,
                false => EventKind::HeldUp,
            },
            series: None,
            text: delay.text(name, is_shared),
        };
        self.tell(&[number], &event);
    }

    /// Reports something that happens on a CPU: it affects the threads that measure there and nowhere else.
    pub(super) fn on_cpu(&mut self, cpu: u32, event: &Event) {
        let is_here = |feed: &FeedState| {
            let only = feed.source.thread.runs_as().map(|standing| standing.cpus);
            only.is_some_and(|cpus| cpus.len() == 1 && cpus.contains(cpu))
        };
        let here = self
            .feeds
            .iter()
            .filter(|(_, feed)| is_here(feed) && !feed.is_told(event));
        let here: Vec<usize> = here.map(|(number, _)| *number).collect();
        self.tell(&here, event);
    }

    /// Writes the event of the threads of these feeds for their series, and for the series whose frames pass them in the same step.
    pub(super) fn tell(&mut self, hit: &[usize], event: &Event) {
        let steps = hit.iter().filter_map(|number| self.feeds.get(number));
        let steps: BTreeSet<usize> = steps.map(FeedState::step).collect();
        for (number, feed) in &mut self.feeds {
            if steps.contains(&feed.step()) {
                feed.tell(event, hit.contains(number), &mut self.batch.events);
            }
        }
        let in_step = |name: &String| self.counted_in.get(name).is_some_and(|step| steps.contains(step));
        let counted = self.counted.iter().filter(|(name, _)| in_step(name));
        let events = counted.map(|(_, series)| of_series(event, series.id()));
        self.batch.events.extend(events);
    }

    /// Writes an event of one thread alone for the series that it measures: those of its feed, or, if the feed has none, those
    /// whose frames pass it.
    pub(super) fn of_thread(&mut self, number: usize, event: &Event) {
        let has_own = self.feeds.get(&number).is_some_and(|feed| !feed.known.is_empty());
        match has_own {
            true => self.of_feed(number, event),
            false => self.tell(&[number], event),
        }
    }

    /// Writes an event for all series of a feed, whichever thread it is about.
    pub(super) fn of_feed(&mut self, number: usize, event: &Event) {
        if let Some(feed) = self.feeds.get_mut(&number) {
            feed.tell(event, true, &mut self.batch.events);
        }
    }
}

/// A copy of the event for this series.
pub(super) fn of_series(event: &Event, id: SeriesId) -> Event {
    Event {
        series: Some(id),
        ..event.clone()
    }
}

fn changed(began: &Standing, now: &Standing) -> String {
    if began == now {
        return format!("the measuring thread runs with {began} again, its original setting");
    }
    format!(
        "the measuring thread runs with {now}, and was set to {began}: somebody changed it (chrt, taskset, a cpuset)"
    )
}
