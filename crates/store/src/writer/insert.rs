//! Inserts one batch into the tables.

use super::{Batch, Kept};
use crate::columns::{counter_names, integer};
use crate::error::Fault;
use crate::merge::{Span, stored_bytes};
use crate::{actions, changes, readings, shots};
use model::{CauseTotal, Counter, Event, Flight, SeriesId, Spike, Window};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params, params_from_iter};
use std::sync::LazyLock;

/// The quantiles that are stored for each window.
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];

/// Number of columns of a window in addition to its counters.
const OTHER_COLUMNS: usize = 12;

static INSERT_WINDOW: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO window (series, start_ns, end_ns, {},
           samples, sum_ns, mean_ns, min_ns, max_ns, p50_ns, p99_ns, p999_ns, p9999_ns)
         VALUES ({})",
        counter_names(),
        ["?"; OTHER_COLUMNS + Counter::ALL.len()].join(", ")
    )
});

/// Inserts all of `batch`, then merges and trims everything that exceeds its limits.
pub(super) fn batch(tx: &Transaction<'_>, kept: &mut Kept, batch: &Batch) -> Result<(), Fault> {
    for window in &batch.windows {
        insert_window(tx, kept, window)?;
    }
    for spike in &batch.spikes {
        insert_spike(tx, kept, spike)?;
    }
    for flight in &batch.flights {
        insert_flight(tx, kept, flight)?;
    }
    for (series, total) in &batch.causes {
        add_cause(tx, kept, *series, total)?;
    }
    for event in &batch.events {
        insert_event(tx, kept, event)?;
    }
    for shot in &batch.shots {
        shots::insert(tx, shot)?;
    }
    for action in &batch.actions {
        actions::insert(tx, action)?;
    }
    for reading in &batch.readings {
        readings::insert(tx, reading)?;
    }
    for change in &batch.changes {
        changes::insert(tx, change)?;
    }
    for watch in &batch.watches {
        changes::insert_watch(tx, watch)?;
    }
    changes::insert_last_facts(tx, &batch.last_facts)?;
    for slices in &batch.slices {
        index_of(kept, slices.series, "slices")?;
        kept.slices.insert(tx, slices)?;
    }
    trim_spikes(tx, kept)?;
    kept.slices.shrink(tx)?;
    kept.spans.shrink(tx)
}

/// Trims the spikes of every series that has far too many, and records the number of dropped spikes.
fn trim_spikes(tx: &Transaction<'_>, kept: &mut Kept) -> Result<(), Fault> {
    for (series, keeper) in (0u32..).zip(&mut kept.spikes) {
        if keeper.is_overgrown() {
            keeper.trim(tx, series)?;
        }
        keeper.note_dropped(tx, series)?;
    }
    Ok(())
}

/// Index of a series that was added before.
fn index_of(kept: &Kept, series: SeriesId, what: &str) -> Result<usize, Fault> {
    usize::try_from(series.0)
        .ok()
        .filter(|index| *index < kept.spikes.len())
        .ok_or_else(|| Fault::Refused(format!("{what} of series {}: no such series was added", series.0)))
}

fn insert_window(tx: &Transaction<'_>, kept: &mut Kept, window: &Window) -> Result<(), Fault> {
    let series = index_of(kept, window.series, "a window")?;
    let start_ns = integer(window.start_ns, "the start of a window")?;
    let end_ns = integer(window.end_ns, "the end of a window")?;
    if end_ns < start_ns {
        return Err(Fault::Refused(format!(
            "a window from {start_ns} ns to {end_ns} ns: it ends before it starts"
        )));
    }
    let values = window_values(window, start_ns, end_ns)?;
    let inserted = tx.prepare_cached(&INSERT_WINDOW)?.execute(params_from_iter(values));
    refuse_second(inserted, || {
        format!("a second window of series {} from {start_ns} ns", window.series.0)
    })?;
    let hdr = window.histogram.to_bytes();
    let bytes = stored_bytes(&hdr);
    let samples = integer(window.histogram.count(), "a number of samples")?;
    let inserted = tx
        .prepare_cached(
            "INSERT INTO histogram (series, start_ns, end_ns, windows, samples, hdr) VALUES (?1, ?2, ?3, 1, ?4, ?5)",
        )?
        .execute(params![window.series.0, start_ns, end_ns, samples, hdr]);
    refuse_second(inserted, || {
        format!("a second histogram of series {} from {start_ns} ns", window.series.0)
    })?;
    let span = Span {
        id: tx.last_insert_rowid(),
        start_ns: window.start_ns,
        end_ns: window.end_ns,
        windows: 1,
        bytes,
    };
    kept.spans.add(series, span);
    Ok(())
}

