//! The trip-time budget: every part of the path from a fault to a trip message. Each part states whether it was
//! measured.

mod answer;
mod document;
mod drawing;
mod section;
mod tasks;
#[cfg(test)]
mod tests;
mod text;

pub use answer::TripAnswer;
pub(crate) use section::BudgetSection;

use crate::limits::Quantity;
use crate::text::plural;
use crate::verdict::{Judgement, Verdict};
use model::hop::{self, HopName};
use model::{MEASURED, RunView, SCHEDULED, SeriesView, kind::BudgetLine};
use units::SignedNs;

/// Allowed time of a trip message from application to application: transfer time class TT6 of IEC 61850-5, for messages
/// of performance class P1.
pub const TRIP_TRANSFER_NS: u64 = 3_000_000;

/// How a line of the budget is measured.
struct Part {
    title: &'static str,
    what: &'static str,
    line: BudgetLine,
}

/// Points where a frame leaves the host's part of its path: the hop from the NIC to such a point is the host's transit.
/// A machine may have guests and containers, so several kinds of the first group can occur; the later groups are used
/// only if the earlier ones were not measured.
const EDGES: [&[&str]; 3] = [&["vhost", "taken", "edge"], &["tap"], &["port"]];

/// Points where a guest or container receives a frame: from there to `app` is the delivery inside it. In a guest whose
/// tracing begins at its NIC, that is the first point.
const GUEST_NICS: [&str; 2] = ["edge", "nic"];

/// Name of the host's run in a merged run.
const HOST: &str = "host";

/// The lines of the budget, in the order of the path.
const PARTS: [Part; 7] = [
    Part {
        title: "Publish",
        what: "merging unit's due instant to frame on the wire",
        line: BudgetLine::Publish,
    },
    Part {
        title: "Network",
        what: "wire to the host's NIC",
        line: BudgetLine::Network,
    },
    Part {
        title: "Host transit",
        what: "host's NIC to the edge of guest or container",
        line: BudgetLine::HostTransit,
    },
    Part {
        title: "Guest delivery",
        what: "guest's NIC to the application's socket",
        line: BudgetLine::GuestDelivery,
    },
    Part {
        title: "Wake-up",
        what: "timer due to thread running",
        line: BudgetLine::WakeUp,
    },
    Part {
        title: "Task",
        what: "the protection task's own run time",
        line: BudgetLine::Task,
    },
    Part {
        title: "Trip",
        what: "faulted sample due to trip GOOSE back",
        line: BudgetLine::Trip,
    },
];

/// From due instant to kernel receive stamp: publish, network and host transit in one measurement.
const ARRIVAL: Part = Part {
    title: "Publish to host edge",
    what: "due instant to the kernel's receive stamp",
    line: BudgetLine::ToHostEdge,
};

/// Measurements that span several lines: shown separately, never added.
const BESIDE: [Part; 2] = [
    Part {
        title: "Round trip",
        what: "layer 2, there and back, not halved",
        line: BudgetLine::RoundTrip,
    },
    Part {
        title: "Age",
        what: "due instant to application, in one",
        line: BudgetLine::Age,
    },
];

/// The worst figures of all series that measure a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Largest sample in ns.
    pub max_ns: i64,
    /// The series that contains it.
    pub worst: String,
    /// Largest 99.9 % quantile in ns; `None` unless every series has enough samples.
    pub p999_ns: Option<u64>,
    /// The activations that the quantile refers to: [`model::SCHEDULED`] if a series skipped periods.
    pub p999_view: &'static str,
    /// Number of series with samples.
    pub series: u64,
    /// Samples in all series.
    pub samples: u64,
    /// Gaps (lost samples, series without any) and the activations that the quantile refers to; empty if neither
    /// applies.
    pub note: String,
}

/// State of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Measured.
    Measured(Measurement),
    /// Not measured separately: it is part of the line named here.
    Within(&'static str),
    /// Not measured. This does not mean zero.
    NotMeasured,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name.
    pub title: &'static str,
    /// Beginning and end of the part.
    pub what: &'static str,
    /// The line.
    pub line: BudgetLine,
    /// Its figures.
    pub state: State,
    /// The strictest limit on a maximum of its series.
    pub allowed_ns: Option<u64>,
    /// The verdict over the limits on a maximum of its series.
    pub verdict: Option<Verdict>,
}

impl Line {
    /// Text of a line without a figure, with its verdict formatted by `word` if a limit applies; `None` for a line with
    /// a figure.
    pub fn open(&self, word: impl Fn(Verdict) -> String) -> Option<String> {
        let text = match &self.state {
            State::Measured(_) => return None,
            State::NotMeasured => "not measured".to_owned(),
            State::Within(other) => format!("not alone: part of \u{201c}{other}\u{201d}"),
        };
        Some(match self.verdict {
            Some(verdict) => format!("{}, {text}", word(verdict)),
            None => text,
        })
    }
}

