//! The largest number of streams that a host sustains: a search by short attempts, and a longer hold of the result.

mod attempts;
mod search;

use crate::{CampaignError, Say};
use host::CpuFacts;
use plan::Named;
use report::capacity::{Search, Wanted};
use run::remove;
use session::{Run, RunSpec};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::CpuList;

/// A quantile is only known with 95 % confidence if three samples are expected beyond it (the rule of three).
const BEYOND: f64 = 3.0;

/// A search, and the functions that run its attempts.
pub struct Asked<'a> {
    /// Settings of every attempt, without the number of streams.
    pub one: Wanted,
    /// Largest number of streams to try.
    pub max: u16,
    /// Fewer streams than this fail.
    pub at_least: Option<u16>,
    /// Duration of each attempt of the search, in ns.
    pub probe_ns: u64,
    /// Duration of the hold, in ns.
    pub hold_ns: u64,
    /// Length of a window, in ns; `None`: as in the plan of an attempt.
    pub window_ns: Option<u64>,
    /// True if idle states are held off during the attempts.
    pub hold_idle: bool,
    /// Run file of the answer; `None`: the default name or a numbered variant.
    pub out: Option<PathBuf>,
    /// CPUs that the command line names.
    pub named: Named,
    /// Facts of the CPUs.
    pub cpus: CpuFacts,
    /// Set by a signal; applies to every attempt.
    pub interrupted: Arc<AtomicBool>,
    /// Settings of a run on these CPUs for this many ns.
    pub spec: &'a dyn Fn(CpuList, u64) -> RunSpec,
    /// Starts a run.
    pub start: &'a dyn Fn(RunSpec) -> Result<Run, CampaignError>,
    /// Reports a warning.
    pub say: Say<'a>,
    /// Reports progress, if the user asked for it.
    pub tell: Say<'a>,
}

impl Asked<'_> {
    fn wanted(&self, streams: u16) -> Wanted {
        Wanted { streams, ..self.one }
    }

    /// Refuses a search that is impossible here; reports the CPUs of each role.
    ///
    /// # Errors
    /// The unmet requirement, and advice.
    pub fn refuse(&self) -> Result<(), CampaignError> {
        self.check()
    }

    /// Searches, and holds the result; returns its run file. `usual` is the default name.
    ///
    /// # Errors
    /// An attempt could not be measured, or the search was interrupted.
    pub fn answer(&self, usual: &Path) -> Result<PathBuf, CampaignError> {
        let probe = usual.with_extension("probe.triptime");
        let tried = search::search(self.max, |streams| self.probe(&self.wanted(streams), &probe))?;
        let most = search::held(&tried).max(1);
        let mut held: Option<PathBuf> = None;
        search::hold(most, tried, |streams, tried| {
            let search = Search {
                wanted: self.wanted(streams),
                max: self.max,
                at_least: self.at_least,
                tried: tried.to_vec(),
            };
            held.take().iter().for_each(|before| remove(before));
            let (gave_way, made) = self.hold(&search, usual)?;
            held = made;
            Ok::<_, CampaignError>(gave_way)
        })?;
        // The default name may belong to another search.
        let nothing =
            "capacity: no frame of the test set came while the last number of streams was held: nothing is known of it";
        held.ok_or_else(|| CampaignError::Failed(nothing.into()))
    }
}

/// The shortest hold in which a single stream could prove the quantile, in ns.
pub fn shortest_hold_ns(one: &Wanted) -> f64 {
    (BEYOND / (1.0 - one.quantile) / f64::from(one.rate) * 1e9).ceil()
}
