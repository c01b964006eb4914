//! The run that the rows belong to.

use crate::ColumnarError;
use crate::table::{Column, Value};
use model::RunState;
use model::fact::HOST_NAME;
use parquet::file::metadata::KeyValue;
use store::RunFile;
use units::foreign::Show;

/// Values that are the same in every row of a run. With them, the files of many runs can be read as one table.
pub(crate) struct Origin {
    /// Name of the run.
    pub(crate) run: String,
    /// Host name; empty when the inventory has none.
    pub(crate) host: String,
    /// Subcommand that measured.
    pub(crate) command: String,
    /// Start of the run in ns since 1970 UTC. Instants in the rows count from it.
    pub(crate) started_ns: i64,
    state: &'static str,
    duration_ns: u64,
    version: String,
}

impl Origin {
    pub(crate) fn of(run: &RunFile) -> Result<Self, ColumnarError> {
        let info = run.info();
        let (info, facts) = (info.shown(), run.facts()?.shown());
        Ok(Self {
            run: info.id.clone(),
            host: HOST_NAME.of(&facts).unwrap_or_default(),
            command: info.command.clone(),
            started_ns: info.started.as_ns(),
            state: match run.state() {
                RunState::Complete => "complete",
                RunState::Interrupted => "interrupted",
                RunState::Running => "running",
            },
            duration_ns: run.duration_ns(),
            version: info.tool_version.clone(),
        })
    }

    /// The metadata of a file with this schema.
    pub(crate) fn metadata(&self, schema: &str) -> Vec<KeyValue> {
        let pairs = [
            ("triptime.schema", schema.to_owned()),
            ("triptime.version", self.version.clone()),
            ("triptime.run", self.run.clone()),
            ("triptime.command", self.command.clone()),
            ("triptime.host", self.host.clone()),
            ("triptime.started_ns", self.started_ns.to_string()),
            ("triptime.duration_ns", self.duration_ns.to_string()),
            ("triptime.state", self.state.to_owned()),
        ];
        let pairs = pairs.into_iter();
        pairs.map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect()
    }
}

/// A row of a table about a run.
pub(crate) trait OfRun {
    /// The run.
    fn origin(&self) -> &Origin;
}

/// The columns of a table: those with which every table begins, and `more`.
pub(crate) fn columns<R: OfRun>(more: Vec<Column<R>>) -> Vec<Column<R>> {
    let mut columns = vec![
        Column::new("run", Value::Text(|row: &R| row.origin().run.as_str().into())),
        Column::new("host", Value::Text(|row: &R| row.origin().host.as_str().into())),
        Column::new("command", Value::Text(|row: &R| row.origin().command.as_str().into())),
        Column::new("started_ns", Value::Whole(|row: &R| row.origin().started_ns)),
        Column::new("state", Value::Text(|row: &R| row.origin().state.into())),
    ];
    columns.extend(more);
    columns
}