/// The whole budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// The seven lines. If one measurement spans the first three, it precedes them as an eighth.
    pub lines: Vec<Line>,
    /// Measurements that span several lines.
    pub beside: Vec<Line>,
    /// Sum of the maxima of the measured parts in ns; `None` if none was measured. The trip is the whole path and is
    /// not added.
    pub sum_ns: Option<i64>,
    /// Titles of the added lines.
    pub added: Vec<&'static str>,
    /// One sentence about the handling of the test set's own lateness; `None` if it was not measured.
    pub own: Option<String>,
    /// The answers to planted faults; `None` if no trip was timed.
    pub answer: Option<TripAnswer>,
    /// Number of the seven lines that are measured, separately or together with others.
    pub covered: usize,
}

impl Budget {
    /// Assigns a run's measurements to the lines.
    pub fn of(run: &RunView, judgement: &Judgement) -> Self {
        let line = |part: &Part| one(run, judgement, part);
        let mut lines: Vec<Line> = PARTS.iter().map(line).collect();
        let arrival = line(&ARRIVAL);
        if matches!(arrival.state, State::Measured(_)) {
            for part in lines.iter_mut().take(3).filter(|part| part.state == State::NotMeasured) {
                part.state = State::Within(ARRIVAL.title);
            }
            lines.insert(0, arrival);
        }
        let added = addends(&lines);
        let known = lines
            .iter()
            .filter(|line| line.line != ARRIVAL.line && line.state != State::NotMeasured)
            .count();
        Self {
            sum_ns: (!added.is_empty()).then(|| added.iter().map(|(_, max_ns)| max_ns).sum()),
            own: own_lateness(&lines, &added),
            added: added.into_iter().map(|(title, _)| title).collect(),
            answer: TripAnswer::of(run, judgement),
            covered: known,
            beside: BESIDE
                .iter()
                .map(line)
                .filter(|line| line.state != State::NotMeasured)
                .collect(),
            lines,
        }
    }

    /// `sum of the measured lines' maxima (5 of 7 lines)`.
    pub fn sum_label(&self) -> String {
        format!(
            "sum of the measured lines' maxima ({} of {} lines)",
            self.covered,
            PARTS.len()
        )
    }
}

/// The parts of the sum: each section of the path once, and never the trip, which is the whole path. The test set is
/// the publisher, and its own lateness is not the host's: if the host's transit is traced, it is used instead of the
/// measurement that spans both.
fn addends(lines: &[Line]) -> Vec<(&'static str, i64)> {
    let is_measured = |line: &Line| matches!(line.state, State::Measured(_));
    let is_traced = lines
        .iter()
        .any(|line| line.line == BudgetLine::HostTransit && is_measured(line));
    let is_spanned = !is_traced && lines.first().is_some_and(|line| line.line == ARRIVAL.line);
    let counted = |line: &&Line| match line.line {
        BudgetLine::Trip | BudgetLine::Publish => false,
        BudgetLine::ToHostEdge => is_spanned,
        BudgetLine::Network | BudgetLine::HostTransit => !is_spanned,
        _ => true,
    };
    lines
        .iter()
        .filter(counted)
        .filter_map(|line| match &line.state {
            State::Measured(measurement) => Some((line.title, measurement.max_ns)),
            _ => None,
        })
        .collect()
}

/// The sentence about the handling of the test set's own lateness.
fn own_lateness(lines: &[Line], added: &[(&'static str, i64)]) -> Option<String> {
    let publish = lines.iter().find(|line| line.line == BudgetLine::Publish)?;
    let State::Measured(lateness) = &publish.state else {
        return None;
    };
    let late = SignedNs(lateness.max_ns);
    let spanned = added.iter().any(|(title, _)| *title == ARRIVAL.title);
    Some(match spanned {
        true => format!(
            "\u{201c}{}\u{201d} includes the test set's own lateness, up to {late}: only tracing shows the host's \
             share.",
            ARRIVAL.title
        ),
        false => format!("The test set's own lateness, up to {late}, is not the host's. The sum leaves it out."),
    })
}

fn one(run: &RunView, judgement: &Judgement, part: &Part) -> Line {
    let series = of_part(run, part);
    let is_of_line = |name: &str| series.iter().any(|series| series.spec.name == name);
    let checks: Vec<_> = judgement
        .checks
        .iter()
        .filter(|check| check.limit.quantity == Quantity::Max && is_of_line(&check.series))
        .collect();
    Line {
        title: part.title,
        what: part.what,
        line: part.line,
        state: measured(&series, part.line).map_or(State::NotMeasured, State::Measured),
        allowed_ns: checks.iter().map(|check| check.limit.allowed).min(),
        verdict: (!checks.is_empty()).then(|| Verdict::over(checks.iter().map(|check| check.verdict))),
    }
}

fn measured(series: &[&SeriesView], line: BudgetLine) -> Option<Measurement> {
    let measured = measurement(series)?;
    match line {
        BudgetLine::Task => Some(tasks::in_a_row(series, measured)),
        _ => Some(measured),
    }
}

/// The series that measure a line.
fn of_part<'a>(run: &'a RunView, part: &Part) -> Vec<&'a SeriesView> {
    let is_of_line = |series: &&SeriesView| series.kind().is_some_and(|kind| kind.line == Some(part.line));
    let of_line: Vec<&SeriesView> = run.series.iter().filter(is_of_line).collect();
    match part.line {
        BudgetLine::GuestDelivery if !merged_delivery(run).is_empty() => merged_delivery(run),
        BudgetLine::HostTransit => transit(run),
        BudgetLine::GuestDelivery if !of_line.iter().any(|series| series.max_ns.is_some()) => in_guest(run, of_line),
        _ => of_line,
    }
}

