//! The columns of a change of the machine during a run.

use crate::origin::{self, OfRun, Origin};
use crate::table::{Column, Value};
use model::Change;

/// A change during a run.
pub(crate) struct Row<'a> {
    /// The run.
    pub(crate) origin: &'a Origin,
    /// The change.
    pub(crate) change: Change,
}

impl OfRun for Row<'_> {
    fn origin(&self) -> &Origin {
        self.origin
    }
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let more: Vec<Column<Row<'a>>> = vec![
        Column::new("since_ns", Value::Count(|row| row.change.since_ns)),
        Column::new("at_ns", Value::Count(|row| row.change.at_ns)),
        Column::new("subject", Value::Text(|row| row.change.subject.word().into())),
        Column::new("name", Value::Text(|row| row.change.name.as_str().into())),
        Column::new(
            "before",
            Value::MaybeText(|row| Some(row.change.before.as_deref()?.into())),
        ),
        Column::new(
            "after",
            Value::MaybeText(|row| Some(row.change.after.as_deref()?.into())),
        ),
        Column::new("who", Value::MaybeText(|row| Some(row.change.who.as_deref()?.into()))),
    ];
    origin::columns(more)
}
