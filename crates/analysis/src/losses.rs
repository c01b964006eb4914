//! Where samples of a stream were lost.

/// Places that are kept; the counters have all of them.
const MOST: usize = 1_000;

/// A place of a stream at which samples are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// Number of the stream's last frame before it.
    pub after_frame: u64,
    /// Number of the frame behind it.
    pub frame: u64,
    /// When that came, ns from the first stamp of the capture.
    pub at_ns: u64,
    /// Name of the counter.
    pub counter: &'static str,
    /// The last count before it.
    pub from: u64,
    /// The first count behind it.
    pub to: u64,
    /// Samples that never came.
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

    /// A sample came late that was taken for lost: the last place that has it has one less.
    pub(crate) fn found(&mut self, count: u64) {
        let has = |loss: &&mut Loss| match loss.from < loss.to {
            true => (loss.from + 1..loss.to).contains(&count),
            false => count > loss.from || count < loss.to,
        };
        if let Some(loss) = self.0.iter_mut().rev().take(20).find(has) {
            loss.missing = loss.missing.saturating_sub(1);
        }
    }

    /// So many counts, of whole turns, were not missing after all at the last place that has them.
    pub(crate) fn take_back(&mut self, counts: u64) {
        if let Some(loss) = self
            .0
            .iter_mut()
            .rev()
            .take(20)
            .find(|loss| loss.missing >= counts.saturating_sub(1))
        {
            loss.missing = loss.missing.saturating_sub(counts);
        }
    }

    /// The places at which something is missing for good.
    pub(crate) fn finish(self) -> Vec<Loss> {
        self.0.into_iter().filter(|loss| loss.missing > 0).collect()
    }
}
