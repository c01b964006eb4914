//! Reads a run.

mod guard;
mod open;
mod view;
mod why;

pub(crate) use open::is_unended;

use crate::columns::{clock_from_word, counters, optional_unsigned, unsigned};
use crate::error::{Fault, StoreError};
use crate::merge::decode;
pub(crate) use guard::LONGEST_DOCUMENT;
use model::{
    CauseTotal, Counter, Counters, Event, EventKind, Fact, Flight, Kind, RunInfo, RunState, SeriesId, SeriesSpec,
    Spike, WindowRow,
};
use rusqlite::{Connection, OptionalExtension, Row};
use stats::Histogram;
use std::path::{Path, PathBuf};

/// Totals over all windows of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeriesTotals {
    /// Sums of the windows' counters.
    pub counters: Counters,
    /// Number of samples in the histograms: the divisor of the mean.
    pub samples: u64,
    /// Exact sum of the samples.
    pub sum_ns: i128,
    /// Smallest sample, exact. `None` without samples.
    pub min_ns: Option<i64>,
    /// Largest sample, exact. `None` without samples.
    pub max_ns: Option<i64>,
    /// Number of windows.
    pub windows: u64,
    /// Samples above the threshold that were counted but not kept as spikes.
    pub spikes_dropped: u64,
}

impl SeriesTotals {
    /// Exact mean in ns; `None` without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum_ns as f64 / self.samples as f64)
    }
}

/// The samples of one window, or of several neighbouring windows.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramSpan {
    /// Start of the first window.
    pub start_ns: u64,
    /// End of the last window.
    pub end_ns: u64,
    /// The samples, with exact extremes.
    pub histogram: Histogram,
}

/// A run file opened for reading. Each call reads the current contents of the file; while the run is still being
/// written, later calls may return more.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    db: Connection,
    info: RunInfo,
    state: RunState,
    duration_ns: u64,
    is_open: bool,
    lacks_log: bool,
}

