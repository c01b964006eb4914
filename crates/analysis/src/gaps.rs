//! The longest times between two frames of a stream.

/// Number of worst gaps kept for each stream and window, the same as that of worst samples in the run file.
const WORST: usize = 100;
/// Largest number of gaps over the threshold kept for each stream and window. A threshold that is far too low must not fill the memory; the counter
/// counts all of them.
const MOST: usize = 1_000;

/// Time between two consecutive frames of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Length in ns, by the stamps of the capture. Negative if the later frame has the earlier stamp.
    pub ns: i64,
    /// Number of the frame at its end.
    pub frame: u64,
    /// End of the gap, in ns from the first stamp of the capture.
    pub at_ns: u64,
}

/// The worst of many gaps: the longest 100, and all over the threshold up to the longest 1000.
#[derive(Debug, Clone)]
pub(crate) struct Worst {
    kept: stats::Worst<Gap>,
    /// Gaps up to this length in ns are not kept.
    floor_ns: i64,
    over: usize,
}

impl Worst {
    pub(crate) fn new() -> Self {
        Self {
            kept: stats::Worst::new(WORST),
            floor_ns: i64::MIN,
            over: 0,
        }
    }

    /// Takes a gap; `over` is true if it is over the threshold.
    #[inline]
    pub(crate) fn offer(&mut self, gap: Gap, over: bool) {
        if gap.ns > self.floor_ns || over {
            self.keep(gap, over);
        }
    }

    fn keep(&mut self, gap: Gap, over: bool) {
        self.over += usize::from(over);
        self.kept.make_room(self.over.min(MOST));
        self.kept.offer(gap.ns, gap);
        self.floor_ns = self.kept.floor().unwrap_or(self.floor_ns);
    }

    /// Raises the floor: from now on only gaps longer than the shortest of `kept`, or over the threshold, are kept.
    pub(crate) fn not_below(&mut self, kept: &Self) {
        self.floor_ns = self.floor_ns.max(kept.floor_ns);
    }

    /// Takes the gaps out, longest first.
    pub(crate) fn take(&mut self) -> Vec<Gap> {
        let mut kept = std::mem::replace(self, Self::new()).kept;
        kept.take().into_iter().map(|(_, gap)| gap).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, Worst};

    fn worst(gaps: impl IntoIterator<Item = i64>, threshold: i64) -> Vec<(i64, u64)> {
        let mut worst = Worst::new();
        for (frame, ns) in (1..).zip(gaps) {
            worst.offer(Gap { ns, frame, at_ns: 0 }, ns > threshold);
        }
        worst.take().iter().map(|gap| (gap.ns, gap.frame)).collect()
    }

    #[test]
    fn the_longest_hundred_and_of_equals_the_earlier() {
        let found = worst((0..1000).map(|n| n / 2), i64::MAX);
        assert_eq!(found.len(), 100);
        assert_eq!(found[..3], [(499, 999), (499, 1000), (498, 997)]);
        assert_eq!(
            worst([7; 300], i64::MAX),
            (1..=100).map(|frame| (7, frame)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn all_over_the_threshold_up_to_a_thousand() {
        assert_eq!(worst(0..1000, 499).len(), 500);
        assert_eq!(worst((0..5000).rev(), 0).len(), 1000);
    }
}
