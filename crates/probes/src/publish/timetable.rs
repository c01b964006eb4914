//! Due instants of a stream's frames, and the frames that are skipped after an overrun.

use units::{Grid, Monotonic};

/// Samples a second and ASDUs in a frame, which are the same for all streams that are due together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) rate: u32,
    pub(crate) asdus: u8,
}

impl Pace {
    pub(crate) fn frames_per_second(self) -> u64 {
        u64::from(self.rate) / u64::from(self.asdus.max(1))
    }

    /// Time between frames of a stream, in ns.
    pub(crate) fn interval_ns(self) -> f64 {
        f64::from(self.asdus) * 1e9 / f64::from(self.rate)
    }
}

/// Schedule of the frames of a pace, from a full second on.
pub(crate) struct Timetable {
    pub(crate) pace: Pace,
    /// Grid of the samples.
    grid: Grid,
    /// Number of the frame that is due next, counted from the first second.
    pub(crate) frame: u64,
    /// Number of frames; `None` for no end.
    frames: Option<u64>,
}

impl Timetable {
    /// Makes a timetable that begins at instant 0 and has no end.
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            grid: Grid::per_second(Monotonic::from_ns(0), u64::from(pace.rate)),
            frame: 0,
            frames: None,
        }
    }

    /// Sets the start to the second at `start`, and the length to `duration_ns`.
    pub(crate) fn begin(&mut self, start: Monotonic, duration_ns: Option<u64>) {
        self.grid = Grid::per_second(start, u64::from(self.pace.rate));
        self.frames = duration_ns.map(|ns| frames_in(ns, self.pace.frames_per_second()));
        self.frame = 0;
    }

    /// First sample of the frame that is due next, counted from the first second.
    pub(crate) fn first_sample(&self) -> u64 {
        self.frame * u64::from(self.pace.asdus)
    }

    /// Due instant of the next frame, which is that of its last sample; `None` if none is left.
    pub(crate) fn due(&self) -> Option<Monotonic> {
        let asdus = u64::from(self.pace.asdus);
        let is_left = self.frames.is_none_or(|frames| self.frame < frames);
        is_left.then(|| self.grid.due(self.first_sample() + asdus - 1))
    }

    /// Continues after the frame sent at `sent`; returns the number of frames that became due meanwhile and are skipped.
    pub(crate) fn go_on(&mut self, sent: Monotonic, is_late: bool) -> u64 {
        let mut next = self.frame + 1;
        if is_late {
            let asdus = u64::from(self.pace.asdus);
            let sample = self.grid.first_after(sent);
            next = next.max(sample.saturating_sub(asdus - 1).div_ceil(asdus));
        }
        // Frames after the end were never due.
        next = self.frames.map_or(next, |frames| next.min(frames));
        let missed = next - self.frame - 1;
        self.frame = next;
        missed
    }
}

/// Number of frames due in `duration_ns`. The time between frames is not always a whole number of nanoseconds.
fn frames_in(duration_ns: u64, per_second: u64) -> u64 {
    let frames = u128::from(duration_ns) * u128::from(per_second) / 1_000_000_000;
    u64::try_from(frames).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::frames_in;

    #[test]
    fn a_week_has_as_many_frames_as_its_seconds() {
        let week_s = 7 * 86_400;
        assert_eq!(frames_in(week_s * 1_000_000_000, 4_800), week_s * 4_800);
        assert_eq!(frames_in(100_000_000, 4_800), 480);
    }
}
