//! Spans of time in which something was not heard, as far back as a shot can reach.

/// Spans that are kept.
const KEPT: usize = 32;

/// The last spans in which something was not heard. Each is from the last that came to the first that came again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    spans: [(i64, i64); KEPT],
    count: usize,
}

impl Gaps {
    /// Adds a span. It joins the last one if the two meet.
    pub(crate) fn add(&mut self, from_ns: i64, until_ns: i64) {
        if self.count > 0 {
            let last = &mut self.spans[(self.count - 1) % KEPT];
            if from_ns <= last.1 {
                last.1 = last.1.max(until_ns);
                return;
            }
        }
        self.spans[self.count % KEPT] = (from_ns, until_ns);
        self.count += 1;
    }

    /// True if something was not heard between two instants. A time before the oldest span that is kept counts as not heard.
    pub(crate) fn touch(&self, from_ns: i64, until_ns: i64) -> bool {
        let kept = &self.spans[..self.count.min(KEPT)];
        let is_beyond = self.count > KEPT && kept.iter().all(|span| from_ns < span.0);
        is_beyond || kept.iter().any(|span| span.0 <= until_ns && from_ns <= span.1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gaps, KEPT};

    #[test]
    fn spans_touch_what_they_overlap_and_old_ones_are_in_doubt() {
        let mut gaps = Gaps::default();
        assert!(!gaps.touch(i64::MIN, i64::MAX));
        gaps.add(10, 20);
        gaps.add(15, 30);
        assert!(gaps.touch(30, 40) && gaps.touch(0, 10) && !gaps.touch(31, 40) && !gaps.touch(0, 9));
        for n in 1..=KEPT as i64 {
            gaps.add(n * 100, n * 100 + 1);
        }
        assert!(gaps.touch(50, 60), "older than all that is kept");
        assert!(!gaps.touch(150, 160));
    }
}
