//! A cell: its conditions, and the rounds in which it was measured.

use super::measure::Measure;
use super::{Absent, Measurement};
use crate::comparison::joined;
use crate::contradiction;
use crate::verdict::{Check, Judgement, Verdict, unseen};
use model::fact::{
    BOUND, CELL_ISOLATION, CELL_LOAD, CELL_MANAGEMENT, CELL_NETWORK, CELL_PLACE, KERNEL_THREADS, UNBOUND,
};
use model::kind::Kind;
use model::{EventKind, Rows, RunView, SeriesView};
use std::collections::BTreeSet;
use units::foreign::Show;

/// The conditions that distinguish cells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Conditions {
    /// Place of the device under test: `native`, `container`, `vm`.
    pub place: String,
    /// The network between it and the test set, if the plan names networks.
    pub network: Option<String>,
    /// Name of the set of loads that runs during the measurement.
    pub load: String,
    /// Name of the management network used in addition to the process bus, if the plan names any.
    pub management: Option<String>,
    /// The isolation that keeps its CPUs free.
    pub isolation: String,
}

impl Conditions {
    /// The conditions of a run; `None` if the run is not a cell of a matrix.
    pub fn of(run: &RunView) -> Option<Self> {
        Some(Self {
            place: CELL_PLACE.of(&run.facts)?,
            network: CELL_NETWORK.of(&run.facts),
            load: CELL_LOAD.of(&run.facts)?,
            management: CELL_MANAGEMENT.of(&run.facts),
            isolation: CELL_ISOLATION.of(&run.facts)?,
        })
    }

    /// Text such as `native over bridge, load none, isolation none`.
    pub(super) fn words(&self) -> String {
        format!("{}{}", self.place, self.beside_the_place())
    }

    /// The same text without the place.
    pub(super) fn beside_the_place(&self) -> String {
        format!("{}, {}, isolation {}", self.over(), self.beside(), self.isolation)
    }

    /// Text such as ` over bridge`, or an empty text.
    pub(super) fn over(&self) -> String {
        let over = self.network.as_ref().map(|network| format!(" over {network}"));
        over.unwrap_or_default()
    }

    /// The loads and networks during the measurement: `load none, management network office`.
    pub(super) fn beside(&self) -> String {
        let management = self
            .management
            .as_ref()
            .map(|name| format!(", management network {name}"));
        format!("load {}{}", self.load, management.unwrap_or_default())
    }
}

impl Show for Conditions {
    fn show(&mut self) {
        for text in [&mut self.place, &mut self.load, &mut self.isolation] {
            text.show();
        }
        self.network.show();
        self.management.show();
    }
}

/// Number of times each verdict was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Verdicts {
    pub(super) pass: u32,
    pub(super) fail: u32,
    pub(super) inconclusive: u32,
}

