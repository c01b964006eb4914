//! Stalls: late samples of all series that lie over each other in time are one thing that happened, not many.

use crate::limits::{Quantity, Unit};
use crate::text::{count, plural};
use crate::verdict::Judgement;
use model::{Cause, Event, EventKind, Explanation, RunView, SeriesView, Spike};
use units::format_ns;

/// Counters of the hypervisor and the scheduler are read once a second: an event may be dated so long after what it tells.
const NOTICED_NS: u64 = 1_100_000_000;

/// Events named for one stall.
const EVENTS_NAMED: usize = 2;

/// A time in which samples were held up.
#[derive(Debug, Clone, PartialEq)]
pub struct Stall {
    /// From when, in ns since the run's start: the due instant of the sample that was due first.
    pub from_ns: u64,
    /// To when: the instant of the last sample.
    pub to_ns: u64,
    /// Samples over their limits, of those that were kept one by one.
    pub samples: u64,
    /// The longest of them, in ns.
    pub longest_ns: u64,
    /// The series of the longest one.
    pub series: String,
    /// How many series have such samples.
    pub in_series: usize,
    /// The CPUs they were measured on.
    pub cpus: Vec<u32>,
    /// What held up the longest sample for which that is known.
    pub explanation: Option<Explanation>,
    /// How late this program's own sender was meanwhile, in ns, where it was late by half the longest sample or more.
    pub sender_ns: Option<u64>,
    /// What happened beside it, as places in the run's events.
    pub events: Vec<usize>,
}

/// A late sample: from when to when it waited, and of which series.
struct Late<'a> {
    from_ns: u64,
    series: &'a SeriesView,
    spike: &'a Spike,
}

/// The stalls of a run, the longest first: samples over the limit of their series, or over its threshold, put together where the times
/// they waited overlap. Samples that were not kept one by one are in none.
pub fn of_run(run: &RunView, judgement: &Judgement) -> Vec<Stall> {
    let mut late: Vec<Late<'_>> = run.series.iter().flat_map(|series| late(series, judgement)).collect();
    late.sort_by_key(|late| late.from_ns);
    let mut groups: Vec<(u64, Vec<Late<'_>>)> = Vec::new();
    for one in late {
        match groups.last_mut().filter(|(end_ns, _)| one.from_ns <= *end_ns) {
            Some((end_ns, group)) => {
                *end_ns = one.spike.at_ns.max(*end_ns);
                group.push(one);
            }
            None => groups.push((one.spike.at_ns, vec![one])),
        }
    }
    let mut stalls: Vec<Stall> = groups
        .iter()
        .filter_map(|(to_ns, group)| stall(run, group, *to_ns))
        .collect();
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.longest_ns));
    stalls
}

fn late<'a>(series: &'a SeriesView, judgement: &Judgement) -> impl Iterator<Item = Late<'a>> {
    let limit_ns = limit_ns(series, judgement);
    let late = move |spike: &'a Spike| {
        let waited_ns = u64::try_from(spike.value_ns).ok()?;
        let from_ns = spike.at_ns.saturating_sub(waited_ns);
        limit_ns
            .is_some_and(|limit| waited_ns > limit)
            .then_some(Late { from_ns, series, spike })
    };
    series.spikes.iter().filter_map(late)
}

/// What the largest sample of a series may be: by its strictest limit, else by its own threshold.
fn limit_ns(series: &SeriesView, judgement: &Judgement) -> Option<u64> {
    let is_it = |check: &&crate::verdict::Check| {
        check.series == series.spec.name
            && check.limit.quantity == Quantity::Max
            && check.limit.quantity.unit() == Unit::Ns
    };
    let checks = judgement.checks.iter().filter(is_it);
    checks
        .map(|check| check.limit.allowed)
        .min()
        .or(series.spec.threshold_ns)
}

