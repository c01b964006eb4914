//! Tasks and receive latencies of relays along the shots of a test set.

use crate::text::count;
use model::{Along, Kind, RunView, SeriesView, Shot, kind, task};

/// The relays' figures along one shot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Strain {
    /// Longest task in ns.
    pub(crate) task_ns: Option<i64>,
    /// Cycles that took longer than their interval, or were skipped.
    pub(crate) overruns: u64,
    /// True if every relay's task was measured over the whole shot.
    pub(crate) is_watched: bool,
    /// Largest receive latencies in ns: delivery, age, use.
    pub(crate) latencies_ns: [Option<i64>; 3],
}

/// The readings of the receive latency, in the order of [`Strain::latencies_ns`].
const LATENCIES: [&Kind; 3] = [&kind::DELIVERY, &kind::AGE, &kind::USE];

impl Strain {
    /// The figures along the shot at this position of the run's list.
    pub(crate) fn of(run: &RunView, shot: usize) -> Self {
        let from = run.along.partition_point(|along| along.shot < shot);
        let all = || run.along[from..].iter().take_while(|along| along.shot == shot);
        let largest = |is: &dyn Fn(&Along) -> bool| {
            let met = all().filter(|along| is(along) && along.sum.samples > 0);
            met.map(|along| along.sum.max_ns).max()
        };
        let tasks = || all().filter(|along| is_task(run, along));
        Self {
            task_ns: largest(&|along| is_task(run, along)),
            overruns: tasks()
                .map(|along| along.sum.late.saturating_add(along.sum.missed))
                .sum(),
            is_watched: tasks().next().is_some()
                && tasks().all(|along| along.is_whole)
                && own_tasks(run, &run.shots[shot].name).all(|own| tasks().any(|along| along.series == own.id))
                && tasks_of(run, all()).all(|task| task.counters.overrun == 0),
            latencies_ns: LATENCIES.map(|kind| largest(&|along| is_of(run, along, kind))),
        }
    }
}

/// True for the task that executes a relay's functions.
fn is_task(run: &RunView, along: &Along) -> bool {
    tasks_of(run, std::iter::once(along)).next().is_some()
}

/// The tasks among these series that execute a relay's functions.
fn tasks_of<'a>(run: &'a RunView, all: impl Iterator<Item = &'a Along>) -> impl Iterator<Item = &'a SeriesView> {
    let series = all.filter_map(|along| run.series.iter().find(|series| series.id == along.series));
    series.filter(|series| runs_functions(series))
}

fn runs_functions(series: &SeriesView) -> bool {
    series.is(&kind::TASK) && task::runs_functions(series.spec.label())
}

/// The task of the relay whose name precedes that of the scenario in the name of a shot: `two-1` of `two-1-overcurrent`. None for a single
/// relay without a label: any task of the run may be its.
fn own_tasks<'a>(run: &'a RunView, shot: &str) -> impl Iterator<Item = &'a SeriesView> {
    let is_own = move |series: &&SeriesView| {
        let relay = task::of_label(series.spec.label()).0;
        shot.strip_prefix(relay).is_some_and(|rest| rest.starts_with('-'))
    };
    let tasks = run.series.iter().filter(|series| runs_functions(series));
    tasks.filter(is_own).collect::<Vec<_>>().into_iter()
}

/// Every task that was measured along shots of this name: a doubt about one of them is a doubt about its overruns.
pub(crate) fn tasks<'a>(run: &'a RunView, name: &str) -> Vec<&'a SeriesView> {
    let is_met = |series: &&SeriesView| {
        let mut along = run.along.iter().filter(|along| along.series == series.id);
        along.any(|along| run.shots[along.shot].name == name)
    };
    let tasks = run.series.iter().filter(|series| runs_functions(series));
    tasks.filter(is_met).collect()
}

fn is_of(run: &RunView, along: &Along, kind: &Kind) -> bool {
    run.series
        .iter()
        .any(|series| series.id == along.series && series.is(kind))
}

/// Overruns along the shots of this name, or the reason why 0 would prove nothing.
pub(crate) fn overruns(run: &RunView, name: &str) -> Result<u64, String> {
    let of_name = |(_, shot): &(usize, &Shot)| shot.name == name;
    let strains = run.shots.iter().enumerate().filter(of_name);
    let strains: Vec<Strain> = strains.map(|(index, _)| Strain::of(run, index)).collect();
    let overruns: u64 = strains.iter().map(|strain| strain.overruns).sum();
    let open = strains.iter().filter(|strain| !strain.is_watched).count() as u64;
    match (strains.len() as u64, open) {
        _ if overruns > 0 => Ok(overruns),
        (0, _) => Err("the run file has no shots of this series".to_owned()),
        (all, open) if open > 0 => Err(format!(
            "in {} of {} shots the task of a relay was not measured, or not without a gap, from the fault to the end of the watch",
            count(open),
            count(all)
        )),
        _ => Ok(0),
    }
}
