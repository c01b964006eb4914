//! One panel for each kind of series in the HTML page, with its series as rows.

use super::title;
use super::why::{self, SpikeRow};
use crate::Report;
use crate::html::panels::{self, Panel, limit_of};
use crate::html::svg::Scale;
use crate::html::{charts, lines, overlay};
use crate::one_way::OneWay;
use crate::spans;
use crate::text::{capitalised, count, counted_text, ns_or_dash};
use crate::verdict::Verdict;
use askama::Template;
use model::{Counter, Event, Figure, FigureValue, Figures, Kind, SeriesView};

/// Number of visible rows in a panel; the others, none with a larger maximum, are folded.
const ROWS_IN_SIGHT: usize = 8;

/// Number of worst samples shown for each kind.
const SPIKES_SHOWN: usize = 8;

/// Number of values shown for a setting that differs between series of a kind.
const VALUES_SHOWN: usize = 4;

/// Maximum number of series of a kind in its box plot.
const BOXES_SHOWN: usize = 12;

struct FamilyPart {
    id: String,
    title: String,
    what: String,
    rows: Vec<SeriesRow>,
    folded: Vec<SeriesRow>,
    /// CSS class and name of each line of the time chart.
    keys: Vec<(String, String)>,
    time_svg: String,
    bars_svg: String,
    box_svg: String,
    box_caption: String,
    /// The headings of its counters, with their meaning.
    counters: Vec<(String, &'static str)>,
    counted: String,
    spikes: Vec<SpikeRow>,
    spikes_more: String,
    causes: Vec<[String; 4]>,
    /// Statements that the figures of a series support.
    statistics: Vec<(String, Vec<(&'static str, String)>)>,
    settings: Vec<(String, String)>,
    /// Agreement of the two clocks of its series, if they have two.
    clocks: Vec<String>,
}

impl FamilyPart {
    /// Headings of the figures.
    fn headings(&self) -> Vec<String> {
        let heading = |figure: Figure| match figure.quantile() {
            Some(_) => figure.title().to_owned(),
            None => capitalised(figure.title()),
        };
        Figure::ALL.map(heading).to_vec()
    }
}

struct SeriesRow {
    name: String,
    what: String,
    verdict: &'static str,
    figures: Vec<String>,
    /// Figures over scheduled activations, if periods were skipped.
    scheduled: Vec<String>,
    range_svg: String,
    counters: Vec<(String, bool)>,
}

#[derive(Template)]
#[template(path = "series.html")]
struct Html {
    families: Vec<FamilyPart>,
}

/// A section of the page for each kind.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let panels = panels::of(report);
    let families = panels.iter().map(|panel| part(report, panel)).collect();
    Html { families }.render()
}

fn part(report: &Report, panel: &Panel<'_>) -> FamilyPart {
    let known = Kind::named(panel.family);
    let series = &panel.series;
    let mut rows = rows(report, panel);
    let folded = match rows.len() > ROWS_IN_SIGHT + 1 {
        true => rows.split_off(ROWS_IN_SIGHT),
        false => Vec::new(),
    };
    let limit = panel.limit_ns(report);
    let drawn = lines::of(series, charts::STATIC_POINTS);
    let title = title(panel.family);
    let boxed = series.iter().take(BOXES_SHOWN);
    let boxed = boxed.map(|one| (one.spec.label().to_owned(), *one));
    let (box_svg, box_caption) = spans::boxes_of(&boxed.collect::<Vec<_>>());
    let (spikes, spikes_more) = spikes(panel);
    FamilyPart {
        id: panel.family.to_owned(),
        what: known.map_or_else(String::new, |kind| kind.what.to_owned()),
        keys: drawn
            .iter()
            .rev()
            .map(|line| (line.look.clone(), line.name.clone()))
            .collect(),
        time_svg: charts::timeline(&title, &drawn, &events(report, panel), limit, lines::span_s(series)),
        bars_svg: overlay::histograms(&title, &panel.histograms(), limit),
        box_svg,
        box_caption,
        counters: counter_heads(panel),
        counted: counted(panel),
        spikes,
        spikes_more,
        causes: why::causes(series),
        statistics: statistics(report, panel),
        settings: settings(panel),
        clocks: clocks(report, panel),
        title,
        rows,
        folded,
    }
}

fn rows(report: &Report, panel: &Panel<'_>) -> Vec<SeriesRow> {
    let with_limits = panel
        .series
        .iter()
        .map(|series| (series.figures(), limit_of(&report.judgement, series)));
    let figures: Vec<(Figures, Option<u64>)> = with_limits.collect();
    let scale = charts::range_scale(figures.iter().map(|(figures, limit)| (figures, *limit)));
    let rows = panel.series.iter().zip(&figures);
    rows.map(|(series, (figures, limit))| row((report, panel), series, figures, *limit, &scale))
        .collect()
}

fn row(
    (report, panel): (&Report, &Panel<'_>),
    series: &SeriesView,
    figures: &Figures,
    limit: Option<u64>,
    scale: &Scale,
) -> SeriesRow {
    let checks = report
        .judgement
        .checks
        .iter()
        .filter(|check| check.series == series.spec.name);
    let verdicts: Vec<Verdict> = checks.map(|check| check.verdict).collect();
    let mut shown = vec![count(series.counters.received)];
    shown.extend(figure_cells(figures));
    if let (Some(max), Some(clocks)) = (shown.last_mut(), OneWay::of(&report.run, series)) {
        max.push_str(&clocks.plus_minus());
    }
    let scheduled = series.scheduled_figures().map(|figures| {
        let activations = count(series.counters.received + series.counters.missed);
        [activations].into_iter().chain(figure_cells(&figures)).collect()
    });
    SeriesRow {
        name: series.spec.name.clone(),
        what: series.spec.what.clone(),
        verdict: if verdicts.is_empty() {
            ""
        } else {
            Verdict::over(verdicts).word()
        },
        figures: shown,
        scheduled: scheduled.unwrap_or_default(),
        range_svg: charts::range(figures, limit, scale),
        counters: counters(panel, series),
    }
}

fn figure_cells(figures: &Figures) -> [String; Figure::ALL.len()] {
    Figure::ALL.map(|figure| ns_or_dash(figures.get(figure).map(FigureValue::ns)))
}

/// Events that affect any of its series, each once.
fn events<'a>(report: &'a Report, panel: &Panel<'_>) -> Vec<&'a Event> {
    let run = &report.run;
    let touches = |event: &Event| {
        let mut series = panel.series.iter();
        series.any(|series| event.series.is_none_or(|only| only == series.id))
    };
    let marked = run.events.iter().filter(|event| charts::is_marked(event.kind));
    marked.filter(|event| touches(event)).collect()
}

fn counter_heads(panel: &Panel<'_>) -> Vec<(String, &'static str)> {
    let known = Kind::named(panel.family);
    let head = |counter: Counter| {
        let says = known.map_or(counter.what(), |kind| kind.says(counter));
        (capitalised(counter.name()), says)
    };
    listed(panel).map(head).collect()
}

/// Each counter, and whether it indicates a problem, followed by the number of samples in no counter.
fn counters(panel: &Panel<'_>, series: &SeriesView) -> Vec<(String, bool)> {
    let counters = listed(panel).map(|counter| {
        let is_bad = counter.is_trouble() && series.counters.get(counter) > 0;
        (counted_text(series, counter), is_bad)
    });
    let unaccounted = series.unaccounted();
    counters.chain([(count(unaccounted), unaccounted > 0)]).collect()
}

/// Counters that any of its series has.
fn listed(panel: &Panel<'_>) -> impl Iterator<Item = Counter> {
    let is_listed = |counter: &Counter| panel.series.iter().any(|series| series.lists(*counter));
    Counter::ALL.into_iter().filter(is_listed)
}

/// Nonzero counters that indicate problems, over all series of the kind: `359 missed, 126 overflow`; empty if there are
/// none.
fn counted(panel: &Panel<'_>) -> String {
    let sum = |of: &dyn Fn(&SeriesView) -> u64| panel.series.iter().map(|series| of(series)).sum::<u64>();
    let troubles = Counter::ALL.into_iter().filter(|counter| counter.is_trouble());
    let named = troubles.map(|counter| (sum(&|series| series.counters.get(counter)), counter.name()));
    let all = named.chain([(sum(&SeriesView::unaccounted), "unaccounted for")]);
    let said: Vec<String> = all
        .filter(|(n, _)| *n > 0)
        .map(|(n, name)| format!("{} {name}", count(n)))
        .collect();
    said.join(", ")
}

/// The worst samples of all its series, and a text about those not shown.
fn spikes(panel: &Panel<'_>) -> (Vec<SpikeRow>, String) {
    let of = |series: &&'_ SeriesView| -> Vec<(i64, SpikeRow)> {
        let worst = series.spikes.iter().take(SPIKES_SHOWN);
        worst
            .map(|spike| (spike.value_ns, why::spike_row(spike, series.spec.label())))
            .collect()
    };
    let mut worst: Vec<(i64, SpikeRow)> = panel.series.iter().flat_map(of).collect();
    worst.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    worst.truncate(SPIKES_SHOWN);
    let kept: u64 = panel.series.iter().map(|series| series.spikes_kept).sum();
    let dropped: u64 = panel.series.iter().map(|series| series.spikes_dropped).sum();
    let more = [
        (kept.saturating_sub(worst.len() as u64), "more in the run file"),
        (dropped, "over the threshold counted but not kept"),
    ];
    let more = more.into_iter().filter(|(n, _)| *n > 0);
    let more: Vec<String> = more.map(|(n, what)| format!("{} {what}", count(n))).collect();
    (worst.into_iter().map(|(_, row)| row).collect(), more.join("; "))
}

fn statistics(report: &Report, panel: &Panel<'_>) -> Vec<(String, Vec<(&'static str, String)>)> {
    let said = panel
        .series
        .iter()
        .map(|series| (series.spec.name.clone(), why::statistics(report, series)));
    said.filter(|(_, rows)| !rows.is_empty()).collect()
}

/// The settings of its series: a common value, or the first few of several values.
fn settings(panel: &Panel<'_>) -> Vec<(String, String)> {
    let all = || panel.series.iter().flat_map(|series| &series.spec.settings);
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, value) in all() {
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => found.push((name.clone(), vec![value])),
        }
    }
    let text = |values: Vec<&str>| match values.len().checked_sub(VALUES_SHOWN) {
        None | Some(0) => values.join("; "),
        Some(more) => format!("{}; and {more} others", values[..VALUES_SHOWN].join("; ")),
    };
    found.into_iter().map(|(name, values)| (name, text(values))).collect()
}

/// The uncertainty of its series' two clocks, and the times when it is not valid; a text that applies to several series
/// is listed once.
fn clocks(report: &Report, panel: &Panel<'_>) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let all = panel.series.iter().filter_map(|series| OneWay::of(&report.run, series));
    for clocks in all {
        let spans = clocks.doubtful.iter().map(|span| format!("In doubt {}", span.text()));
        for line in [format!("Clocks: {}", clocks.text())].into_iter().chain(spans) {
            if !said.contains(&line) {
                said.push(line);
            }
        }
    }
    said
}
