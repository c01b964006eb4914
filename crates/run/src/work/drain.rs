//! Takes the records of the measuring threads from their rings.

use super::threads::{Known, of_series};
use super::windows::keep;
use super::{FeedState, MOST_SPIKES, Work};
use crate::feed::FeedItem;
use crate::recorder::since;
use crate::window::{Open, Sample};
use model::{Event, EventKind, Kind, Question, QuestionKind, Spike};
use std::sync::atomic::Ordering;

impl Work {
    pub(super) fn drain(&mut self, feed: &mut FeedState) {
        self.announced(feed);
        let thread = feed.source.thread.load();
        if !feed.watched
            && let Some((cpu, thread)) = thread
        {
            self.reasons.watch(cpu, thread);
            feed.watched = true;
        }
        // Records that arrive meanwhile wait for the next round: a ring that fills as fast as it is drained must not keep windows
        // from being written.
        for _ in 0..feed.source.records.slots() {
            let Ok(record) = feed.source.records.pop() else { break };
            self.relieve();
            let slot = match record {
                FeedItem::Sample { slot, .. } | FeedItem::Count { slot, .. } | FeedItem::Notice { slot, .. } => {
                    usize::from(slot)
                }
            };
            if feed.series.get(slot).is_some_and(Option::is_none) {
                // The announcement was pushed before the record, so it is there by now.
                self.announced(feed);
            }
            if feed.series.get(slot).is_some_and(Option::is_some) {
                self.record(feed, slot, record);
            }
        }
        feed.source.free_ring();
        let looked_ns = since(self.start, sys::clock::monotonic());
        let before_ns = feed.looked_ns.replace(looked_ns);
        for (slot, overrun) in feed.source.overruns.iter().enumerate() {
            let n = overrun.swap(0, Ordering::Relaxed);
            if n > 0
                && let Some(Some(series)) = feed.series.get_mut(slot)
            {
                series.overrun(n);
                let text = format!("{}: {n} records lost, the recorder fell behind", series.name());
                self.batch.events.push(Event {
                    at_ns: since(self.start, sys::clock::monotonic()),
                    since_ns: before_ns,
                    kind: EventKind::RecorderOverrun,
                    series: Some(series.id()),
                    text,
                });
            }
        }
    }

    /// Explains kept samples: the worst of each series first, and all series in turn, so that one with many samples does not keep
    /// the others from it.
    pub(super) fn explain_kept(&mut self) {
        if !self.reasons.can_explain() {
            return;
        }
        let of_feeds = self
            .feeds
            .values_mut()
            .flat_map(|feed| feed.series.iter_mut().flatten());
        let of_all = of_feeds.chain(self.counted.values_mut());
        let mut waiting: Vec<&mut Open> = of_all
            .filter_map(|series| series.is_waiting().then_some(series))
            .collect();
        while self.reasons.has_room() && !waiting.is_empty() {
            waiting.retain_mut(|series| series.ask_worst(&mut self.reasons));
        }
        for series in waiting {
            series.pass_over_lesser(&mut self.reasons);
        }
    }

    /// If many samples are kept, the explained ones are written before their window ends.
    pub(super) fn hand_over_spikes(&mut self) {
        let of_feeds = self
            .feeds
            .values_mut()
            .flat_map(|feed| feed.series.iter_mut().flatten());
        let mut of_all: Vec<&mut Open> = of_feeds.chain(self.counted.values_mut()).collect();
        if of_all.iter().map(|series| series.spikes()).sum::<usize>() < MOST_SPIKES {
            return;
        }
        let handed_over: Vec<Vec<Spike>> = of_all.iter_mut().map(|series| series.hand_over_spikes()).collect();
        // Not all at once: a stall may leave a thousand samples in each series.
        for spikes in handed_over {
            self.batch.spikes.extend(spikes);
            self.relieve();
        }
    }

