//! Deviations of a run from its plan and procedure, each with its effect on the verdict.

use super::steps::{State, StepRow, rows};
use crate::Report;
use crate::screen::limits::{State as LimitState, rows as limit_rows};
use crate::text::plural;
use model::{EventKind, RunState};
use units::Ns;

/// Place of a deviation that concerns all of the run.
const WHOLE_RUN: &str = "whole run";

/// End of the text of an event about a load without work; the crate `bed` writes it.
const WITHOUT_LOAD: &str = "the run was to be measured under this load";

/// A deviation from the plan or the procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// The deviation, in words.
    pub what: String,
    /// The step, the series or the time, in words.
    pub place: String,
    /// Its effect on the verdict, in a sentence.
    pub effect: String,
}

impl Deviation {
    /// A deviation of the whole run.
    pub fn of_run(what: impl Into<String>, effect: &str) -> Self {
        Self::at(WHOLE_RUN, what, effect)
    }

    fn at(place: impl Into<String>, what: impl Into<String>, effect: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            place: place.into(),
            effect: effect.into(),
        }
    }

    /// The deviation in one sentence without a full stop, with its place if it does not concern the whole run.
    pub fn sentence(&self) -> String {
        match self.place.as_str() {
            WHOLE_RUN => self.what.clone(),
            place => format!("{place}: {}", self.what),
        }
    }
}

/// All deviations of a run.
pub(super) fn of(report: &Report) -> Vec<Deviation> {
    let mut all = of_the_file(report);
    all.extend(report.procedure.deviations.iter().cloned());
    let steps = rows(report);
    all.extend(steps.iter().filter_map(|row| of_step(report, row)));
    all.extend(loads(report));
    all.extend(refused(report));
    let changes = "The figures may belong to more than one configuration of the machine.";
    all.extend(
        report
            .reservations()
            .into_iter()
            .map(|text| Deviation::of_run(text, changes)),
    );
    all.extend(undecided(report));
    all
}

/// The run ended early, its log is missing, or it contradicts itself.
fn of_the_file(report: &Report) -> Vec<Deviation> {
    let run = &report.run;
    let ended = match run.state {
        RunState::Complete => None,
        RunState::Interrupted => Some(format!("the run ended early, after {}", Ns(run.duration_ns))),
        RunState::Running => Some(format!("the run is still measured, {} so far", Ns(run.duration_ns))),
    };
    let ended = ended.map(|text| Deviation::of_run(text, "The verdict is about the part that was measured."));
    let log = run.lacks_log.as_ref();
    let log = log.map(|text| Deviation::of_run(text.clone(), "Windows may be missing, and a worse value with them."));
    let found = report.judgement.contradictions.len();
    let contradicts = (found > 0).then(|| {
        Deviation::of_run(
            format!("the run file contradicts itself {found} times"),
            "Nothing in these series is decided.",
        )
    });
    [ended, log, contradicts].into_iter().flatten().collect()
}

fn of_step(report: &Report, row: &StepRow<'_>) -> Option<Deviation> {
    let asked = || Ns(row.planned.map_or(0, |step| step.asked_ns));
    let of = row
        .shortest
        .map_or_else(String::new, |member| format!(" of {}", member.does));
    let why = stopped_because(report, row).map_or_else(String::new, |why| format!(" ({why})"));
    let (what, effect) = match row.state {
        State::Done | State::Before => return None,
        State::LeftOut => (
            "left out by --step".to_owned(),
            "The verdict is not one of the whole plan.",
        ),
        State::NotRun => (
            "not run".to_owned(),
            "None of its figures is in the verdict; limits that it alone feeds are not measured.",
        ),
        State::NothingMeasured => (
            format!("begun, and nothing{of} was measured{why}"),
            "None of its figures is in the verdict; limits that it alone feeds are not measured.",
        ),
        State::CutShort => (
            format!("cut short: {} of {}{of} measured{why}", Ns(row.measured_ns), asked()),
            "Its limits are judged over the shorter time, which proves less.",
        ),
        State::Longer => (
            format!("longer than planned: {} instead of {}", Ns(row.measured_ns), asked()),
            "Its limits are judged over the longer time.",
        ),
        State::NotInPlan => (
            "measured, but not in the plan".to_owned(),
            "Its figures are judged like those of the plan.",
        ),
    };
    Some(Deviation::at(
        format!("step {}, {}", row.number, row.does()),
        what,
        effect,
    ))
}

