//! The most streams that a host holds: a search by short attempts, and the hold of its answer.

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

/// Samples that say nothing with 95 % of a share of them: three are to be beyond the quantile (the rule of three).
const BEYOND: f64 = 3.0;

/// A search, and the ways by which its attempts become runs.
pub struct Asked<'a> {
    /// Every attempt, but for its number of streams.
    pub one: Wanted,
    /// Most streams that are tried.
    pub max: u16,
    /// Fewer streams than these fail.
    pub at_least: Option<u16>,
    /// How long each attempt of the search is, in ns.
    pub probe_ns: u64,
    /// How long the answer is held, in ns.
    pub hold_ns: u64,
    /// Length of a window, in ns; `None`: as the plan of an attempt has it.
    pub window_ns: Option<u64>,
    /// Hold idle states off meanwhile.
    pub hold_idle: bool,
    /// Run file of the answer; `None`: the usual one or one of its numbers.
    pub out: Option<PathBuf>,
    /// CPUs that the command line names.
    pub named: Named,
    /// Facts of the CPUs.
    pub cpus: CpuFacts,
    /// Set by a signal, whichever attempt is under way.
    pub interrupted: Arc<AtomicBool>,
    /// A run on these CPUs for so many ns.
    pub spec: &'a dyn Fn(CpuList, u64) -> RunSpec,
    /// Starts a run.
    pub start: &'a dyn Fn(RunSpec) -> Result<Run, CampaignError>,
    /// Says a warning.
    pub say: Say<'a>,
    /// Says how it goes on, to those who want to know.
    pub tell: Say<'a>,
}

impl Asked<'_> {
    fn wanted(&self, streams: u16) -> Wanted {
        Wanted { streams, ..self.one }
    }

    /// Refuses what cannot be found out here; says who runs where.
    ///
    /// # Errors
    /// The need that is not met, and what to do.
    pub fn refuse(&self) -> Result<(), CampaignError> {
        self.check()
    }

    /// Searches, and holds the answer; its run file. `usual` is its name where none was asked for.
    ///
    /// # Errors
    /// An attempt could not be measured, or the search was told to end.
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
        // The usual name may be that of another search.
        let nothing =
            "capacity: no frame of the test set came while the last number of streams was held: nothing is known of it";
        held.ok_or_else(|| CampaignError::Failed(nothing.into()))
    }
}

/// The shortest hold in which one stream alone could prove the quantile, in ns.
pub fn shortest_hold_ns(one: &Wanted) -> f64 {
    (BEYOND / (1.0 - one.quantile) / f64::from(one.rate) * 1e9).ceil()
}
