//! The columns of a spike.

use crate::origin::Origin;
use crate::table::{Column, Value};
use model::{Explanation, Spike};

/// A spike of a series of a run.
pub(crate) struct Row<'a> {
    /// The run.
    pub(crate) origin: &'a Origin,
    /// Name of the series.
    pub(crate) series: &'a str,
    /// The spike.
    pub(crate) spike: Spike,
}

impl Row<'_> {
    fn why(&self) -> Option<&Explanation> {
        self.spike.explanation.as_ref()
    }
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    vec![
        Column::new("run", Value::Text(|row| row.origin.run.as_str().into())),
        Column::new("host", Value::Text(|row| row.origin.host.as_str().into())),
        Column::new("command", Value::Text(|row| row.origin.command.as_str().into())),
        Column::new("started_ns", Value::Whole(|row| row.origin.started_ns)),
        Column::new("series", Value::Text(|row| row.series.into())),
        Column::new("at_ns", Value::Count(|row| row.spike.at_ns)),
        Column::new("value_ns", Value::Whole(|row| row.spike.value_ns)),
        Column::new("cpu", Value::MaybeCount(|row| row.spike.cpu.map(u64::from))),
        Column::new("sequence", Value::MaybeCount(|row| row.spike.sequence)),
        Column::new("cause", Value::MaybeText(|row| Some(row.why()?.cause.word().into()))),
        Column::new(
            "cause_text",
            Value::MaybeText(|row| Some(row.why()?.text.as_str().into())),
        ),
        Column::new(
            "unexplained_ns",
            Value::MaybeCount(|row| Some(row.why()?.unexplained_ns)),
        ),
    ]
}
