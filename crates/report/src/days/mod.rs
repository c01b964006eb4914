//! Verdicts per day, for steps that were measured for two days or longer: each day is judged alone, by the same rules as the run.
//!
//! A day is 24 h from the start of the step. A window across midnight counts for both days, so no day hides what the other has. Quantiles, means
//! and excesses are not judged per day: a long run keeps no histogram of a single day.

mod document;
mod page;
mod section;
mod slice;
#[cfg(test)]
mod tests;

pub(crate) use section::DaysSection;

use crate::limits::{Limit, Profile, Quantity};
use crate::verdict::{self, Check, Judgement, Verdict};
use model::{EventKind, RunView, SeriesView};
use slice::Slicer;
use units::Ns;

/// A day in ns.
pub(crate) const DAY_NS: u64 = 86_400_000_000_000;

/// A rest of a step that is shorter than this belongs to its last day: steps end some seconds late.
const REST_NS: u64 = 60_000_000_000;

/// One day of a limit: the worst of the series that the limit judges.
#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    /// Number of the day in its step, from 1.
    pub number: u64,
    /// Its begin and its end in the run; the last one may be shorter than 24 h.
    pub span_ns: (u64, u64),
    /// The verdict over it.
    pub verdict: Verdict,
    /// The series that decided.
    pub series: String,
    /// Its worst figure, as text for people; empty if it was not measured.
    pub worst: String,
    /// The figure in ns, or the count.
    pub measured: Option<f64>,
    /// The reason if the verdict is not `pass`; otherwise empty.
    pub why: String,
}

/// A limit in the days of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitDays {
    /// Name of the profile.
    pub profile: String,
    /// The limit.
    pub limit: Limit,
    /// Start of the step in the run, in ns.
    pub start_ns: u64,
    /// Its days, in order.
    pub days: Vec<Day>,
}

impl LimitDays {
    /// Number of days within the limit, without a doubt.
    pub fn within(&self) -> usize {
        self.days.iter().filter(|day| day.verdict == Verdict::Pass).count()
    }

    /// Such as `6 of 7 days within`.
    pub fn sentence(&self) -> String {
        format!("{} of {} days within", self.within(), self.days.len())
    }

    /// The days that are not within, each with its reason.
    pub fn open(&self) -> Vec<String> {
        let open = self.days.iter().filter(|day| day.verdict != Verdict::Pass);
        open.map(|day| {
            let word = if day.verdict == Verdict::Fail {
                "exceeded"
            } else {
                "undecided"
            };
            format!("day {} {word}: {}: {}", day.number, day.series, day.why)
        })
        .collect()
    }

    /// The day with the largest figure, in words; `None` if no day has one.
    pub fn worst(&self) -> Option<String> {
        let with = self.days.iter().filter(|day| day.measured.is_some());
        let worst = with.max_by(|a, b| a.measured.unwrap_or(0.0).total_cmp(&b.measured.unwrap_or(0.0)))?;
        Some(format!("{} on day {}", worst.worst, worst.number))
    }
}

/// A step in days: its start, and the begin and end of each day.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Calendar {
    start_ns: u64,
    days: Vec<(u64, u64)>,
}

impl Calendar {
    /// The days from `start_ns` to `end_ns`; `None` for fewer than two.
    fn of(start_ns: u64, end_ns: u64) -> Option<Self> {
        let length_ns = end_ns.saturating_sub(start_ns);
        let whole = length_ns / DAY_NS;
        let count = whole + u64::from(length_ns % DAY_NS > REST_NS);
        let day = |number: u64| {
            let from_ns = start_ns + number * DAY_NS;
            (from_ns, if number + 1 == count { end_ns } else { from_ns + DAY_NS })
        };
        (count >= 2).then(|| Self {
            start_ns,
            days: (0..count).map(day).collect(),
        })
    }
}

/// Start of the step in which a series was measured: the last one that began before its first window ended; without steps, that of the run.
fn start_of(run: &RunView, series: &SeriesView) -> Option<u64> {
    let first = series.windows.first()?;
    let starts = run.events.iter().filter(|event| event.kind == EventKind::StepStarted);
    let starts = starts.map(|event| event.at_ns).filter(|at_ns| *at_ns < first.end_ns);
    Some(starts.max().unwrap_or(0).min(first.start_ns))
}

/// True if a quantity can be judged from the windows of a day.
fn is_of_windows(quantity: Quantity) -> bool {
    quantity == Quantity::Max || quantity.counter().is_some_and(|_| quantity != Quantity::Received)
}

