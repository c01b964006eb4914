//! The series of a comparison in the JSON document.

use crate::comparison::{Compared, Comparison};
use serde_json::{Value, json};
use stats::comparison::{Assumed, BySamples, Difference, Figure, Happened, Outcome, RareDifference, RareOutcome};

impl Comparison {
    pub(super) fn series_entry(&self, compared: &Compared) -> Value {
        let figures: Vec<Value> = (0..self.runs.len())
            .map(|run| self.figures_entry(run, compared))
            .collect();
        let first = compared.places.iter().position(Option::is_some).unwrap_or(0);
        let differences = compared.differences.iter().flat_map(|(run, differences)| {
            let (a, b) = (&self.runs[first].0, &self.runs[*run].0);
            differences
                .iter()
                .map(move |difference| difference_entry(difference, a, b))
        });
        let rare = compared.rare.iter().flat_map(|(run, rare)| {
            let (a, b) = (&self.runs[first].0, &self.runs[*run].0);
            rare.iter().map(move |difference| rare_entry(difference, a, b))
        });
        json!({
            "name": compared.name,
            "figures": figures,
            "differences": differences.collect::<Vec<_>>(),
            "by_samples": self.by_samples_entry(first, compared),
            "rare": rare.collect::<Vec<_>>(),
            "not_compared": compared.not_compared.iter().map(|(run, why)| json!({
                "of": self.runs[first].0, "and": self.runs[*run].0, "why": why,
            })).collect::<Vec<_>>(),
            "settings": compared.settings.iter().map(|(name, values)| json!({"name": name, "values": values}))
                .collect::<Vec<_>>(),
            "unfair": compared.unfair,
            "doubts": compared.doubts.iter().map(|(run, why)| json!({"run": self.runs[*run].0, "why": why}))
                .collect::<Vec<_>>(),
        })
    }

    fn by_samples_entry(&self, first: usize, compared: &Compared) -> Vec<Value> {
        let of_run = |(run, all): &(usize, Vec<BySamples>)| {
            let (a, b) = (self.runs[first].0.clone(), self.runs[*run].0.clone());
            let entry = |one: &BySamples| {
                let mut entry = difference_entry(&one.difference, &a, &b);
                entry["assumed"] = json!(match one.assumed {
                    Assumed::Windows => "few-windows",
                    Assumed::Samples => "independent-samples",
                });
                entry["text"] = json!(one.text(&a, &b));
                entry
            };
            all.iter().map(entry).collect::<Vec<_>>()
        };
        compared.by_samples.iter().flat_map(of_run).collect()
    }

    fn figures_entry(&self, run: usize, compared: &Compared) -> Value {
        let Some(series) = self.view(run, compared) else {
            return Value::Null;
        };
        let f = series.figures();
        json!({
            "run": self.runs[run].0,
            "series": series.spec.name,
            "view": model::MEASURED,
            "expected": series.counters.expected,
            "received": series.counters.received,
            "missed": series.counters.missed,
            "exposure_s": series.exposure_ns() as f64 / 1e9,
            "min": f.min, "mean": f.mean, "p50": f.p50, "p99": f.p99, "p999": f.p999, "p9999": f.p9999,
            "p99999": f.p99999, "max": f.max,
        })
    }
}

fn difference_entry(difference: &Difference, a: &str, b: &str) -> Value {
    let figure = match difference.figure {
        Figure::Mean => "mean",
        Figure::Median => "p50",
        Figure::P99 => "p99",
        Figure::P999 => "p999",
        Figure::WindowMax => "window-max",
    };
    let outcome = match difference.outcome {
        Outcome::Higher => "higher",
        Outcome::Lower => "lower",
        Outcome::NoDifference => "no-difference",
        Outcome::Undecided => "undecided",
        Outcome::TooFewWindows { .. } => "too-few-windows",
        Outcome::TooAlike => "too-alike",
        Outcome::NotSteady => "not-steady",
    };
    let decided = !matches!(difference.outcome, Outcome::TooFewWindows { .. });
    let number = |value: f64| (decided && value.is_finite()).then_some(value);
    json!({
        "figure": figure, "of": a, "and": b,
        "a": number(difference.a), "b": number(difference.b), "difference": number(difference.difference),
        "low": number(difference.low), "high": number(difference.high), "confidence": difference.confidence,
        "p": number(difference.p), "outcome": outcome, "text": difference.text(a, b),
    })
}

fn rare_entry(difference: &RareDifference, a: &str, b: &str) -> Value {
    let (what, limit) = match difference.what {
        Happened::Highest => ("run-max", None),
        Happened::Over(limit) => ("over-limit", Some(limit)),
        Happened::Missed => ("missed", None),
        Happened::Lost => ("lost", None),
    };
    let outcome = match difference.outcome {
        RareOutcome::Higher => "higher",
        RareOutcome::Lower => "lower",
        RareOutcome::Undecided => "undecided",
        RareOutcome::InNeither => "in-neither",
    };
    let number = |value: f64| value.is_finite().then_some(value);
    json!({
        "what": what, "limit": limit, "of": a, "and": b,
        "a": number(difference.a_total), "b": number(difference.b_total),
        "a_windows_with": difference.a, "b_windows_with": difference.b,
        "a_windows": difference.a_windows, "b_windows": difference.b_windows,
        "ratio_low": difference.ratio_low, "ratio_high": number(difference.ratio_high),
        "confidence": number(difference.confidence), "p": number(difference.p), "outcome": outcome,
        "text": difference.text(a, b),
    })
}
