//! The part of a plan that is left to measure, according to the run files already written.

use super::file::Plan;
use model::{Event, EventKind};
use store::{RunFile, StoreError};
use units::Ns;

/// The part of a plan that is left to measure.
#[derive(Debug, Clone)]
pub struct Left {
    /// Its steps that are not done; the first may be shorter than in the plan.
    pub plan: Plan,
    /// Number of the first of them, counted from 1 in the whole plan.
    pub from: usize,
    /// Number of steps of the whole plan; steps side by side count as one.
    pub of: usize,
    /// Measuring time that is left, in ns.
    pub left_ns: u64,
}

/// Beginning of the note in a run that is the rest of a plan.
const REST: &str = "the rest of the plan after a reboot: step ";

impl Left {
    /// `the rest of the plan after a reboot: step 3 of 5 on, 12.0 h`
    pub fn said(&self) -> String {
        format!("{REST}{} of {} on, {}", self.from, self.of, Ns(self.left_ns))
    }
}

/// Number of the first step in a run that is the rest of a plan, from its events; `None` for a run from the first step on.
#[must_use]
pub fn first_step_of_rest<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<usize> {
    let mut notes = events.into_iter().filter(|event| event.kind == EventKind::Note);
    notes.find_map(|note| note.text.strip_prefix(REST)?.split(' ').next()?.parse().ok())
}

/// The part of a plan that is left after these runs of it, which are in order of time; `None` if nothing is left. A step that compares networks is
/// measured again as a whole: a comparison needs all of its rounds under one condition.
///
/// # Errors
/// A run file that cannot be read.
pub fn left_of(plan: &Plan, runs: &[RunFile]) -> Result<Option<Left>, StoreError> {
    let measured = runs.iter().map(measured_ns).collect::<Result<Vec<_>, _>>()?;
    Ok(left(plan, &measured))
}

fn left(plan: &Plan, runs: &[Vec<u64>]) -> Option<Left> {
    let groups: Vec<_> = plan.groups().collect();
    let mut at = 0;
    let mut done_ns = 0;
    for run in runs {
        for measured_ns in run {
            let group = groups.get(at)?;
            let wanted_ns = plan.lasts_ns(group);
            let is_whole = wanted_ns != group[0].common.duration.0;
            let so_far_ns = done_ns + measured_ns;
            // A remainder shorter than a window is not worth a step: its setup takes as long.
            if so_far_ns + plan.window.0 >= wanted_ns {
                (at, done_ns) = (at + 1, 0);
            } else if !is_whole {
                done_ns = so_far_ns;
            }
        }
    }
    let first = groups.get(at)?;
    let mut rest = plan.clone();
    rest.steps = groups[at..].concat();
    for step in rest.steps.iter_mut().take(first.len()) {
        step.common.duration.0 -= done_ns;
    }
    Some(Left {
        left_ns: rest.duration_ns(),
        plan: rest,
        from: at + 1,
        of: groups.len(),
    })
}

/// Measured time of each group of steps of a run, in ns: from its start to its end, or to the last time recorded in the run.
fn measured_ns(run: &RunFile) -> Result<Vec<u64>, StoreError> {
    let mut last_ns = run.duration_ns();
    for (id, _) in run.series()? {
        last_ns = last_ns.max(run.windows(id)?.last().map_or(0, |window| window.end_ns));
    }
    Ok(spans(&run.events()?, last_ns))
}

/// From the first beginning of a group to its first end.
fn spans(events: &[Event], last_ns: u64) -> Vec<u64> {
    let mut spans = Vec::new();
    let mut began_ns: Option<u64> = None;
    for event in events {
        match event.kind {
            EventKind::StepStarted => began_ns = began_ns.or(Some(event.at_ns)),
            EventKind::StepStopped => spans.extend(began_ns.take().map(|began| event.at_ns.saturating_sub(began))),
            _ => {}
        }
    }
    spans.extend(began_ns.map(|began| last_ns.saturating_sub(began)));
    spans
}

#[cfg(test)]
mod tests {
    use super::{left, spans};
    use crate::Plan;
    use model::{Event, EventKind};

    const H: u64 = 3_600_000_000_000;
    const S: u64 = 1_000_000_000;

    fn plan() -> Plan {
        Plan::parse("substation", include_str!("../../../plans/substation.toml"))
            .expect("a plan")
            .lasting(33 * H)
    }

    #[test]
    fn what_was_measured_is_left_out_and_a_step_goes_on_where_it_was() {
        let whole = left(&plan(), &[]).expect("all of it");
        assert_eq!((whole.from, whole.of, whole.left_ns), (1, 5, 165 * H));
        // Two steps and ten hours of the third were done before the reboot; after it, fifteen more hours of the third.
        let runs = [vec![33 * H + 2 * S, 33 * H, 10 * H], vec![15 * H]];
        let rest = left(&plan(), &runs).expect("something is left");
        assert_eq!((rest.from, rest.plan.steps.len()), (3, 3));
        assert_eq!(rest.plan.steps[0].common.duration.0, 8 * H);
        assert_eq!(rest.plan.steps[1].common.duration.0, 33 * H);
        assert_eq!(
            rest.said(),
            "the rest of the plan after a reboot: step 3 of 5 on, 3.08 d"
        );
        let note = Event {
            at_ns: 0,
            since_ns: None,
            kind: EventKind::Note,
            series: None,
            text: rest.said(),
        };
        assert_eq!(super::first_step_of_rest([&note]), Some(3));
        assert_eq!(super::first_step_of_rest([]), None);
    }

    #[test]
    fn a_step_that_lacks_less_than_a_window_is_done_and_a_plan_that_is_done_leaves_nothing() {
        let rest = left(&plan(), &[vec![33 * H - 20 * S]]).expect("four steps");
        assert_eq!(rest.from, 2);
        let rest = left(&plan(), &[vec![33 * H - 21 * S]]).expect("five steps");
        assert_eq!((rest.from, rest.plan.steps[0].common.duration.0), (1, 21 * S));
        assert!(left(&plan(), &[vec![33 * H; 5]]).is_none());
        assert!(left(&plan(), &[vec![33 * H; 7]]).is_none(), "more than there is");
    }

    #[test]
    fn a_comparison_of_networks_begins_anew() {
        let plan = Plan::parse("networks", include_str!("../../../plans/networks.toml")).expect("a plan");
        let whole_ns = plan.duration_ns();
        let rest = left(&plan, &[vec![whole_ns / 2]]).expect("left");
        assert_eq!((rest.left_ns, rest.from), (whole_ns, 1));
        assert!(left(&plan, &[vec![whole_ns / 2], vec![whole_ns]]).is_none());
    }

    #[test]
    fn steps_side_by_side_are_one_and_a_run_that_was_killed_ends_with_its_last_window() {
        let event = |at_ns, kind| Event {
            at_ns,
            since_ns: None,
            kind,
            series: None,
            text: String::new(),
        };
        let (began, ended) = (EventKind::StepStarted, EventKind::StepStopped);
        let events = [
            event(1, began),
            event(1, began),
            event(5, EventKind::Steal),
            event(11, ended),
            event(11, ended),
            event(20, began),
        ];
        assert_eq!(spans(&events, 50), [10, 30]);
        assert_eq!(spans(&events[..5], 50), [10]);
        assert_eq!(spans(&[], 50), [0; 0]);
    }
}
