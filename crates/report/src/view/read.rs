//! Reading a view from a run file.

use super::{RunView, SeriesView};
use store::model::{SeriesId, SeriesSpec};
use store::{RunFile, StoreError};

impl RunView {
    /// Reads all of a run but the windows' own histograms.
    ///
    /// # Errors
    /// What the store says: a damaged file, or one that cannot be read.
    pub fn read(file: &RunFile) -> Result<Self, StoreError> {
        let series = file
            .series()?
            .into_iter()
            .map(|(id, spec)| SeriesView::read(file, id, spec))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            info: file.info().clone(),
            state: file.state(),
            duration_ns: file.duration_ns(),
            file: file.path().to_owned(),
            series,
            events: file.events()?,
            facts: file.facts()?,
            counts_conflicts: file.counts_conflicts()?,
            lacks_log: file.lacks_log(),
        })
    }
}

impl SeriesView {
    fn read(file: &RunFile, id: SeriesId, spec: SeriesSpec) -> Result<Self, StoreError> {
        let totals = file.totals(id)?;
        Ok(Self {
            id,
            spec,
            counters: totals.counters,
            sum_ns: totals.sum_ns,
            min_ns: totals.min_ns,
            max_ns: totals.max_ns,
            spikes_dropped: totals.spikes_dropped,
            histogram: file.histogram(id)?,
            windows: file.windows(id)?,
            spikes: file.spikes(id)?,
            causes: file.causes(id)?,
        })
    }
}
