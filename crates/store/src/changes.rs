//! Changes of the machine during a run, the watches that saw them, and the facts that were different at the end.

use crate::columns::{integer, optional_unsigned, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::{RunFile, fact_of, rows};
use model::{Change, ChangeWatch, Fact, Subject};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use units::CpuList;

/// Number of the row of this machine's own watch.
const OWN_WATCH: i64 = 0;

/// Inserts a change after the existing ones.
pub(crate) fn insert(tx: &Connection, change: &Change) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO change (since_ns, at_ns, subject, name, before, after, who, cpus, place)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        integer(change.since_ns, "the earliest instant of a change")?,
        integer(change.at_ns, "the instant of a change")?,
        change.subject.word(),
        change.name,
        change.before,
        change.after,
        change.who,
        change.cpus.as_ref().map(CpuList::to_string),
        change.place,
    ])?;
    Ok(())
}

/// Stores a watch: that of this machine replaces its earlier state, that of a place is a row of its own.
pub(crate) fn insert_watch(tx: &Connection, watch: &ChangeWatch) -> Result<(), Fault> {
    let id = watch.place.is_none().then_some(OWN_WATCH);
    tx.prepare_cached(
        "INSERT OR REPLACE INTO change_watch
           (id, place, from_ns, to_ns, looks, longest_ns, cpu_ns, dropped, unread, audited_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        id,
        watch.place,
        integer(watch.from_ns, "the start of a watch")?,
        integer(watch.to_ns, "the end of a watch")?,
        integer(watch.looks, "a number of looks")?,
        integer(watch.longest_ns, "the time between two looks")?,
        integer(watch.cpu_ns, "the CPU time of a watch")?,
        integer(watch.dropped, "a number of changes")?,
        watch.unread.join("\n"),
        watch
            .audited_ns
            .map(|at_ns| integer(at_ns, "the instant of an audit"))
            .transpose()?,
    ])?;
    Ok(())
}

/// Stores facts that were different when they were read again.
pub(crate) fn insert_last_facts(tx: &Connection, facts: &[Fact]) -> Result<(), Fault> {
    let mut statement =
        tx.prepare_cached("INSERT INTO last_fact (topic, name, value, unknown, source) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for fact in facts {
        let (value, unknown) = (fact.value.as_ref().ok(), fact.value.as_ref().err());
        statement.execute(params![fact.group, fact.name, value, unknown, fact.source])?;
    }
    Ok(())
}

impl RunFile {
    /// Changes of the machine during the run, in order of time. Empty for files from before this table, which have no watch either.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn changes(&self) -> Result<Vec<Change>, StoreError> {
        let sql =
            "SELECT since_ns, at_ns, subject, name, before, after, who, cpus, place FROM change ORDER BY at_ns, id";
        self.read("read the changes", |db| of_table(db, "change", sql, change_of))
    }

    /// The watches for changes; empty if nothing was watched.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn watches(&self) -> Result<Vec<ChangeWatch>, StoreError> {
        let sql = "SELECT place, from_ns, to_ns, looks, longest_ns, cpu_ns, dropped, unread, audited_ns FROM change_watch ORDER BY id";
        self.read("read the watches", |db| of_table(db, "change_watch", sql, watch_of))
    }

    /// Facts that were different when they were read again at the end of the run.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn last_facts(&self) -> Result<Vec<Fact>, StoreError> {
        let sql = "SELECT topic, name, value, unknown, source FROM last_fact ORDER BY position";
        self.read("read the last facts", |db| of_table(db, "last_fact", sql, fact_of))
    }
}

