//! The runs as one JSON document: docs/formats/status-json.md.

use super::Shown;
use crate::failure::Failure;
use serde_json::{Value, json};
use session::roster::{StartKind, stuck_after_ns};
use units::foreign;

/// The form of the document.
const SCHEMA: &str = "triptime.status/1";

/// The document.
pub(super) fn document(runs: &[Shown]) -> Result<String, Failure> {
    let runs: Vec<Value> = runs.iter().map(run).collect();
    let document = json!({
        "schema": SCHEMA,
        "tool": {"name": "triptime", "version": env!("CARGO_PKG_VERSION")},
        "runs": runs,
    });
    let text = serde_json::to_string_pretty(&document)
        .map_err(|error| Failure::CouldNotMeasure(format!("cannot make the document: {error}")))?;
    Ok(foreign::json(text + "\n"))
}

fn run(run: &Shown) -> Value {
    let entry = &run.entry;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let ago = |at_ns: Option<i64>| at_ns.map(|at_ns| seconds(run.since(at_ns)));
    let is_over = run.standing.is_over();
    json!({
        "name": entry.name,
        "state": run.standing.word(),
        "why": run.standing.why(),
        "command": entry.command,
        "plan": entry.plan,
        "pid": entry.process.pid,
        "uid": run.owner,
        "started_by": way(entry.way),
        "unit": entry.unit,
        "started": time(entry.started_ns),
        "file": entry.file,
        "log": entry.log,
        "doing": (!is_over).then_some(&entry.doing),
        "step": entry.step.map(|step| step.number),
        "steps": entry.step.map(|step| step.of),
        "left_s": run.left_ns().map(seconds),
        "window_s": seconds(entry.window_ns),
        "stuck_after_s": seconds(stuck_after_ns(entry.window_ns)),
        "seen_s_ago": (!is_over).then(|| seconds(run.since(entry.seen_ns))),
        "recorder_s_ago": ago(entry.recorder_seen_ns.filter(|_| !is_over)),
        "window_s_ago": ago(entry.window_seen_ns.filter(|_| !is_over)),
        "series": entry.series,
        "largest": entry.largest.iter().map(|largest| json!({
            "series": largest.series,
            "max_ns": largest.max_ns,
            "limit_ns": largest.limit_ns,
            "over": largest.limit_ns.map(|_| largest.is_over()),
        })).collect::<Vec<_>>(),
        "disk": {
            "file_octets": run.octets,
            "free_octets": run.room.map(|room| room.free),
            "reserve_octets": run.room.map(store::Room::reserve),
            "expected_octets": run.expected(),
            "most_octets": run.entry.at_most.filter(|_| !is_over),
        },
        "end": entry.end.as_ref().map(|end| json!({
            "at": time(end.at_ns),
            "status": end.status,
            "state": if end.complete { "complete" } else { "interrupted" },
            "why": end.why,
        })),
        "answer": run.answer,
    })
}

fn way(way: StartKind) -> &'static str {
    match way {
        StartKind::Foreground => "foreground",
        StartKind::Session => "session",
        StartKind::Unit => "unit",
        StartKind::LastingUnit => "lasting-unit",
    }
}

fn time(ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(ns))
        .unwrap_or_default()
        .to_string()
}
