//! Decides whether a run with a number of streams succeeded, or which part failed.

use super::{GaveWay, Part, Wanted};
use crate::bound::CONFIDENCE;
use crate::text::{count, plural};
use model::{EventKind, Kind, RunView, SeriesView, kind};
use stats::exceedance;
use units::{Ns, SignedNs};

/// The required strength of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Enough of the run's own samples were in time.
    Seen,
    /// Enough of all such samples are in time, with a confidence of 95 %.
    Stated,
}

/// The result of a run with a number of streams.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Time during which the test set sent, in ns.
    pub sent_for_ns: u64,
    /// Frames that the test set sent.
    pub sent: u64,
    /// Frames that the test set left out or the kernel refused.
    pub left_out: u64,
    /// Frames that were sent but never reached the application.
    pub lost: u64,
    /// Samples at the application, or at the protection task.
    pub samples: u64,
    /// Samples that did not arrive in time.
    pub over: u64,
    /// Tasks that took longer than their cycle, and cycles without a task.
    pub task_failures: u64,
    /// The part that failed first; `None` if the run succeeded.
    pub gave_way: Option<GaveWay>,
}

/// Events that make it impossible to say whether the host succeeded.
const HIDING: [EventKind; 5] = [
    EventKind::HeldByUs,
    EventKind::RecorderOverrun,
    EventKind::ClockStep,
    EventKind::Incomplete,
    EventKind::Interrupted,
];

/// Events that can put a figure over its limit without a fault of the host.
const FOREIGN: [EventKind; 3] = [
    EventKind::SecondMeasurement,
    EventKind::ThreadChanged,
    EventKind::Emulated,
];

impl Attempt {
    /// The result of `run`, in which one step tried the `wanted` streams.
    pub fn of(run: &RunView, wanted: &Wanted, proof: Proof) -> Self {
        let latency = if wanted.relay { &kind::USE } else { &kind::AGE };
        let sum = |kind: &'static Kind, figure: fn(&SeriesView) -> u64| of_kind(run, kind).map(figure).sum::<u64>();
        let sent = sum(&kind::PUBLISH, |series| series.counters.received);
        let taken = sum(&kind::DELIVERY, |series| series.counters.received);
        let mut attempt = Self {
            sent_for_ns: of_kind(run, &kind::PUBLISH)
                .map(SeriesView::exposure_ns)
                .max()
                .unwrap_or(0),
            sent,
            left_out: sum(&kind::PUBLISH, |series| series.counters.missed + series.counters.lost),
            lost: sent.saturating_sub(taken),
            samples: sum(latency, |series| series.counters.received),
            over: of_kind(run, latency).map(|series| over(series, wanted.within_ns)).sum(),
            task_failures: sum(&kind::TASK, |series| series.counters.late + series.counters.missed),
            gave_way: None,
        };
        attempt.gave_way = Judge {
            run,
            wanted,
            latency,
            proof,
            attempt: &attempt,
            taken,
        }
        .first();
        attempt
    }

    /// Upper bound of the loss probability at 95 %, for independent frames.
    pub fn loss_below(&self) -> f64 {
        exceedance::upper_bound(self.lost, self.sent, CONFIDENCE)
    }

    /// Upper bound of the probability at 95 % that a sample is not in time.
    pub fn over_below(&self) -> f64 {
        exceedance::upper_bound(self.over, self.samples, CONFIDENCE)
    }
}

fn of_kind<'a>(run: &'a RunView, kind: &'static Kind) -> impl Iterator<Item = &'a SeriesView> {
    run.series.iter().filter(|series| series.is(kind))
}

/// Samples over `ns`: counted during the measurement, or the maximum possible according to the histogram.
fn over(series: &SeriesView, ns: u64) -> u64 {
    match series.spec.threshold_ns == Some(ns) {
        true => series.counters.overflow,
        false => series.histogram.count_above_at_most(ns),
    }
}

/// Determines the part that failed.
struct Judge<'a> {
    run: &'a RunView,
    wanted: &'a Wanted,
    latency: &'static Kind,
    proof: Proof,
    attempt: &'a Attempt,
    /// Frames that the application received.
    taken: u64,
}

