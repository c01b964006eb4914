//! Selects the spikes that a run keeps.
//!
//! It keeps the worst [`WORST_SPIKES`] of a series, and all above its threshold up to the worst [`MOST_SPIKES`]. Spikes
//! above the threshold are the largest ones, so this is a single rule: keep the worst `n`, where `n` is the number
//! above the threshold, limited to the range from [`WORST_SPIKES`] to [`MOST_SPIKES`].

use rusqlite::{OptionalExtension, Transaction, params};

/// Number of worst samples of a series that are always kept, above the threshold or not.
pub const WORST_SPIKES: u64 = 100;

/// Maximum number of samples above the threshold that are kept in a series; further ones are only counted.
pub const MOST_SPIKES: u64 = 10_000;

/// Number of worst samples of a series for which the kernel's events are kept.
pub const MOST_FLIGHTS: u64 = 100;

/// The state of one series' spikes, so that the file need not be read.
#[derive(Debug, Clone)]
pub(crate) struct SpikeKeeper {
    threshold_ns: Option<i64>,
    rows: u64,
    over_seen: u64,
    over_rows: u64,
    noted_dropped: u64,
    /// Lower bound of all rows: set by a trim, cleared when a smaller spike is stored.
    floor_ns: Option<i64>,
}

impl SpikeKeeper {
    /// A keeper for a series that has no spikes yet.
    pub(crate) fn new(threshold_ns: Option<u64>) -> Self {
        let threshold_ns = threshold_ns.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX));
        Self {
            threshold_ns,
            rows: 0,
            over_seen: 0,
            over_rows: 0,
            noted_dropped: 0,
            floor_ns: None,
        }
    }

    /// Number of rows to keep.
    fn limit(&self) -> u64 {
        self.over_seen.clamp(WORST_SPIKES, MOST_SPIKES)
    }

    /// Updates the number of spikes above the threshold that are not in the file, if it changed.
    pub(crate) fn note_dropped(&mut self, tx: &Transaction<'_>, series: u32) -> Result<(), rusqlite::Error> {
        let dropped = self.over_seen - self.over_rows;
        if dropped != self.noted_dropped {
            tx.prepare_cached("UPDATE series SET spikes_dropped = ?2 WHERE id = ?1")?
                .execute(params![series, dropped as i64])?;
            self.noted_dropped = dropped;
        }
        Ok(())
    }

    /// Records a spike; returns true if it must be stored.
    pub(crate) fn offer(&mut self, value_ns: i64) -> bool {
        let over = self.threshold_ns.is_some_and(|threshold| value_ns > threshold);
        self.over_seen += u64::from(over);
        let not_above_any = self.floor_ns.is_some_and(|floor| value_ns <= floor);
        if not_above_any && self.rows >= self.limit() {
            return false;
        }
        if not_above_any {
            self.floor_ns = None;
        }
        self.rows += 1;
        self.over_rows += u64::from(over);
        true
    }

    /// True if enough rows exceed the limit to make a trim worthwhile.
    pub(crate) fn is_overgrown(&self) -> bool {
        self.rows >= 2 * self.limit()
    }

    /// Deletes the rows beyond the limit. Of equal spikes the earlier one stays.
    pub(crate) fn trim(&mut self, tx: &Transaction<'_>, series: u32) -> Result<(), rusqlite::Error> {
        let limit = self.limit();
        if self.rows <= limit {
            return Ok(());
        }
        let last_kept = tx
            .prepare_cached(
                "SELECT value_ns, id FROM spike WHERE series = ?1 ORDER BY value_ns DESC, id LIMIT 1 OFFSET ?2",
            )?
            .query_row(params![series, limit as i64 - 1], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })
            .optional()?;
        let Some((value_ns, id)) = last_kept else { return Ok(()) };
        tx.prepare_cached("DELETE FROM spike WHERE series = ?1 AND (value_ns < ?2 OR (value_ns = ?2 AND id > ?3))")?
            .execute(params![series, value_ns, id])?;
        tx.prepare_cached(
            "DELETE FROM flight WHERE series = ?1 AND at_ns NOT IN (
               SELECT at_ns FROM spike WHERE series = ?1 ORDER BY value_ns DESC, id LIMIT ?2)",
        )?
        .execute(params![series, MOST_FLIGHTS as i64])?;
        self.rows = limit;
        self.over_rows = self.over_rows.min(limit);
        self.floor_ns = Some(value_ns);
        Ok(())
    }
}
