//! The longest times between two frames of a stream.

/// Worst gaps kept of each stream and window, as the run file promises for the worst samples.
const WORST: usize = 100;
/// Gaps over the threshold kept of each stream and window. A threshold set far too low must not flood the memory: the
/// counter has them all.
const MOST: usize = 1_000;

/// Time between two frames of a stream that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// How long, by the stamps of the capture. Negative when the later frame has the earlier stamp.
    pub ns: i64,
    /// Number of the frame at its end.
    pub frame: u64,
    /// When it ended, ns from the first stamp of the capture.
    pub at_ns: u64,
}

/// The worst of many gaps: the longest 100, and all over the threshold up to the longest 1000.
#[derive(Debug, Clone)]
pub(crate) struct Worst {
    kept: stats::Worst<Gap>,
    /// No gap up to this one is kept.
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

    /// Takes a gap; `over` when it is over the threshold.
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

    /// From here on no gap up to the shortest of `kept` is kept, unless it is over the threshold.
    pub(crate) fn not_below(&mut self, kept: &Self) {
        self.floor_ns = self.floor_ns.max(kept.floor_ns);
    }

    /// The gaps, longest first; none is left.
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
