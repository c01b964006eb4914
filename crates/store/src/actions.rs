//! Actions of a plan.

use crate::columns::{integer, optional_unsigned, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::{RunFile, rows};
use model::{Action, ActionEnd, ActionPart};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Inserts an execution after the existing ones.
pub(crate) fn insert(tx: &Connection, action: &Action) -> Result<(), Fault> {
    let optional = |ns: Option<u64>, what: &str| ns.map(|ns| integer(ns, what)).transpose();
    tx.prepare_cached(
        "INSERT INTO action (name, step, step_ns, number, part, line, due_ns, began_ns, ended_ns, ending, status, said, settle_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        action.name,
        integer(action.step, "the number of a step")?,
        integer(action.step_ns, "the begin of a step")?,
        integer(action.number, "the number of an execution")?,
        action.part.word(),
        action.line,
        optional(action.due_ns, "the due instant of an action")?,
        optional(action.began_ns, "the begin of an action")?,
        optional(action.ended_ns, "the end of an action")?,
        action.end.word(),
        action.end.status(),
        action.said,
        integer(action.settle_ns, "the time after an action")?,
    ])?;
    Ok(())
}

impl RunFile {
    /// The executions of a plan's actions and of their undos, in order of time. Empty for files from before this table.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn actions(&self) -> Result<Vec<Action>, StoreError> {
        self.read("read the actions", |db| {
            let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'action'";
            if db.query_row(there, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Vec::new());
            }
            let sql = "SELECT name, step, step_ns, number, part, line, due_ns, began_ns, ended_ns, ending, status, said, settle_ns
                       FROM action ORDER BY coalesce(began_ns, due_ns, step_ns), id";
            rows(db, sql, [], action_of)
        })
    }
}

fn action_of(row: &Row<'_>) -> Result<Action, rusqlite::Error> {
    let text = |column: usize| row.get::<_, String>(column);
    let unknown = |column: usize, word: &str| rusqlite::Error::InvalidColumnType(column, word.to_owned(), Type::Text);
    let (part, ending) = (text(4)?, text(9)?);
    Ok(Action {
        name: text(0)?,
        step: unsigned(row, 1)?,
        step_ns: unsigned(row, 2)?,
        number: unsigned(row, 3)?,
        part: ActionPart::from_word(&part).ok_or_else(|| unknown(4, &part))?,
        line: text(5)?,
        due_ns: optional_unsigned(row, 6)?,
        began_ns: optional_unsigned(row, 7)?,
        ended_ns: optional_unsigned(row, 8)?,
        end: ActionEnd::from_word(&ending, row.get(10)?).ok_or_else(|| unknown(9, &ending))?,
        said: text(11)?,
        settle_ns: unsigned(row, 12)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Batch, RunFile, RunWriter};
    use model::{Action, ActionEnd, ActionPart, RunInfo, RunState};
    use units::Realtime;

    #[test]
    fn actions_come_back_as_they_were_and_files_without_them_have_none() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = directory.path().join("actions.triptime");
        let info = RunInfo {
            id: "x".to_owned(),
            command: "qualify".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(1),
            window_ns: 1_000_000_000,
        };
        let run = Action {
            name: "start a guest".to_owned(),
            step: 2,
            step_ns: 10,
            number: 1,
            part: ActionPart::Run,
            line: "virsh start relay-02".to_owned(),
            due_ns: Some(20),
            began_ns: Some(21),
            ended_ns: Some(35),
            settle_ns: 7,
            end: ActionEnd::Exited(3),
            said: "error: no such domain".to_owned(),
        };
        let undo = Action {
            part: ActionPart::Undo,
            due_ns: None,
            began_ns: Some(40),
            ended_ns: None,
            end: ActionEnd::Unknown,
            ..run.clone()
        };
        let skipped = Action {
            number: 2,
            due_ns: Some(30),
            began_ns: None,
            ended_ns: None,
            end: ActionEnd::Skipped,
            ..run.clone()
        };
        let mut writer = RunWriter::create(&path, &info, None).expect("a file");
        let batch = Batch {
            actions: vec![undo.clone(), run.clone(), skipped.clone()],
            ..Batch::default()
        };
        assert!(!batch.is_empty());
        writer.write(&batch).expect("written");
        writer.finish(RunState::Complete, 50).expect("closed");
        let read = RunFile::open(&path).expect("opened").actions().expect("read");
        assert_eq!(read, [run, skipped, undo], "in order of time");
        let db = rusqlite::Connection::open(&path).expect("a database");
        db.execute_batch("DROP TABLE action")
            .expect("as an older version made it");
        drop(db);
        assert_eq!(RunFile::open(&path).expect("opened").actions().expect("read"), []);
    }
}
