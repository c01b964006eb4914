//! All of a run at once.

use super::RunFile;
use crate::error::StoreError;
use model::{RunView, SeriesId, SeriesSpec, SeriesView};

impl RunFile {
    /// Reads all of the run but the windows' own histograms.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the file cannot be read.
    pub fn view(&self) -> Result<RunView, StoreError> {
        let series = self
            .series()?
            .into_iter()
            .map(|(id, spec)| self.view_of(id, spec))
            .collect::<Result<_, _>>()?;
        Ok(RunView {
            info: self.info().clone(),
            state: self.state(),
            duration_ns: self.duration_ns(),
            file: self.path().to_owned(),
            series,
            events: self.events()?,
            shots: self.shots()?,
            readings: self.readings()?,
            facts: self.facts()?,
            counts_conflicts: self.counts_conflicts()?,
            lacks_log: self.lacks_log(),
        })
    }

    fn view_of(&self, id: SeriesId, spec: SeriesSpec) -> Result<SeriesView, StoreError> {
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
            windows: self.windows(id)?,
            spikes: self.spikes(id)?,
            causes: self.causes(id)?,
        })
    }
}
