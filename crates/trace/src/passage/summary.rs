//! Summarises several passages: the time of each step.

use super::passages::{Passage, PassageStep, What};
use std::collections::BTreeMap;

/// A step that several passages have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSummary {
    /// The tracepoint or function.
    pub what: What,
    /// The interface that the frame belonged to.
    pub interface: String,
    /// Inode number of its network namespace; 0: unknown.
    pub netns: u32,
    /// Position among the equal steps of a passage, from 1.
    pub occurrence: usize,
    /// Number of passages with this step.
    pub count: usize,
    /// Median time since the event before, in ns.
    pub median_delta_ns: u64,
    /// Longest time since the event before, in ns.
    pub max_delta_ns: u64,
    /// Median time since the passage began, in ns.
    pub median_since_first_ns: u64,
}

/// The steps of passages, in the order of their median instants.
pub fn summarize(passages: &[Passage]) -> Vec<StepSummary> {
    let mut steps: BTreeMap<(What, String, u32, usize), Vec<&PassageStep>> = BTreeMap::new();
    for passage in passages {
        let mut seen: BTreeMap<(&What, &str, u32), usize> = BTreeMap::new();
        for step in &passage.steps {
            let occurrence = seen.entry((&step.what, &step.interface, step.netns)).or_default();
            *occurrence += 1;
            let key = (step.what.clone(), step.interface.clone(), step.netns, *occurrence);
            steps.entry(key).or_default().push(step);
        }
    }
    let summaries = steps.into_iter().map(|((what, interface, netns, occurrence), steps)| {
        let of = |figure: fn(&PassageStep) -> u64| {
            let mut figures: Vec<u64> = steps.iter().map(|step| figure(step)).collect();
            figures.sort_unstable();
            figures
        };
        let (deltas, sinces) = (of(|step| step.delta_ns), of(|step| step.since_first_ns));
        StepSummary {
            what,
            interface,
            netns,
            occurrence,
            count: steps.len(),
            median_delta_ns: median(&deltas),
            max_delta_ns: deltas.last().copied().unwrap_or(0),
            median_since_first_ns: median(&sinces),
        }
    });
    let mut summaries: Vec<StepSummary> = summaries.collect();
    summaries.sort_by_key(|summary| summary.median_since_first_ns);
    summaries
}

/// The median; of two middle values, the lower.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}
