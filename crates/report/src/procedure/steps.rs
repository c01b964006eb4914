//! The steps of a run: planned, and as they were measured.

use crate::Report;
use crate::verdict::{Check, Verdict};
use model::{EventKind, PlannedMember, PlannedStep, RunView, SeriesView, under};

/// A measured time that lacks this share of the asked one, in per mille, was cut short.
const SHORT_PER_MILLE: u64 = 20;

/// Least missing time in ns that counts: windows end with their last sample.
const SHORT_NS: u64 = 50_000_000;

/// A step is longer than asked if it exceeds its time by this share in percent, and by [`LONG_NS`]: a test set waits for its last shot.
const LONG_PERCENT: u64 = 25;
const LONG_NS: u64 = 5_000_000_000;

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// An earlier run file has it.
    Before,
    /// The command line left it out.
    LeftOut,
    /// It was not begun.
    NotRun,
    /// It was begun, and has no samples.
    NothingMeasured,
    /// It was measured for less time than asked.
    CutShort,
    /// It was measured for clearly more time than asked.
    Longer,
    /// It was measured as asked.
    Done,
    /// It was measured, but the plan has no such step.
    NotInPlan,
}

impl State {
    /// The word in files and on paper.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Before => "in an earlier file",
            Self::LeftOut => "left out",
            Self::NotRun => "not run",
            Self::NothingMeasured => "nothing measured",
            Self::CutShort => "cut short",
            Self::Longer => "longer than planned",
            Self::Done => "done",
            Self::NotInPlan => "not in the plan",
        }
    }

    /// True if it was begun in this run.
    pub(super) fn has_run(self) -> bool {
        !matches!(self, Self::Before | Self::LeftOut | Self::NotRun)
    }
}

/// A step, with what became of it.
pub(super) struct StepRow<'a> {
    /// Its number in the plan, from 1.
    pub(super) number: usize,
    /// Its names in the run; empty if it was not begun.
    pub(super) began_as: String,
    /// The plan's step; `None`: the plan has none of this number.
    pub(super) planned: Option<&'a PlannedStep>,
    /// Earliest begin by the plan: the measuring time of the steps before it, in ns.
    pub(super) earliest_ns: u64,
    /// Begin and end of the step, in ns since the run's start; without an end, the run ended in it.
    pub(super) span: Option<(u64, Option<u64>)>,
    /// Measured time in ns; of measurements side by side that of the shortest.
    pub(super) measured_ns: u64,
    /// The measurement with this time, if there are several side by side.
    pub(super) shortest: Option<&'a PlannedMember>,
    /// The limits that its series feed, each with the verdict over these.
    pub(super) limits: Vec<(String, Verdict)>,
    pub(super) state: State,
}

impl StepRow<'_> {
    /// Description by the plan, else by the run.
    pub(super) fn does(&self) -> &str {
        self.planned.map_or(&self.began_as, |step| &step.does)
    }
}

/// A step as the events of a run tell it.
struct Ran {
    names: Vec<String>,
    began_ns: u64,
    ended_ns: Option<u64>,
}

/// The steps that were begun, in order; those side by side are one.
fn ran(run: &RunView) -> Vec<Ran> {
    let mut all: Vec<Ran> = Vec::new();
    let mut is_open = false;
    for event in run.events.iter() {
        match (event.kind, all.last_mut().filter(|_| is_open)) {
            (EventKind::StepStarted, Some(step)) => step.names.push(event.text.clone()),
            (EventKind::StepStarted, None) => {
                is_open = true;
                all.push(Ran {
                    names: vec![event.text.clone()],
                    began_ns: event.at_ns,
                    ended_ns: None,
                });
            }
            (EventKind::StepStopped, Some(step)) => {
                step.ended_ns = Some(event.at_ns);
                is_open = false;
            }
            _ => {}
        }
    }
    all
}

/// The rows of the step list: every step of the plan, and every other one that was begun.
pub(super) fn rows(report: &Report) -> Vec<StepRow<'_>> {
    let Some(plan) = &report.procedure.plan else {
        return Vec::new();
    };
    let ran = ran(&report.run);
    let mut rows = Vec::new();
    let (mut earliest_ns, mut chosen) = (0_u64, 0_usize);
    for (at, step) in plan.steps.iter().enumerate() {
        // The steps that are chosen were run in the order of the plan, the first of them in an earlier file if this run is a rest.
        let own = chosen.checked_sub(plan.before).filter(|_| step.is_chosen);
        let state = match (step.is_chosen, own) {
            (false, _) => Some(State::LeftOut),
            (true, None) => Some(State::Before),
            _ => None,
        };
        let mut row = row(report, &ran, own, Some(step));
        row.number = at + 1;
        row.earliest_ns = earliest_ns;
        row.state = state.unwrap_or(row.state);
        rows.push(row);
        if step.is_chosen {
            chosen += 1;
            earliest_ns += step.planned_ns;
        }
    }
    for own in chosen.saturating_sub(plan.before)..ran.len() {
        let mut more = row(report, &ran, Some(own), None);
        (more.number, more.earliest_ns) = (rows.len() + 1, earliest_ns);
        rows.push(more);
    }
    rows
}