impl Judge<'_> {
    /// The first certain failure, otherwise the first possible one.
    fn first(&self) -> Option<GaveWay> {
        self.hidden()
            .or_else(|| self.loss())
            .or_else(|| self.task())
            .or_else(|| self.quantile())
            .or_else(|| self.test_set())
    }

    fn event(&self, kinds: &[EventKind]) -> Option<&str> {
        let mut events = self.run.events.iter();
        events
            .find(|event| kinds.contains(&event.kind))
            .map(|event| event.text.as_str())
    }

    fn hidden(&self) -> Option<GaveWay> {
        let overrun: u64 = self.run.series.iter().map(|series| series.counters.overrun).sum();
        if overrun > 0 {
            return unknown(format!(
                "{} lost between the measuring threads and the recorder: give it more CPUs (--housekeeping)",
                plural(overrun, "record")
            ));
        }
        if let Some(text) = self.event(&HIDING) {
            return unknown(text.to_owned());
        }
        if self.attempt.sent == 0 || self.attempt.samples == 0 {
            return unknown("nothing came: no sample was measured".to_owned());
        }
        let more = self.taken.saturating_sub(self.attempt.sent);
        (more > 0).then(|| GaveWay {
            part: Part::Unknown,
            what: format!(
                "{} more than the test set sent: there is another publisher",
                plural(more, "frame")
            ),
        })
    }

    fn loss(&self) -> Option<GaveWay> {
        let dropped = self.event(&[EventKind::SocketDrop, EventKind::NicDrop]);
        if self.attempt.lost == 0 {
            return None;
        }
        let counts = format!(
            "{} of {} never came",
            plural(self.attempt.lost, "frame"),
            count(self.attempt.sent)
        );
        if let Some(dropped) = dropped {
            return host(format!("loss: {counts}: {dropped}"));
        }
        // Frames that the test set left out are also missing in the sequence numbers. A stream without any frame has no
        // numbers.
        let missing: u64 = of_kind(self.run, self.latency).map(|series| series.counters.lost).sum();
        let left_out = self.attempt.left_out * u64::from(self.wanted.asdus);
        match missing > left_out || self.attempt.lost * 100 > self.attempt.sent {
            true => host(format!("loss: {counts}, and the socket dropped none")),
            false => unknown(format!(
                "{counts}: not between received ones, so they may be from before or after the measurement"
            )),
        }
    }

    fn task(&self) -> Option<GaveWay> {
        let task = of_kind(self.run, &kind::TASK).find(|series| series.counters.late + series.counters.missed > 0)?;
        // A skipped cycle has no sample, and there is no limit on it.
        let why = match task.counters.late {
            0 => String::new(),
            _ => worst(task),
        };
        let text = format!(
            "task: {} in {} cycles, {} slept through{why}",
            plural(task.counters.late, "overrun"),
            count(task.counters.expected),
            count(task.counters.missed),
        );
        self.unless_foreign(text)
    }

    /// The host failed, unless the samples may be late because their frames were sent late.
    fn quantile(&self) -> Option<GaveWay> {
        let attempt = self.attempt;
        let allowed = 1.0 - self.wanted.quantile;
        let share = match self.proof {
            Proof::Seen => attempt.over as f64 / attempt.samples as f64,
            Proof::Stated => attempt.over_below(),
        };
        if share <= allowed {
            return None;
        }
        let counts = format!(
            "latency: {} of {} samples over {}",
            count(attempt.over),
            count(attempt.samples),
            Ns(self.wanted.within_ns)
        );
        let most = (allowed * attempt.samples as f64) as u64;
        if attempt.over <= most {
            return unknown(format!(
                "{counts}: few enough, but too few samples to state it with 95 %"
            ));
        }
        let half = self.wanted.within_ns / 2;
        let sent_late: u64 = of_kind(self.run, &kind::PUBLISH).map(|series| over(series, half)).sum();
        let own = attempt.over.saturating_sub(sent_late * u64::from(self.wanted.asdus));
        let text = format!("{counts}, and {} are allowed", count(most));
        if own <= most {
            let late = count(sent_late);
            let whose = format!(
                "{text}; the test set itself sent {late} frames more than {} late",
                Ns(half)
            );
            return Some(GaveWay {
                part: Part::TestSet,
                what: whose,
            });
        }
        let slowest = of_kind(self.run, self.latency).max_by_key(|series| series.max_ns);
        self.unless_foreign(text + &slowest.map(worst).unwrap_or_default())
    }

    /// The run succeeded, but the test set asked less of the host than planned.
    fn test_set(&self) -> Option<GaveWay> {
        let due = self.attempt.sent + self.attempt.left_out;
        let share = self.attempt.left_out as f64 / due as f64;
        (share > 1.0 - self.wanted.quantile).then(|| GaveWay {
            part: Part::TestSet,
            what: format!(
                "the test set left out {} of {} frames, and the host handled all frames that were sent",
                count(self.attempt.left_out),
                count(due)
            ),
        })
    }

    fn unless_foreign(&self, text: String) -> Option<GaveWay> {
        match self.event(&FOREIGN) {
            Some(foreign) => unknown(format!("{text}; that may not be the host's doing: {foreign}")),
            None => host(text),
        }
    }
}

fn host(what: String) -> Option<GaveWay> {
    Some(GaveWay { part: Part::Host, what })
}

fn unknown(what: String) -> Option<GaveWay> {
    Some(GaveWay {
        part: Part::Unknown,
        what,
    })
}

/// The cause of the worst sample, if the flight recorder knows it.
fn worst(series: &SeriesView) -> String {
    let spike = series.spikes.iter().max_by_key(|spike| spike.value_ns);
    let explained = spike.and_then(|spike| Some((spike.value_ns, spike.explanation.as_ref()?)));
    explained.map_or_else(String::new, |(ns, explanation)| {
        format!("; in the worst, {}: {}", SignedNs(ns), explanation.text)
    })
}
