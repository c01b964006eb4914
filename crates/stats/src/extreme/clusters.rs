//! Peaks that belong together.

/// A value above what was worth keeping, and when it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// When, in ns of any clock that only goes forwards.
    pub at_ns: u64,
    /// How much, in ns.
    pub value_ns: f64,
}

/// The largest peak of each cluster, in order of time: a cluster ends where no peak follows for `gap_ns` (declustering by
/// runs: Coles 2001, section 5.3.2). One stall makes many samples late, and counting each would make rare stalls look
/// frequent and sure. `peaks` are in order of time.
pub fn decluster(peaks: &[Peak], gap_ns: u64) -> Vec<Peak> {
    peaks
        .chunk_by(|early, late| late.at_ns.saturating_sub(early.at_ns) <= gap_ns)
        .filter_map(|cluster| cluster.iter().copied().max_by(|a, b| a.value_ns.total_cmp(&b.value_ns)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Peak, decluster};

    #[test]
    fn the_largest_of_each_cluster_stays() {
        let peak = |at_ns, value_ns| Peak { at_ns, value_ns };
        let peaks = [
            peak(0, 5.0),
            peak(10, 9.0),
            peak(20, 7.0),
            peak(31, 6.0),
            peak(100, 1.0),
        ];
        assert_eq!(decluster(&peaks, 10), [peak(10, 9.0), peak(31, 6.0), peak(100, 1.0)]);
        assert_eq!(decluster(&peaks, 1_000), [peak(10, 9.0)]);
        assert_eq!(decluster(&peaks, 0).len(), 5);
        assert!(decluster(&[], 10).is_empty());
    }
}
