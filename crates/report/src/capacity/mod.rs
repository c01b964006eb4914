//! The result of `capacity`: the number of streams that a host can handle at least, and the part that failed first
//! beyond that.
//!
//! Every attempt is a separate run. The last one, the hold, is kept: its document `capacity` lists the earlier
//! attempts, and the answer is made from both.

mod attempt;
mod document;
mod section;
#[cfg(test)]
mod tests;
mod text;

pub use attempt::{Attempt, Proof};
pub(crate) use section::CapacitySection;

use crate::verdict::Verdict;
use model::RunView;
use serde::{Deserialize, Serialize};

/// Name of the document in a run.
pub const DOCUMENT: &str = "capacity";

/// The load that the host must handle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Number of streams and, with a relay, of its bays.
    pub streams: u16,
    /// Samples per second of each stream.
    pub rate: u32,
    /// Samples per frame.
    pub asdus: u8,
    /// True if a relay processes them.
    pub relay: bool,
    /// Share of all samples that must be in time, for example 0.9999.
    pub quantile: f64,
    /// Time limit in ns: from the instant a sample is due until the application has it, or until the protection task
    /// processes it.
    pub within_ns: u64,
}

/// The part that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The device under test; this answers the question.
    Host,
    /// The test set: it did not send the planned streams in time.
    TestSet,
    /// An event makes it impossible to say whether the host succeeded.
    Unknown,
}

/// The part that failed first, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaveWay {
    /// The part.
    pub part: Part,
    /// Text with counts, and the cause if it is known.
    pub what: String,
}

/// A number of streams that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Number of streams.
    pub streams: u16,
    /// True if it was tried for the time of the hold.
    pub is_hold: bool,
    /// Number of attempts.
    pub attempts: u8,
    /// Number of failed attempts.
    pub failed: u8,
    /// The part that failed, if that ended the attempts.
    pub gave_way: Option<GaveWay>,
}

/// A search, as stored in its last run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The load of this run.
    pub wanted: Wanted,
    /// Maximum number of streams to try.
    pub max: u16,
    /// Required number of streams, if the result is judged.
    pub at_least: Option<u16>,
    /// The attempts before this run, in order.
    pub tried: Vec<Tried>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// The search and its bounds.
    pub search: Search,
    /// Result of the hold.
    pub hold: Attempt,
}

impl Capacity {
    /// The answer that the hold `run` gives to its search.
    pub fn of(search: Search, run: &RunView) -> Self {
        let hold = Attempt::of(run, &search.wanted, Proof::Stated);
        Self { search, hold }
    }

    /// Number of streams that succeeded in the hold.
    pub fn streams(&self) -> Option<u16> {
        self.hold.gave_way.is_none().then_some(self.search.wanted.streams)
    }

    /// The end of the search: the smallest number of streams that failed, and the part that failed. `None` if
    /// everything up to the maximum succeeded.
    pub fn limited_by(&self) -> Option<(u16, &GaveWay)> {
        let of_hold = self
            .hold
            .gave_way
            .as_ref()
            .map(|what| (self.search.wanted.streams, what));
        // Of several failures with the same number of streams, the hold is the most reliable.
        let tried = self.search.tried.iter().rev();
        let of_search = tried.filter_map(|tried| Some((tried.streams, tried.gave_way.as_ref()?)));
        of_hold.into_iter().chain(of_search).min_by_key(|(streams, _)| *streams)
    }

    /// The verdict on the required number, or on the failure to get an answer; `None` if there is nothing to judge.
    pub fn verdict(&self) -> Option<Verdict> {
        let held = self.streams().unwrap_or(0);
        let by_host = |(_, what): &(u16, &GaveWay)| what.part == Part::Host;
        let host = self.limited_by().filter(by_host).map(|(streams, _)| streams);
        match self.search.at_least {
            Some(wanted) if held >= wanted => Some(Verdict::Pass),
            Some(wanted) if host.is_some_and(|streams| streams <= wanted) => Some(Verdict::Fail),
            Some(_) => Some(Verdict::Inconclusive),
            // Failing with a single stream is also an answer.
            None if held > 0 || host == Some(1) => None,
            None => Some(Verdict::Inconclusive),
        }
    }
}
