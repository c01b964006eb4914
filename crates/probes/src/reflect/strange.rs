//! Unexpected answers: from a station other than the far end, with changed contents, or twice for each frame.

use super::notice::Notice;
use super::series;
use run::Feed;
use units::Monotonic;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{HEADER, TestFrameKind};

/// Number of frames answered twice in a row that is no coincidence.
const DOUBLED: u64 = 16;

/// Identity of the far end, and counts of unexpected answers.
#[derive(Debug)]
pub(super) struct Strange {
    far: Option<Mac>,
    others: u64,
    changed: u64,
    /// Number of frames answered twice; the last of them, the length of the row that it ends, and the longest row.
    again: u64,
    last_again: u64,
    row: u64,
    longest_row: u64,
}

impl Strange {
    /// `peer` is the far end, or a group that contains it; in a group, the first station that answers is the far end.
    pub(super) fn new(peer: Mac) -> Self {
        Self {
            far: (!peer.is_multicast()).then_some(peer),
            others: 0,
            changed: 0,
            again: 0,
            last_again: 0,
            row: 0,
            longest_row: 0,
        }
    }

    /// Records the station that answered a greeting; the first one is the far end.
    pub(super) fn met(&mut self, far: Mac) {
        self.far = self.far.or(Some(far));
    }

    /// True if a frame of our session is the far end's answer to `sent`, apart from its sequence number; otherwise it is counted.
    #[inline]
    pub(super) fn is_answer(&mut self, kind: TestFrameKind, came: &EthernetView<'_>, sent: &[u8]) -> bool {
        if self.far.is_some_and(|far| far != came.src()) {
            self.others += 1;
            return false;
        }
        // The answer to a farewell has other contents.
        let is_same = kind != TestFrameKind::Probe || has_same_data(came, sent);
        self.changed += u64::from(!is_same);
        is_same
    }

    /// Records that frame `sequence` was answered twice. A row of such frames means two stations that answer, or two paths.
    pub(super) fn again(&mut self, sequence: u64) {
        self.again += 1;
        self.row = match self.last_again.checked_add(1) {
            Some(next) if next == sequence => self.row + 1,
            _ => 1,
        };
        self.last_again = sequence;
        self.longest_row = self.longest_row.max(self.row);
    }

    /// Reports the counts of unexpected answers.
    pub(super) fn say(&self, now: Monotonic, feed: &mut Feed) {
        if self.longest_row >= DOUBLED {
            feed.notice(series::RTT, Notice::Double, now, self.again, self.longest_row);
        }
        for (code, count) in [(Notice::Others, self.others), (Notice::Changed, self.changed)] {
            if count > 0 {
                feed.notice(series::RTT, code, now, count, 0);
            }
        }
    }
}

/// True if the received frame is not shorter than the sent one and has the same data after the fields.
fn has_same_data(came: &EthernetView<'_>, sent: &[u8]) -> bool {
    let Ok(sent) = EthernetView::parse(sent) else {
        return false;
    };
    let (sent, came) = (sent.payload(), came.payload());
    came.len() >= sent.len() && came[HEADER..sent.len()] == sent[HEADER..]
}

#[cfg(test)]
mod tests {
    use super::Strange;
    use wire::ether::{EthernetView, Mac};
    use wire::test_frame::{MIN_OCTETS, TestFrame, TestFrameKind, reflect};

    const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const FAR: Mac = Mac([2, 0, 0, 0, 0, 2]);
    const OTHER: Mac = Mac([2, 0, 0, 0, 0, 3]);

    fn probe() -> Vec<u8> {
        let frame = TestFrame {
            kind: TestFrameKind::Probe,
            flags: 0,
            session: 1,
            sequence: 2,
            sent_ns: 0,
        };
        frame.encode(FAR, OWN, None, MIN_OCTETS)
    }

    /// True if the answer of `from`, modified by the function, is accepted.
    fn is_taken(strange: &mut Strange, from: Mac, change: impl FnOnce(&mut Vec<u8>)) -> bool {
        let mut answer = probe();
        reflect(&mut answer, from);
        change(&mut answer);
        let ethernet = EthernetView::parse(&answer).expect("a frame");
        strange.is_answer(TestFrameKind::Probe, &ethernet, &probe())
    }

    #[test]
    fn only_the_far_ends_unchanged_answers_are_taken() {
        let mut strange = Strange::new(Mac::BROADCAST);
        assert!(is_taken(&mut strange, OTHER, |_| ()), "the far end is not known yet");
        strange.met(FAR);
        strange.met(OTHER);
        assert!(is_taken(&mut strange, FAR, |_| ()));
        assert!(
            is_taken(&mut strange, FAR, |answer| answer.push(0)),
            "padded on its way"
        );
        assert!(!is_taken(&mut strange, OTHER, |_| ()));
        assert!(!is_taken(&mut strange, FAR, |answer| answer[59] = 1));
        assert!(!is_taken(&mut strange, FAR, |answer| answer.truncate(50)));
        assert_eq!((strange.others, strange.changed), (1, 2));
        assert!(!is_taken(&mut Strange::new(FAR), OTHER, |_| ()), "the far end is given");
    }

    #[test]
    fn a_row_of_frames_that_are_answered_twice_is_no_chance() {
        let mut strange = Strange::new(FAR);
        (0..1_000)
            .filter(|number| number % 8 < 3)
            .for_each(|number| strange.again(number));
        assert_eq!((strange.again, strange.longest_row), (375, 3));
        (2_000..2_020).for_each(|number| strange.again(number));
        assert_eq!(strange.longest_row, 20);
    }
}
