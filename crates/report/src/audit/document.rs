//! An audit as JSON: `triptime.audit/1`. Described in `docs/formats/audit.md`.

use super::AuditReport;
use super::row::Row;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    answer: &'static str,
    machine: &'a str,
    environment: Map<String, Value>,
    cpus: &'a str,
    profile: Option<&'a str>,
    fails_from: &'static str,
    findings: Vec<Finding<'a>>,
    cpu_map: Vec<super::map::CpuRow>,
}

#[derive(Serialize)]
struct Finding<'a> {
    id: &'a str,
    group: &'a str,
    title: &'a str,
    outcome: &'static str,
    severity: &'static str,
    wanted: &'a str,
    booted: Option<&'a str>,
    live: &'a str,
    reason: &'a str,
    why: &'a str,
    worth: &'a str,
    how: &'a str,
    change: &'static str,
    risk: &'a str,
    causes: &'a [String],
    sources: &'a [String],
    traps: &'a [String],
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    outcome: &'static str,
    live: &'a str,
}

impl AuditReport {
    /// As one JSON document, with a line end behind it.
    pub fn json(&self) -> String {
        let environment = self.environment.iter().map(|(name, value)| {
            let value = match value {
                Ok(value) => Value::from(value.as_str()),
                Err(reason) => serde_json::json!({ "unknown": reason }),
            };
            (name.clone(), value)
        });
        let document = Document {
            schema: "triptime.audit/1",
            answer: self.word(),
            machine: &self.machine,
            environment: environment.collect(),
            cpus: &self.cpus,
            profile: self.profile.as_deref(),
            fails_from: self.fails_from.word(),
            findings: self.rows.iter().map(finding).collect(),
            cpu_map: self.map.clone(),
        };
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

fn finding(row: &Row) -> Finding<'_> {
    Finding {
        id: &row.id,
        group: row.group,
        title: &row.title,
        outcome: row.outcome.word(),
        severity: row.severity.word(),
        wanted: &row.wanted,
        booted: row.booted.as_deref(),
        live: &row.live,
        reason: &row.reason,
        why: &row.why,
        worth: &row.worth,
        how: &row.how,
        change: row.change,
        risk: &row.risk,
        causes: &row.causes,
        sources: &row.sources,
        traps: &row.traps,
        parts: row
            .parts
            .iter()
            .map(|(name, outcome, live)| Part {
                name,
                outcome: outcome.word(),
                live,
            })
            .collect(),
    }
}
