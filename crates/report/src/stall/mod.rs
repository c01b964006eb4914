//! Stalls: late samples of all series that overlap in time are treated as one occurrence.

mod document;
mod page;
mod text;

use crate::Report;
use crate::limits::{Quantity, Unit};
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
use crate::text::{count, plural};
use crate::verdict::Judgement;
use model::{Cause, Event, EventKind, Explanation, RunView, SeriesView, Spike};
use std::io;
use units::Ns;

/// The section of the report.
pub(crate) struct StallSection;

impl Section for StallSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::stalls(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, report: &Report) -> Vec<Link> {
        let link = sentence(report).map(|_| Link::to("stalls", "Stalls"));
        link.into_iter().collect()
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("stalls", document::stalls(report))?;
        fields.field("stalls_found", report.stalls.len())
    }
}

/// Counters of the hypervisor and the scheduler are read once a second, so an event may be dated this much later than
/// what it reports.
const NOTICED_NS: u64 = 1_100_000_000;

/// Number of events named for one stall.
const EVENTS_NAMED: usize = 2;

/// Number of stalls shown to people; the longest are listed.
pub(crate) const LISTED: usize = 6;

/// A time during which samples were delayed.
#[derive(Debug, Clone, PartialEq)]
pub struct Stall {
    /// Beginning in ns since the run's start: the earliest due instant of its samples.
    pub from_ns: u64,
    /// End in ns since the run's start: the instant of the last sample.
    pub to_ns: u64,
    /// Number of samples over their limits that were stored individually.
    pub samples: u64,
    /// The largest sample, in ns.
    pub longest_ns: u64,
    /// The series of the largest sample.
    pub series: String,
    /// Number of series with such samples.
    pub in_series: usize,
    /// The CPUs on which they were measured.
    pub cpus: Vec<u32>,
    /// The explanation of the largest sample that has one.
    pub explanation: Option<Explanation>,
    /// Lateness of this program's own sender during the stall, in ns, if it was at least half of the largest sample.
    pub sender_ns: Option<u64>,
    /// Events during the stall, as indices into the run's events.
    pub events: Vec<usize>,
}

/// A late sample: beginning and end of its wait, and its series.
struct Late<'a> {
    from_ns: u64,
    series: &'a SeriesView,
    spike: &'a Spike,
}

/// The stalls of a run, longest first: samples over the limit or the threshold of their series, grouped if their
/// waiting times overlap. Samples that were not stored individually or not read belong to no stall.
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

/// The bound for a series' largest sample: its strictest limit, otherwise its own threshold.
pub(crate) fn limit_ns(series: &SeriesView, judgement: &Judgement) -> Option<u64> {
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

/// The largest lateness of our own senders that overlaps this time.
fn sender_ns(run: &RunView, from_ns: u64, to_ns: u64) -> Option<u64> {
    let senders = run.series.iter().filter(|series| series.sends_frames());
    let spikes = senders.flat_map(|series| &series.spikes);
    let late = spikes.filter_map(|spike| Some((u64::try_from(spike.value_ns).ok()?, spike.at_ns)));
    let over = late.filter(|(ns, at_ns)| at_ns.saturating_sub(*ns) <= to_ns && *at_ns >= from_ns);
    over.map(|(ns, _)| ns).max()
}

/// Events that may explain it: during it, or noticed soon after.
fn events(run: &RunView, from_ns: u64, to_ns: u64) -> Vec<usize> {
    let tells = |event: &Event| is_of_a_stall(event.kind) && (from_ns..=to_ns + NOTICED_NS).contains(&event.at_ns);
    let all = run.events.iter().enumerate();
    all.filter(|(_, event)| tells(event)).map(|(at, _)| at).collect()
}

/// True if an event of this kind can delay threads or frames.
fn is_of_a_stall(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Steal
            | EventKind::RtThrottled
            | EventKind::HeldUp
            | EventKind::PageFaults
            | EventKind::Migration
            | EventKind::SocketDrop
            | EventKind::NicDrop
            | EventKind::Link
            | EventKind::Smi
    )
}

/// Number of samples and stalls, and the number missing in a list of the [`LISTED`] longest; `None` without a stall.
pub(crate) fn sentence(report: &Report) -> Option<String> {
    let stalls = &report.stalls;
    let samples: u64 = stalls.iter().map(|stall| stall.samples).sum();
    let dropped: u64 = report.run.series.iter().map(|series| series.spikes_dropped).sum();
    let not_read: u64 = report.run.series.iter().map(SeriesView::spikes_not_read).sum();
    let more = match stalls.len().saturating_sub(LISTED) {
        0 => String::new(),
        _ => format!(" The {LISTED} longest are listed."),
    };
    let not_kept = match dropped {
        0 => String::new(),
        n => format!(
            " {} over their limits were not stored individually, and belong to no stall.",
            plural(n, "sample")
        ),
    };
    let not_read = match not_read {
        0 => String::new(),
        n => format!(
            " {} more in the run file, the smallest of their series, are not examined.",
            count(n)
        ),
    };
    (!stalls.is_empty()).then(|| {
        format!(
            "Samples over their limits or thresholds that waited at the same time are one stall: {}, {}.{more}{not_kept}{not_read}",
            plural(samples, "sample"),
            plural(stalls.len() as u64, "stall"),
        )
    })
}

impl Stall {
    /// The CPUs on which its samples were measured: `1, 3`.
    pub(crate) fn cpus_text(&self) -> String {
        let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        cpus.join(", ")
    }

    /// Text such as `35 samples of 9 series over their limits, 8.78 ms`.
    pub fn size(&self) -> String {
        let of = match self.in_series {
            1 => self.series.clone(),
            n => format!("{n} series"),
        };
        format!("{} of {of}, {}", plural(self.samples, "sample"), Ns(self.longest_ns))
    }

    /// Its causes, as far as they are known: `hypervisor; own sender 9.95 ms late; steal at 43.7 s`.
    pub fn why(&self, run: &RunView) -> String {
        let cause = self
            .explanation
            .as_ref()
            .map_or("not explained", |why| why.cause.word());
        let sender = self
            .sender_ns
            .map(|ns| format!("this program's sender was {} late itself", Ns(ns)));
        let events = self.events.iter().filter_map(|at| run.events.get(*at));
        let events: Vec<String> = events
            .take(EVENTS_NAMED)
            .map(|event| format!("{} at {}", event.kind.word(), Ns(event.at_ns)))
            .collect();
        let more = self.events.len().saturating_sub(EVENTS_NAMED) as u64;
        let more = (more > 0).then(|| format!("and {} more", count(more)));
        let parts = [cause.to_owned()].into_iter().chain(sender).chain(events).chain(more);
        parts.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests;
