//! Frames that are delayed longer than allowed.

/// Delay of each frame: twice the time that IEC 61869-9 allows a merging unit and its network.
const LATE_NS: u64 = 4_000_000;

/// A line that returns each frame a fixed number of frames later.
pub(super) struct DelayLine {
    ring: Vec<Vec<u8>>,
    /// Position of the oldest frame.
    oldest: usize,
    held: usize,
}

impl DelayLine {
    /// Makes a line for frames as long as this one, at this rate of frames a second.
    pub(super) fn of(frame: &[u8], per_second: u64) -> Self {
        let frames = (per_second * LATE_NS).div_ceil(1_000_000_000).max(1);
        Self {
            ring: vec![frame.to_vec(); usize::try_from(frames).unwrap_or(1)],
            oldest: 0,
            held: 0,
        }
    }

    /// True if there is no room for one more frame.
    pub(super) fn is_full(&self) -> bool {
        self.held == self.ring.len()
    }

    /// Adds a frame. There must be room.
    pub(super) fn push(&mut self, frame: &[u8]) {
        let place = (self.oldest + self.held) % self.ring.len();
        self.ring[place].copy_from_slice(frame);
        self.held += 1;
    }

    /// The oldest frame.
    pub(super) fn pop(&mut self) -> Option<&[u8]> {
        let place = self.oldest;
        self.held = self.held.checked_sub(1)?;
        self.oldest = (place + 1) % self.ring.len();
        Some(&self.ring[place])
    }
}

#[cfg(test)]
mod tests {
    use super::DelayLine;

    #[test]
    fn frames_come_out_in_their_order_behind_as_many_as_fit() {
        let mut line = DelayLine::of(&[0], 1_000);
        let mut out = Vec::new();
        for number in 0..10 {
            if line.is_full() {
                out.extend(line.pop().map(|frame| frame[0]));
            }
            line.push(&[number]);
        }
        assert_eq!(out, [0, 1, 2, 3, 4, 5], "four are on their way");
        while let Some(frame) = line.pop() {
            out.push(frame[0]);
        }
        assert_eq!(out, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(!line.is_full());
    }
}
