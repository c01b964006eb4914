//! The worst values before, under and after an action, as exactly as a run file keeps them.
//!
//! A file has the extremes of each window, and the worst samples of each series one by one. A window that lies wholly in a span gives its maximum. Of a
//! window across a border, the samples inside are known if they were kept one by one; every other one is at most as large as the window's maximum, and
//! as the least sample that the file was bound to keep.

use model::{Action, EventKind, Kind, Outcome, RunView, SeriesView, kind};

/// Kinds of series that an action can cost something, in the order of the table.
const KINDS: [&Kind; 10] = [
    &kind::WAKEUP,
    &kind::NOISE,
    &kind::RTT,
    &kind::PONG,
    &kind::ARRIVAL,
    &kind::DELIVERY,
    &kind::AGE,
    &kind::USE,
    &kind::TASK,
    &kind::TRIP,
];

/// Number of worst samples that a run keeps of each series at least.
const KEPT: usize = 100;

/// Shortest baseline in ns, where the step has room for it.
const BASELINE_NS: u64 = 10_000_000_000;

/// A span of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
}

impl Span {
    pub(super) fn length_ns(self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    fn has(self, at_ns: u64) -> bool {
        (self.from_ns..self.to_ns).contains(&at_ns)
    }
}

/// The worst value of a span, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Worst {
    /// The largest sample that is known to lie in it; `None`: none is known.
    pub(super) known_ns: Option<i64>,
    /// No sample in it is larger; `None`: there was none in it.
    pub(super) at_most_ns: Option<i64>,
}

impl Worst {
    fn add(&mut self, other: Self) {
        self.known_ns = self.known_ns.max(other.known_ns);
        self.at_most_ns = self.at_most_ns.max(other.at_most_ns);
    }

    /// True if the value is known, not only bounded.
    pub(super) fn is_exact(self) -> bool {
        self.known_ns == self.at_most_ns
    }

    /// The worst of a series in a span.
    fn of(series: &SeriesView, span: Span) -> Self {
        if span.length_ns() == 0 {
            return Self::default();
        }
        let floor_ns = floor(series);
        let spikes = series.spikes.iter().filter(|spike| span.has(spike.at_ns));
        let known_ns = spikes.map(|spike| spike.value_ns).max();
        let mut worst = Self {
            known_ns,
            at_most_ns: known_ns,
        };
        for window in series.windows.iter() {
            let Some(max_ns) = window
                .max_ns
                .filter(|_| window.start_ns < span.to_ns && span.from_ns < window.end_ns)
            else {
                continue;
            };
            let is_inside = span.from_ns <= window.start_ns && window.end_ns <= span.to_ns;
            worst.add(Self {
                known_ns: is_inside.then_some(max_ns),
                at_most_ns: Some(if is_inside { max_ns } else { max_ns.min(floor_ns) }),
            });
        }
        worst
    }
}

/// Every sample above this was kept one by one.
fn floor(series: &SeriesView) -> i64 {
    // They are sorted, the worst first.
    series.spikes.get(KEPT - 1).map_or(i64::MAX, |spike| spike.value_ns)
}

/// Cost of an action for one kind of series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) kind: &'static Kind,
    /// Before, under, after.
    pub(super) worst: [Worst; 3],
}

/// The shots that began under an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shots {
    pub(super) played: u64,
    /// Among these: no trip, a late or early one, or a false one.
    pub(super) failed: u64,
    /// Among these: shots that do not count.
    pub(super) not_counted: u64,
}

/// An execution with what it cost.
pub(super) struct Row<'a> {
    pub(super) action: &'a Action,
    /// Before, under, after; `None` for a command that did not begin.
    pub(super) spans: Option<[Span; 3]>,
    pub(super) shots: Shots,
    pub(super) costs: Vec<Cost>,
    /// True if a window of these series is longer than the span under it: then only samples that were kept one by one tell them apart.
    pub(super) is_coarse: bool,
}

/// The rows of a run, in order of time.
pub(super) fn rows(run: &RunView) -> Vec<Row<'_>> {
    run.actions.iter().map(|action| row(run, action)).collect()
}

fn row<'a>(run: &'a RunView, action: &'a Action) -> Row<'a> {
    let Some(spans) = spans(run, action) else {
        return Row {
            action,
            spans: None,
            shots: Shots::default(),
            costs: Vec::new(),
            is_coarse: false,
        };
    };
    let costs: Vec<Cost> = KINDS.into_iter().filter_map(|kind| cost(run, kind, spans)).collect();
    let under = spans[1];
    Row {
        action,
        spans: Some(spans),
        shots: shots(run, under),
        is_coarse: !costs.is_empty() && run.info.window_ns > under.length_ns(),
        costs,
    }
}

