//! Writes a run during its measurement.

mod create;
mod finish;
mod insert;

use crate::columns::{clock_word, integer};
use crate::error::{Fault, StoreError};
use crate::merge::Spans;
use crate::place::FilePlace;
use crate::reader::LONGEST_DOCUMENT;
use crate::slices::SliceKeeper;
use crate::spikes::SpikeKeeper;
use model::{
    Action, CauseTotal, Change, ChangeWatch, Event, Fact, Flight, Reading, RunInfo, RunState, SeriesId, SeriesSpec,
    Shot, Slices, Spike, Window, setting,
};
use rusqlite::{Connection, Transaction, params};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::FreeNames;

/// Default limit for the bytes of histograms in the file: 32 MiB. This is enough for about two hours of 20 series in
/// windows of 20 s at full resolution in time, and for runs of any greater length at a coarser one.
pub const DEFAULT_FILE_BUDGET: u64 = 32 << 20;

/// Data that one transaction writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Closed windows.
    pub windows: Vec<Window>,
    /// Samples worth investigating.
    pub spikes: Vec<Spike>,
    /// Events during the measurement.
    pub events: Vec<Event>,
    /// The shots of a test set.
    pub shots: Vec<Shot>,
    /// Executions of a plan's actions.
    pub actions: Vec<Action>,
    /// Closed windows of readings in units other than ns.
    pub readings: Vec<Reading>,
    /// Changes of the machine.
    pub changes: Vec<Change>,
    /// Watches for changes, in their latest state.
    pub watches: Vec<ChangeWatch>,
    /// Facts that were different when they were read again at the end of the run.
    pub last_facts: Vec<Fact>,
    /// Causes of samples, to be added to the earlier causes of their series.
    pub causes: Vec<(SeriesId, CauseTotal)>,
    /// The kernel's events around spikes of this batch. If a spike is not kept, its events are dropped too.
    pub flights: Vec<Flight>,
    /// Slices of tasks and receive latencies.
    pub slices: Vec<Slices>,
}

impl Batch {
    /// True if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
            && self.spikes.is_empty()
            && self.events.is_empty()
            && self.shots.is_empty()
            && self.actions.is_empty()
            && self.readings.is_empty()
            && self.changes.is_empty()
            && self.watches.is_empty()
            && self.last_facts.is_empty()
            && self.causes.is_empty()
            && self.flights.is_empty()
            && self.slices.is_empty()
    }
}

/// The state of the writer between transactions. It is replaced as a whole when a transaction is committed, so a
/// refused batch leaves no trace.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    spikes: Vec<SpikeKeeper>,
    spans: Spans,
    slices: SliceKeeper,
}

/// The only writer of a run file.
///
/// All data is on the disk when the call that wrote it returns: a killed process or a power cut loses at most data not
/// yet passed to a call. If the writer is dropped without [`RunWriter::finish`], the run counts as interrupted.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    place: Arc<FilePlace>,
    db: Connection,
    kept: Kept,
    names: FreeNames,
}

impl RunWriter {
    /// Creates the run file, and its directory if necessary. `file_budget` is the number of bytes that histograms may
    /// take in the file before older ones are merged ([`DEFAULT_FILE_BUDGET`] if `None`); counters, extremes and
    /// quantiles of every window are kept in addition.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if the file exists; [`StoreError::DiskFull`] or [`StoreError::Io`] if it cannot be
    /// created.
    pub fn create(path: &Path, info: &RunInfo, file_budget: Option<u64>) -> Result<Self, StoreError> {
        let db = create::create(path, info)?;
        let place = FilePlace::of(path).map_err(|error| StoreError::from_io(path, "look at the run file", error))?;
        let file_budget = file_budget.unwrap_or(DEFAULT_FILE_BUDGET);
        Ok(Self {
            path: path.to_owned(),
            place: Arc::new(place),
            db,
            kept: Kept {
                spikes: Vec::new(),
                spans: Spans::new(file_budget),
                slices: SliceKeeper::new(file_budget),
            },
            names: FreeNames::default(),
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Place of the file, which remains valid after the writer is closed.
    pub fn place(&self) -> Arc<FilePlace> {
        Arc::clone(&self.place)
    }

    /// Adds a series; its samples may follow. Series are numbered from 0 in the order they are added.
    ///
    /// A name chosen by a device on the bus must not end a run. If the name is taken, the series gets the first free
    /// name derived from it ([`FreeNames`]), and its setting [`setting::ANOTHER_IS`] holds the original name.
    /// [`RunWriter::name_for`] returns the free name in advance.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_series(&mut self, spec: &SeriesSpec) -> Result<SeriesId, StoreError> {
        let id = u32::try_from(self.kept.spikes.len()).unwrap_or(u32::MAX);
        let name = self.name_for(&spec.name);
        self.transaction("add a series", |tx, _| insert_series(tx, id, &name, spec))?;
        self.names.take(&spec.name);
        self.kept.spikes.push(SpikeKeeper::new(spec.threshold_ns));
        self.kept.spans.add_series();
        Ok(SeriesId(id))
    }

    /// The name under which the next series will be stored if it is added as `wanted`.
    pub fn name_for(&self, wanted: &str) -> String {
        self.names.free(wanted)
    }

    /// Adds a setting to a series that becomes known only at the end.
    ///
    /// # Errors
    /// The file cannot be written.
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

    /// Adds facts to the inventory, after the existing ones.
    ///
    /// # Errors
    /// The file cannot be written.
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

    /// Stores a text in the run under a name, such as the `plan` or the `limits` that applied. Replaces an earlier text
    /// with that name.
    ///
    /// # Errors
    /// The file cannot be written; [`StoreError::Refused`] if the text is longer than readers accept.
    pub fn put_document(&mut self, name: &str, text: &str) -> Result<(), StoreError> {
        if text.len() > LONGEST_DOCUMENT {
            let what = format!(
                "the document \"{name}\" of {} bytes: at most {LONGEST_DOCUMENT}",
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

    /// Writes a batch in one transaction: all of it, or none of it if an error is returned. The data is on the disk
    /// when this returns. A batch with windows is then moved from the log into the file, so that a copy of the file
    /// alone misses as little as possible.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] if there is no space; [`StoreError::Refused`] if a series is not known, a window exists
    /// already, or a sum or count exceeds 2^63.
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

    /// Closes the run: keeps the worst spikes, records its state and duration, and leaves a single file. While another
    /// process reads the file, the write-ahead log may remain next to it.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] if the end could not be recorded. The run then reads as interrupted, with all written
    /// data.
    pub fn finish(self, state: RunState, duration_ns: u64) -> Result<(), StoreError> {
        finish::finish(self, state, duration_ns)
    }

    /// Runs `work` in a transaction. Its changes to `kept` take effect only when the transaction is committed.
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

/// A run that is dropped was interrupted. A killed process cannot record that; the log stays next to its run.
impl Drop for RunWriter {
    fn drop(&mut self) {
        finish::give_up(&self.db);
    }
}

/// Runs `work` in a transaction and commits it, or rolls it back if `work` fails.
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
