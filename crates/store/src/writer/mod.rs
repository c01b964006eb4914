//! Writing a run while it is measured.

mod create;
mod finish;
mod insert;

use crate::columns::{clock_word, integer};
use crate::error::{Fault, StoreError};
use crate::merge::Spans;
use crate::place::FilePlace;
use crate::reader::LONGEST_DOCUMENT;
use crate::spikes::SpikeKeeper;
use model::{
    CauseTotal, Event, Fact, Flight, Reading, RunInfo, RunState, SeriesId, SeriesSpec, Shot, Spike, Window, setting,
};
use rusqlite::{Connection, Transaction, params};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::FreeNames;

/// Bytes of the file that histograms may take when nothing else is asked for: 32 MiB, about two hours of 20 series in
/// windows of 20 s at full resolution in time, and every length of run beyond at a coarser one.
pub const DEFAULT_FILE_BUDGET: u64 = 32 << 20;

/// Data that one transaction writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Closed windows.
    pub windows: Vec<Window>,
    /// Samples worth looking at.
    pub spikes: Vec<Spike>,
    /// Events beside the measurement.
    pub events: Vec<Event>,
    /// The shots of a test set.
    pub shots: Vec<Shot>,
    /// Closed windows of what is read in other units than ns.
    pub readings: Vec<Reading>,
    /// Causes of samples, to be added to what is known of their series.
    pub causes: Vec<(SeriesId, CauseTotal)>,
    /// The kernel's events around spikes of this batch; those whose spike is not kept are dropped with it.
    pub flights: Vec<Flight>,
}

impl Batch {
    /// True if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
            && self.spikes.is_empty()
            && self.events.is_empty()
            && self.shots.is_empty()
            && self.readings.is_empty()
            && self.causes.is_empty()
            && self.flights.is_empty()
    }
}

/// The memory of the writer between transactions. Replaced as a whole when one is committed, so a refused batch leaves no
/// trace.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    spikes: Vec<SpikeKeeper>,
    spans: Spans,
}

/// The one writer of a run file.
///
/// Everything is durable when the call that wrote it returns: a killed process or a power cut loses at most what was not yet
/// handed in. Dropped without [`RunWriter::finish`], the run is left as an interrupted one.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    place: Arc<FilePlace>,
    db: Connection,
    kept: Kept,
    names: FreeNames,
}

