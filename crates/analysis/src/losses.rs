//! Places at which samples of a stream were lost.

/// Largest number of places that are kept; the counters count all of them.
const MOST: usize = 1_000;

/// A place of a stream at which samples are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// Number of the stream's last frame before the place.
    pub after_frame: u64,
    /// Number of the first frame after the place.
    pub frame: u64,
    /// Instant at which that frame came, in ns from the first stamp of the capture.
    pub at_ns: u64,
    /// Name of the counter.
    pub counter: &'static str,
    /// The last count before the place.
    pub from: u64,
    /// The first count after the place.
    pub to: u64,
    /// Number of samples that never came.
    pub missing: u64,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            after_frame,
            frame,
            counter,
            from,
            to,
            missing,
            ..
        } = self;
        write!(
            out,
            "{missing} lost between {counter} {from} (frame {after_frame}) and {to} (frame {frame})"
        )
    }
}

/// The places of one stream, in order.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<Loss>);

impl Losses {
    pub(crate) fn add(&mut self, loss: Loss) {
        if self.0.len() < MOST {
            self.0.push(loss);
        }
    }

    /// Corrects the last place that contains the sample `count`, which was counted as lost and came late.
    pub(crate) fn found(&mut self, count: u64) {
        let has = |loss: &&mut Loss| match loss.from < loss.to {
            true => (loss.from + 1..loss.to).contains(&count),
            false => count > loss.from || count < loss.to,
        };
        if let Some(loss) = self.0.iter_mut().rev().take(20).find(has) {
            loss.missing = loss.missing.saturating_sub(1);
        }
    }

    /// Corrects the last place at which so many counts are missing, which turned out not to be missing; or, without such a place, the last places.
    pub(crate) fn take_back(&mut self, counts: u64) {
        let is_enough = |loss: &&mut Loss| loss.missing >= counts.saturating_sub(1).max(1);
        if let Some(loss) = self.0.iter_mut().rev().take(20).find(is_enough) {
            loss.missing = loss.missing.saturating_sub(counts);
            return;
        }
        let mut left = counts;
        for loss in self.0.iter_mut().rev().take(20) {
            let taken = loss.missing.min(left);
            loss.missing -= taken;
            left -= taken;
        }
    }

    /// The places at which samples are still missing at the end.
    pub(crate) fn finish(self) -> Vec<Loss> {
        self.0.into_iter().filter(|loss| loss.missing > 0).collect()
    }
}
