//! The compared runs, which are also in the head of the page.

use super::Comparison;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use crate::text::rfc3339;
use serde_json::{Value, json};
use std::io;
use units::format_ns;

/// The section of a comparison.
pub(super) struct RunsSection;

impl Section<Comparison> for RunsSection {
    fn text(&self, comparison: &Comparison, _paint: &Paint) -> String {
        let line = |(name, run): &(String, model::RunView)| {
            let length = format_ns(run.duration_ns as f64);
            format!("{name}: {}, {length}, {}\n", run.info.command, run.file.display())
        };
        comparison.runs.iter().map(line).collect()
    }

    fn json(&self, comparison: &Comparison, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("runs", comparison.runs.iter().map(entry).collect::<Vec<_>>())?;
        fields.field("confidence", crate::bound::CONFIDENCE)
    }
}

fn entry((name, run): &(String, model::RunView)) -> Value {
    json!({
        "name": name,
        "id": run.info.id,
        "command": run.info.command,
        "file": run.file.display().to_string(),
        "started": rfc3339(run.info.started),
        "duration_s": run.duration_ns as f64 / 1e9,
    })
}
