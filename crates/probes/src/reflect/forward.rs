//! Frames that arrived at the reflector: each counted once, and those that came twice or out of order.

use wire::test_frame::Summary;

/// Number of remembered sequence numbers: two seconds at 250 us, the same as at the initiator.
const REMEMBERED: u64 = 8_192;

/// Counts of the frames of one session that arrived here.
#[derive(Debug)]
pub(super) struct Forward {
    session: Option<u32>,
    /// One bit for each of the last [`REMEMBERED`] sequence numbers, set if its frame arrived.
    came: Box<[u64]>,
    highest: u64,
    counted: Summary,
}

impl Forward {
    pub(super) fn new() -> Self {
        Self {
            session: None,
            came: vec![0; REMEMBERED as usize / 64].into(),
            highest: 0,
            counted: Summary::default(),
        }
    }

    /// Counts of a session; zeros unless it is the last session.
    pub(super) fn summary_of(&self, session: u32) -> Summary {
        match self.session {
            Some(last) if last == session => self.counted,
            _ => Summary::default(),
        }
    }

    /// Counts a frame. A frame of another session starts new counts.
    pub(super) fn came(&mut self, session: u32, sequence: u64) {
        if self.session != Some(session) {
            self.session = Some(session);
            self.came.fill(0);
            self.counted = Summary::default();
            self.highest = sequence;
            self.first_time(sequence);
            return;
        }
        if sequence > self.highest {
            self.forget_up_to(sequence);
            self.first_time(sequence);
        } else if self.highest - sequence >= REMEMBERED || self.has_come(sequence) {
            // Too old to be remembered: the initiator has given it up as well, so it is not counted.
            self.counted.duplicate += 1;
        } else {
            self.counted.reordered += 1;
            self.first_time(sequence);
        }
    }

    /// Makes room for the sequence numbers up to `sequence`, which is now the highest.
    fn forget_up_to(&mut self, sequence: u64) {
        if sequence - self.highest >= REMEMBERED {
            self.came.fill(0);
        } else {
            for gone in self.highest + 1..=sequence {
                let (word, bit) = place(gone);
                self.came[word] &= !bit;
            }
        }
        self.highest = sequence;
    }

    fn has_come(&self, sequence: u64) -> bool {
        let (word, bit) = place(sequence);
        self.came[word] & bit != 0
    }

    fn first_time(&mut self, sequence: u64) {
        let (word, bit) = place(sequence);
        self.came[word] |= bit;
        self.counted.received += 1;
    }
}

fn place(sequence: u64) -> (usize, u64) {
    let place = sequence % REMEMBERED;
    ((place / 64) as usize, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use super::{Forward, REMEMBERED};

    #[test]
    fn each_frame_is_counted_once() {
        let mut forward = Forward::new();
        for sequence in [64, 65, 67, 66, 66, 70, 64] {
            forward.came(1, sequence);
        }
        let counted = forward.summary_of(1);
        assert_eq!((counted.received, counted.duplicate, counted.reordered), (5, 2, 1));
        forward.came(2, 64);
        assert_eq!(
            (forward.summary_of(2).received, forward.summary_of(2).duplicate),
            (1, 0),
            "another session"
        );
    }

    #[test]
    fn places_are_used_again() {
        let mut forward = Forward::new();
        for sequence in (0..10 * REMEMBERED).filter(|sequence| sequence % 3 != 0) {
            forward.came(1, sequence);
        }
        let counted = forward.summary_of(1);
        let came = (0..10 * REMEMBERED).filter(|sequence| sequence % 3 != 0).count() as u64;
        assert_eq!((counted.received, counted.duplicate, counted.reordered), (came, 0, 0));
        forward.came(1, 20 * REMEMBERED);
        forward.came(1, 20 * REMEMBERED - 3);
        assert_eq!(
            (forward.summary_of(1).received, forward.summary_of(1).reordered),
            (came + 2, 1),
            "after a long gap"
        );
    }
}