impl RunFile {
    /// Opens a run that is complete, still being written, or left by a killed process. Reading never changes it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotARunFile`] or [`StoreError::NewerSchema`] if these apply;
    /// [`StoreError::Damaged`] if the run cannot be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        open::open(path)
    }

    /// Opens a run of which all calls read the same moment, although it is still being written. The log of the run grows until this is dropped.
    ///
    /// # Errors
    /// As of [`RunFile::open`].
    pub fn open_as_it_is(path: &Path) -> Result<Self, StoreError> {
        open::open_as_it_is(path)
    }

    /// True if the end of the run was not recorded: it is still being written, or its process was killed.
    pub fn is_unended(&self) -> bool {
        self.is_open
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Facts about the run that are known from its start.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// How the run ended. A run that is still being written reads as interrupted.
    pub fn state(&self) -> RunState {
        self.state
    }

    /// Duration of the run. If the run was not closed: the time from its start to the end of its last window at the
    /// time of opening.
    pub fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// A warning if the run was not closed and its log is missing, for example because only the main file was copied;
    /// otherwise `None`.
    pub fn lacks_log(&self) -> Option<String> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.lacks_log.then(|| {
            format!(
                "the run ended abnormally, and its log ({name}-wal) is missing: windows may be missing; copy both files, or copy \
                 after the run has ended"
            )
        })
    }

    /// All series in the order they were added.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn series(&self) -> Result<Vec<(SeriesId, SeriesSpec)>, StoreError> {
        self.read("read the series", |db| {
            // Older files do not have the column `kind`; there, only the name shows the kind.
            let says_kind = why::has(db, "SELECT 1 FROM pragma_table_info('series') WHERE name = 'kind'")?;
            let kind = if says_kind { "kind" } else { "NULL" };
            let sql =
                format!("SELECT id, name, what, clock, interval_ns, threshold_ns, {kind} FROM series ORDER BY id");
            let mut series = rows(db, &sql, [], |row| series_of(row, says_kind))?;
            for (id, spec) in &mut series {
                let sql = "SELECT name, value FROM setting WHERE series = ?1 ORDER BY position";
                spec.settings = rows(db, sql, [id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            }
            Ok(series)
        })
    }

    /// Totals over all windows of a series.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read or has no such series.
    pub fn totals(&self, id: SeriesId) -> Result<SeriesTotals, StoreError> {
        self.read("add up the windows", |db| {
            let sql = "SELECT spikes_dropped FROM series WHERE id = ?1";
            let dropped = db.query_row(sql, [id.0], |row| unsigned(row, 0)).optional()?;
            let spikes_dropped = dropped.ok_or_else(|| Fault::Damaged(format!("there is no series {}", id.0)))?;
            let mut totals = SeriesTotals {
                spikes_dropped,
                ..SeriesTotals::default()
            };
            let counters = counter_columns(db)?;
            let mut statement = db.prepare(&format!(
                "SELECT samples, sum_ns, min_ns, max_ns, {counters} FROM window WHERE series = ?1"
            ))?;
            let mut windows = statement.query([id.0])?;
            while let Some(row) = windows.next()? {
                add_window(&mut totals, row)?;
            }
            Ok(totals)
        })
    }

    /// Counters that are newer than the file: for its windows they are unknown, not 0.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn lacks(&self) -> Result<Vec<Counter>, StoreError> {
        self.read("read the columns of the windows", |db| {
            let is_there = Counter::ADDED.map(|counter| Ok((counter, has_counter(db, counter)?)));
            let is_there = is_there.into_iter().collect::<Result<Vec<_>, Fault>>()?;
            let lacking = is_there.into_iter().filter(|(_, is_there)| !is_there);
            Ok(lacking.map(|(counter, _)| counter).collect())
        })
    }

    /// The windows of a series in order of time.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn windows(&self, id: SeriesId) -> Result<Vec<WindowRow>, StoreError> {
        self.read("read the windows", |db| {
            let counters = counter_columns(db)?;
            let sql = format!(
                "SELECT start_ns, end_ns, samples, sum_ns, mean_ns, min_ns, max_ns, p50_ns, p99_ns, p999_ns, {counters}
                 FROM window WHERE series = ?1 ORDER BY start_ns"
            );
            rows(db, &sql, [id.0], window_of)
        })
    }

    /// All samples of a series, with their exact extremes.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn histogram(&self, id: SeriesId) -> Result<Histogram, StoreError> {
        self.read("read the histograms", |db| {
            let mut all = Histogram::new();
            for_each_span(db, id, |span| all.merge(&span.histogram))?;
            Ok(all)
        })
    }

    /// The stored histograms of a series in order of time: one for each window or, in a long run, one for several
    /// neighbouring windows.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn histograms(&self, id: SeriesId) -> Result<Vec<HistogramSpan>, StoreError> {
        self.read("read the histograms", |db| {
            let mut spans = Vec::new();
            for_each_span(db, id, |span| spans.push(span))?;
            Ok(spans)
        })
    }

    /// Passes each stored histogram of a series to `take`, in order of time, with only one in memory at a time.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn for_each_histogram(&self, id: SeriesId, take: impl FnMut(HistogramSpan)) -> Result<(), StoreError> {
        self.read("read the histograms", |db| for_each_span(db, id, take))
    }

    /// The spikes of a series, worst first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn spikes(&self, id: SeriesId) -> Result<Vec<Spike>, StoreError> {
        self.read("read the spikes", |db| why::spikes(db, id, u64::MAX))
    }

    /// Causes of a series' late samples, starting with the largest total time. Empty if no flight recorder ran.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn causes(&self, id: SeriesId) -> Result<Vec<CauseTotal>, StoreError> {
        self.read("read the causes", |db| why::causes(db, id))
    }

    /// The kernel's events around the worst spikes of a series, in order of time.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn flights(&self, id: SeriesId) -> Result<Vec<Flight>, StoreError> {
        self.read("read the flights", |db| why::flights(db, id))
    }

    /// All events in order of time. If the log is missing ([`RunFile::lacks_log`]), the last event says so.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn events(&self) -> Result<Vec<Event>, StoreError> {
        let mut events = self.read("read the events", |db| {
            // Older files do not have the column that gives the earliest possible beginning of an event.
            let since = if has_column(db, "event", "since_ns")? {
                "since_ns"
            } else {
                "NULL"
            };
            let sql = format!("SELECT at_ns, kind, series, text, {since} FROM event ORDER BY at_ns, id");
            rows(db, &sql, [], event_of)
        })?;
        events.extend(self.lacks_log().map(|text| Event {
            at_ns: self.duration_ns,
            since_ns: None,
            kind: EventKind::Interrupted,
            series: None,
            text,
        }));
        Ok(events)
    }

    /// The inventory, in the order in which it was added.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn facts(&self) -> Result<Vec<Fact>, StoreError> {
        let sql = "SELECT topic, name, value, unknown, source FROM fact ORDER BY position";
        self.read("read the facts", |db| rows(db, sql, [], fact_of))
    }

    /// A text stored in the run; `None` if there is none with that name.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read, or if any of its texts is missing: a run that lost its
    /// limits must not look like a run without limits.
    pub fn document(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read("read a document", |db| {
            check_documents(db)?;
            let mut statement = db.prepare("SELECT text FROM document WHERE name = ?1")?;
            let mut found = statement.query([name])?;
            let Some(row) = found.next()? else { return Ok(None) };
            guard::check_length(row.get_ref(0)?.as_str().map_or(0, str::len), LONGEST_DOCUMENT, name)?;
            Ok(Some(row.get(0)?))
        })
    }

    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        work(&self.db).map_err(|fault| StoreError::from_fault(&self.path, doing, fault))
    }
}

