//! Causes of late samples, and statistics about them, in the HTML page.

use crate::Report;
use crate::pacing::Buffer;
use crate::text::count;
use model::{CauseTotal, Explanation, Extent, Part, SeriesView, Spike};
use units::{Ns, SignedNs};

/// A worst sample: value, series, time, CPU, number, and cause.
pub(crate) struct SpikeRow {
    pub(crate) cells: [String; 5],
    pub(crate) cause: &'static str,
    pub(crate) text: String,
    pub(crate) stages: String,
    pub(crate) occupants: String,
    pub(crate) around: String,
}

pub(super) fn spike_row(spike: &Spike, label: &str) -> SpikeRow {
    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), count);
    let why = spike.explanation.as_ref();
    SpikeRow {
        cells: [
            SignedNs(spike.value_ns).to_string(),
            label.to_owned(),
            Ns(spike.at_ns).to_string(),
            number(spike.cpu.map(u64::from)),
            number(spike.sequence),
        ],
        cause: why.map_or("", |why| why.cause.word()),
        text: why.map(|why| why.text.clone()).unwrap_or_default(),
        stages: why.map(|why| parts(&why.stages)).unwrap_or_default(),
        occupants: why.map(occupants).unwrap_or_default(),
        around: why.map(around).unwrap_or_default(),
    }
}

fn parts(parts: &[Part]) -> String {
    let one = |part: &Part| format!("{} {}", part.what, Ns(part.ns));
    parts.iter().map(one).collect::<Vec<_>>().join(" → ")
}

fn occupants(why: &Explanation) -> String {
    let rest = Part {
        what: "unexplained".to_owned(),
        ns: why.unexplained_ns,
    };
    let all: Vec<Part> = why.occupants.iter().cloned().chain([rest]).collect();
    parts(&all).replace(" → ", ", ")
}

fn around(why: &Explanation) -> String {
    let extent = match why.extent {
        Extent::OneCpu => "this CPU only",
        Extent::AllCpus => "every watched CPU at once",
        Extent::Unknown => "no other CPU was watched",
    };
    let mut all = vec![extent.to_owned()];
    all.extend(why.around.iter().cloned());
    all.join("; ")
}

/// Cause, samples, time and largest sample, over all series of one kind; the cause with the largest total time comes
/// first.
pub(super) fn causes(series: &[&SeriesView]) -> Vec<[String; 4]> {
    let mut totals: Vec<CauseTotal> = Vec::new();
    for one in series.iter().flat_map(|series| &series.causes) {
        match totals.iter_mut().find(|total| total.cause == one.cause) {
            Some(total) => {
                total.count += one.count;
                total.total_ns = total.total_ns.saturating_add(one.total_ns);
                total.max_ns = total.max_ns.max(one.max_ns);
            }
            None => totals.push(*one),
        }
    }
    totals.sort_by_key(|total| std::cmp::Reverse(total.total_ns));
    totals.iter().map(cause_row).collect()
}

fn cause_row(total: &CauseTotal) -> [String; 4] {
    [
        total.cause.word().to_owned(),
        count(total.count),
        Ns(total.total_ns).to_string(),
        Ns(total.max_ns).to_string(),
    ]
}

/// Statements that the figures support, one sentence each.
pub(super) fn statistics(report: &Report, series: &SeriesView) -> Vec<(&'static str, String)> {
    let buffer = Buffer::of(series).map(|buffer| ("Listener's buffer", buffer.text()));
    let Some(insight) = report.insight(&series.spec.name) else {
        return buffer.into_iter().collect();
    };
    let stolen = insight.stolen.map(|stolen| stolen.text()).unwrap_or_default();
    let claim = insight.claim.as_ref().map(|claim| claim.text()).unwrap_or_default();
    let all = [
        ("Stolen time", stolen),
        ("Rate", claim),
        ("Quantiles (95 %, for independent samples)", insight.quantiles_text()),
        ("Over time", insight.steadiness.text()),
        ("Rare values", insight.rare_text()),
    ];
    let said = all.into_iter().filter(|(_, text)| !text.is_empty());
    said.chain(buffer).collect()
}
