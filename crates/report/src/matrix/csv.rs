//! A matrix as CSV (RFC 4180): one line for each cell and kind of series, times in ns.

use super::Matrix;
use super::cell::Cell;
use super::measure::Measure;
use crate::html::boxes::BoxFigures;
use crate::tables::forms::record;

const HEADS: [&str; 25] = [
    "place",
    "network",
    "load",
    "isolation",
    "runs",
    "pass",
    "fail",
    "inconclusive",
    "kind",
    "expected",
    "received",
    "lost",
    "missed",
    "min_ns",
    "mean_ns",
    "p50_ns",
    "p99_ns",
    "p999_ns",
    "p9999_ns",
    "max_ns",
    "span_ns",
    "q1_ns",
    "median_ns",
    "q3_ns",
    // Added after the existing columns.
    "management",
];

impl Matrix {
    /// The matrix as CSV, with a line of headings. An unknown figure is empty.
    pub fn csv(&self) -> String {
        let mut out = record(HEADS.into_iter());
        for cell in &self.cells {
            for measure in &cell.measures {
                let line = cell.key().into_iter().chain(measure.cells());
                let line = line.chain([cell.management()]).collect::<Vec<_>>();
                out += &record(line.iter().map(String::as_str));
            }
            if cell.measures.is_empty() {
                let (line, management) = (cell.key(), cell.management());
                let rest = std::iter::repeat_n("", HEADS.len() - 1 - line.len());
                let rest = rest.chain([management.as_str()]);
                out += &record(line.iter().map(String::as_str).chain(rest));
            }
        }
        out
    }
}

impl Cell {
    fn management(&self) -> String {
        self.conditions.management.clone().unwrap_or_default()
    }

    fn key(&self) -> Vec<String> {
        let own = &self.conditions;
        let counts = [
            self.rounds,
            self.verdicts.pass,
            self.verdicts.fail,
            self.verdicts.inconclusive,
        ];
        let names = [
            own.place.clone(),
            own.network.clone().unwrap_or_default(),
            own.load.clone(),
            own.isolation.clone(),
        ];
        names.into_iter().chain(counts.map(|times| times.to_string())).collect()
    }
}

impl Measure {
    fn cells(&self) -> Vec<String> {
        let (counters, figures) = (&self.series.counters, self.series.figures());
        let counts = [counters.expected, counters.received, counters.lost, counters.missed].map(|n| n.to_string());
        let quantiles = [figures.p50, figures.p99, figures.p999, figures.p9999].map(|ns| text(ns.map(|ns| ns as f64)));
        let quartiles = BoxFigures::of(self.maxima.ns.clone()).map(|figures| figures.quartiles.map(Some));
        let mut cells = vec![self.kind.name.to_owned()];
        cells.extend(counts);
        cells.extend([text(figures.min.map(|ns| ns as f64)), text(figures.mean)]);
        cells.extend(quantiles);
        cells.extend([text(figures.max.map(|ns| ns as f64)), self.maxima.span_ns.to_string()]);
        cells.extend(quartiles.unwrap_or_default().map(text));
        cells
    }
}

fn text(ns: Option<f64>) -> String {
    ns.map_or_else(String::new, |ns| format!("{ns:.0}"))
}