fn stall(run: &RunView, late: &[Late<'_>], to_ns: u64) -> Option<Stall> {
    let longest = late.iter().max_by_key(|late| late.spike.value_ns)?;
    let longest_ns = u64::try_from(longest.spike.value_ns).ok()?;
    let from_ns = late.first()?.from_ns;
    let mut names: Vec<&str> = late.iter().map(|late| late.series.spec.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut cpus: Vec<u32> = late.iter().filter_map(|late| late.spike.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let told = late.iter().filter(|late| {
        late.spike
            .explanation
            .as_ref()
            .is_some_and(|why| why.cause != Cause::Unexplained)
    });
    let told = told.max_by_key(|late| late.spike.value_ns);
    Some(Stall {
        from_ns,
        to_ns,
        samples: late.len() as u64,
        longest_ns,
        series: longest.series.spec.name.clone(),
        in_series: names.len(),
        cpus,
        explanation: told.and_then(|late| late.spike.explanation.clone()),
        sender_ns: sender_ns(run, from_ns, to_ns).filter(|ns| *ns >= longest_ns / 2),
        events: events(run, from_ns, to_ns),
    })
}

/// The largest lateness of our own senders that lies over this time.
fn sender_ns(run: &RunView, from_ns: u64, to_ns: u64) -> Option<u64> {
    let senders = run.series.iter().filter(|series| series.sends_frames());
    let spikes = senders.flat_map(|series| &series.spikes);
    let late = spikes.filter_map(|spike| Some((u64::try_from(spike.value_ns).ok()?, spike.at_ns)));
    let over = late.filter(|(ns, at_ns)| at_ns.saturating_sub(*ns) <= to_ns && *at_ns >= from_ns);
    over.map(|(ns, _)| ns).max()
}

/// Events that may tell of it: in its time, or noticed soon after.
fn events(run: &RunView, from_ns: u64, to_ns: u64) -> Vec<usize> {
    let tells = |event: &Event| is_of_a_stall(event.kind) && (from_ns..=to_ns + NOTICED_NS).contains(&event.at_ns);
    let all = run.events.iter().enumerate();
    all.filter(|(_, event)| tells(event)).map(|(at, _)| at).collect()
}

/// Whether such a thing holds threads or frames up.
fn is_of_a_stall(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Steal
            | EventKind::RtThrottled
            | EventKind::PageFaults
            | EventKind::Migration
            | EventKind::SocketDrop
            | EventKind::NicDrop
            | EventKind::Link
            | EventKind::Smi
    )
}

impl Stall {
    /// `35 samples of 9 series over their limits, 8.78 ms`
    pub fn size(&self) -> String {
        let of = match self.in_series {
            1 => self.series.clone(),
            n => format!("{n} series"),
        };
        format!(
            "{} of {of}, {}",
            plural(self.samples, "sample"),
            format_ns(self.longest_ns as f64)
        )
    }

    /// What held it up, as far as anything tells: `hypervisor; own sender 9.95 ms late; steal at 43.7 s`.
    pub fn why(&self, run: &RunView) -> String {
        let cause = self
            .explanation
            .as_ref()
            .map_or("not explained", |why| why.cause.word());
        let sender = self
            .sender_ns
            .map(|ns| format!("this program's sender was {} late itself", format_ns(ns as f64)));
        let events = self.events.iter().filter_map(|at| run.events.get(*at));
        let events: Vec<String> = events
            .take(EVENTS_NAMED)
            .map(|event| format!("{} at {}", event.kind.word(), format_ns(event.at_ns as f64)))
            .collect();
        let more = self.events.len().saturating_sub(EVENTS_NAMED) as u64;
        let more = (more > 0).then(|| format!("and {} more", count(more)));
        let parts = [cause.to_owned()].into_iter().chain(sender).chain(events).chain(more);
        parts.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::of_run;
    use crate::limits::Profile;
    use crate::verdict::Judgement;
    use model::{Event, EventKind, RunView, SeriesId, SeriesView, Spike};
    use testing::synthetic;

    fn spike(at_ns: u64, value_ns: i64) -> Spike {
        Spike {
            series: SeriesId(0),
            at_ns,
            value_ns,
            cpu: Some(1),
            sequence: None,
            explanation: None,
        }
    }

    fn series(name: &str, spikes: Vec<Spike>) -> SeriesView {
        let mut series = synthetic::series(name, 1000, 60_000, 10);
        series.spikes = spikes;
        series
    }

    fn stalls(run: &RunView) -> Vec<super::Stall> {
        let profile = Profile::find("substation").expect("embedded");
        of_run(run, &Judgement::of(run, &[profile]))
    }

    /// Two wake-ups and an age in one stall around 1 s, and a wake-up alone at 5 s.
    fn run() -> RunView {
        synthetic::run(vec![
            series(
                "wakeup/cpu1",
                vec![
                    spike(1_000_500_000, 900_000),
                    spike(5_000_000_000, 200_000),
                    spike(3_000_000_000, 100_000),
                ],
            ),
            series("age/MU01", vec![spike(1_002_000_000, 1_900_000)]),
        ])
    }

    #[test]
    fn late_samples_that_overlap_are_one_stall_of_all_series() {
        let stalls = stalls(&run());
        let [long, short] = &stalls[..] else {
            panic!("{stalls:?}")
        };
        assert_eq!((long.samples, long.in_series, long.longest_ns), (2, 2, 1_900_000));
        assert_eq!((long.from_ns, long.to_ns), (999_600_000, 1_002_000_000));
        assert_eq!(long.size(), "2 samples of 2 series, 1.90 ms");
        assert_eq!(
            (short.samples, short.longest_ns),
            (1, 200_000),
            "what is within its limit is in none"
        );
        assert_eq!(short.size(), "1 sample of wakeup/cpu1, 200 µs");
    }

    #[test]
    fn samples_that_only_follow_each_other_are_apart() {
        let run = synthetic::run(vec![series(
            "wakeup/cpu1",
            vec![spike(1_000_000_000, 200_000), spike(1_000_250_000, 200_000)],
        )]);
        assert_eq!(stalls(&run).len(), 2);
        let run = synthetic::run(vec![series(
            "wakeup/cpu1",
            vec![spike(1_000_000_000, 200_000), spike(1_000_150_000, 200_000)],
        )]);
        assert_eq!(stalls(&run).len(), 1);
    }

    #[test]
    fn events_and_our_own_sender_are_named() {
        let mut run = run();
        let event = |at_ns: u64, kind: EventKind| Event {
            at_ns,
            kind,
            series: None,
            text: String::new(),
        };
        run.events = vec![
            event(900_000_000, EventKind::Steal),
            event(1_500_000_000, EventKind::Steal),
            event(1_600_000_000, EventKind::Relay),
        ];
        let why = |run: &RunView| stalls(run)[0].why(run);
        assert_eq!(why(&run), "not explained; steal at 1.50 s");
        run.series[0].spikes[0].explanation = Some(synthetic::explanation());
        let word = synthetic::explanation().cause.word();
        assert_eq!(why(&run), format!("{word}; steal at 1.50 s"));
        run.series
            .push(series("publish/lateness", vec![spike(1_001_900_000, 1_800_000)]));
        assert!(why(&run).contains("this program's sender was 1.80 ms late itself"));
        run.series[2].spikes[0].value_ns = 300_000;
        assert!(!why(&run).contains("sender"), "less than half of it");
    }

    #[test]
    fn a_series_without_a_limit_makes_no_stall() {
        let run = synthetic::run(vec![series("arrival/MU01", vec![spike(1_000_000_000, 9_000_000)])]);
        assert_eq!(stalls(&run), []);
    }
}