impl Verdicts {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Fail => self.fail += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
        }
    }

    /// Text such as `pass`, or each verdict with its number: `1 fail, 2 pass`.
    pub(super) fn text(self) -> String {
        let all = [
            (self.fail, "fail"),
            (self.inconclusive, "inconclusive"),
            (self.pass, "pass"),
        ];
        let given: Vec<(u32, &str)> = all.into_iter().filter(|(times, _)| *times > 0).collect();
        match &given[..] {
            [] => "–".to_owned(),
            [(_, only)] => (*only).to_owned(),
            several => several
                .iter()
                .map(|(times, word)| format!("{times} {word}"))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}

/// A cell.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) conditions: Conditions,
    /// Number of measurements.
    pub(super) rounds: u32,
    pub(super) verdicts: Verdicts,
    pub(super) measures: Vec<Measure>,
    /// Reason why it was left out, if it was.
    pub(super) left_out: Option<String>,
    /// Reasons for failed measurements.
    pub(super) failures: Vec<String>,
    /// Limits that failed, with the reasons.
    pub(super) over: Vec<String>,
    /// True if its processor was emulated: then its timing proves nothing.
    pub(super) is_emulated: bool,
    /// Doubts about the samples of its rounds, each with the kind of series that it touches.
    pub(super) doubts: Vec<(&'static Kind, String)>,
    /// Number of kernel threads that ran on its judged CPUs, bound to one CPU and not bound, each from the measurement
    /// with the most; `None` if not known.
    pub(super) kernel_threads: Option<[u64; 2]>,
    /// Paths of its run files.
    pub(super) files: Vec<String>,
    /// Its rounds as one run, with one series for each kind; `None` if it was not measured.
    pub(super) whole: Option<RunView>,
}

impl Cell {
    fn empty(conditions: Conditions) -> Self {
        Self {
            conditions,
            rounds: 0,
            verdicts: Verdicts::default(),
            measures: Vec::new(),
            left_out: None,
            failures: Vec::new(),
            over: Vec::new(),
            is_emulated: false,
            doubts: Vec::new(),
            kernel_threads: None,
            files: Vec::new(),
            whole: None,
        }
    }

    /// Adds the doubts about a round. That a processor is emulated is told once, for the whole cell.
    fn doubt(&mut self, run: &RunView) {
        for series in &run.series {
            let Some(kind) = series.kind() else { continue };
            for why in unseen(run, series, &contradiction::of_series(run, series)) {
                let is_known = self
                    .doubts
                    .iter()
                    .any(|(of, known)| *of == kind && is_alike(known, &why));
                if !is_known && !why.starts_with(EventKind::Emulated.word()) {
                    self.doubts.push((kind, why));
                }
            }
        }
    }

    /// Updates the maximum of each kind. In a guest, the threads of the guest's kernel count.
    fn count_kernel_threads(&mut self, run: &RunView) {
        let group = match self.conditions.place.as_str() {
            "vm" => format!("vm: {KERNEL_THREADS}"),
            _ => KERNEL_THREADS.to_owned(),
        };
        let of = |kind: &str| {
            let own = run
                .facts
                .iter()
                .filter(|fact| fact.group == group && fact.name.starts_with(kind));
            let counts: Vec<u64> = own.filter_map(|fact| leading(fact.value.as_deref().ok()?)).collect();
            (!counts.is_empty()).then(|| counts.iter().sum::<u64>())
        };
        if let (Some(bound), Some(unbound)) = (of(BOUND), of(UNBOUND)) {
            let most = self.kernel_threads.unwrap_or_default();
            self.kernel_threads = Some([most[0].max(bound), most[1].max(unbound)]);
        }
    }

    /// Text such as `4 + 1`: bound, and not bound.
    pub(super) fn kernel_threads_text(&self) -> Option<String> {
        self.kernel_threads
            .map(|[bound, unbound]| format!("{bound} + {unbound}"))
    }

    /// Its measurement of this kind of series.
    pub(super) fn measure(&self, kind: &Kind) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.kind == kind)
    }
}

/// True for doubts of one sort: their texts begin alike, up to the time.
fn is_alike(one: &str, other: &str) -> bool {
    let begin = |text: &str| text.split_once(" at ").map_or(text, |(begin, _)| begin).to_owned();
    begin(one) == begin(other)
}

impl Show for Cell {
    fn show(&mut self) {
        self.conditions.show();
        self.left_out.show();
        self.failures.show();
        self.over.show();
        for (_, why) in &mut self.doubts {
            why.show();
        }
        self.files.show();
    }
}

/// The number at the beginning of a kernel-threads value.
fn leading(value: &str) -> Option<u64> {
    match value.split_once(':') {
        Some((count, _)) => count.parse().ok(),
        None => (value == "none").then_some(0),
    }
}

/// Assigns runs to their cells.
pub(super) fn gather(order: &[Conditions], runs: Vec<Measurement>) -> Result<Vec<Cell>, String> {
    let mut rounds: Vec<(Conditions, Vec<Measurement>)> = order.iter().map(|one| (one.clone(), Vec::new())).collect();
    for run in runs {
        let file = run.view.file.display().to_string();
        let conditions = Conditions::of(&run.view).ok_or(file)?;
        match rounds.iter_mut().find(|(known, _)| *known == conditions) {
            Some((_, all)) => all.push(run),
            None => rounds.push((conditions, vec![run])),
        }
    }
    Ok(rounds
        .into_iter()
        .map(|(conditions, runs)| of_rounds(conditions, runs))
        .collect())
}

