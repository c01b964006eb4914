//! Several passages in one view: how long each step took.

use super::passages::{Passage, PassageStep, What};
use std::collections::BTreeMap;

/// A step that passages have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSummary {
    /// At what.
    pub what: What,
    /// The interface the frame belonged to.
    pub interface: String,
    /// Inode number of its network namespace; 0: unknown.
    pub netns: u32,
    /// The how-manieth of such steps in a passage, from 1.
    pub occurrence: usize,
    /// Passages that have it.
    pub count: usize,
    /// Since the event before: half of the passages took no longer.
    pub median_delta_ns: u64,
    /// Since the event before, at most.
    pub max_delta_ns: u64,
    /// Since the passage began: half of the passages took no longer.
    pub median_since_first_ns: u64,
}

/// The steps of passages, in the order of their usual instants.
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

/// The lower one of two in the middle.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}
