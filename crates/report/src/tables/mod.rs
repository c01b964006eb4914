//! Results with the figures of well-known publications: wake-up latency, the round trip by network, and a virtual
//! relay. All have one column per system; the bench of Welotec and Red Hat has a row per measurement.
//!
//! - VMware, *ESXi real-time guide*: samples, minimum, average, maximum, overflows over 120 us of each measured CPU.
//! - ABB and University of Torino, *Virtualised protection with containers*, table 2: scheduling jitter, maximum (average) in
//!   us, one row per environment.
//! - Sienda, *Linux real-time kernel performance requirements for AVB devices*: under 10 us excellent, over 50 us
//!   unsuitable.

mod bench;
mod columns;
pub(crate) mod forms;
pub(crate) mod networks;
mod system;
#[cfg(test)]
mod tests;
mod vpc;
mod wakeup;

use crate::Report;
use crate::section::{Fields, Section};
use askama::Template;
pub use model::Layout;
use model::RunView;
use std::io;
pub(crate) use system::IN_IT;
use system::System;
use units::foreign::Show;

/// The run in the layout that its plan names. Networks have a separate section of the page.
pub(crate) struct TablesSection;

impl Section for TablesSection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        let layout = report.table.filter(|layout| *layout != Layout::Networks);
        let tables = layout.map_or_else(Vec::new, |layout| {
            tables(layout, &mut [Run::of(None, report.run.clone())])
        });
        Published { tables }.render()
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let tables = report
            .table
            .map(|layout| Tables::of(layout, vec![(None, report.run.clone())]).tables);
        let entries: Vec<_> = tables.iter().flatten().map(Table::json).collect();
        fields.some("tables", (!entries.is_empty()).then_some(entries))
    }
}

/// Tables as sections of a page.
#[derive(Template)]
#[template(path = "published.html")]
pub(crate) struct Published {
    pub(crate) tables: Vec<Table>,
}

/// Runs in a published layout.
#[derive(Debug, Clone)]
pub struct Tables {
    layout: Layout,
    runs: Vec<Run>,
    tables: Vec<Table>,
}

/// A run and its system.
#[derive(Debug, Clone)]
struct Run {
    system: System,
    view: RunView,
}

/// One table with its cells as text for people.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
}

impl Tables {
    /// Arranges runs in a layout. Each run is shown under its given name; without one, under its label, or under a
    /// description of its system. Runs without the series that the layout shows give an empty table.
    pub fn of(layout: Layout, runs: Vec<(Option<String>, RunView)>) -> Self {
        let shown = runs.into_iter().map(|(name, view)| Run::of(name.shown(), view.shown()));
        let mut runs: Vec<Run> = shown.collect();
        let tables = tables(layout, &mut runs);
        Self { layout, runs, tables }
    }
}

impl Run {
    /// The run, from texts that are safe to show.
    fn of(name: Option<String>, view: RunView) -> Self {
        let system = System::of(name, &view);
        Self { system, view }
    }
}

/// The tables of a layout. Runs get unique names.
fn tables(layout: Layout, runs: &mut [Run]) -> Vec<Table> {
    let by_environment = layout == Layout::Jitter;
    system::distinguish(runs.iter_mut().map(|run| &mut run.system), by_environment);
    match layout {
        Layout::Vm => vec![wakeup::vm(runs)],
        Layout::Jitter => vec![wakeup::jitter(runs)],
        Layout::Avb => vec![wakeup::avb(runs)],
        Layout::Networks => vec![networks::table(runs)],
        Layout::Vpc => vec![vpc::table(runs)],
        Layout::Bench => vec![bench::table(runs)],
    }
}

/// Whole microseconds, truncated like those of cyclictest.
fn us(ns: Option<i64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| (ns / 1_000).to_string())
}
