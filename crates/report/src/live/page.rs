//! The page: its parts, each of which the script replaces alone.

use super::{Live, LiveState};
use crate::Report;
use crate::changes::ChangesSection;
use crate::html::charts::{is_marked, is_trouble};
use crate::html::panels::{self, Panel};
use crate::html::{CSS, charts, lines, look};
use crate::screen::{Screen, Size};
use crate::section::Section;
use crate::subjects::series::title;
use crate::verdict::Verdict;
use askama::Template;
use model::{Event, SeriesView, Spike};
use units::foreign::Show;
use units::{Ns, SignedNs, foreign};

/// Number of late samples and of events that the page lists, the latest first.
const LATEST: usize = 12;

/// Most drawings: a run has one for each kind of series.
const DRAWN: usize = 16;

const LIVE_CSS: &str = include_str!("../../assets/live.css");

#[derive(Template)]
#[template(path = "live.html")]
struct Html<'a> {
    css: &'a str,
    live_css: &'a str,
    title: String,
    look: &'static str,
    words: String,
    tally: String,
    state: &'static str,
    is_running: bool,
    is_trouble: bool,
    why_state: Option<String>,
    doing: Option<String>,
    left: Option<String>,
    age: String,
    measured: String,
    screen: Screen,
    why: Vec<String>,
    courses: Vec<Course>,
    spikes: Vec<SpikeRow>,
    changes: String,
    events: Vec<EventRow>,
    run: String,
}

/// The drawing of the series of one kind.
struct Course {
    id: String,
    title: String,
    /// CSS class and name of each line.
    keys: Vec<(String, String)>,
    svg: String,
    rows: Vec<[String; 4]>,
}

struct SpikeRow {
    at: String,
    size: String,
    series: String,
    cause: &'static str,
    text: String,
}

struct EventRow {
    at: String,
    kind: &'static str,
    trouble: bool,
    text: String,
}

impl Report {
    /// The page of a run under way, of which the report is judged as if it had ended now. Its script is [`super::SCRIPT`], as `live.js` beside it.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn live_page(&self, live: &Live) -> Result<String, askama::Error> {
        let report = &self.shown();
        let screen = Screen::of(report, Size::LARGEST, None);
        let so_far = if live.state.is_running() { " so far" } else { "" };
        let shown = |text: &Option<String>| text.as_deref().map(|text| foreign::shown(text).into_owned());
        let words = words(report, live.state);
        Html {
            css: CSS,
            live_css: LIVE_CSS,
            title: format!("{words}: triptime {}", report.run.info.command),
            look: look_of(report, live.state),
            tally: format!("{}{so_far}", screen.tally.trim_end_matches('.')),
            words,
            state: live.state.word(),
            is_running: live.state.is_running(),
            is_trouble: live.state.is_trouble(),
            why_state: shown(&live.why),
            doing: shown(&live.doing),
            left: live.left_ns.map(|ns| Ns(ns).to_string()),
            age: Ns(live.age_ns).to_string(),
            measured: Ns(report.run.duration_ns).to_string(),
            why: if screen.open().is_empty() {
                Vec::new()
            } else {
                screen.why.clone()
            },
            screen,
            courses: panels::of(report)
                .iter()
                .take(DRAWN)
                .map(|panel| course(report, panel))
                .collect(),
            spikes: spikes(report),
            changes: ChangesSection.html(report)?,
            events: events(report),
            run: report.run.info.id.clone(),
        }
        .render()
    }
}

/// The verdict in words: of a run that may still get a worse sample it is never a pass.
fn words(report: &Report, state: LiveState) -> String {
    if !state.is_running() {
        return crate::text::capitalised(report.words());
    }
    let word = match report.verdict() {
        _ if !report.is_judged() => "Not judged",
        Verdict::Pass => "Within so far",
        Verdict::Fail => "Fails so far",
        Verdict::Inconclusive => "Undecided so far",
    };
    word.to_owned()
}

/// The CSS class of the verdict: green is kept for a pass.
fn look_of(report: &Report, state: LiveState) -> &'static str {
    let verdict = report.verdict();
    match verdict {
        _ if !report.is_judged() => "partial",
        Verdict::Pass if state.is_running() => "partial",
        verdict => look(verdict.word(), report.is_partial_pass()),
    }
}

fn course(report: &Report, panel: &Panel<'_>) -> Course {
    let drawn = lines::of(&panel.series, charts::STATIC_POINTS);
    let events: Vec<&Event> = report.run.events.iter().filter(|event| is_marked(event.kind)).collect();
    let title = title(panel.family);
    let limit = panel.limit_ns(report);
    Course {
        id: panel.family.to_owned(),
        keys: drawn
            .iter()
            .rev()
            .map(|line| (line.look.clone(), line.name.clone()))
            .collect(),
        svg: charts::timeline(&title, &drawn, &events, limit, lines::span_s(&panel.series)),
        rows: panel
            .series
            .iter()
            .take(LATEST)
            .map(|series| row(report, series))
            .collect(),
        title,
    }
}

/// Name, number of samples, largest sample, and its limit.
fn row(report: &Report, series: &SeriesView) -> [String; 4] {
    let limit = panels::limit_of(&report.judgement, series);
    [
        series.spec.name.clone(),
        crate::text::count(series.counters.received),
        series
            .max_ns
            .map_or_else(|| "–".to_owned(), |ns| SignedNs(ns).to_string()),
        limit.map_or_else(|| "–".to_owned(), |ns| Ns(ns).to_string()),
    ]
}

/// Of the samples that the run keeps one by one, the latest first.
fn spikes(report: &Report) -> Vec<SpikeRow> {
    let all = report.run.series.iter();
    let mut latest: Vec<(&SeriesView, &Spike)> = all
        .flat_map(|series| series.spikes.iter().map(move |spike| (series, spike)))
        .collect();
    latest.sort_by_key(|(_, spike)| std::cmp::Reverse(spike.at_ns));
    let row = |(series, spike): &(&SeriesView, &Spike)| SpikeRow {
        at: Ns(spike.at_ns).to_string(),
        size: SignedNs(spike.value_ns).to_string(),
        series: series.spec.name.clone(),
        cause: spike
            .explanation
            .as_ref()
            .map_or("not examined", |why| why.cause.word()),
        text: spike
            .explanation
            .as_ref()
            .map(|why| why.text.clone())
            .unwrap_or_default(),
    };
    latest.iter().take(LATEST).map(row).collect()
}

fn events(report: &Report) -> Vec<EventRow> {
    let mut latest: Vec<&Event> = report.run.events.iter().collect();
    latest.sort_by_key(|event| std::cmp::Reverse(event.at_ns));
    let row = |event: &&Event| EventRow {
        at: Ns(event.at_ns).to_string(),
        kind: event.kind.word(),
        trouble: is_trouble(event.kind),
        text: event.text.clone(),
    };
    latest.iter().take(LATEST).map(row).collect()
}