/// The days of every limit of the run's checks; none for steps shorter than two days.
pub(crate) fn of(run: &RunView, profiles: &[Profile], judgement: &Judgement) -> Vec<LimitDays> {
    if run.duration_ns < DAY_NS + REST_NS {
        return Vec::new();
    }
    let starts: Vec<Option<u64>> = run.series.iter().map(|series| start_of(run, series)).collect();
    let mut distinct: Vec<u64> = starts.iter().flatten().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut all = Vec::new();
    for start_ns in distinct {
        // A series without a window was not measured: no step may pass over it.
        let ours = |at: &usize| starts[*at].is_none_or(|own| own == start_ns);
        let members: Vec<usize> = (0..run.series.len()).filter(ours).collect();
        let ends = members
            .iter()
            .filter_map(|at| run.series[*at].windows.last())
            .map(|window| window.end_ns);
        if let Some(calendar) = Calendar::of(start_ns, ends.max().unwrap_or(0)) {
            all.extend(of_step(run, &calendar, &members, profiles, judgement));
        }
    }
    all
}

/// The days of a step's series for every limit that judges them.
fn of_step(
    run: &RunView,
    calendar: &Calendar,
    members: &[usize],
    profiles: &[Profile],
    judgement: &Judgement,
) -> Vec<LimitDays> {
    let mut found: Vec<LimitDays> = Vec::new();
    let mut slicer = Slicer::new(run);
    for (at, span_ns) in calendar.days.iter().enumerate() {
        let is_last = at + 1 == calendar.days.len();
        let day = slicer.day(*span_ns, is_last);
        for check in judgement
            .checks
            .iter()
            .filter(|check| is_of_windows(check.limit.quantity))
        {
            let Some(index) = members
                .iter()
                .find(|index| run.series[**index].spec.name == check.series)
            else {
                continue;
            };
            let Some(profile) = profiles.iter().find(|profile| profile.name == check.profile) else {
                continue;
            };
            let series = &day.series[*index];
            let of_day = verdict::of_day(day, series, (profile, &check.limit), &judgement.contradictions);
            let judged = Day::of(
                at as u64 + 1,
                *span_ns,
                &of_day,
                slice::unmeasured_ns(series, *span_ns, run.info.window_ns),
            );
            let known = |one: &&mut LimitDays| one.profile == check.profile && one.limit == check.limit;
            match found.iter_mut().find(known) {
                Some(limit) => merge(&mut limit.days, judged),
                None => found.push(LimitDays {
                    profile: check.profile.clone(),
                    limit: check.limit.clone(),
                    start_ns: calendar.start_ns,
                    days: vec![judged],
                }),
            }
        }
    }
    found
}

/// Adds the day of another series, or the next day: of one day the worse verdict stays, then the larger figure.
fn merge(days: &mut Vec<Day>, other: Day) {
    let rank = |day: &Day| match day.verdict {
        Verdict::Fail => 2,
        Verdict::Inconclusive => 1,
        Verdict::Pass => 0,
    };
    match days.last_mut().filter(|last| last.number == other.number) {
        Some(last) => {
            let figure = |day: &Day| day.measured.unwrap_or(f64::MIN);
            let is_worse = rank(&other) > rank(last) || rank(&other) == rank(last) && figure(&other) > figure(last);
            if is_worse {
                *last = other;
            }
        }
        None => days.push(other),
    }
}

impl Day {
    /// A day by its check, and by its time that was not measured.
    fn of(number: u64, span_ns: (u64, u64), check: &Check, gap_ns: Option<u64>) -> Self {
        let gap = gap_ns.map(|ns| format!("{} of it were not measured", Ns(ns)));
        let verdict = match check.verdict {
            Verdict::Pass if gap.is_some() => Verdict::Inconclusive,
            verdict => verdict,
        };
        let own = match check.verdict {
            // The file does not have every sample of a day, so how many are over is not known.
            Verdict::Fail => format!("{}, allowed {}", check.measured_text(), check.limit.allowed_text()),
            _ => check.why.clone(),
        };
        let own = Some(own).filter(|why| !why.is_empty());
        let why: Vec<String> = gap.into_iter().chain(own).collect();
        Self {
            number,
            span_ns,
            verdict,
            series: check.series.clone(),
            worst: check.measured.map_or_else(String::new, |_| check.measured_text()),
            measured: check.measured.map(|measured| measured.as_f64()),
            why: why.join("; "),
        }
    }
}
