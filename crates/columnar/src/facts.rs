//! The columns of a fact of the inventory.

use crate::origin::{self, OfRun, Origin};
use crate::table::{Column, Value};
use model::Fact;

/// A fact about the machine of a run.
pub(crate) struct Row<'a> {
    /// The run.
    pub(crate) origin: &'a Origin,
    /// The fact.
    pub(crate) fact: Fact,
}

impl OfRun for Row<'_> {
    fn origin(&self) -> &Origin {
        self.origin
    }
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let more: Vec<Column<Row<'a>>> = vec![
        Column::new("topic", Value::Text(|row| row.fact.group.as_str().into())),
        Column::new("name", Value::Text(|row| row.fact.name.as_str().into())),
        Column::new(
            "value",
            Value::MaybeText(|row| Some(row.fact.value.as_ref().ok()?.as_str().into())),
        ),
        Column::new(
            "unknown",
            Value::MaybeText(|row| Some(row.fact.value.as_ref().err()?.as_str().into())),
        ),
    ];
    origin::columns(more)
}
