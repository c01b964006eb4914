//! Adds samples that were counted elsewhere to the same windows.

use super::Work;
use crate::counted::{CountedSpan, CountedSpike};
use crate::recorder::since;
use crate::why::FRAME_WORTH_ASKING_NS;
use crate::window::{Open, Sample};
use model::{Counters, Event, Question, QuestionKind, SeriesId, SeriesSpec};

impl Work {
    pub(super) fn take_counted(&mut self, span: &CountedSpan) {
        let at_ns = since(self.start, span.at);
        // A series counted elsewhere has no rate that would give its start: it begins with its first sample.
        let first = span.spikes.iter().map(|spike| spike.at).min();
        let first_ns = first.map_or(at_ns, |first| since(self.start, first).min(at_ns));
        let name = &span.series.name;
        if span.is_empty() && self.measured(name).is_some() {
            return;
        }
        let Some(mut series) = self
            .counted
            .remove(name)
            .or_else(|| self.add_series(&span.series, first_ns))
        else {
            return;
        };
        series.begin(first_ns);
        // Single samples come before the span that counts them, and open no window.
        if span.counters != Counters::default() {
            let from_ns = series.open_since_ns().max(self.counted_until_ns);
            self.open_window_of(&mut series, from_ns.min(at_ns));
            series.counted(span, at_ns);
        }
        if span.counters.lost > 0 {
            self.signal.set(span.at);
        }
        for spike in &span.spikes {
            self.counted_spike(&mut series, spike);
        }
        self.counted.insert(name.clone(), series);
    }

    /// Adds an event for one series, which may be measured here; the series is made if it does not exist yet.
    pub(super) fn take_counted_event(&mut self, spec: &SeriesSpec, event: Event) {
        if let Some(id) = self.measured(&spec.name) {
            let series = Some(id);
            return self.batch.events.push(Event { series, ..event });
        }
        let known = self.counted.remove(&spec.name);
        let Some(series) = known.or_else(|| self.add_series(spec, event.at_ns)) else {
            return;
        };
        self.batch.events.push(Event {
            series: Some(series.id()),
            ..event
        });
        self.counted.insert(spec.name.clone(), series);
    }

    /// The series with this name that a feed measures, if none with this name was counted elsewhere.
    fn measured(&self, name: &str) -> Option<SeriesId> {
        if self.counted.contains_key(name) {
            return None;
        }
        let mut series = self.feeds.values().flat_map(|feed| feed.series.iter().flatten());
        Some(series.find(|series| series.name() == name)?.id())
    }

    fn counted_spike(&mut self, series: &mut Open, spike: &CountedSpike) {
        let at_ns = since(self.start, spike.at);
        if series.is_over(spike.value_ns) {
            self.signal.set(spike.at);
        }
        let kept = series.keep_if_bad(Sample {
            at_ns,
            value_ns: spike.value_ns,
            repeat: 1,
            cpu: u16::try_from(spike.cpu).unwrap_or(u16::MAX),
            sequence: spike.sequence,
        });
        if !kept || spike.value_ns < FRAME_WORTH_ASKING_NS {
            return;
        }
        let question = Question {
            cpu: spike.cpu,
            thread: spike.thread,
            from: spike.at - spike.value_ns,
            to: spike.at,
            kind: QuestionKind::Hop,
        };
        if self.reasons.can_explain() {
            series.ask_later(at_ns, spike.value_ns, question);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_run::TestRun;
    use crate::{CountedSpan, Describe, Recorder, Stop};
    use model::{EventKind, RunState, SeriesId, SeriesSpec};

    struct Gaps;

    impl Describe for Gaps {
        fn series(&self, _: u16, label: &str) -> SeriesSpec {
            SeriesSpec::named(&format!("spacing/{label}"))
        }
    }

    #[test]
    fn an_event_from_elsewhere_is_of_the_series_that_is_measured_here() {
        let file = TestRun::new();
        let (writer, options) = file.begin(60_000_000_000, None);
        let mut recorder = Recorder::start(writer, options, &Stop::new());
        let mut feed = recorder.feed(16, 1, Box::new(Gaps));
        feed.announce(0, "MU01");
        recorder.settle();
        let counted = recorder.counted();
        for name in ["spacing/MU01", "spacing/MU02"] {
            let series = SeriesSpec::named(name);
            counted.add(CountedSpan::not_measured(series.clone(), "it is listed twice"));
            counted.write(series, EventKind::Incomplete, name);
        }
        drop(feed);
        recorder.finish(RunState::Complete).expect("written");
        let run = file.read();
        let series = run.series().expect("series");
        let names: Vec<&str> = series.iter().map(|(_, spec)| spec.name.as_str()).collect();
        assert_eq!(names, ["spacing/MU01", "spacing/MU02"]);
        let named = |id: SeriesId| {
            series
                .iter()
                .find(|(other, _)| *other == id)
                .map(|(_, spec)| &spec.name)
        };
        let events = run.events().expect("events");
        let of: Vec<_> = events.iter().map(|event| event.series.and_then(named)).collect();
        assert_eq!(of, events.iter().map(|event| Some(&event.text)).collect::<Vec<_>>());
        assert_eq!(events.len(), 2);
    }
}