/// All rows of a query.
pub(crate) fn rows<T>(
    db: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> Result<Vec<T>, Fault> {
    let mut statement = db.prepare(sql)?;
    let mut found = statement.query(parameters)?;
    let (mut rows, mut text) = (Vec::new(), guard::Text::default());
    while let Some(row) = found.next()? {
        text.take(row)?;
        rows.push(read(row)?);
    }
    Ok(rows)
}

fn series_of(row: &Row<'_>, says_kind: bool) -> Result<(SeriesId, SeriesSpec), rusqlite::Error> {
    let clock: String = row.get(3)?;
    let mut spec = SeriesSpec::named(&row.get::<_, String>(1)?);
    if says_kind {
        let kind: Option<String> = row.get(6)?;
        spec.kind = kind.and_then(|kind| Kind::named(&kind));
    }
    let spec = SeriesSpec {
        what: row.get(2)?,
        clock: clock_from_word(&clock)
            .ok_or_else(|| rusqlite::Error::InvalidColumnType(3, clock, rusqlite::types::Type::Text))?,
        interval_ns: row.get(4)?,
        threshold_ns: optional_unsigned(row, 5)?,
        ..spec
    };
    Ok((SeriesId(row.get(0)?), spec))
}

/// Checks that all stored texts are present. Older run files do not hold their number.
fn check_documents(db: &Connection) -> Result<(), Fault> {
    let is_counted = why::has(db, "SELECT 1 FROM pragma_table_info('run') WHERE name = 'documents'")?;
    if !is_counted {
        return Ok(());
    }
    let count = |sql: &str| db.query_row(sql, [], |row| unsigned(row, 0));
    let kept = count("SELECT documents FROM run")?;
    let found = count("SELECT count(*) FROM document")?;
    match found == kept {
        true => Ok(()),
        false => Err(Fault::Damaged(format!(
            "some of its texts (such as plan and limits) are missing: {kept} were kept, {found} can be read"
        ))),
    }
}

/// SQL for the counter columns. Counters that are newer than the run file have no column there and are read as 0.
fn counter_columns(db: &Connection) -> Result<String, Fault> {
    let columns = Counter::ALL.map(|counter| {
        let is_there = !Counter::ADDED.contains(&counter) || has_counter(db, counter)?;
        Ok(if is_there { counter.name() } else { "0" })
    });
    let columns = columns.into_iter().collect::<Result<Vec<_>, Fault>>()?;
    Ok(columns.join(", "))
}

fn has_counter(db: &Connection, counter: Counter) -> Result<bool, Fault> {
    has_column(db, "window", counter.name())
}

fn has_column(db: &Connection, table: &str, column: &str) -> Result<bool, Fault> {
    why::has(
        db,
        &format!("SELECT 1 FROM pragma_table_info('{table}') WHERE name = '{column}'"),
    )
}

fn window_of(row: &Row<'_>) -> Result<WindowRow, rusqlite::Error> {
    let max_ns: Option<i64> = row.get(6)?;
    // Negative samples are in the histogram as its lowest value, so a quantile above the largest sample is not
    // meaningful.
    let quantile = |column| -> Result<Option<u64>, rusqlite::Error> {
        let largest = max_ns.and_then(|ns| u64::try_from(ns).ok());
        Ok(optional_unsigned(row, column)?.and_then(|ns| largest.map(|largest| ns.min(largest))))
    };
    Ok(WindowRow {
        start_ns: unsigned(row, 0)?,
        end_ns: unsigned(row, 1)?,
        samples: unsigned(row, 2)?,
        sum_ns: i128::from(row.get::<_, i64>(3)?),
        mean_ns: row.get(4)?,
        min_ns: row.get(5)?,
        max_ns,
        p50_ns: quantile(7)?,
        p99_ns: quantile(8)?,
        p999_ns: quantile(9)?,
        counters: counters(row, 10)?,
    })
}

/// Reads an event. An event of a kind unknown to this version becomes a note with the name of the kind, and is not
/// refused.
fn event_of(row: &Row<'_>) -> Result<Event, rusqlite::Error> {
    let (word, text): (String, String) = (row.get(1)?, row.get(3)?);
    let (kind, text) = match EventKind::from_word(&word) {
        Some(kind) => (kind, text),
        None => (EventKind::Note, format!("{word}: {text}")),
    };
    let series = row.get::<_, Option<u32>>(2)?.map(SeriesId);
    Ok(Event {
        at_ns: unsigned(row, 0)?,
        since_ns: optional_unsigned(row, 4)?,
        kind,
        series,
        text,
    })
}

pub(crate) fn fact_of(row: &Row<'_>) -> Result<Fact, rusqlite::Error> {
    let value = match (row.get::<_, Option<String>>(2)?, row.get::<_, Option<String>>(3)?) {
        (Some(value), _) => Ok(value),
        (None, why) => Err(why.unwrap_or_default()),
    };
    Ok(Fact {
        group: row.get(0)?,
        name: row.get(1)?,
        value,
        source: row.get(4)?,
    })
}

/// Adds a window's row to the totals. Values that no measurement can reach are reported as damage instead of wrapping
/// around.
fn add_window(totals: &mut SeriesTotals, row: &Row<'_>) -> Result<(), Fault> {
    let too_large = || Fault::Damaged("the counters of the windows add up to more than 2^64".into());
    totals.counters = totals.counters.checked_add(&counters(row, 4)?).ok_or_else(too_large)?;
    totals.samples = totals.samples.checked_add(unsigned(row, 0)?).ok_or_else(too_large)?;
    totals.sum_ns += i128::from(row.get::<_, i64>(1)?);
    let (min_ns, max_ns): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
    totals.min_ns = totals.min_ns.into_iter().chain(min_ns).min();
    totals.max_ns = totals.max_ns.into_iter().chain(max_ns).max();
    totals.windows += 1;
    Ok(())
}

/// Passes each stored histogram of a series to `take`, in order of time, with only one in memory at a time.
fn for_each_span(db: &Connection, id: SeriesId, mut take: impl FnMut(HistogramSpan)) -> Result<(), Fault> {
    let mut statement = db.prepare(
        "SELECT start_ns, end_ns, samples, hdr,
                (SELECT min(min_ns) FROM window AS w WHERE w.series = h.series AND w.start_ns >= h.start_ns
                   AND w.start_ns < max(h.end_ns, h.start_ns + 1)),
                (SELECT max(max_ns) FROM window AS w WHERE w.series = h.series AND w.start_ns >= h.start_ns
                   AND w.start_ns < max(h.end_ns, h.start_ns + 1))
         FROM histogram AS h WHERE series = ?1 ORDER BY start_ns",
    )?;
    let mut stored = statement.query([id.0])?;
    while let Some(row) = stored.next()? {
        let bytes: Vec<u8> = row.get(3)?;
        let extremes: (Option<i64>, Option<i64>) = (row.get(4)?, row.get(5)?);
        let mut histogram = decode(&bytes, row.get(2)?)?;
        if let (Some(min_ns), Some(max_ns)) = extremes {
            // Negative samples were recorded as the lowest value, and counted as clipped.
            histogram = histogram.with_extremes(u64::try_from(min_ns).unwrap_or(0), u64::try_from(max_ns).unwrap_or(0));
        }
        take(HistogramSpan {
            start_ns: unsigned(row, 0)?,
            end_ns: unsigned(row, 1)?,
            histogram,
        });
    }
    Ok(())
}