/// The row of a step that was run as number `own` of this file, if it was.
fn row<'a>(report: &Report, ran: &[Ran], own: Option<usize>, planned: Option<&'a PlannedStep>) -> StepRow<'a> {
    let step = own.and_then(|own| ran.get(own));
    let until_ns = own.and_then(|own| Some(ran.get(own + 1)?.began_ns));
    let of_step = step.map(|step| series(&report.run, step.began_ns, until_ns));
    let of_step = of_step.unwrap_or_default();
    let (measured_ns, shortest) = measured(&of_step, planned);
    let is_rest = own == Some(0) && report.procedure.plan.as_ref().is_some_and(|plan| plan.is_rest);
    StepRow {
        number: 0,
        began_as: step.map(|step| step.names.join(", ")).unwrap_or_default(),
        planned,
        earliest_ns: 0,
        span: step.map(|step| (step.began_ns, step.ended_ns)),
        measured_ns,
        shortest,
        limits: limits(report, &of_step),
        state: match (step, planned) {
            (None, _) => State::NotRun,
            (Some(_), None) => State::NotInPlan,
            (Some(_), Some(_)) if measured_ns == 0 => State::NothingMeasured,
            // The other part of the first step of a rest is in an earlier file.
            (Some(_), Some(_)) if is_rest => State::Done,
            (Some(_), Some(planned)) => lasted(measured_ns, planned.asked_ns),
        },
    }
}

fn lasted(measured_ns: u64, asked_ns: u64) -> State {
    let missing_ns = asked_ns.saturating_sub(measured_ns);
    let more_ns = measured_ns.saturating_sub(asked_ns);
    if missing_ns > SHORT_NS.max(asked_ns / 1_000 * SHORT_PER_MILLE) {
        State::CutShort
    } else if more_ns > LONG_NS.max(asked_ns / 100 * LONG_PERCENT) {
        State::Longer
    } else {
        State::Done
    }
}

/// The series whose first window begins in this step. The first windows may begin with the run's grid, before the step does.
fn series(run: &RunView, began_ns: u64, until_ns: Option<u64>) -> Vec<&SeriesView> {
    let is_in = |series: &&SeriesView| {
        let first = series.windows.first();
        first.is_some_and(|first| first.end_ns > began_ns && until_ns.is_none_or(|until| first.end_ns <= until))
    };
    run.series.iter().filter(is_in).collect()
}

/// The time for which a step was measured: of its longest series, or of all together if it measures in turn. Of measurements side by side it
/// is the shortest, with the measurement: one that ended must not hide behind the others.
fn measured<'a>(series: &[&SeriesView], planned: Option<&'a PlannedStep>) -> (u64, Option<&'a PlannedMember>) {
    let members = planned.map_or(&[][..], |step| &step.members);
    if members.len() > 1 {
        let each = members.iter().map(|member| {
            let own = series.iter().copied().filter(|one| is_of(one, member, members));
            (longest_ns(own), Some(member))
        });
        return each.min_by_key(|(ns, _)| *ns).unwrap_or_default();
    }
    match planned.is_some_and(|step| step.is_in_turn) {
        true => (covered_ns(series), None),
        false => (longest_ns(series.iter().copied()), None),
    }
}

fn longest_ns<'s>(series: impl Iterator<Item = &'s SeriesView>) -> u64 {
    series.map(|one| covered_ns(&[one])).max().unwrap_or(0)
}

/// True if a series is of this one of the measurements side by side. Those of one kind differ in their labels.
fn is_of(series: &SeriesView, member: &PlannedMember, all: &[PlannedMember]) -> bool {
    let has_label = |label: &str| {
        let begin = under(Some(&member.family), label);
        let rest = series.spec.name.strip_prefix(&begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-']))
    };
    let mut others = all.iter().filter(|other| *other != member);
    let is_alone = others.all(|other| other.family != member.family);
    let is_labelled = |label: &Option<String>| label.as_deref().is_some_and(has_label);
    series.family() == member.family
        && (is_alone
            || match &member.label {
                Some(label) => has_label(label),
                None => !all
                    .iter()
                    .any(|other| other.family == member.family && is_labelled(&other.label)),
            })
}

/// The time that the windows of these series cover, in ns.
fn covered_ns(series: &[&SeriesView]) -> u64 {
    let mut spans: Vec<(u64, u64)> = series
        .iter()
        .flat_map(|one| one.windows.iter().map(|window| (window.start_ns, window.end_ns)))
        .collect();
    spans.sort_unstable();
    let (mut sum_ns, mut end_ns) = (0, 0);
    for (from_ns, to_ns) in spans {
        sum_ns += to_ns.saturating_sub(from_ns.max(end_ns));
        end_ns = end_ns.max(to_ns);
    }
    sum_ns
}

/// The limits that judge one of these series, in the order of the checks.
fn limits(report: &Report, series: &[&SeriesView]) -> Vec<(String, Verdict)> {
    let is_of_step = |check: &&Check| series.iter().any(|one| one.spec.name == check.series);
    let checks: Vec<&Check> = report.judgement.checks.iter().filter(is_of_step).collect();
    let mut ids: Vec<&str> = Vec::new();
    for check in &checks {
        if !ids.contains(&check.limit.id.as_str()) {
            ids.push(&check.limit.id);
        }
    }
    let over = |id: &str| {
        let own = checks.iter().filter(|check| check.limit.id == id);
        Verdict::over(own.map(|check| check.verdict))
    };
    ids.into_iter().map(|id| (id.to_owned(), over(id))).collect()
}

/// The series of each step that was begun, with its number and name; all series, if no step was begun. A series without a window is in none.
pub(crate) fn by_step(run: &RunView) -> Vec<(Option<String>, Vec<&SeriesView>)> {
    let ran = ran(run);
    if ran.is_empty() {
        return vec![(None, run.series.iter().collect())];
    }
    let each = ran.iter().enumerate().map(|(at, step)| {
        let until_ns = ran.get(at + 1).map(|next| next.began_ns);
        let name = format!("Step {}, {}", at + 1, step.names.join(", "));
        (Some(name), series(run, step.began_ns, until_ns))
    });
    each.collect()
}