/// Rows of a table that older files do not have.
fn of_table<T>(
    db: &Connection,
    table: &str,
    sql: &str,
    row: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> Result<Vec<T>, Fault> {
    let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    match db.query_row(there, [table], |_| Ok(())).optional()? {
        Some(()) => rows(db, sql, [], row),
        None => Ok(Vec::new()),
    }
}

fn change_of(row: &Row<'_>) -> Result<Change, rusqlite::Error> {
    let word: String = row.get(2)?;
    let wrong = |column: usize, text: &str| rusqlite::Error::InvalidColumnType(column, text.to_owned(), Type::Text);
    let cpus: Option<String> = row.get(7)?;
    let cpus: Option<Result<CpuList, _>> = cpus.map(|text| text.parse().map_err(|_| wrong(7, &text)));
    Ok(Change {
        since_ns: unsigned(row, 0)?,
        at_ns: unsigned(row, 1)?,
        subject: Subject::from_word(&word).ok_or_else(|| wrong(2, &word))?,
        name: row.get(3)?,
        before: row.get(4)?,
        after: row.get(5)?,
        who: row.get(6)?,
        cpus: cpus.transpose()?,
        place: row.get(8)?,
    })
}

fn watch_of(row: &Row<'_>) -> Result<ChangeWatch, rusqlite::Error> {
    let unread: String = row.get(7)?;
    Ok(ChangeWatch {
        place: row.get(0)?,
        from_ns: unsigned(row, 1)?,
        to_ns: unsigned(row, 2)?,
        looks: unsigned(row, 3)?,
        longest_ns: unsigned(row, 4)?,
        cpu_ns: unsigned(row, 5)?,
        dropped: unsigned(row, 6)?,
        unread: unread.lines().map(str::to_owned).collect(),
        audited_ns: optional_unsigned(row, 8)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Batch, RunFile, RunWriter};
    use model::{Change, ChangeWatch, Fact, RunInfo, RunState, Subject};
    use units::Realtime;

    fn change() -> Change {
        Change {
            since_ns: 10,
            at_ns: 20,
            subject: Subject::Interrupt,
            name: "24 (eth1-rx-0)".to_owned(),
            before: Some("CPU 0".to_owned()),
            after: None,
            who: Some("guest relay-02 started in the same second".to_owned()),
            cpus: Some("0,12".parse().expect("CPUs")),
            place: Some("guest".to_owned()),
        }
    }

    #[test]
    fn changes_come_back_as_they_were_and_older_files_were_not_watched() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = directory.path().join("changes.triptime");
        let info = RunInfo {
            id: "x".to_owned(),
            command: "wakeup".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(1),
            window_ns: 1_000_000_000,
        };
        let plain = Change {
            who: None,
            cpus: None,
            place: None,
            ..change()
        };
        let watch = |looks, place: Option<&str>| ChangeWatch {
            place: place.map(str::to_owned),
            to_ns: looks,
            looks,
            unread: vec!["idle: denied".to_owned(), "module: absent".to_owned()],
            ..ChangeWatch::default()
        };
        let last = Fact {
            group: "clock".to_owned(),
            name: "clock source".to_owned(),
            value: Err("gone".to_owned()),
            source: "/sys".to_owned(),
        };
        let mut writer = RunWriter::create(&path, &info, None).expect("a file");
        for looks in [1, 2] {
            let batch = Batch {
                watches: vec![watch(looks, None), watch(looks, Some("guest"))],
                ..Batch::default()
            };
            writer.write(&batch).expect("written");
        }
        let batch = Batch {
            changes: vec![change(), plain.clone()],
            last_facts: vec![last.clone()],
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
        writer.finish(RunState::Complete, 5).expect("closed");
        let run = RunFile::open(&path).expect("opened");
        assert_eq!(run.changes().expect("read"), [change(), plain]);
        assert_eq!(run.last_facts().expect("read"), [last]);
        let watches = run.watches().expect("read");
        assert_eq!(
            watches,
            [watch(2, None), watch(1, Some("guest")), watch(2, Some("guest"))]
        );
        let db = rusqlite::Connection::open(&path).expect("a database");
        db.execute_batch("DROP TABLE change; DROP TABLE change_watch; DROP TABLE last_fact")
            .expect("as an older version made it");
        drop(db);
        let view = RunFile::open(&path).expect("opened").view().expect("read");
        assert!(view.changes.is_empty() && view.watches.is_empty() && view.last_facts.is_empty());
    }
}
