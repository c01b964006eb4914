//! Reads a whole run at once.

use super::{RunFile, why};
use crate::error::StoreError;
use crate::spikes::WORST_SPIKES;
use model::{RunView, SeriesId, SeriesSpec, SeriesView};

/// Maximum number of spikes that are read, about 400 bytes each. A run of a week on a host with many stalls has ten
/// thousand for each series.
const MOST_SPIKES_READ: u64 = 32_768;

/// Number of worst spikes that are read for each series: all of them, or an equal share, but at least the number that
/// every run file keeps.
fn spikes_of_each(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    let mut left = MOST_SPIKES_READ;
    for (at, count) in counts.iter().enumerate() {
        let share = left / (counts.len() - at) as u64;
        if *count > share {
            return share.max(WORST_SPIKES);
        }
        left -= count;
    }
    MOST_SPIKES_READ
}

impl RunFile {
    /// Reads the whole run except the histograms of single windows and, if there are more than 32 768 spikes, the
    /// smallest spikes.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn view(&self) -> Result<RunView, StoreError> {
        let series = self.series()?;
        let counts = series.iter().map(|(id, _)| self.spike_count(*id));
        let counts: Vec<u64> = counts.collect::<Result<_, _>>()?;
        let most = spikes_of_each(counts.clone());
        let of_each = series.into_iter().zip(counts);
        let series = of_each.map(|((id, spec), kept)| self.view_of(id, spec, kept, most));
        let series = series.collect::<Result<_, _>>()?;
        let shots = self.shots()?;
        Ok(RunView {
            info: self.info().clone(),
            state: self.state(),
            duration_ns: self.duration_ns(),
            file: self.path().to_owned(),
            series,
            events: self.events()?.into(),
            along: self.along(&shots)?,
            shots,
            actions: self.actions()?,
            readings: self.readings()?,
            changes: self.changes()?,
            watches: self.watches()?,
            facts: self.facts()?,
            last_facts: self.last_facts()?,
            lacks: self.lacks()?,
            lacks_log: self.lacks_log(),
        })
    }

    fn spike_count(&self, id: SeriesId) -> Result<u64, StoreError> {
        self.read("count the spikes", |db| why::spike_count(db, id))
    }

    /// Reads one series with at most `most` of its stored spikes.
    fn view_of(&self, id: SeriesId, spec: SeriesSpec, spikes_kept: u64, most: u64) -> Result<SeriesView, StoreError> {
        let totals = self.totals(id)?;
        Ok(SeriesView {
            id,
            spec,
            counters: totals.counters,
            sum_ns: totals.sum_ns,
            min_ns: totals.min_ns,
            max_ns: totals.max_ns,
            spikes_dropped: totals.spikes_dropped,
            histogram: self.histogram(id)?,
            windows: self.windows(id)?.into(),
            spikes: self.read("read the spikes", |db| why::spikes(db, id, most))?.into(),
            spikes_kept,
            causes: self.causes(id)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_SPIKES_READ, spikes_of_each};
    use crate::spikes::{MOST_SPIKES, WORST_SPIKES};

    /// Number of spikes that are read for each series, if the series have these numbers of spikes.
    fn read(counts: &[u64]) -> u64 {
        let most = spikes_of_each(counts.to_vec());
        counts.iter().map(|count| (*count).min(most)).sum()
    }

    #[test]
    fn spikes_are_all_read_or_shared_evenly() {
        assert_eq!(read(&[]), 0);
        assert_eq!(read(&[MOST_SPIKES, 0, MOST_SPIKES, MOST_SPIKES]), 3 * MOST_SPIKES);
        // A series with few spikes keeps all of them; the other series share the remaining room.
        assert_eq!(
            spikes_of_each(vec![MOST_SPIKES, 768, MOST_SPIKES, MOST_SPIKES, MOST_SPIKES]),
            8_000
        );
        assert_eq!(
            read(&[MOST_SPIKES, 768, MOST_SPIKES, MOST_SPIKES, MOST_SPIKES]),
            MOST_SPIKES_READ
        );
        assert_eq!(spikes_of_each(vec![MOST_SPIKES; 1_000]), WORST_SPIKES);
    }
}
