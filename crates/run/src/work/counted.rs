//! Adds samples that were counted elsewhere to the same windows.

use super::Work;
use crate::counted::{CountedSpan, CountedSpike};
use crate::recorder::since;
use crate::why::FRAME_WORTH_ASKING_NS;
use crate::window::{Open, Sample};
use model::{Counters, Event, Question, QuestionKind, SeriesSpec};

impl Work {
    pub(super) fn take_counted(&mut self, span: &CountedSpan) {
        let at_ns = since(self.start, span.at);
        // A series counted elsewhere has no rate that would give its start: it begins with its first sample.
        let first = span.spikes.iter().map(|spike| spike.at).min();
        let first_ns = first.map_or(at_ns, |first| since(self.start, first).min(at_ns));
        let name = &span.series.name;
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

    /// Adds an event for one series; the series is made if it does not exist yet.
    pub(super) fn take_counted_event(&mut self, spec: &SeriesSpec, event: Event) {
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