fn of_rounds(conditions: Conditions, mut runs: Vec<Measurement>) -> Cell {
    runs.sort_by_key(|run| run.view.info.started.as_ns());
    let mut cell = Cell::empty(conditions);
    for for_causes in [false, true] {
        let judgements = runs.iter().filter(|run| run.for_causes == for_causes);
        let again = if for_causes { "again, for its causes: " } else { "" };
        let over = over(judgements.map(|run| &run.judgement));
        cell.over.extend(over.into_iter().map(|text| format!("{again}{text}")));
    }
    for run in &runs {
        if !run.for_causes {
            cell.rounds += 1;
            cell.verdicts.count(run.judgement.verdict);
            cell.is_emulated |= run.view.events.iter().any(|event| event.kind == EventKind::Emulated);
            cell.doubt(&run.view);
            cell.count_kernel_threads(&run.view);
            cell.files.push(run.view.file.display().to_string());
        }
    }
    let rounds = runs
        .into_iter()
        .filter(|run| !run.for_causes)
        .map(|run| without_spikes(run.view));
    if let Some(whole) = joined(rounds.collect()) {
        cell.measures = Measure::all(&whole);
        let series = cell.measures.iter().map(|measure| measure.series.clone()).collect();
        cell.whole = Some(RunView { series, ..whole });
    }
    cell
}

/// A limit that failed.
struct Over<'a> {
    worst: &'a Check,
    /// Series in which it failed.
    series: BTreeSet<&'a str>,
    /// Number of measurements in which it failed.
    times: u32,
}

/// The limits that failed, each once, with its worst figure and the reason.
fn over<'a>(judgements: impl Iterator<Item = &'a Judgement>) -> Vec<String> {
    let mut all: Vec<Over<'_>> = Vec::new();
    for judgement in judgements {
        let mut seen = BTreeSet::new();
        for check in judgement.checks.iter().filter(|check| check.verdict == Verdict::Fail) {
            let known = all.iter().position(|over| over.worst.limit.id == check.limit.id);
            let at = known.unwrap_or_else(|| {
                all.push(Over::of(check));
                all.len() - 1
            });
            all[at].series.insert(&check.series);
            all[at].times += u32::from(seen.insert(&check.limit.id));
            if excess(check) > excess(all[at].worst) {
                all[at].worst = check;
            }
        }
    }
    all.iter().map(Over::text).collect()
}

impl<'a> Over<'a> {
    fn of(worst: &'a Check) -> Self {
        Self {
            worst,
            series: BTreeSet::new(),
            times: 0,
        }
    }

    /// Text such as `wakeup.max of wakeup/cpu1 and 2 more, 3 times: 17 of 1 000 samples over 120 µs`.
    fn text(&self) -> String {
        let more = match self.series.len() {
            0 | 1 => String::new(),
            several => format!(" and {} more", several - 1),
        };
        let times = match self.times {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        let Check { limit, series, why, .. } = self.worst;
        format!("{} of {series}{more}{times}: {why}", limit.id)
    }
}

/// How far a figure exceeds its limit, or is below it for a minimum.
fn excess(check: &Check) -> f64 {
    let measured = check.measured.map_or(0.0, |measured| measured.as_f64());
    (measured - check.limit.allowed as f64).abs()
}

/// Removes single late samples, which are shown in the report of their run.
fn without_spikes(mut run: RunView) -> RunView {
    let clear = |series: &mut SeriesView| series.spikes = Rows::default();
    run.series.iter_mut().for_each(clear);
    run.events = Rows::default();
    run
}

/// Records why a cell, or one of its measurements, is missing.
pub(super) fn miss(cells: &mut Vec<Cell>, absent: &Absent) {
    let known = cells.iter().position(|cell| cell.conditions == absent.conditions);
    let at = known.unwrap_or_else(|| {
        cells.push(Cell::empty(absent.conditions.clone()));
        cells.len() - 1
    });
    match absent.is_failure {
        true => cells[at].failures.push(absent.why.clone()),
        false => cells[at].left_out = Some(absent.why.clone()),
    }
}