/// The reason why a step ended, if an event names the step and says so.
fn stopped_because(report: &Report, row: &StepRow<'_>) -> Option<String> {
    let began_ns = row.span?.0;
    let mut events = report.run.events.iter();
    let begins = format!("{}: not measured to the end, because ", row.began_as);
    let of_step = |event: &&model::Event| event.kind == EventKind::Incomplete && event.at_ns >= began_ns;
    events
        .find_map(|event| Some(event).filter(of_step)?.text.strip_prefix(&begins))
        .map(str::to_owned)
}

/// Loads that did no work, or ended before the measurement did.
fn loads(report: &Report) -> Vec<Deviation> {
    let mut all: Vec<Deviation> = Vec::new();
    for event in report.run.events.iter() {
        let (what, effect) = match event.kind {
            EventKind::LoadStopped if !is_report(&event.text) => (
                "a load did not hold",
                "Measured without this load from then on, so figures may be better than under it.",
            ),
            EventKind::Incomplete if event.text.ends_with(WITHOUT_LOAD) => (
                "a load did no work",
                "What was measured meanwhile is in doubt: a pass becomes inconclusive.",
            ),
            _ => continue,
        };
        let found = Deviation::at(
            format!("at {}", Ns(event.at_ns)),
            format!("{what}: {}", event.text),
            effect,
        );
        if !all.iter().any(|other| other.what == found.what) {
            all.push(found);
        }
    }
    all
}

/// True for the report of a load that was stopped: `hackbench load on CPU 0: 500 messages in 29.0 s`. The crate `bed` writes it.
fn is_report(text: &str) -> bool {
    let seconds = |part: &str| {
        part.split(' ')
            .next()
            .is_some_and(|number| number.parse::<f64>().is_ok())
    };
    text.split(" in ").skip(1).any(|part| {
        seconds(part)
            && part
                .split(' ')
                .nth(1)
                .is_some_and(|unit| unit.trim_end_matches(';') == "s")
    })
}

/// Rights and features that the run did without.
fn refused(report: &Report) -> Vec<Deviation> {
    let mut texts: Vec<&str> = Vec::new();
    let events = report.run.events.iter();
    for event in events.filter(|event| event.kind == EventKind::Refused) {
        if !texts.contains(&event.text.as_str()) {
            texts.push(&event.text);
        }
    }
    let of = |text: &str| Deviation::of_run(text, "No figure depends on it; the run did without it.");
    texts.into_iter().map(of).collect()
}

/// Limits that a doubt left open; those with the same doubt together.
fn undecided(report: &Report) -> Vec<Deviation> {
    let rows = limit_rows(report);
    let mut all: Vec<(Deviation, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| row.state == LimitState::Undecided) {
        let what = format!("in doubt: {}", row.why);
        match all.iter_mut().find(|(known, _)| known.what == what) {
            Some((_, ids)) => ids.push(row.id.clone()),
            None => {
                let place = match row.others {
                    0 => row.series.clone(),
                    n => format!("{} and {}", row.series, plural(n as u64, "other")),
                };
                all.push((Deviation::at(place, what, String::new()), vec![row.id.clone()]));
            }
        }
    }
    let with_effect = |(mut deviation, ids): (Deviation, Vec<String>)| {
        let are = if ids.len() == 1 { "is" } else { "are" };
        deviation.effect = format!("{} {are} undecided, which is no pass.", ids.join(", "));
        deviation
    };
    all.into_iter().map(with_effect).collect()
}
