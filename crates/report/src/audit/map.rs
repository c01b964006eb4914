//! A table of the CPUs: role, methods that keep each free, interrupts, ticks, threads on it, and conflicts.

use super::AuditReport;
use crate::section::{Fields, Section};
use crate::terminal::{Align, Paint, TextTable};
use askama::Template;
use audit::Audit;
use serde::Serialize;
use std::io;
use units::foreign::shown;

/// One CPU.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CpuRow {
    pub(super) cpu: u32,
    pub(super) role: &'static str,
    pub(super) kept_free_by: Vec<&'static str>,
    pub(super) interrupts_per_s: Option<f64>,
    pub(super) ticks_per_s: Option<f64>,
    pub(super) owners: Vec<String>,
    pub(super) residents: Vec<String>,
    pub(super) conflicts: Vec<String>,
}

pub(super) fn lines(audit: &Audit) -> Vec<CpuRow> {
    let safe = |texts: &[String]| texts.iter().map(|text| shown(text).into_owned()).collect();
    let rounded = |rate: Option<f64>| rate.map(|rate| (rate * 10.0).round() / 10.0);
    let line = |row: &audit::map::CpuRow| CpuRow {
        cpu: row.cpu,
        role: row.role.word(),
        kept_free_by: row.kept_free_by.clone(),
        interrupts_per_s: rounded(row.interrupts_per_s),
        ticks_per_s: rounded(row.ticks_per_s),
        owners: safe(&row.owners),
        residents: safe(&row.residents),
        conflicts: safe(&row.conflicts),
    };
    audit.cpus.iter().map(line).collect()
}

impl CpuRow {
    /// The row as cells: CPU, role, kept free by, interrupts/s, ticks/s, threads on it, conflicts.
    pub(super) fn cells(&self) -> [String; 7] {
        let rate = |rate: Option<f64>| rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate:.1}"));
        let mut on_it: Vec<&str> = self.owners.iter().chain(&self.residents).map(String::as_str).collect();
        on_it.dedup();
        [
            self.cpu.to_string(),
            self.role.to_owned(),
            or_dash(&self.kept_free_by.join(", ")),
            rate(self.interrupts_per_s),
            rate(self.ticks_per_s),
            or_dash(&on_it.join("; ")),
            or_dash(&self.conflicts.join("; ")),
        ]
    }
}

/// Headings of the columns.
pub(super) const HEADS: [(&str, Align); 7] = [
    ("CPU", Align::Right),
    ("Role", Align::Left),
    ("Kept free by", Align::Left),
    ("Interrupts/s", Align::Right),
    ("Ticks/s", Align::Right),
    ("On it", Align::Left),
    ("Conflicts", Align::Left),
];

fn or_dash(text: &str) -> String {
    if text.is_empty() {
        "–".to_owned()
    } else {
        text.to_owned()
    }
}

/// The section with the CPU table.
pub(super) struct CpuMapSection;

impl Section<AuditReport> for CpuMapSection {
    fn text(&self, report: &AuditReport, paint: &Paint) -> String {
        let mut table = TextTable::new(&HEADS);
        for line in &report.map {
            table.row(line.cells().to_vec());
        }
        let text = match report.map.is_empty() {
            true => "  the online CPUs are not known\n".to_owned(),
            false => table.text(),
        };
        format!("{}\n{text}", paint.heading("CPUs"))
    }

    fn html(&self, report: &AuditReport) -> askama::Result<String> {
        Html {
            heads: HEADS.iter().map(|(head, _)| *head).collect(),
            map: report.map.iter().map(CpuRow::cells).collect(),
        }
        .render()
    }

    fn json(&self, report: &AuditReport, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("cpu_map", &report.map)
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section>
  <h2>CPUs</h2>
  <div class="scroll"><table class="figures"><thead><tr>{% for head in heads %}<th>{{ head }}</th>{% endfor %}</tr></thead>
  <tbody>{% for row in map %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody></table></div>
</section>"##
)]
struct Html {
    heads: Vec<&'static str>,
    map: Vec<[String; 7]>,
}