    pub(super) fn announced(&mut self, feed: &mut FeedState) {
        while let Ok(announcement) = feed.source.announcements.pop() {
            let slot = announcement.slot;
            let mut spec = feed.source.described.series(announcement);
            let by_name = || self.thresholds.of(&spec.name);
            let asked = spec.threshold_ns.or_else(by_name);
            spec.threshold_ns = asked.or_else(|| feed.source.described.describe.threshold_otherwise(slot));
            let Some(series) = self.take_up(&spec.name).or_else(|| self.add_series(&spec, 0)) else {
                return;
            };
            let one = Known {
                id: series.id(),
                passes_threads: spec.kind.is_none_or(Kind::passes_threads),
            };
            let doubts = feed.doubts.iter().filter(|doubt| doubt.touches(&one));
            let events = doubts.map(|doubt| of_series(&doubt.event, one.id));
            self.batch.events.extend(events);
            feed.known.push(one);
            if let Some(place) = feed.series.get_mut(usize::from(slot)) {
                *place = Some(series);
            }
        }
    }

    /// Finds the series announced under that name whose feed has ended and was drained: a plan with several rounds measures it
    /// again.
    pub(super) fn take_up(&mut self, wanted: &str) -> Option<Open> {
        let over = |feed: &&mut FeedState| feed.source.is_over();
        let mut places = self.feeds.values_mut().filter(over).flat_map(|feed| &mut feed.series);
        let mut series = places
            .find(|place| place.as_ref().is_some_and(|series| series.wanted() == wanted))?
            .take()?;
        series.settle(&mut self.reasons);
        keep(&mut self.batch, series.pause());
        Some(series)
    }

    pub(super) fn record(&mut self, feed: &mut FeedState, slot: usize, record: FeedItem) {
        let Some(Some(series)) = feed.series.get_mut(slot) else {
            return;
        };
        let at = match record {
            FeedItem::Sample { at, .. } | FeedItem::Count { at, .. } | FeedItem::Notice { at, .. } => at,
        };
        let at_ns = since(self.start, at);
        match record {
            FeedItem::Sample { value_ns, .. } => series.measured(at_ns, value_ns),
            FeedItem::Count { .. } => series.measured(at_ns, 0),
            FeedItem::Notice { .. } => {}
        }
        self.open_window_of(series, at_ns);
        match record {
            FeedItem::Sample {
                repeat,
                cpu,
                value_ns,
                sequence,
                ..
            } => {
                if series.is_over(value_ns) {
                    self.signal.set(at);
                }
                if let Some(of) = series.course() {
                    let full = &mut self.batch.slices;
                    feed.courses.sample(of, at_ns, value_ns, u64::from(repeat), full);
                }
                let kept = series.sample(Sample {
                    at_ns,
                    value_ns,
                    repeat,
                    cpu,
                    sequence,
                });
                let asked = feed
                    .source
                    .described
                    .describe
                    .question(u16::try_from(slot).unwrap_or(0), value_ns)
                    .filter(|kind| kept || *kind == QuestionKind::Gap);
                if let Some(kind) = asked
                    && let Some((_, thread)) = feed.source.thread.load()
                {
                    let question = Question {
                        cpu: u32::from(cpu),
                        thread,
                        from: at - value_ns,
                        to: at,
                        kind,
                    };
                    if !kept {
                        self.reasons.ask_in_passing(series.id(), &question);
                    } else if self.reasons.can_explain() {
                        series.ask_later(at_ns, value_ns, question);
                    }
                }
            }
            // The measuring thread signalled a loss to the capture as soon as it was likely.
            FeedItem::Count { counter, n, .. } => {
                series.count(counter, n);
                if let Some(of) = series.course() {
                    feed.courses.count(of, at_ns, counter, n, &mut self.batch.slices);
                }
            }
            FeedItem::Notice { code, a, b, .. } => {
                let told = feed.source.described.describe.notice(code, series.name(), a, b);
                let (kind, text) = told.unwrap_or_else(|| unknown(code, series.name(), a, b));
                self.batch.events.push(Event {
                    at_ns,
                    since_ns: None,
                    kind,
                    series: Some(series.id()),
                    text,
                });
            }
        }
    }
}

/// The event for a notice that its probe has no text for: it may be a doubt.
fn unknown(code: u16, name: &str, a: u64, b: u64) -> (EventKind, String) {
    let text = format!("{name}: notice {code} ({a}, {b}) is unknown: it may put this series in doubt");
    (EventKind::Incomplete, text)
}
