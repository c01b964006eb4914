//! The common form of all layouts: one column for each system, one row for each figure under its conditions.

use super::{Run, Table};

/// Cell for a figure that a system did not measure.
const NOT_MEASURED: &str = "–";

/// A table that is being filled.
pub(super) struct Columns {
    systems: Vec<String>,
    notes: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    /// Its key: one text for each heading before those of the systems.
    key: Vec<String>,
    /// One cell for each system.
    cells: Vec<String>,
}

impl Columns {
    /// Columns for the systems of these runs, each system once; notes describe named systems.
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut columns = Self {
            systems: Vec::new(),
            notes: Vec::new(),
            rows: Vec::new(),
        };
        for Run { system, .. } in runs {
            if columns.systems.contains(&system.name) {
                continue;
            }
            columns.systems.push(system.name.clone());
            if system.name != system.hardware {
                columns.notes.push(format!("{}: {}", system.name, system.hardware));
            }
        }
        columns
    }

    /// Puts a figure into the row with this key and the column of the run's system. A new row follows the rows that
    /// have the longest common beginning of the key.
    pub(super) fn put(&mut self, run: &Run, key: &[&str], value: String) {
        let Some(column) = self.systems.iter().position(|name| *name == run.system.name) else {
            return;
        };
        let known = self.rows.iter().position(|row| row.key == key);
        let at = known.unwrap_or_else(|| self.add(key));
        self.rows[at].cells[column] = value;
    }

    fn add(&mut self, key: &[&str]) -> usize {
        let shared = |row: &Row| row.key.iter().zip(key).take_while(|(own, new)| own == new).count();
        let most = self.rows.iter().map(shared).max().unwrap_or(0);
        let last = self.rows.iter().rposition(|row| shared(row) == most);
        let at = match most {
            0 => self.rows.len(),
            _ => last.map_or(self.rows.len(), |last| last + 1),
        };
        let row = Row {
            key: key.iter().map(|&part| part.to_owned()).collect(),
            cells: vec![NOT_MEASURED.to_owned(); self.systems.len()],
        };
        self.rows.insert(at, row);
        at
    }

    /// The finished table; `heads` are the headings of the keys, `notes` follow the descriptions of the systems.
    pub(super) fn table<const N: usize>(self, title: &str, heads: [&str; N], notes: Vec<String>) -> Table {
        Table {
            title: title.to_owned(),
            heads: heads.map(str::to_owned).into_iter().chain(self.systems).collect(),
            rows: self
                .rows
                .into_iter()
                .map(|row| row.key.into_iter().chain(row.cells).collect())
                .collect(),
            notes: self.notes.into_iter().chain(notes).collect(),
        }
    }

    /// Adds each system's environment above its figures, for a layout whose rows do not distinguish environments.
    pub(super) fn with_environments<const N: usize>(mut self, runs: &[Run]) -> Self {
        if self.rows.is_empty() {
            return self;
        }
        let mut key = vec![String::new(); N];
        key[0] = "Environment".to_owned();
        let of_system = |name: &String| {
            let run = runs.iter().find(|run| run.system.name == *name);
            run.map_or_else(|| NOT_MEASURED.to_owned(), |run| run.system.measured_in())
        };
        let cells = self.systems.iter().map(of_system).collect();
        self.rows.insert(0, Row { key, cells });
        self
    }
}
