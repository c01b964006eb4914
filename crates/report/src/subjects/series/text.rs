//! The figures and counters of every series, as tables.

use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};
use crate::text::{capitalised, count, counted_text, ns_or_dash};
use model::{Counter, Figure, FigureValue, Figures, SeriesView, kind};
use units::Ns;

/// Maximum number of series of a kind that are all listed; if there are more, only the worst are.
const SERIES_LISTED: usize = 6;

/// Number of worst series listed in that case.
const WORST_LISTED: usize = 3;

pub(super) fn series(report: &Report, paint: &Paint) -> String {
    let all = &report.run.series;
    let mut table = TextTable::new(&[
        ("series", Align::Left),
        ("samples", Align::Right),
        ("time", Align::Right),
    ]);
    for figure in shown() {
        table.columns(&[(figure.title(), Align::Right)]);
    }
    for name in kind::in_order(all.iter().map(SeriesView::family)) {
        let mut of_family: Vec<&SeriesView> = all.iter().filter(|series| series.family() == name).collect();
        let total = of_family.len();
        if total > SERIES_LISTED {
            of_family.sort_by_key(|series| std::cmp::Reverse(series.max_ns));
            of_family.truncate(WORST_LISTED);
        }
        for series in &of_family {
            table.row(figures_row(series));
            if let Some(figures) = series.scheduled_figures() {
                table.row(scheduled_row(series, &figures));
            }
        }
        if total > of_family.len() {
            let more = total - of_family.len();
            table.note(&format!("and {more} more of {name}/, none with a larger maximum"));
        }
    }
    let mut out = section(paint, "Series", &table);
    if !table.is_empty() {
        out.push_str(
            "  Quantiles with fewer than ten samples beyond them are left out. With n independent samples, one larger\n",
        );
        out.push_str("  than the maximum has a probability below 3/n (95 %), for this load and this configuration.\n");
    }
    out + &counters(all)
}

/// The figures that fit in the width of a terminal.
fn shown() -> impl Iterator<Item = Figure> {
    Figure::ALL.into_iter().filter(|figure| *figure != Figure::P99999)
}

fn values(figures: &Figures) -> impl Iterator<Item = String> {
    shown().map(|figure| ns_or_dash(figures.get(figure).map(FigureValue::ns)))
}

fn figures_row(series: &SeriesView) -> Vec<String> {
    let mut row = vec![
        series.spec.name.clone(),
        count(series.counters.received),
        Ns(series.exposure_ns()).to_string(),
    ];
    row.extend(values(&series.figures()));
    row
}

/// The series over scheduled activations, which is the view that limits judge.
fn scheduled_row(series: &SeriesView, figures: &Figures) -> Vec<String> {
    let mut row = vec![
        "  over scheduled activations".to_owned(),
        count(series.counters.received.saturating_add(series.counters.missed)),
        String::new(),
    ];
    row.extend(values(figures));
    row
}

/// Counts of samples that were due and went wrong: a table of nonzero counts, or a sentence if all are zero.
fn counters(all: &[SeriesView]) -> String {
    let counted = || {
        Counter::ALL
            .into_iter()
            .filter(|counter| all.iter().any(|series| series.lists(*counter)))
    };
    let mut table = TextTable::new(&[("series", Align::Left)]);
    for counter in counted() {
        table.columns(&[(counter.name(), Align::Right)]);
    }
    for series in all
        .iter()
        .filter(|series| series.counters.has_trouble() || series.unaccounted() > 0)
    {
        let mut row = vec![series.spec.name.clone()];
        row.extend(counted().map(|counter| counted_text(series, counter)));
        table.row(row);
    }
    if all.is_empty() {
        return String::new();
    }
    if table.is_empty() {
        let troubles = counted().filter(|counter| counter.is_trouble()).map(Counter::name);
        let list = troubles.collect::<Vec<_>>().join(", ");
        let series = all.len();
        return format!("  {}: none in any of {series} series.\n", capitalised(&list));
    }
    format!("\n{}", table.text())
}
