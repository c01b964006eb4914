//! Whether the measuring threads run as they were set to, and who shares their CPUs.

use super::{FeedState, Work};
use model::{Event, EventKind, SeriesId};
use sys::thread::Standing;

/// How often the threads are looked at: two system calls each, none of them in the measuring thread.
const EVERY_NS: u64 = 1_000_000_000;

impl Work {
    /// Looks now and then how the measuring threads run.
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
        }
    }

    /// A thread was found to run like this: each change is told once.
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
            kind: EventKind::ThreadChanged,
            series: None,
            text,
        };
        tell(feed, &event, &mut self.batch.events);
    }

    /// Something happens on a CPU: of concern to the series measured there and nowhere else, and to those counted in this kernel
    /// beside them, whose frames end there.
    pub(super) fn on_cpu(&mut self, cpu: u32, event: &Event) {
        let mut is_measured = false;
        for feed in self.feeds.values_mut() {
            let only = feed.source.thread.runs_as().map(|standing| standing.cpus);
            let is_here = only.is_some_and(|cpus| cpus.len() == 1 && cpus.contains(cpu));
            let is_told = feed
                .doubts
                .iter()
                .any(|told| told.kind == event.kind && told.text == event.text);
            if is_here && !is_told {
                tell(feed, event, &mut self.batch.events);
                is_measured = true;
            }
        }
        if is_measured {
            let counted = self.counted.values().map(|series| of_series(event, series.id()));
            self.batch.events.extend(counted);
        }
    }
}

/// The event for every series of this feed, now and when it is announced.
fn tell(feed: &mut FeedState, event: &Event, events: &mut Vec<Event>) {
    events.extend(feed.known.iter().map(|id| of_series(event, *id)));
    feed.doubts.push(event.clone());
}

/// The event, as one of this series.
pub(super) fn of_series(event: &Event, id: SeriesId) -> Event {
    Event {
        series: Some(id),
        ..event.clone()
    }
}

fn changed(began: &Standing, now: &Standing) -> String {
    if began == now {
        return format!("the measuring thread runs with {began} again, as it was set to");
    }
    format!(
        "the measuring thread runs with {now}, and was set to {began}: somebody changed it (chrt, taskset, a cpuset)"
    )
}