/// The worst of all series of a kind; `None` if none was measured in any of the spans.
fn cost(run: &RunView, kind: &'static Kind, spans: [Span; 3]) -> Option<Cost> {
    let mut worst = [Worst::default(); 3];
    for series in run.series.iter().filter(|series| series.is(kind)) {
        for (sum, span) in worst.iter_mut().zip(spans) {
            sum.add(Worst::of(series, span));
        }
    }
    let is_met = worst.iter().any(|worst| worst.at_most_ns.is_some());
    is_met.then_some(Cost { kind, worst })
}

fn shots(run: &RunView, under: Span) -> Shots {
    let mut sum = Shots::default();
    for shot in run.shots.iter().filter(|shot| under.has(shot.at_ns)) {
        sum.played += 1;
        match shot.outcome {
            Outcome::Failed | Outcome::Late | Outcome::Early | Outcome::False => sum.failed += 1,
            Outcome::NotCounted => sum.not_counted += 1,
            Outcome::Tripped | Outcome::Quiet => {}
        }
    }
    sum
}

/// From the begin of an execution to its end, and its time to settle.
fn under(action: &Action) -> Option<Span> {
    let from_ns = action.began_ns?;
    let ended_ns = action.ended_ns.unwrap_or(from_ns);
    Some(Span {
        from_ns,
        to_ns: ended_ns.saturating_add(action.settle_ns),
    })
}

/// Spans before, under and after an execution: within its step, and free of other executions.
fn spans(run: &RunView, action: &Action) -> Option<[Span; 3]> {
    let end_ns = step_end(run, action.step_ns);
    let mut own = under(action)?;
    own.to_ns = own.to_ns.min(end_ns.max(own.from_ns));
    let others: Vec<Span> = run
        .actions
        .iter()
        .filter(|other| *other != action)
        .filter_map(under)
        .collect();
    let length_ns = own.length_ns().max(BASELINE_NS).max(2 * run.info.window_ns);
    let ends = others
        .iter()
        .map(|other| other.to_ns)
        .filter(|to_ns| *to_ns <= own.from_ns);
    let begins = others
        .iter()
        .map(|other| other.from_ns)
        .filter(|from_ns| *from_ns >= own.to_ns);
    let free_from_ns = ends.max().unwrap_or(0).max(action.step_ns).min(own.from_ns);
    let free_to_ns = begins.min().unwrap_or(end_ns).min(end_ns).max(own.to_ns);
    let before = Span {
        from_ns: own.from_ns.saturating_sub(length_ns).max(free_from_ns),
        to_ns: own.from_ns,
    };
    let after = Span {
        from_ns: own.to_ns,
        to_ns: own.to_ns.saturating_add(length_ns).min(free_to_ns),
    };
    Some([before, own, after])
}

