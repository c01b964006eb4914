//! Time between consecutive frames of one stream.

use crate::bursts::{BurstCounts, Bursts};
use crate::gaps::{Gap, Worst};
use crate::resolution::Resolution;
use model::Tally;

/// Shortest silence in ns in which a counter can wrap: 128 frames of 8 us.
const MAYBE_SILENT_NS: i64 = 1_000_000;

/// Time stamp of a frame, compared with that of the stream's previous frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// Not earlier, or the first frame.
    Fine,
    /// The stamp is so much later, in ns, that a counter may have wrapped.
    Silent(i64),
    /// The stamp is earlier by this many ns.
    Back(u64),
    /// Without a stamp.
    Missing,
}

/// Length of a silence after which the counter of a stream does not show the losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wraps {
    /// The counter does not wrap in any silence.
    Never,
    /// After the time of half of this many frames at the nominal spacing.
    EveryFrames(i64),
}

/// The spacing of one stream: the open window, and the total of the closed ones.
#[derive(Debug)]
pub(crate) struct Spacing {
    last_ns: Option<i64>,
    threshold_ns: i64,
    wraps: Wraps,
    pub(crate) open: Tally,
    /// Made when the first window is closed, because a capture with one window needs no second histogram.
    closed: Option<Box<Tally>>,
    worst: Worst,
    worst_closed: Worst,
    /// `None` for a stream that is not periodic.
    bursts: Option<Bursts>,
    /// Frames whose stamp is earlier than that of the previous frame.
    pub(crate) back: u64,
    /// Frames without a stamp.
    pub(crate) unstamped: u64,
    pub(crate) resolution: Resolution,
}

/// The spacing of one stream over the whole capture.
pub(crate) struct Total {
    pub(crate) tally: Tally,
    pub(crate) worst: Vec<Gap>,
    pub(crate) bursts: BurstCounts,
    pub(crate) nominal_ns: Option<i64>,
}

impl Spacing {
    pub(crate) fn new(threshold_ns: Option<u64>, periodic: bool, wraps: Wraps) -> Self {
        Self {
            last_ns: None,
            threshold_ns: threshold_ns.and_then(|ns| i64::try_from(ns).ok()).unwrap_or(i64::MAX),
            wraps,
            open: Tally::default(),
            closed: None,
            worst: Worst::new(),
            worst_closed: Worst::new(),
            bursts: periodic.then(Bursts::default),
            back: 0,
            unstamped: 0,
            resolution: Resolution::default(),
        }
    }

    /// Takes a frame with `samples` samples.
    #[inline]
    pub(crate) fn frame(&mut self, time_ns: Option<i64>, frame: u64, at_ns: u64, samples: u64) -> Stamp {
        let Some(time_ns) = time_ns else {
            self.last_ns = None;
            self.unstamped += 1;
            return Stamp::Missing;
        };
        self.resolution.take(time_ns);
        let Some(before) = self.last_ns.replace(time_ns) else {
            return Stamp::Fine;
        };
        let ns = time_ns.saturating_sub(before);
        self.open.sample(ns, samples);
        let over = ns > self.threshold_ns;
        if over {
            self.open.counters.overflow += samples;
        }
        self.worst.offer(Gap { ns, frame, at_ns }, over);
        if let Some(bursts) = &mut self.bursts {
            bursts.take(ns, &self.open.histogram);
        }
        if ns < 0 {
            self.back += 1;
            return Stamp::Back(ns.unsigned_abs());
        }
        if ns > MAYBE_SILENT_NS && self.is_silence(ns) {
            return Stamp::Silent(ns);
        }
        Stamp::Fine
    }

    fn is_silence(&self, ns: i64) -> bool {
        let every_ns = match self.wraps {
            Wraps::Never => return false,
            Wraps::EveryFrames(frames) => {
                let nominal_ns = self.bursts.as_ref().and_then(Bursts::nominal_ns);
                nominal_ns.unwrap_or(i64::MAX).saturating_mul(frames)
            }
        };
        ns >= every_ns / 2
    }

    /// The usual time between two frames in ns, if it is already known.
    pub(crate) fn nominal_ns(&self) -> Option<i64> {
        self.bursts.as_ref().and_then(Bursts::nominal_ns)
    }

    /// Closes the window and passes it to `with`, unless nothing was counted in it.
    pub(crate) fn close(&mut self, with: impl FnOnce(&Tally, &[Gap])) {
        if self.open.is_empty() {
            return;
        }
        let worst = self.worst.take();
        with(&self.open, &worst);
        for gap in worst {
            self.worst_closed.offer(gap, false);
        }
        self.worst.not_below(&self.worst_closed);
        self.closed
            .get_or_insert_with(|| Box::new(Tally::default()))
            .merge(&self.open);
        self.open.reset();
    }

    /// Closes the last window in the same way, and returns the total.
    pub(crate) fn finish(mut self, with: impl FnOnce(&Tally, &[Gap])) -> Total {
        let last = self.worst.take();
        if !self.open.is_empty() {
            with(&self.open, &last);
        }
        for gap in last {
            self.worst_closed.offer(gap, false);
        }
        let tally = match self.closed {
            None => self.open,
            Some(mut closed) => {
                closed.merge(&self.open);
                *closed
            }
        };
        let (bursts, nominal_ns) = self.bursts.as_mut().map(Bursts::finish).unwrap_or_default();
        Total {
            tally,
            worst: self.worst_closed.take(),
            bursts,
            nominal_ns,
        }
    }
}
