//! Strange answers: from a station other than the far end, or with contents that were not sent.

use super::series;
use run::Feed;
use units::Monotonic;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{HEADER, TestFrameKind};

/// Who the far end is, and what came that is not from it, or not what it was given.
#[derive(Debug)]
pub(super) struct Strange {
    far: Option<Mac>,
    others: u64,
    changed: u64,
}

impl Strange {
    /// `peer`: the far end, or a group that it is in: then it is who answers first.
    pub(super) fn new(peer: Mac) -> Self {
        Self {
            far: (!peer.is_multicast()).then_some(peer),
            others: 0,
            changed: 0,
        }
    }

    /// The far end has answered a greeting.
    pub(super) fn met(&mut self, far: Mac) {
        self.far = self.far.or(Some(far));
    }

    /// Whether a frame of our session is the far end's answer to `sent`, whose sequence number may be another; counts what is not.
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

    /// Says what came.
    pub(super) fn say(&self, now: Monotonic, feed: &mut Feed) {
        for (code, count) in [(series::OTHERS, self.others), (series::CHANGED, self.changed)] {
            if count > 0 {
                feed.notice(series::RTT, code, now, count, 0);
            }
        }
    }
}

/// Whether what came is not shorter than what was sent, and holds the same behind the fields.
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

    /// Whether it is taken, as the answer of `from`, changed so.
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
}
