//! The columns of a window.

use crate::counted::Counted;
use crate::origin::{self, OfRun, Origin};
use crate::table::{Column, Value};
use model::{Counter, WindowRow};

/// A window of a series of a run.
pub(crate) struct Row<'a> {
    /// The run.
    pub(crate) origin: &'a Origin,
    /// The series.
    pub(crate) counted: &'a Counted<'a>,
    /// The window.
    pub(crate) window: WindowRow,
}

impl OfRun for Row<'_> {
    fn origin(&self) -> &Origin {
        self.origin
    }
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let mut columns: Vec<Column<Row<'a>>> = vec![
        Column::new("series", Value::Text(|row| row.counted.series.into())),
        Column::new("start_ns", Value::Count(|row| row.window.start_ns)),
        Column::new("end_ns", Value::Count(|row| row.window.end_ns)),
    ];
    columns.extend(Counter::ALL.map(counter));
    let figures: Vec<Column<Row<'a>>> = vec![
        Column::new("mean_ns", Value::MaybeReal(|row| row.window.mean_ns)),
        Column::new("min_ns", Value::MaybeWhole(|row| row.window.min_ns)),
        Column::new("max_ns", Value::MaybeWhole(|row| row.window.max_ns)),
        Column::new("p50_ns", Value::MaybeCount(|row| row.window.p50_ns)),
        Column::new("p99_ns", Value::MaybeCount(|row| row.window.p99_ns)),
        Column::new("p999_ns", Value::MaybeCount(|row| row.window.p999_ns)),
    ];
    columns.extend(figures);
    origin::columns(columns)
}

fn counter<'a>(counter: Counter) -> Column<Row<'a>> {
    Column::new(
        counter.name(),
        Value::Counter(
            |row: &Row<'a>, counter| row.counted.value(&row.window.counters, counter),
            counter,
        ),
    )
}
