//! What the ConfigMap is told.

use serde_json::Value;
use std::collections::BTreeMap;

/// How a checkup ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It measured; the result document (`triptime.result/1`).
    Measured(Value),
    /// It did not come to a result; why.
    Failed(String),
}

/// Longest reason: a ConfigMap takes 1 MiB in all.
const LONGEST_REASON: usize = 4_000;
/// Most series whose figures are told; the run file has the others.
const MOST_SERIES: usize = 200;

/// What is told at the start. `now`: RFC 3339, UTC.
pub fn started(now: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("status.startTimestamp".to_owned(), now.to_owned())])
}

/// What is told at the end. It succeeded only if there is a verdict, and the verdict is a pass: what could not be decided did not
/// succeed. `now`: RFC 3339, UTC.
pub fn finished(outcome: &Outcome, now: &str, node: Option<&str>) -> BTreeMap<String, String> {
    let (reason, mut told) = match outcome {
        Outcome::Failed(why) => (why.clone(), BTreeMap::new()),
        Outcome::Measured(document) => (reason(document), figures(document)),
    };
    if let Some(node) = node {
        told.insert("status.result.node".to_owned(), node.to_owned());
    }
    let reason: String = reason.chars().take(LONGEST_REASON).collect();
    told.insert("status.completionTimestamp".to_owned(), now.to_owned());
    told.insert("status.succeeded".to_owned(), reason.is_empty().to_string());
    told.insert("status.failureReason".to_owned(), reason);
    told
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Why it is no pass; empty for a pass.
fn reason(document: &Value) -> String {
    let checks = document["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let verdict = text(document, "verdict");
    match verdict {
        "pass" if checks.is_empty() => return "nothing was judged".to_owned(),
        "pass" if text(&document["run"], "state") != "complete" => return "interrupted before its end".to_owned(),
        "pass" => return String::new(),
        "" => return "no verdict".to_owned(),
        _ => {}
    }
    let open = checks.iter().filter(|check| text(check, "verdict") == verdict);
    let open: Vec<String> = open
        .map(|check| {
            format!(
                "{} of {}: {}",
                text(check, "limit"),
                text(check, "series"),
                text(check, "why")
            )
        })
        .collect();
    format!("{verdict}: {}", open.join("; "))
}

fn figures(document: &Value) -> BTreeMap<String, String> {
    let mut told = BTreeMap::new();
    let mut tell = |key: String, value: String| told.insert(format!("status.result.{key}"), value);
    tell("verdict".to_owned(), text(document, "verdict").to_owned());
    tell("file".to_owned(), text(&document["run"], "file").to_owned());
    tell("durationSeconds".to_owned(), document["run"]["duration_s"].to_string());
    for count in ["limits", "measured"] {
        tell(count.to_owned(), document[count].to_string());
    }
    let series = document["series"].as_array().map_or(&[][..], Vec::as_slice);
    for one in series.iter().take(MOST_SERIES) {
        let name = key(text(one, "name"));
        for (figure, called) in [
            ("max", "maxNanoseconds"),
            ("p9999", "p9999Nanoseconds"),
            ("received", "samples"),
            ("lost", "lost"),
        ] {
            // What is not known is left out: it is not zero.
            if !one[figure].is_null() {
                tell(format!("{called}.{name}"), one[figure].to_string());
            }
        }
    }
    if series.len() > MOST_SERIES {
        tell("seriesLeftOut".to_owned(), (series.len() - MOST_SERIES).to_string());
    }
    told
}

/// A name as keys of a ConfigMap have it: letters, digits, `-`, `_` and `.`.
fn key(name: &str) -> String {
    let allowed = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '.'
        }
    };
    name.chars().map(allowed).take(200).collect()
}