impl RunWriter {
    /// Makes the run file, and its directory where there is none. `file_budget` is the number of bytes that histograms may
    /// take in the file before older ones are merged ([`DEFAULT_FILE_BUDGET`] if `None`); counters, extremes and quantiles of every
    /// window are kept beyond it.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is a file; [`StoreError::DiskFull`] or [`StoreError::Io`] when there can be none.
    pub fn create(path: &Path, info: &RunInfo, file_budget: Option<u64>) -> Result<Self, StoreError> {
        let db = create::create(path, info)?;
        let place = FilePlace::of(path).map_err(|error| StoreError::from_io(path, "look at the run file", error))?;
        let spans = Spans::new(file_budget.unwrap_or(DEFAULT_FILE_BUDGET));
        Ok(Self {
            path: path.to_owned(),
            place: Arc::new(place),
            db,
            kept: Kept {
                spikes: Vec::new(),
                spans,
            },
            names: FreeNames::default(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file is while it is written, and afterwards.
    pub fn place(&self) -> Arc<FilePlace> {
        Arc::clone(&self.place)
    }

    /// Adds a series; samples of it may follow. Series are numbered from 0 in the order they are added.
    ///
    /// The name that a device on the bus gives itself must not end a run: of a name that is taken, the series gets the first free one
    /// ([`FreeNames`]) and keeps the other as its setting [`setting::ANOTHER_IS`]. [`RunWriter::name_for`] says before which it will be.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_series(&mut self, spec: &SeriesSpec) -> Result<SeriesId, StoreError> {
        let id = u32::try_from(self.kept.spikes.len()).unwrap_or(u32::MAX);
        let name = self.name_for(&spec.name);
        self.transaction("add a series", |tx, _| insert_series(tx, id, &name, spec))?;
        self.names.take(&spec.name);
        self.kept.spikes.push(SpikeKeeper::new(spec.threshold_ns));
        self.kept.spans.add_series();
        Ok(SeriesId(id))
    }

    /// The name under which the next series is stored if it is added as `wanted`.
    pub fn name_for(&self, wanted: &str) -> String {
        self.names.free(wanted)
    }

    /// Adds a setting to a series, for what is known of it only at the end.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_setting(&mut self, series: SeriesId, name: &str, value: &str) -> Result<(), StoreError> {
        self.transaction("add a setting", |tx, _| {
            let next = "SELECT COALESCE(MAX(position) + 1, 0) FROM setting WHERE series = ?1";
            let position: i64 = tx.query_row(next, [series.0], |row| row.get(0))?;
            tx.execute(
                "INSERT INTO setting (series, position, name, value) VALUES (?1, ?2, ?3, ?4)",
                params![series.0, position, name, value],
            )?;
            Ok(())
        })
    }

    /// Adds facts of the inventory, after those that are there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_facts(&mut self, facts: &[Fact]) -> Result<(), StoreError> {
        self.transaction("add facts", |tx, _| {
            let mut statement = tx
                .prepare_cached("INSERT INTO fact (topic, name, value, unknown, source) VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for fact in facts {
                let (value, unknown) = (fact.value.as_ref().ok(), fact.value.as_ref().err());
                statement.execute(params![fact.group, fact.name, value, unknown, fact.source])?;
            }
            Ok(())
        })
    }

    /// Keeps a text in the run under a name, such as the `plan` or the `limits` that applied. Replaces one of that name.
    ///
    /// # Errors
    /// When the file cannot be written; [`StoreError::Refused`] for a text that no reader takes for one.
    pub fn put_document(&mut self, name: &str, text: &str) -> Result<(), StoreError> {
        if text.len() > LONGEST_DOCUMENT {
            let what = format!(
                "the document \"{name}\" of {} octets: at most {LONGEST_DOCUMENT}",
                text.len()
            );
            return Err(StoreError::Refused {
                path: self.path.clone(),
                what,
            });
        }
        self.transaction("keep a document", |tx, _| {
            tx.execute(
                "INSERT OR REPLACE INTO document (name, text) VALUES (?1, ?2)",
                params![name, text],
            )?;
            tx.execute("UPDATE run SET documents = (SELECT count(*) FROM document)", [])?;
            Ok(())
        })
    }

    /// Writes a batch in one transaction, durable when this returns: all of it, or with an error none of it. One with windows is moved
    /// from the log into the file, so that a copy of the file alone lacks as little as can be.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] when there is no room; [`StoreError::Refused`] when a series is not known, a window is there
    /// already, or a sum or count is beyond 2^63.
    pub fn write(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.transaction("write a window", |tx, kept| insert::batch(tx, kept, batch))?;
        if !batch.windows.is_empty() {
            finish::fold_log(&self.db);
        }
        Ok(())
    }

    /// Closes the run: keeps the worst spikes, notes how and after how long it ended, and leaves one single file. While
    /// somebody reads the file, its write-ahead log may stay beside it.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] when the end could not be noted. The run then reads as interrupted, with all that was
    /// written.
    pub fn finish(self, state: RunState, duration_ns: u64) -> Result<(), StoreError> {
        finish::finish(self, state, duration_ns)
    }

    /// Runs `work` in a transaction. What it changes in `kept` counts only when the transaction is committed.
    pub(crate) fn transaction(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>, &mut Kept) -> Result<(), Fault>,
    ) -> Result<(), StoreError> {
        let mut kept = self.kept.clone();
        let outcome = commit(&mut self.db, |tx| work(tx, &mut kept));
        outcome.map_err(|fault| StoreError::from_fault(&self.path, doing, fault))?;
        self.kept = kept;
        Ok(())
    }
}

/// A run that its process gives up was interrupted. One that is killed cannot say so, and its log stays beside it.
impl Drop for RunWriter {
    fn drop(&mut self) {
        finish::give_up(&self.db);
    }
}

/// Runs `work` in a transaction and commits it; rolled back when `work` fails.
fn commit(db: &mut Connection, work: impl FnOnce(&Transaction<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
    let tx = db.transaction()?;
    work(&tx)?;
    tx.commit()?;
    Ok(())
}

fn insert_series(tx: &Transaction<'_>, id: u32, name: &str, spec: &SeriesSpec) -> Result<(), Fault> {
    let threshold_ns = spec.threshold_ns.map(|ns| integer(ns, "a threshold")).transpose()?;
    tx.execute(
        "INSERT INTO series (id, name, what, clock, interval_ns, threshold_ns, kind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            id,
            name,
            spec.what,
            clock_word(spec.clock),
            spec.interval_ns,
            threshold_ns,
            spec.kind.map(|kind| kind.name)
        ],
    )?;
    let mut statement =
        tx.prepare_cached("INSERT INTO setting (series, position, name, value) VALUES (?1, ?2, ?3, ?4)")?;
    let another = (name != spec.name).then(|| (setting::ANOTHER_IS.to_owned(), spec.name.clone()));
    for (position, (name, value)) in spec.settings.iter().chain(&another).enumerate() {
        statement.execute(params![id, position as i64, name, value])?;
    }
    Ok(())
}
