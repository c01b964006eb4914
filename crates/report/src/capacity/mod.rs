//! The result of `capacity`: how many streams a host holds at least, and which part gave way first beyond that.
//!
//! Every attempt is a run of its own. The last one, the hold, is the run that stays: it keeps what was tried before it as its document
//! `capacity`, and the answer is made from both.

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

/// The name of the document in a run.
pub const DOCUMENT: &str = "capacity";

/// The demand on a host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Streams, and with a relay its bays.
    pub streams: u16,
    /// Samples a second of each.
    pub rate: u32,
    /// Samples in a frame.
    pub asdus: u8,
    /// True if a relay works on them.
    pub relay: bool,
    /// The share of all samples that must be there in time: 0.9999, for example.
    pub quantile: f64,
    /// In time, in ns: from the instant a sample is due until the application has it, or until the protection task works on it.
    pub within_ns: u64,
}

/// The part that gave way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The device under test: an answer.
    Host,
    /// The test set: it did not send in time what the host was to be tried with.
    TestSet,
    /// An event hides if the host held.
    Unknown,
}

/// The part that gave way first, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaveWay {
    /// The part.
    pub part: Part,
    /// In words, with counts and the cause where one is known.
    pub what: String,
}

/// A number of streams that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// How many.
    pub streams: u16,
    /// True if for the time of the hold.
    pub is_hold: bool,
    /// How often.
    pub attempts: u8,
    /// How often something gave way.
    pub failed: u8,
    /// The part that gave way, where that ended it.
    pub gave_way: Option<GaveWay>,
}

/// A search, as its last run keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The streams that this run was to hold.
    pub wanted: Wanted,
    /// The most that was to be tried.
    pub max: u16,
    /// How many there must be, if that is judged.
    pub at_least: Option<u16>,
    /// The attempts before this run, in order.
    pub tried: Vec<Tried>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// The search and its bounds.
    pub search: Search,
    /// The result of the hold.
    pub hold: Attempt,
}

impl Capacity {
    /// The answer that the hold `run` gives to its search.
    pub fn of(search: Search, run: &RunView) -> Self {
        let hold = Attempt::of(run, &search.wanted, Proof::Stated);
        Self { search, hold }
    }

    /// How many streams were held.
    pub fn streams(&self) -> Option<u16> {
        self.hold.gave_way.is_none().then_some(self.search.wanted.streams)
    }

    /// The end of the search: the fewest streams at which something gave way, and the part that did. `None`: all that were
    /// to be tried were held.
    pub fn limited_by(&self) -> Option<(u16, &GaveWay)> {
        let of_hold = self
            .hold
            .gave_way
            .as_ref()
            .map(|what| (self.search.wanted.streams, what));
        // Of what failed with equally many, the hold says most.
        let tried = self.search.tried.iter().rev();
        let of_search = tried.filter_map(|tried| Some((tried.streams, tried.gave_way.as_ref()?)));
        of_hold.into_iter().chain(of_search).min_by_key(|(streams, _)| *streams)
    }

    /// The verdict, where there is one to give: over the number that was asked for, or that there is no answer.
    pub fn verdict(&self) -> Option<Verdict> {
        let held = self.streams().unwrap_or(0);
        let by_host = |(_, what): &(u16, &GaveWay)| what.part == Part::Host;
        let host = self.limited_by().filter(by_host).map(|(streams, _)| streams);
        match self.search.at_least {
            Some(wanted) if held >= wanted => Some(Verdict::Pass),
            Some(wanted) if host.is_some_and(|streams| streams <= wanted) => Some(Verdict::Fail),
            Some(_) => Some(Verdict::Inconclusive),
            // Not even one is an answer, too.
            None if held > 0 || host == Some(1) => None,
            None => Some(Verdict::Inconclusive),
        }
    }
}