/// End of the step that began to measure at this instant.
fn step_end(run: &RunView, step_ns: u64) -> u64 {
    let stopped = run.events.iter().filter(|event| event.kind == EventKind::StepStopped);
    let stopped = stopped.map(|event| event.at_ns).find(|at_ns| *at_ns >= step_ns);
    stopped.unwrap_or(run.duration_ns)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Row, Shots, Span, Worst, rows};
    use model::{Action, ActionEnd, ActionPart, Outcome, RunView, Shot, Spike};
    use testing::synthetic::{run, series};

    const S: u64 = 1_000_000_000;

    pub(crate) fn action(name: &str, began_s: u64, ended_s: u64) -> Action {
        Action {
            name: name.to_owned(),
            step: 1,
            step_ns: 0,
            number: 1,
            part: ActionPart::Run,
            line: "virsh start relay-02".to_owned(),
            due_ns: Some(began_s * S),
            began_ns: Some(began_s * S),
            ended_ns: Some(ended_s * S),
            settle_ns: 0,
            end: ActionEnd::Exited(0),
            said: "Domain relay-02 started".to_owned(),
        }
    }

    /// A minute of wake-ups in windows of a second, at most 20 us; one of 300 us at 40 s.
    pub(crate) fn measured(actions: Vec<Action>) -> RunView {
        let mut run = run(vec![series("wakeup/cpu1", 60_000, 300_000, 60)]);
        let one = &mut run.series[0];
        for window in one.windows.iter_mut() {
            window.max_ns = Some(if window.start_ns == 40 * S { 300_000 } else { 20_000 });
        }
        let spike = |at_ns, value_ns| Spike {
            at_ns,
            value_ns,
            ..one.spikes[0].clone()
        };
        let kept: Vec<Spike> = (0..100).map(|n| spike(n * S / 10, 18_000)).collect();
        let worst = vec![spike(40 * S + S / 2, 300_000)];
        one.spikes = [worst, kept].concat().into();
        run.actions = actions;
        run
    }

    fn worst(row: &Row<'_>) -> [Worst; 3] {
        row.costs[0].worst
    }

    fn exact(ns: i64) -> Worst {
        Worst {
            known_ns: Some(ns),
            at_most_ns: Some(ns),
        }
    }

    #[test]
    fn the_worst_before_under_and_after_are_those_of_the_windows_inside() {
        let run = measured(vec![action("start a guest", 30, 45)]);
        let rows = rows(&run);
        let lengths = rows[0].spans.expect("it began").map(Span::length_ns);
        assert_eq!(lengths, [15 * S, 15 * S, 15 * S]);
        assert_eq!(worst(&rows[0]), [exact(20_000), exact(300_000), exact(20_000)]);
        assert!(!rows[0].is_coarse);
    }

    #[test]
    fn a_window_across_a_border_gives_a_bound_unless_its_samples_were_kept() {
        // The window from 40 s to 41 s is cut; its worst sample was kept, and lies after the end.
        let mut short = action("short", 30, 40);
        short.ended_ns = Some(40 * S + 400_000_000);
        let run = measured(vec![short]);
        let rows = rows(&run);
        let [before, under, after] = worst(&rows[0]);
        assert_eq!(before, exact(20_000));
        assert_eq!(under, exact(20_000), "the rest of the cut window has at most 18 us");
        assert_eq!(after, exact(300_000));
        // In a second of its own only the samples that were kept are known.
        let mut shorter = action("shorter", 50, 50);
        shorter.began_ns = Some(50 * S + 100_000_000);
        shorter.ended_ns = Some(50 * S + 300_000_000);
        let run = measured(vec![shorter]);
        let rows = super::rows(&run);
        let bound = Worst {
            known_ns: None,
            at_most_ns: Some(18_000),
        };
        assert_eq!(worst(&rows[0])[1], bound);
        assert!(rows[0].is_coarse && !bound.is_exact());
    }

    #[test]
    fn without_kept_samples_the_maximum_of_the_window_is_the_bound() {
        let mut run = measured(vec![action("a", 30, 40)]);
        run.series[0].spikes = Vec::new().into();
        run.actions[0].ended_ns = Some(40 * S + S / 2);
        let rows = rows(&run);
        let bound = Worst {
            known_ns: Some(20_000),
            at_most_ns: Some(300_000),
        };
        assert_eq!(worst(&rows[0])[1], bound, "never hidden");
    }

    #[test]
    fn spans_end_where_another_action_begins_and_with_the_step() {
        let mut last = action("last", 55, 70);
        last.settle_ns = 3 * S;
        let run = measured(vec![action("first", 20, 22), action("second", 30, 32), last]);
        let spans: Vec<[u64; 3]> = rows(&run)
            .iter()
            .map(|row| row.spans.expect("it began").map(|span| span.length_ns() / S))
            .collect();
        assert_eq!(spans, [[10, 2, 8], [8, 2, 10], [10, 5, 0]]);
    }

    #[test]
    fn shots_under_an_action_are_counted_with_their_failures() {
        let mut run = measured(vec![action("a", 30, 40)]);
        let shot = |at_s: u64, outcome| Shot {
            number: at_s,
            at_ns: at_s * S,
            watched_ns: None,
            uncertain_ns: None,
            reset_ns: None,
            name: "overcurrent".to_owned(),
            point_deg: None,
            cell: None,
            outcome,
            trip_ns: None,
        };
        run.shots = vec![
            shot(29, Outcome::Failed),
            shot(30, Outcome::Tripped),
            shot(33, Outcome::Failed),
            shot(35, Outcome::NotCounted),
            shot(39, Outcome::Quiet),
            shot(40, Outcome::False),
        ];
        let told = Shots {
            played: 4,
            failed: 1,
            not_counted: 1,
        };
        assert_eq!(rows(&run)[0].shots, told);
    }

    #[test]
    fn a_command_that_did_not_begin_cost_nothing_that_is_known() {
        let mut none = action("a", 30, 40);
        (none.began_ns, none.ended_ns, none.end) = (None, None, ActionEnd::Skipped);
        let run = measured(vec![none]);
        let rows = rows(&run);
        assert!(rows[0].spans.is_none() && rows[0].costs.is_empty());
    }
}
