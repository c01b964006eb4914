//! The series of a comparison for a terminal.

use crate::comparison::{Compared, Comparison};
use crate::terminal::{Align, TextTable};
use crate::text::{count, ns_or_dash};
use std::fmt::Write;
use units::format_ns;

/// The figures of each series, followed by the statements about them.
pub(super) fn text(comparison: &Comparison) -> String {
    let parts = comparison.series.iter().map(|compared| part(comparison, compared));
    let end = match comparison.series.is_empty() {
        false => {
            "The tables show measured samples. All stated differences are true together (95 %); those by samples \
             are true together if their assumptions are.\n"
        }
        true => "No series is in more than one of the runs.\n",
    };
    parts.chain([end.to_owned()]).collect::<Vec<_>>().join("\n")
}

fn part(comparison: &Comparison, compared: &Compared) -> String {
    let mut out = format!("{}\n{}", compared.name, comparison.figures(compared));
    for line in comparison.words(compared) {
        let _ = writeln!(out, "  {line}");
    }
    out
}

impl Comparison {
    fn figures(&self, compared: &Compared) -> String {
        let mut table = TextTable::new(&[
            ("run", Align::Left),
            ("samples", Align::Right),
            ("missed", Align::Right),
        ]);
        for name in ["mean", "p50", "p99", "p99.9", "p99.99", "max", "in"] {
            table.columns(&[(name, Align::Right)]);
        }
        for (index, (name, _)) in self.runs.iter().enumerate() {
            let Some(series) = self.view(index, compared) else {
                continue;
            };
            let f = series.figures();
            let quantile = |ns: Option<u64>| ns_or_dash(ns.map(|ns| ns as f64));
            table.row(vec![
                name.clone(),
                count(series.counters.received),
                count(series.counters.missed),
                ns_or_dash(f.mean),
                quantile(f.p50),
                quantile(f.p99),
                quantile(f.p999),
                quantile(f.p9999),
                ns_or_dash(f.max.map(|ns| ns as f64)),
                format_ns(series.exposure_ns() as f64),
            ]);
        }
        table.text()
    }

    /// The differences, in words.
    pub(super) fn words(&self, compared: &Compared) -> Vec<String> {
        let mut lines = Vec::new();
        let first = compared.places.iter().position(Option::is_some).unwrap_or(0);
        let a = &self.runs[first].0;
        for (run, differences) in &compared.differences {
            let texts = differences
                .iter()
                .map(|difference| difference.text(a, &self.runs[*run].0));
            lines.extend(texts);
        }
        for (run, by_samples) in &compared.by_samples {
            lines.extend(
                by_samples
                    .iter()
                    .map(|difference| difference.text(a, &self.runs[*run].0)),
            );
        }
        for (run, rare) in &compared.rare {
            lines.extend(rare.iter().map(|difference| difference.text(a, &self.runs[*run].0)));
        }
        for (run, why) in &compared.not_compared {
            lines.push(format!("{a} and {} not compared: {why}", self.runs[*run].0));
        }
        for (name, values) in &compared.settings {
            let shown: Vec<String> = values
                .iter()
                .zip(&self.runs)
                .filter_map(|(value, (run, _))| Some(format!("{run}: {}", value.as_ref()?)))
                .collect();
            lines.push(format!("setting \"{name}\": {}", shown.join("; ")));
        }
        lines.extend(compared.unfair.iter().map(|why| format!("CONDITIONS DIFFER: {why}")));
        lines
    }
}
