//! Messages of the device: its answers, and changes that are no answers.

use crate::reception::{Account, Arrival};
use run::Feed;
use units::Monotonic;
use wire::ether::VlanTag;
use wire::goose::{Followed, Follower, Frame, Heard};

/// A change that is expected as the answer.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    value: bool,
    /// Start of the wait: an earlier message is no answer.
    from: Monotonic,
}

/// An answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pong {
    /// Time when the kernel received it.
    pub(super) at: Monotonic,
    /// True if it came with the first message of its state.
    pub(super) is_first: bool,
}

/// State of the device, as known from its messages.
pub(super) struct Device {
    pub(super) follower: Follower,
    awaited: Option<Awaited>,
    answer: Option<Pong>,
    /// Value of the last ping without an answer.
    overdue: Option<bool>,
    /// Number of answers after their deadline, until this is reset.
    pub(super) late: u64,
    /// Number of changes without a ping, until this is reset.
    pub(super) unwanted: u64,
    /// Number of GOOSE frames that could not be read.
    pub(super) malformed: u64,
    /// Number of times that the link went down.
    pub(super) link_downs: u64,
}

impl Device {
    pub(super) fn new(follower: Follower) -> Self {
        Self {
            follower,
            awaited: None,
            answer: None,
            overdue: None,
            late: 0,
            unwanted: 0,
            malformed: 0,
            link_downs: 0,
        }
    }

    /// Expects a change to `value` from `from` on as the answer.
    pub(super) fn await_answer(&mut self, value: bool, from: Monotonic) {
        self.answer = None;
        self.overdue = None;
        self.awaited = Some(Awaited { value, from });
    }

    /// Takes the answer, if it has come.
    pub(super) fn answer(&mut self) -> Option<Pong> {
        self.answer.take()
    }

    /// Stops waiting for the answer; if it still comes, it is late.
    pub(super) fn give_up(&mut self) {
        self.overdue = self.awaited.take().map(|awaited| awaited.value);
    }

    /// Records that the member became `value`.
    pub(super) fn changed(&mut self, value: bool, answer: Pong) {
        let is_answer = |awaited: &Awaited| awaited.value == value && answer.at >= awaited.from;
        if self.awaited.take_if(|awaited| is_answer(awaited)).is_some() {
            self.answer = Some(answer);
        } else if self.overdue.take_if(|overdue| *overdue == value).is_some() {
            self.late += 1;
        } else {
            self.unwanted += 1;
        }
    }
}

impl Account for Device {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, _feed: &mut Feed) -> bool {
        let Some(goose) = Frame::within(data, vlan) else {
            return false;
        };
        let Ok(frame) = goose else {
            self.malformed += 1;
            return false;
        };
        let at = arrival.heard;
        let followed = self.follower.take(&frame, Heard::at(Some(at.as_ns())));
        if let Followed::Used(Some(change)) = followed {
            let is_first = change.is_first;
            self.changed(change.value, Pong { at, is_first });
        }
        followed != Followed::Other
    }

    fn link(&mut self, is_down: bool, _at: Monotonic, _feed: &mut Feed) {
        self.link_downs += u64::from(is_down);
    }

    fn look(&mut self, now: Monotonic, _feed: &mut Feed) {
        self.follower.expire(Heard::at(Some(now.as_ns())));
    }
}

#[cfg(test)]
mod tests {
    use super::{Device, Pong};
    use units::Monotonic;
    use wire::goose::{Follower, Member, Simulation};

    fn at(ms: i64) -> Pong {
        Pong {
            at: Monotonic::from_ns(ms * 1_000_000),
            is_first: true,
        }
    }

    #[test]
    fn only_the_awaited_change_is_the_answer() {
        let mut device = Device::new(Follower::new(b"x", Member::numbered(0), Simulation::Off, false));
        device.await_answer(true, at(10).at);
        device.changed(false, at(11));
        assert!(device.answer().is_none());
        device.changed(true, at(9));
        assert_eq!(
            (device.answer().is_none(), device.unwanted),
            (true, 2),
            "it came before the ping"
        );
        device.changed(true, at(12));
        assert_eq!(device.answer().map(|answer| answer.at), Some(at(12).at));
        device.changed(true, at(13));
        assert_eq!((device.unwanted, device.late), (3, 0), "one ping, one answer");
    }

    #[test]
    fn an_answer_after_its_deadline_is_late_and_not_unwanted() {
        let mut device = Device::new(Follower::new(b"x", Member::numbered(0), Simulation::Off, false));
        device.await_answer(true, at(10).at);
        device.give_up();
        device.changed(true, at(700));
        assert_eq!((device.answer().is_none(), device.late, device.unwanted), (true, 1, 0));
        device.changed(true, at(701));
        assert_eq!((device.late, device.unwanted), (1, 1));
    }
}
