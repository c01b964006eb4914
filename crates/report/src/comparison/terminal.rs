//! A comparison as text.

use super::{Compared, Comparison, FactDifference};
use crate::terminal::{Align, TextTable};
use crate::text::{count, ns_or_dash};
use std::fmt::Write;
use units::foreign::Show;
use units::format_ns;

/// Columns of text that a value of the inventory may take.
const VALUE_WIDTH: usize = 60;

impl Comparison {
    /// Everything that the comparison says, for a terminal.
    pub fn text(&self) -> String {
        self.shown().lines()
    }

    fn lines(&self) -> String {
        let mut out = String::new();
        for (name, run) in &self.runs {
            let length = format_ns(run.duration_ns as f64);
            let _ = writeln!(out, "{name}: {}, {length}, {}", run.info.command, run.file.display());
        }
        for compared in &self.series {
            let _ = write!(out, "\n{}\n{}", compared.name, self.figures(compared));
            for line in self.words(compared) {
                let _ = writeln!(out, "  {line}");
            }
        }
        if !self.series.is_empty() {
            out.push_str("\nThe tables show measured samples. All stated differences hold together (95 %); those by samples, among \
                 themselves, if what they take for granted is so.\n");
        } else {
            out.push_str("\nNo series is in more than one of the runs.\n");
        }
        for (run, series) in &self.alone {
            let _ = writeln!(out, "\nonly in {run}: {series}");
        }
        out.push_str(&self.inventory());
        out
    }

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
        lines.extend(compared.unfair.iter().map(|why| format!("NOT LIKE WITH LIKE: {why}")));
        lines
    }

    fn inventory(&self) -> String {
        if self.facts.is_empty() {
            return "\nThe inventories do not differ.\n".to_owned();
        }
        let mut table = TextTable::new(&[("fact", Align::Left)]);
        for (name, _) in &self.runs {
            table.columns(&[(name, Align::Left)]);
        }
        for fact in &self.facts {
            let mut row = vec![format!("{}: {}", fact.group, fact.name)];
            row.extend(values(fact).map(|value| shortened(&value)));
            table.row(row);
        }
        format!("\nWhat differs between the machines\n{}", table.text())
    }
}

/// A fact's values for a reader.
pub(super) fn values(fact: &FactDifference) -> impl Iterator<Item = String> {
    fact.values.iter().map(|value| match value {
        Some(Ok(value)) => value.clone(),
        Some(Err(why)) => format!("unknown: {why}"),
        None => "not looked at".to_owned(),
    })
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= VALUE_WIDTH {
        return text.to_owned();
    }
    text.chars().take(VALUE_WIDTH - 1).chain(['…']).collect()
}
