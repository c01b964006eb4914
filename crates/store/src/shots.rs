//! Shots of a test set.

use crate::columns::{integer, optional_unsigned, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::{RunFile, rows};
use model::{Cell, CurrentRamp, EdgeShot, Outcome, Shot};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

/// The columns of a shot's cell; columns that do not apply are NULL.
#[derive(Default)]
struct Columns<'a> {
    sir: Option<f64>,
    fault: Option<&'a str>,
    position: Option<f64>,
    multiple: Option<f64>,
    expected_ns: Option<i64>,
    tolerance_ns: Option<i64>,
    /// A ramp as JSON.
    ramp: Option<String>,
    /// A shot of a search as JSON.
    edge: Option<String>,
}

impl<'a> Columns<'a> {
    fn of(cell: &'a Cell) -> Result<Self, Fault> {
        Ok(match cell {
            Cell::Distance { sir, fault, position } => Self {
                sir: Some(*sir),
                fault: Some(fault),
                position: Some(*position),
                ..Self::default()
            },
            Cell::Overcurrent {
                multiple,
                expected_ns,
                tolerance_ns,
            } => Self {
                multiple: Some(*multiple),
                expected_ns: Some(integer(*expected_ns, "an operate time")?),
                tolerance_ns: Some(integer(*tolerance_ns, "a tolerance")?),
                ..Self::default()
            },
            Cell::Ramp(ramp) => Self {
                ramp: serde_json::to_string(ramp).ok(),
                ..Self::default()
            },
            Cell::Edge(edge) => Self {
                edge: serde_json::to_string(edge).ok(),
                ..Self::default()
            },
        })
    }
}

/// Inserts a shot after the existing ones.
pub(crate) fn insert(tx: &Connection, shot: &Shot) -> Result<(), Fault> {
    let cell = shot.cell.as_ref().map(Columns::of).transpose()?.unwrap_or_default();
    tx.prepare_cached(
        "INSERT INTO shot (number, at_ns, name, point_deg, sir, fault, position, multiple, expected_ns, tolerance_ns, outcome, trip_ns,
         uncertain_ns, watched_ns, ramp, reset_ns, edge) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?
    .execute(params![
        integer(shot.number, "the number of a shot")?,
        integer(shot.at_ns, "the instant of a shot")?,
        shot.name,
        shot.point_deg,
        cell.sir,
        cell.fault,
        cell.position,
        cell.multiple,
        cell.expected_ns,
        cell.tolerance_ns,
        shot.outcome.word(),
        shot.trip_ns,
        shot.uncertain_ns.map(|ns| integer(ns, "an uncertainty")).transpose()?,
        shot.watched_ns.map(|ns| integer(ns, "the time of a watch")).transpose()?,
        cell.ramp,
        shot.reset_ns,
        cell.edge,
    ])?;
    Ok(())
}

impl RunFile {
    /// The shots of a test set, in order of time. Empty for files from before this table. Shots from before other injectors have no
    /// uncertainty, and shots from before slices no end of their watch.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn shots(&self) -> Result<Vec<Shot>, StoreError> {
        self.read("read the shots", |db| {
            let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'shot'";
            if db.query_row(there, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Vec::new());
            }
            let uncertain = column_or_null(db, "uncertain_ns")?;
            let watched = column_or_null(db, "watched_ns")?;
            let (ramp, reset) = (column_or_null(db, "ramp")?, column_or_null(db, "reset_ns")?);
            let edge = column_or_null(db, "edge")?;
            let sql = format!(
                "SELECT number, at_ns, name, point_deg, outcome, trip_ns, sir, fault, position, multiple, expected_ns, tolerance_ns,
                        {uncertain}, {watched}, {ramp}, {reset}, {edge} FROM shot ORDER BY at_ns, id"
            );
            rows(db, &sql, [], shot_of)
        })
    }
}

/// The name of a column of shots, or NULL where the file does not have it.
fn column_or_null<'a>(db: &Connection, name: &'a str) -> Result<&'a str, Fault> {
    let has = "SELECT 1 FROM pragma_table_info('shot') WHERE name = ?1";
    let has = db.query_row(has, [name], |_| Ok(())).optional()?.is_some();
    Ok(if has { name } else { "NULL" })
}

fn shot_of(row: &Row<'_>) -> Result<Shot, rusqlite::Error> {
    let word: String = row.get(4)?;
    let unknown = || rusqlite::Error::InvalidColumnType(4, word.clone(), Type::Text);
    Ok(Shot {
        number: unsigned(row, 0)?,
        at_ns: unsigned(row, 1)?,
        name: row.get(2)?,
        point_deg: row.get(3)?,
        outcome: Outcome::from_word(&word).ok_or_else(unknown)?,
        trip_ns: row.get(5)?,
        uncertain_ns: optional_unsigned(row, 12)?,
        watched_ns: optional_unsigned(row, 13)?,
        reset_ns: row.get(15)?,
        cell: cell_of(row)?,
    })
}

/// The cell in a column.
fn from_json<T: DeserializeOwned>(column: usize, text: &str) -> Result<T, rusqlite::Error> {
    let damaged = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    serde_json::from_str(text).map_err(damaged)
}

/// A cell that no test set can have played.
fn impossible(column: usize) -> rusqlite::Error {
    let why = "a ramp or a search that cannot be played".into();
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why)
}