/// The delivery measured by the hops inside the guest or container, if no application measured it.
fn in_guest<'a>(run: &'a RunView, own: Vec<&'a SeriesView>) -> Vec<&'a SeriesView> {
    let mut all = vec![own];
    // If the host's part of the path was measured, the hop from the NIC is not inside the guest.
    let has_edge = !transit(run).is_empty();
    let nics = GUEST_NICS.into_iter().filter(|nic| !has_edge || *nic != "nic");
    all.extend(nics.map(|nic| hops(run, nic, &["app"])));
    all.retain(|series| series.iter().any(|one| one.max_ns.is_some()));
    all.into_iter().next().unwrap_or_default()
}

/// The host's transit, up to the furthest kind of edge that was measured. A hop that should have been measured but was
/// not is kept for its verdict.
fn transit(run: &RunView) -> Vec<&SeriesView> {
    let mut found = Vec::new();
    for edges in EDGES {
        found.extend(hops(run, "nic", edges));
        if found.iter().any(|series: &&SeriesView| series.max_ns.is_some()) {
            break;
        }
    }
    found
}

/// Series of the hops from one kind of point to others; in a merged run, those of the run named host.
fn hops<'a>(run: &'a RunView, from: &str, to: &[&str]) -> Vec<&'a SeriesView> {
    let is_meant = |series: &&SeriesView| {
        Ends::of(run, series).is_some_and(|ends| {
            ends.run.is_none_or(|run| run == HOST)
                && is_called(ends.from, from)
                && to.iter().any(|to| is_called(ends.to, to))
        })
    };
    run.series.iter().filter(is_meant).collect()
}

/// From the NIC to the application within one of the other runs of a merged run.
fn merged_delivery(run: &RunView) -> Vec<&SeriesView> {
    let is_delivery = |series: &&SeriesView| {
        Ends::of(run, series).is_some_and(|ends| {
            ends.run.is_some_and(|run| run != HOST) && is_called(ends.from, "nic") && is_called(ends.to, "app")
        })
    };
    run.series.iter().filter(is_delivery).collect()
}

/// The two points of a hop's series, within one run.
struct Ends<'a> {
    /// In a merged run, the name of the run that they belong to.
    run: Option<&'a str>,
    from: &'a str,
    to: &'a str,
}

impl<'a> Ends<'a> {
    /// `None` if the series is not a hop, or a hop between two runs.
    fn of(run: &RunView, series: &'a SeriesView) -> Option<Self> {
        let HopName { from, to, .. } = HopName::parse(&series.spec.name)?;
        if !run.is_merged() {
            return Some(Self { run: None, from, to });
        }
        let ((run, from), (other, to)) = (hop::in_run(from)?, hop::in_run(to)?);
        (run == other).then_some(Self {
            run: Some(run),
            from,
            to,
        })
    }
}

/// True if a point is of this kind; if there are several, the name is followed by an interface.
fn is_called(point: &str, name: &str) -> bool {
    point
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn measurement(series: &[&SeriesView]) -> Option<Measurement> {
    let with_samples: Vec<&&SeriesView> = series.iter().filter(|one| one.max_ns.is_some()).collect();
    let worst = with_samples.iter().max_by_key(|one| one.max_ns)?;
    let judged = |one: &&&SeriesView| one.scheduled_figures().unwrap_or_else(|| one.figures()).p999;
    let quantiles: Vec<Option<u64>> = with_samples.iter().map(judged).collect();
    let is_scheduled = with_samples.iter().any(|one| one.judged_view() == SCHEDULED);
    let all_supported = quantiles.iter().all(Option::is_some);
    Some(Measurement {
        max_ns: worst.max_ns?,
        worst: worst.spec.name.clone(),
        p999_ns: quantiles.into_iter().flatten().max().filter(|_| all_supported),
        p999_view: if is_scheduled { SCHEDULED } else { MEASURED },
        series: with_samples.len() as u64,
        samples: with_samples.iter().map(|one| one.counters.received).sum(),
        note: notes(series, with_samples.len(), is_scheduled && all_supported),
    })
}

/// Gaps, and the activations that the quantile refers to, if not all.
fn notes(series: &[&SeriesView], with_samples: usize, is_scheduled: bool) -> String {
    let lost: u64 = series.iter().map(|one| one.counters.lost + one.unaccounted()).sum();
    let mut notes = Vec::new();
    if series.len() > with_samples {
        notes.push(format!(
            "{} of {} series without samples",
            series.len() - with_samples,
            series.len()
        ));
    }
    if lost > 0 {
        notes.push(format!("{} lost", plural(lost, "sample")));
    }
    if is_scheduled {
        notes.push("p99.9 over scheduled activations".to_owned());
    }
    notes.join(", ")
}
