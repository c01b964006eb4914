//! The result document: one JSON format for every measuring command (`triptime.result/1`, see
//! `docs/formats/result-json.md`).

use super::DOCUMENT;
use crate::Report;
use crate::document::{SCHEMA, seconds};
use crate::section::{self, write_document};
use crate::text::rfc3339;
use model::RunState;
use serde::Serialize;
use std::io;

#[derive(Debug, Clone, Serialize)]
struct Tool {
    name: &'static str,
    version: String,
}

#[derive(Debug, Clone, Serialize)]
struct Run {
    id: String,
    command: String,
    file: String,
    started: String,
    duration_s: f64,
    state: &'static str,
    arguments: Vec<String>,
    window_s: f64,
}

/// Writes the document of a report; quantities are in ns unless their name says otherwise.
pub(crate) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    write_document(out, |fields| {
        fields.field("schema", SCHEMA)?;
        fields.field("tool", tool(report))?;
        fields.field("run", run_entry(report))?;
        fields.field("verdict", report.verdict().word())?;
        section::json(&DOCUMENT, report, fields)
    })
}

fn tool(report: &Report) -> Tool {
    Tool {
        name: "triptime",
        version: report.run.info.tool_version.clone(),
    }
}

fn run_entry(report: &Report) -> Run {
    let run = &report.run;
    Run {
        id: run.info.id.clone(),
        command: run.info.command.clone(),
        file: run.file.display().to_string(),
        started: rfc3339(run.info.started),
        duration_s: seconds(run.duration_ns),
        state: match run.state {
            RunState::Complete => "complete",
            RunState::Interrupted => "interrupted",
            RunState::Running => "running",
        },
        arguments: run.info.arguments.clone(),
        window_s: seconds(run.info.window_ns),
    }
}