/// The columns of a window's row, in the order of [`INSERT_WINDOW`].
fn window_values(window: &Window, start_ns: i64, end_ns: i64) -> Result<Vec<Value>, Fault> {
    let samples = window.histogram.count();
    let mean_ns = (samples > 0).then(|| window.sum_ns as f64 / samples as f64);
    let mut values: Vec<Value> = Vec::with_capacity(OTHER_COLUMNS + Counter::ALL.len());
    values.extend([i64::from(window.series.0), start_ns, end_ns].map(Value::from));
    for counter in Counter::ALL {
        values.push(integer(window.counters.get(counter), "a counter")?.into());
    }
    values.push(integer(samples, "a number of samples")?.into());
    values.push(integer(window.sum_ns, "the sum of a window's samples")?.into());
    values.push(mean_ns.into());
    values.push(window.min_ns.into());
    values.push(window.max_ns.into());
    let quantiles = window.histogram.quantiles(QUANTILES);
    for (q, ns) in QUANTILES.into_iter().zip(quantiles) {
        let ns = ns.filter(|_| window.histogram.supports(q));
        values.push(ns.map(|ns| integer(ns, "a quantile")).transpose()?.into());
    }
    Ok(values)
}

/// Converts SQLite's error for a row that already exists into one that names the row.
fn refuse_second(inserted: Result<usize, rusqlite::Error>, what: impl FnOnce() -> String) -> Result<(), Fault> {
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
            Err(Fault::Refused(what()))
        }
        Err(error) => Err(error.into()),
    }
}

fn insert_spike(tx: &Connection, kept: &mut Kept, spike: &Spike) -> Result<(), Fault> {
    let series = index_of(kept, spike.series, "a spike")?;
    if !kept.spikes[series].offer(spike.value_ns) {
        return Ok(());
    }
    let at_ns = integer(spike.at_ns, "the instant of a spike")?;
    let sequence = spike
        .sequence
        .map(|number| integer(number, "a sequence number"))
        .transpose()?;
    let cause = spike
        .explanation
        .as_ref()
        .map(|explanation| format!("{}: {}", explanation.cause.word(), explanation.text));
    let explanation = spike.explanation.as_ref().map(serde_json::to_string).transpose();
    let explanation =
        explanation.map_err(|error| Fault::Refused(format!("an explanation that JSON cannot represent: {error}")))?;
    tx.prepare_cached(
        "INSERT INTO spike (series, at_ns, value_ns, cpu, sequence, cause, explanation) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        spike.series.0,
        at_ns,
        spike.value_ns,
        spike.cpu,
        sequence,
        cause,
        explanation
    ])?;
    Ok(())
}

/// Stores a flight if its spike is stored.
fn insert_flight(tx: &Connection, kept: &Kept, flight: &Flight) -> Result<(), Fault> {
    index_of(kept, flight.series, "a flight")?;
    let at_ns = integer(flight.at_ns, "the instant of a flight")?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO flight (series, at_ns, events)
         SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM spike WHERE series = ?1 AND at_ns = ?2)",
    )?
    .execute(params![flight.series.0, at_ns, flight.bytes])?;
    Ok(())
}

fn add_cause(tx: &Connection, kept: &Kept, series: SeriesId, total: &CauseTotal) -> Result<(), Fault> {
    index_of(kept, series, "a cause")?;
    tx.prepare_cached(
        "INSERT INTO cause (series, cause, samples, total_ns, max_ns) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (series, cause) DO UPDATE SET
           samples = samples + excluded.samples,
           total_ns = total_ns + excluded.total_ns,
           max_ns = max(max_ns, excluded.max_ns)",
    )?
    .execute(params![
        series.0,
        total.cause.word(),
        integer(total.count, "a number of samples")?,
        integer(total.total_ns, "the time of a cause")?,
        integer(total.max_ns, "the largest sample of a cause")?
    ])?;
    Ok(())
}

fn insert_event(tx: &Connection, kept: &Kept, event: &Event) -> Result<(), Fault> {
    if let Some(series) = event.series {
        index_of(kept, series, "an event")?;
    }
    let at_ns = integer(event.at_ns, "the instant of an event")?;
    let since_ns = event.since_ns.map(|ns| integer(ns, "the beginning of an event"));
    tx.prepare_cached("INSERT INTO event (at_ns, since_ns, kind, series, text) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            at_ns,
            since_ns.transpose()?,
            event.kind.word(),
            event.series.map(|series| series.0),
            event.text
        ])?;
    Ok(())
}
