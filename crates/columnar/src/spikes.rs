//! The columns of a spike.

use crate::origin::{self, OfRun, Origin};
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

impl OfRun for Row<'_> {
    fn origin(&self) -> &Origin {
        self.origin
    }
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let more: Vec<Column<Row<'a>>> = vec![
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
    ];
    origin::columns(more)
}
