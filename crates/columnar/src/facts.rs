//! The columns of a fact of the inventory.

use crate::origin::Origin;
use crate::table::{Column, Value};
use model::Fact;

/// A fact about the machine of a run.
pub(crate) struct Row<'a> {
    /// The run.
    pub(crate) origin: &'a Origin,
    /// The fact.
    pub(crate) fact: Fact,
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    vec![
        Column::new("run", Value::Text(|row| row.origin.run.as_str().into())),
        Column::new("host", Value::Text(|row| row.origin.host.as_str().into())),
        Column::new("command", Value::Text(|row| row.origin.command.as_str().into())),
        Column::new("started_ns", Value::Whole(|row| row.origin.started_ns)),
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
    ]
}
