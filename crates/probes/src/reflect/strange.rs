//! Strange answers: from a station other than the far end, with contents that were not sent, or twice each.

use super::notice::Notice;
use super::series;
use run::Feed;
use units::Monotonic;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{HEADER, TestFrameKind};

/// So many frames in a row do not come twice by chance.
const DOUBLED: u64 = 16;

/// Identity of the far end, and what came that is not from it, or not what it was given.
#[derive(Debug)]
pub(super) struct Strange {
    far: Option<Mac>,
    others: u64,
    changed: u64,
    /// Frames that were answered again, the last of them, how many in a row it ends, and most in a row.
    again: u64,
    last_again: u64,
    row: u64,
    longest_row: u64,
}

impl Strange {
    /// `peer`: the far end, or a group that it is in: then it is who answers first.
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

    /// The far end has answered a greeting.
    pub(super) fn met(&mut self, far: Mac) {
        self.far = self.far.or(Some(far));
    }

    /// True if a frame of our session is the far end's answer to `sent`, whose sequence number may be another; counts what is not.
    #[inline]
    pub(super) fn is_answer(&mut self, kind: TestFrameKind, came: &EthernetView<'_>, sent: &[u8]) -> bool {
        if self.far.is_some_and(|far| far != came.src()) {
            self.others += 1;
            return false;
        }
        // A farewell is answered with other contents.
        let is_same = kind != TestFrameKind::Probe || has_same_data(came, sent);
        self.changed += u64::from(!is_same);
        is_same
    }

    /// Frame number `sequence` was answered again. A row of such frames is of two stations that answer, or of two ways.
    pub(super) fn again(&mut self, sequence: u64) {
        self.again += 1;
        self.row = match self.last_again.checked_add(1) {
            Some(next) if next == sequence => self.row + 1,
            _ => 1,
        };
        self.last_again = sequence;
        self.longest_row = self.longest_row.max(self.row);
    }

    /// Says what came.
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

/// True if what came is not shorter than what was sent, and holds the same behind the fields.
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

    /// True if it is taken, as the answer of `from`, changed so.
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
        assert!(is_taken(&mut strange, OTHER, |_| ()), "nobody is known yet");
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
        assert!(!is_taken(&mut Strange::new(FAR), OTHER, |_| ()), "told who it is");
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
