//! Text for a terminal: colours, tables, and sections that only a terminal shows separately.

pub(crate) mod buffers;
pub(crate) mod clock;
pub(crate) mod paced;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod why;

use crate::Report;
use crate::verdict::Verdict;
use model::{SeriesView, Spike, kind};
pub(crate) use table::{Align, TextTable, width, wrapped};
use units::format_ns;

/// Number of worst samples listed for each kind of judged series.
const SPIKES_LISTED: usize = 3;

/// Writes text with or without ANSI colours.
pub(crate) struct Paint {
    pub(crate) colour: bool,
}

impl Paint {
    pub(crate) fn verdict(&self, verdict: Verdict, text: &str) -> String {
        let code = match verdict {
            Verdict::Pass => "1;32",
            Verdict::Fail => "1;31",
            Verdict::Inconclusive => "1;33",
        };
        self.wrap(code, text)
    }

    /// Colours the verdict over profiles: a pass of only some limits is not green.
    pub(crate) fn over(&self, verdict: Verdict, is_partial_pass: bool, text: &str) -> String {
        match is_partial_pass {
            true => self.wrap("1;36", text),
            false => self.verdict(verdict, text),
        }
    }

    pub(crate) fn heading(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

pub(crate) fn section(paint: &Paint, heading: &str, table: &TextTable) -> String {
    if table.is_empty() {
        return String::new();
    }
    format!("{}\n{}", paint.heading(heading), table.text())
}

pub(crate) fn worst_samples(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[("sample", Align::Right), ("series", Align::Left), ("at", Align::Right)]);
    table.columns(&[("CPU", Align::Right), ("number", Align::Right), ("cause", Align::Left)]);
    let judged: Vec<&SeriesView> = report
        .run
        .series
        .iter()
        .filter(|series| is_judged(report, series) || series.spikes.iter().any(|spike| spike.explanation.is_some()))
        .collect();
    for name in kind::in_order(judged.iter().map(|series| series.family())) {
        let of_family = judged.iter().filter(|series| series.family() == name);
        let mut spikes: Vec<(&SeriesView, &Spike)> = of_family
            .flat_map(|series| series.spikes.iter().map(|spike| (*series, spike)))
            .collect();
        spikes.sort_by_key(|(_, spike)| std::cmp::Reverse(spike.value_ns));
        for (series, spike) in spikes.into_iter().take(SPIKES_LISTED) {
            table.row(spike_row(series, spike));
        }
    }
    section(paint, "Worst samples", &table)
}

fn is_judged(report: &Report, series: &SeriesView) -> bool {
    report
        .judgement
        .checks
        .iter()
        .any(|check| check.series == series.spec.name)
}

fn spike_row(series: &SeriesView, spike: &Spike) -> Vec<String> {
    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    vec![
        format_ns(spike.value_ns as f64),
        series.spec.name.clone(),
        format_ns(spike.at_ns as f64),
        number(spike.cpu.map(u64::from)),
        number(spike.sequence),
        spike
            .explanation
            .as_ref()
            .map(|why| why.text.clone())
            .unwrap_or_default(),
    ]
}
