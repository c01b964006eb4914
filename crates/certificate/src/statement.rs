//! The statement of a certificate: runs, their evidence and their results.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Name and number of the format.
pub const SCHEMA: &str = "triptime.certificate/1";

/// Fields of a result document that a certificate keeps as they are. Lists of single samples and events stay in the run file, which the
/// certificate names by its hash.
const KEPT: [&str; 18] = [
    "tool",
    "run",
    "verdict",
    "limits",
    "measured",
    "coverage",
    "untested",
    "profiles",
    "checks",
    "uncertainty",
    "not_measured",
    "not_applicable",
    "contradictions",
    "procedure",
    "changes",
    "budget",
    "nics",
    "inventory",
];

/// The pass of a run that did not measure every limit of its profile.
const PARTIAL_PASS: &str = "partial pass";

/// Figures and counters of a series that a certificate keeps.
const FIGURES: [&str; 25] = [
    "name",
    "unit",
    "what",
    "settings",
    "expected",
    "received",
    "lost",
    "late",
    "duplicate",
    "conflicting",
    "reordered",
    "missed",
    "clipped",
    "overflow",
    "overrun",
    "unwanted",
    "wrong",
    "threshold",
    "min",
    "mean",
    "p99",
    "p999",
    "p9999",
    "max",
    "exposure_s",
];

/// SHA-256 in hexadecimal digits.
pub fn sha256(octets: &[u8]) -> String {
    Sha256::digest(octets)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

/// The signed part of a certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// [`SCHEMA`].
    pub schema: String,
    /// Instant at which the certificate was made, by the real-time clock, RFC 3339.
    pub issued: String,
    /// Version and build of the triptime that made it.
    pub issued_by: String,
    /// `pass`, `fail` or `inconclusive`, over all runs.
    pub verdict: String,
    /// How a figure near its limit is decided.
    pub decision_rule: String,
    /// The user's statements about the test, by their keys; empty if there are none.
    pub about: Map<String, Value>,
    /// Ways in which the runs departed from their plans, and other reservations; empty if there are none.
    pub deviations: Vec<String>,
    /// The runs, in the given order.
    pub runs: Vec<Certified>,
}

/// One run of a certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certified {
    /// Name of the run file, without its folder.
    pub file: String,
    /// Its length in bytes.
    pub octets: u64,
    /// SHA-256 of the run file in hexadecimal digits.
    pub sha256: String,
    /// The plan kept in the run.
    pub plan: Option<Kept>,
    /// The limit profile by which the run was judged.
    pub profile: Option<Kept>,
    /// The result document, without single samples and events.
    pub result: Value,
}

/// A text that applied to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// SHA-256 of the text.
    pub sha256: String,
    /// The text itself.
    pub text: String,
}

impl Kept {
    /// Keeps a text with its hash.
    pub fn of(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            sha256: sha256(text.as_bytes()),
            text,
        }
    }
}

impl Statement {
    /// The verdict over all runs for people: a pass of some limits is not the pass of a host.
    pub fn words(&self) -> &str {
        let is_partial = self.verdict == "pass" && self.runs.iter().any(Certified::is_partial_pass);
        if is_partial { PARTIAL_PASS } else { &self.verdict }
    }
}

impl Certified {
    /// The part of a result document (`triptime.result/1`) that a certificate keeps. The place of the file is left out, because it differs
    /// from reader to reader.
    pub fn result_of(document: &Value) -> Value {
        let mut kept: Map<String, Value> = KEPT
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), document.get(name)?.clone())))
            .collect();
        if let Some(Value::Object(run)) = kept.get_mut("run") {
            run.remove("file");
        }
        let series = document["series"].as_array().map(Vec::as_slice).unwrap_or_default();
        kept.insert("series".to_owned(), series.iter().map(figures).collect());
        kept.insert("events".to_owned(), counts(&document["events"]));
        Value::Object(kept)
    }

    /// The word of the run's own verdict.
    pub fn verdict(&self) -> &str {
        self.result["verdict"].as_str().unwrap_or("inconclusive")
    }

    /// True if it passed, but some limits of its profile were not measured.
    pub fn is_partial_pass(&self) -> bool {
        self.verdict() == "pass" && self.result["coverage"] != "whole"
    }

    /// The verdict for people: a pass of some limits is not the pass of a host.
    pub fn words(&self) -> &str {
        if self.is_partial_pass() {
            PARTIAL_PASS
        } else {
            self.verdict()
        }
    }
}

fn figures(series: &Value) -> Value {
    let of = |name: &str| Some((name.to_owned(), series.get(name)?.clone()));
    Value::Object(FIGURES.into_iter().filter_map(of).collect())
}

/// Number of events of each kind.
fn counts(events: &Value) -> Value {
    let mut counts = Map::new();
    for event in events.as_array().map(Vec::as_slice).unwrap_or_default() {
        let kind = event["kind"].as_str().unwrap_or("note");
        let before = counts.get(kind).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(kind.to_owned(), json!(before + 1));
    }
    counts.sort_keys();
    Value::Object(counts)
}

#[cfg(test)]
mod tests {
    use super::{Certified, Kept};
    use serde_json::json;

    #[test]
    fn a_result_keeps_figures_and_counts_events_and_forgets_where_its_file_was() {
        let document = json!({
            "schema": "triptime.result/1", "verdict": "pass", "coverage": "whole",
            "run": {"id": "a", "file": "/root/x.triptime"}, "changes": {"watched": true, "found": 2},
            "series": [{"name": "wakeup/cpu1", "max": 9, "spikes": [1, 2, 3]}],
            "events": [{"kind": "steal"}, {"kind": "link"}, {"kind": "steal"}],
        });
        let kept = Certified::result_of(&document);
        assert_eq!(kept["run"], json!({"id": "a"}));
        assert_eq!(kept["series"], json!([{"name": "wakeup/cpu1", "max": 9}]));
        assert_eq!(kept["events"], json!({"link": 1, "steal": 2}));
        assert_eq!(kept["changes"], document["changes"]);
        assert!(kept.get("schema").is_none());
    }

    #[test]
    fn a_kept_text_has_its_hash() {
        // FIPS 180-4, first example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Kept::of("abc").sha256, abc);
    }
}
