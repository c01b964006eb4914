//! The cells and conclusions of a matrix in its document.

use super::cell::{Cell, Conditions};
use super::conclusion::{Basis, Conclusion, Statement};
use super::measure::Measure;
use crate::html::boxes::BoxFigures;
use serde_json::{Value, json};
use stats::comparison::{Figure, Outcome};

impl Conditions {
    fn json(&self) -> Value {
        json!({
            "place": self.place, "network": self.network, "load": self.load, "management": self.management,
            "isolation": self.isolation,
        })
    }
}

impl Cell {
    pub(super) fn json(&self) -> Value {
        let mut entry = self.conditions.json();
        entry["runs"] = json!(self.rounds);
        entry["duration_s"] = json!(self.whole.as_ref().map_or(0.0, |run| run.duration_ns as f64 / 1e9));
        entry["verdicts"] = json!({
            "pass": self.verdicts.pass, "fail": self.verdicts.fail, "inconclusive": self.verdicts.inconclusive,
        });
        entry["left_out"] = json!(self.left_out);
        entry["not_run"] = json!(self.failures);
        entry["over"] = json!(self.over);
        entry["emulated"] = json!(self.is_emulated);
        if let Some([bound, unbound]) = self.kernel_threads {
            entry["kernel_threads"] = json!({ "bound": bound, "not_bound": unbound });
        }
        entry["files"] = json!(self.files);
        entry["measured"] = self.measures.iter().map(Measure::json).collect();
        entry
    }
}

impl Measure {
    fn json(&self) -> Value {
        let (counters, f) = (&self.series.counters, self.series.figures());
        let figures = BoxFigures::of(self.maxima.ns.clone());
        json!({
            "kind": self.kind.name,
            "expected": counters.expected, "received": counters.received, "lost": counters.lost,
            "missed": counters.missed, "clipped": counters.clipped,
            "min": f.min, "mean": f.mean, "p50": f.p50, "p99": f.p99, "p999": f.p999, "p9999": f.p9999, "p99999": f.p99999,
            "max": f.max,
            "window_maxima": {
                "span_s": self.maxima.span_ns as f64 / 1e9,
                "count": self.maxima.ns.len(),
                "box": figures.map(|figures| json!({
                    "quartiles": figures.quartiles, "whiskers": figures.whiskers, "beyond": figures.outliers,
                })),
            },
        })
    }
}

impl Conclusion {
    pub(super) fn json(&self) -> Value {
        json!({
            "kind": self.kind.name,
            "differs_in": self.factor.word(),
            "of": self.a.json(),
            "and": self.b.json(),
            "outcome": self.outcome(),
            "statements": self.said.iter().chain(self.open.iter().filter(|_| self.said.is_empty())).map(Statement::json)
                .collect::<Vec<_>>(),
            "windows": self.windows,
            "doubts": self.doubts,
            "text": self.text(),
        })
    }

    fn outcome(&self) -> &'static str {
        let has = |outcome: Outcome| self.said.iter().any(|one| one.difference.outcome == outcome);
        match (has(Outcome::Higher), has(Outcome::Lower), self.said.is_empty()) {
            (true, true, _) => "slower-and-faster",
            (true, ..) => "slower",
            (_, true, _) => "faster",
            (.., true) => "cannot-be-told",
            _ => "no-difference",
        }
    }
}

impl Statement {
    fn json(&self) -> Value {
        let figure = match self.difference.figure {
            Figure::Mean => "mean",
            Figure::Median => "p50",
            Figure::P99 => "p99",
            Figure::P999 => "p999",
            Figure::WindowMax => "window-max",
        };
        let basis = match self.basis {
            Basis::Windows => "windows",
            Basis::FewWindows => "few-windows",
            Basis::Samples => "independent-samples",
        };
        let number = |value: f64| value.is_finite().then_some(value);
        let one = &self.difference;
        json!({
            "figure": figure, "basis": basis, "a": number(one.a), "b": number(one.b),
            "low": number(one.low), "high": number(one.high), "confidence": one.confidence,
        })
    }
}