fn cell_of(row: &Row<'_>) -> Result<Option<Cell>, rusqlite::Error> {
    if let (Some(sir), Some(fault), Some(position)) = (row.get(6)?, row.get(7)?, row.get(8)?) {
        return Ok(Some(Cell::Distance { sir, fault, position }));
    }
    if let Some(text) = row.get::<_, Option<String>>(14)? {
        let ramp: CurrentRamp = from_json(14, &text)?;
        return ramp
            .is_possible()
            .then_some(Some(Cell::Ramp(ramp)))
            .ok_or_else(|| impossible(14));
    }
    if let Some(text) = row.get::<_, Option<String>>(16)? {
        let edge: EdgeShot = from_json(16, &text)?;
        return edge
            .is_possible()
            .then_some(Some(Cell::Edge(edge)))
            .ok_or_else(|| impossible(16));
    }
    let curve = (row.get(9)?, optional_unsigned(row, 10)?, optional_unsigned(row, 11)?);
    let (Some(multiple), Some(expected_ns), Some(tolerance_ns)) = curve else {
        return Ok(None);
    };
    Ok(Some(Cell::Overcurrent {
        multiple,
        expected_ns,
        tolerance_ns,
    }))
}

#[cfg(test)]
mod tests {
    use crate::{Batch, RunFile, RunWriter};
    use model::{Cell, Characteristic, CurrentRamp, EdgeShot, Outcome, RampSignal, RunInfo, RunState, Shot};
    use units::Realtime;

    fn shot(number: u64, outcome: Outcome, trip_ns: Option<i64>, cell: Option<Cell>) -> Shot {
        Shot {
            number,
            at_ns: 1_000 * number,
            name: "zone1".to_owned(),
            uncertain_ns: (number == 2).then_some(217_000),
            watched_ns: (number == 1).then_some(600_000_000),
            point_deg: (number != 2).then_some(33.75),
            cell,
            outcome,
            trip_ns,
            reset_ns: (number == 4).then_some(9),
        }
    }

    #[test]
    fn shots_come_back_as_they_were_and_files_without_them_have_none() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = directory.path().join("shots.triptime");
        let info = RunInfo {
            id: "x".to_owned(),
            command: "trip".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(1),
            window_ns: 1_000_000_000,
        };
        let distance = Cell::Distance {
            sir: 0.2,
            fault: "AG".to_owned(),
            position: 105.0,
        };
        let curve = Cell::Overcurrent {
            multiple: 1.05,
            expected_ns: 14_340_155_158,
            tolerance_ns: 40_000_000,
        };
        let ramp = CurrentRamp {
            phases: "BC".to_owned(),
            setting_a: 800.0,
            error_percent: 3.0,
            from_a: 0.1 + 0.2,
            step_a: 4.0,
            step_ns: 100_000_000,
            steps: 60,
            signal: RampSignal::Trip,
        };
        let edge = EdgeShot {
            of: Characteristic::Reach,
            fault: "AB".to_owned(),
            along: 75.0,
            value: 9.1,
            wanted: 9.9,
            error_percent: 4.0,
            resolution: 0.05,
            ends: Some([0.99, 19.8]),
            within_ns: 40_000_000,
            approach_ns: 100_000_000,
        };
        let shots = vec![
            shot(1, Outcome::Early, Some(-5), None),
            shot(2, Outcome::False, Some(7), Some(distance)),
            shot(3, Outcome::NotCounted, None, Some(curve)),
            shot(4, Outcome::Tripped, Some(8), Some(Cell::Ramp(ramp))),
            shot(5, Outcome::Quiet, None, Some(Cell::Edge(edge))),
        ];
        let mut writer = RunWriter::create(&path, &info, None).expect("a file");
        let batch = Batch {
            shots: shots.clone(),
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
        writer.finish(RunState::Complete, 5).expect("closed");
        assert_eq!(RunFile::open(&path).expect("opened").shots().expect("read"), shots);
        let db = rusqlite::Connection::open(&path).expect("a database");
        db.execute_batch("DROP TABLE shot")
            .expect("as an older version made it");
        drop(db);
        assert_eq!(RunFile::open(&path).expect("opened").shots().expect("read"), []);
    }

    /// A ramp of ten million steps, and a search in steps of nothing: a file of somebody else.
    #[test]
    fn a_ramp_or_search_that_nobody_can_have_played_is_damage() {
        let ramp = |steps, step_ns| {
            format!(
                r#"{{"phases":"A","setting_a":800.0,"error_percent":3.0,"from_a":1.0,"step_a":4.0,"step_ns":{step_ns},"steps":{steps},"signal":"trip"}}"#
            )
        };
        let edge = r#"{"of":"reach","fault":"AB","along":75.0,"value":9.1,"wanted":9.9,"error_percent":4.0,"resolution":0.0,"within_ns":1,"approach_ns":1}"#;
        for (column, text) in [
            ("ramp", ramp(10_000_000, 1)),
            ("ramp", ramp(60, u64::MAX)),
            ("ramp", ramp(0, 1)),
            ("edge", edge.to_owned()),
        ] {
            let directory = tempfile::tempdir().expect("tempdir");
            let path = directory.path().join("shots.triptime");
            let info = RunInfo {
                id: "x".to_owned(),
                command: "trip".to_owned(),
                arguments: Vec::new(),
                tool_version: "0".to_owned(),
                started: Realtime::from_ns(1),
                window_ns: 1_000_000_000,
            };
            let mut writer = RunWriter::create(&path, &info, None).expect("a file");
            let shots = vec![shot(1, Outcome::Tripped, Some(8), None)];
            writer
                .write(&Batch {
                    shots,
                    ..Batch::default()
                })
                .expect("written");
            writer.finish(RunState::Complete, 5).expect("closed");
            let db = rusqlite::Connection::open(&path).expect("opened");
            db.execute(&format!("UPDATE shot SET {column} = ?1"), [&text])
                .expect("changed");
            drop(db);
            let read = RunFile::open(&path).and_then(|file| file.shots());
            assert!(read.is_err(), "{text} was read");
        }
    }
}
