//! Kinds of series and their series as the page shows them.

use super::why::{self, SpikeRow};
use crate::Report;
use crate::html::{boxes, charts, data};
use crate::one_way::OneWay;
use crate::text::{capitalised, count, ns_or_dash, plural};
use crate::verdict::Verdict;
use model::{Counter, Event, Figure, FigureValue, Figures, Kind, SeriesView, kind};
use units::format_ns;

/// Worst samples shown of each series.
const SPIKES_SHOWN: usize = 8;

/// Failed series of a family whose charts are in sight from the start.
const FAILED_OPEN: usize = 3;

pub(crate) struct FamilyPart {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) what: String,
    pub(crate) series: Vec<SeriesPart>,
    /// The heads of its counters, and what each counts.
    pub(crate) counters: Vec<(String, &'static str)>,
    pub(crate) quiet: bool,
}

impl FamilyPart {
    /// Headings of the figures.
    pub(crate) fn headings(&self) -> Vec<String> {
        let heading = |figure: Figure| match figure.quantile() {
            Some(_) => figure.title().to_owned(),
            None => capitalised(figure.title()),
        };
        Figure::ALL.map(heading).to_vec()
    }
}

pub(crate) struct SeriesPart {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) verdict: &'static str,
    pub(crate) open: bool,
    pub(crate) samples: String,
    pub(crate) exposure: String,
    pub(crate) max: String,
    pub(crate) figures: Vec<String>,
    pub(crate) range_svg: String,
    pub(crate) counters: Vec<(String, bool)>,
    pub(crate) histogram_svg: String,
    pub(crate) timeline_svg: String,
    pub(crate) spikes: Vec<SpikeRow>,
    pub(crate) explained: bool,
    pub(crate) causes: Vec<[String; 4]>,
    pub(crate) statistics: Vec<(&'static str, String)>,
    pub(crate) box_svg: String,
    pub(crate) spikes_more: String,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) scheduled: String,
    /// How its two clocks agreed, where it has two.
    pub(crate) clocks: Vec<String>,
}

pub(super) fn families(report: &Report) -> Vec<FamilyPart> {
    let run = &report.run;
    let names = kind::in_order(run.series.iter().map(SeriesView::family));
    names.into_iter().map(|name| family_part(report, name)).collect()
}

fn family_part(report: &Report, name: &str) -> FamilyPart {
    let of_family: Vec<(usize, &SeriesView)> = report
        .run
        .series
        .iter()
        .enumerate()
        .filter(|(_, series)| series.family() == name)
        .collect();
    let figures: Vec<Figures> = of_family.iter().map(|(_, series)| series.figures()).collect();
    let limits: Vec<Option<u64>> = of_family
        .iter()
        .map(|(_, series)| data::limit_of(report, series))
        .collect();
    let scale = charts::range_scale(figures.iter().zip(limits.iter().copied()));
    let worst = of_family.iter().map(|(_, series)| series.max_ns).max().flatten();
    let mut failed = 0;
    let mut worst_open = false;
    let series: Vec<SeriesPart> = of_family
        .iter()
        .zip(figures.iter().zip(&limits))
        .map(|((index, series), (figures, limit))| {
            let mut part = series_part(report, *index, series, figures, *limit);
            part.range_svg = charts::range(figures, *limit, &scale);
            let is_worst = !worst_open && series.max_ns == worst;
            worst_open |= is_worst;
            failed += usize::from(part.verdict == Verdict::Fail.word());
            part.open = is_worst || (part.verdict == Verdict::Fail.word() && failed <= FAILED_OPEN);
            part
        })
        .collect();
    let known = Kind::named(name);
    FamilyPart {
        id: name.to_owned(),
        title: known.map_or_else(|| name.to_owned(), |kind| kind.title.to_owned()),
        what: known.map_or_else(String::new, |kind| kind.what.to_owned()),
        counters: Counter::ALL
            .into_iter()
            .filter(|counter| of_family.iter().any(|(_, series)| series.lists(*counter)))
            .map(|counter| {
                let says = known.map_or(counter.what(), |kind| kind.says(counter));
                (capitalised(counter.name()), says)
            })
            .collect(),
        quiet: series
            .iter()
            .all(|part| part.counters.iter().skip(2).all(|(_, trouble)| !trouble)),
        series,
    }
}

