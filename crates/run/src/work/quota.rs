//! Limits how many of a relay's decisions are kept one by one. A relay on a machine that stalls blocks and releases its functions
//! thousands of times a second; a list of all of them would take hundreds of gigabytes a week.

use model::{Event, EventKind, SeriesId};
use std::collections::BTreeMap;

/// Decisions of a series that are always kept.
const IN_FULL: u64 = 10_000;

/// Decisions per window that are kept beyond those.
const PER_WINDOW: u64 = 10;

/// Counts of the decisions of one series that were kept and left out.
#[derive(Debug, Default)]
struct Kept {
    all: u64,
    window: u64,
    of_window: u64,
    left_out: u64,
}

/// Keeps the number of a run's events within bounds.
#[derive(Debug, Default)]
pub(super) struct Quota(BTreeMap<Option<SeriesId>, Kept>);

impl Quota {
    /// Removes decisions beyond the bounds; an event reports their number per window, once the next window has begun.
    pub(super) fn apply(&mut self, events: &mut Vec<Event>, window_ns: u64) {
        let mut told = Vec::new();
        events.retain(|event| {
            if event.kind != EventKind::Relay {
                return true;
            }
            let kept = self.0.entry(event.series).or_default();
            let window = event.at_ns / window_ns.max(1);
            if window != kept.window {
                told.extend(kept.tell(event.series, event.at_ns));
                (kept.window, kept.of_window) = (window, 0);
            }
            let keeps = kept.all < IN_FULL || kept.of_window < PER_WINDOW;
            kept.all += 1;
            kept.of_window += 1;
            kept.left_out += u64::from(!keeps);
            keeps
        });
        events.append(&mut told);
    }

    /// At the end of the run: reports the decisions removed from the last windows.
    pub(super) fn finish(&mut self, at_ns: u64) -> Vec<Event> {
        let last = self.0.iter_mut().filter_map(|(series, kept)| kept.tell(*series, at_ns));
        last.collect()
    }
}

impl Kept {
    fn tell(&mut self, series: Option<SeriesId>, at_ns: u64) -> Option<Event> {
        let left_out = std::mem::take(&mut self.left_out);
        (left_out > 0).then(|| Event {
            at_ns,
            since_ns: None,
            kind: EventKind::Note,
            series,
            text: format!("{left_out} more decisions of the relay in one window are not listed: there were too many"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{IN_FULL, PER_WINDOW, Quota};
    use model::{Event, EventKind, SeriesId};

    const WINDOW_NS: u64 = 20_000_000_000;

    fn events(n: u64, at_ns: u64, kind: EventKind) -> Vec<Event> {
        let event = Event {
            at_ns,
            since_ns: None,
            kind,
            series: Some(SeriesId(3)),
            text: "bay01, LSVS: samples: good".into(),
        };
        vec![event; usize::try_from(n).expect("small")]
    }

    #[test]
    fn a_week_of_a_relay_that_blocks_all_the_time_is_kept_within_bounds_and_nothing_goes_untold() {
        let mut quota = Quota::default();
        let mut kept = 0;
        let mut said = 0;
        // 5 000 a second in each of the 30 240 windows of a week would take minutes here, so this uses fifty windows.
        for window in 0..50 {
            let mut batch = events(1_000, window * WINDOW_NS, EventKind::Relay);
            quota.apply(&mut batch, WINDOW_NS);
            kept += batch.iter().filter(|event| event.kind == EventKind::Relay).count();
            said += told(&batch);
        }
        said += told(&quota.finish(50 * WINDOW_NS));
        assert!(quota.finish(50 * WINDOW_NS).is_empty(), "told once");
        let most = usize::try_from(IN_FULL + 40 * PER_WINDOW).expect("small");
        assert_eq!((kept, kept as u64 + said), (most, 50_000));
    }

    fn told(events: &[Event]) -> u64 {
        let notes = events.iter().filter(|event| event.kind == EventKind::Note);
        notes
            .map(|event| {
                event
                    .text
                    .split(' ')
                    .next()
                    .and_then(|n| n.parse::<u64>().ok())
                    .expect("a number")
            })
            .sum()
    }

    #[test]
    fn what_puts_a_series_in_doubt_is_kept_whatever_its_number() {
        let mut quota = Quota::default();
        let mut steal = events(3 * IN_FULL, 0, EventKind::Steal);
        quota.apply(&mut steal, WINDOW_NS);
        assert_eq!(steal.len() as u64, 3 * IN_FULL);
    }
}