/// The number of samples, then every figure.
fn shown_figures(series: &SeriesView, figures: &Figures) -> Vec<String> {
    let value = |figure: Figure| ns_or_dash(figures.get(figure).map(FigureValue::ns));
    let mut shown = vec![count(series.counters.received)];
    shown.extend(Figure::ALL.map(value));
    shown
}

fn series_part(
    report: &Report,
    index: usize,
    series: &SeriesView,
    figures: &Figures,
    limit: Option<u64>,
) -> SeriesPart {
    let run = &report.run;
    let checks = report
        .judgement
        .checks
        .iter()
        .filter(|check| check.series == series.spec.name);
    let verdicts: Vec<Verdict> = checks.map(|check| check.verdict).collect();
    let events: Vec<&Event> = run.events_of(series).collect();
    let length_s = run.duration_ns as f64 / 1e9;
    let whole = |ns: Option<i64>| ns_or_dash(ns.map(|ns| ns as f64));
    let clocks = OneWay::of(run, series);
    SeriesPart {
        index,
        name: series.spec.name.clone(),
        what: series.spec.what.clone(),
        verdict: if verdicts.is_empty() {
            ""
        } else {
            Verdict::over(verdicts).word()
        },
        open: false,
        samples: plural(series.counters.received, "sample"),
        exposure: format_ns(series.exposure_ns() as f64),
        max: whole(figures.max) + &clocks.as_ref().map(OneWay::plus_minus).unwrap_or_default(),
        figures: shown_figures(series, figures),
        range_svg: String::new(),
        counters: counters(series),
        histogram_svg: charts::histogram(series, limit),
        timeline_svg: charts::timeline(series, &events, limit, length_s),
        spikes: series.spikes.iter().take(SPIKES_SHOWN).map(why::spike_row).collect(),
        explained: series.spikes.iter().any(|spike| spike.explanation.is_some()),
        causes: why::causes(series),
        statistics: why::statistics(report, series),
        box_svg: boxes::of_series(series),
        spikes_more: spikes_more(series),
        settings: series.spec.settings.clone(),
        scheduled: scheduled(series),
        clocks: clocks.as_ref().map(clock_lines).unwrap_or_default(),
    }
}

/// Each counter, and whether it tells of trouble; then what is in none of them.
fn counters(series: &SeriesView) -> Vec<(String, bool)> {
    let cell = |n: u64, is_trouble: bool| (count(n), is_trouble && n > 0);
    let listed = Counter::ALL.into_iter().filter(|counter| series.lists(*counter));
    let counters = listed.map(|counter| cell(series.counters.get(counter), counter.is_trouble()));
    counters.chain([cell(series.unaccounted(), true)]).collect()
}

fn spikes_more(series: &SeriesView) -> String {
    let kept = series.spikes.len().saturating_sub(SPIKES_SHOWN) as u64;
    let mut parts = Vec::new();
    if kept > 0 {
        parts.push(format!("{} more in the run file", count(kept)));
    }
    if series.spikes_dropped > 0 {
        parts.push(format!(
            "{} over the threshold counted but not kept",
            count(series.spikes_dropped)
        ));
    }
    parts.join("; ")
}

/// The uncertainty, then when it does not hold.
fn clock_lines(clocks: &OneWay) -> Vec<String> {
    let spans = clocks.doubtful.iter().map(|span| format!("In doubt {}", span.text()));
    [format!("Clocks: {}", clocks.text())]
        .into_iter()
        .chain(spans)
        .collect()
}

/// Quantiles over scheduled activations, where periods were skipped.
fn scheduled(series: &SeriesView) -> String {
    let Some(figures) = series.scheduled_figures() else {
        return String::new();
    };
    let quantiles = Figure::ALL.into_iter().filter(|figure| figure.quantile().is_some());
    let named = quantiles.map(|figure| (figure.title(), figures.get(figure)));
    let shown = named.map(|(title, value)| format!(", {title} {}", ns_or_dash(value.map(FigureValue::ns))));
    format!(
        "The figures above are of measured samples. Over scheduled activations ({} put back): mean {}{}.",
        plural(series.counters.missed, "skipped period"),
        ns_or_dash(figures.mean),
        shown.collect::<String>(),
    )
}
