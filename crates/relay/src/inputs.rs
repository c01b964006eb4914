//! GOOSE messages on their way into the engine.

use crate::config::Config;
use crate::engine::Engine;
use wire::ether::{EthernetView, VlanTag};
use wire::goose::{Followed, Follower, Frame, Heard, Simulation};

/// The value of an input until its last message expires; false from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Input {
    value: bool,
    /// Until when, by the clock of the frames; `None` without an end.
    until_ns: Option<i64>,
}

/// Knows the control blocks that a relay subscribes to. After [`Listener::new`] nothing here allocates.
#[derive(Debug)]
pub struct Listener {
    followers: Box<[Follower]>,
}

impl Listener {
    /// Has heard nothing yet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let simulation = match config.simulation {
            true => Simulation::On,
            false => Simulation::Off,
        };
        let followers = config.inputs.iter().map(|input| {
            let name = input.gocb_ref.as_bytes();
            Follower::new(name, input.member, simulation, config.in_test)
        });
        Self {
            followers: followers.collect(),
        }
    }

    /// Takes a GOOSE frame that the kernel had at `at_ns`, of a clock that does not step, and tells what it makes of which inputs, by
    /// their numbers; `vlan` is the tag that was taken out of it.
    pub fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, at_ns: i64, mut tell: impl FnMut(usize, Input)) {
        let ethernet = EthernetView::with_tag(data, vlan);
        let Ok(frame) = ethernet.and_then(|ethernet| Frame::parse(&ethernet)) else {
            return;
        };
        for (number, follower) in self.followers.iter_mut().enumerate() {
            follower.expire(Heard::at(Some(at_ns)));
            if follower.take(&frame, Heard::at(Some(at_ns))) != Followed::Other {
                let input = Input {
                    value: follower.live_value().unwrap_or(false),
                    until_ns: follower.deadline_ns(),
                };
                tell(number, input);
            }
        }
    }
}

/// The values of all inputs.
#[derive(Debug)]
pub struct Inputs(Box<[Input]>);

impl Inputs {
    /// Every input is false.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self(vec![Input::default(); config.inputs.len()].into())
    }

    /// The input of this number is this from now on.
    pub fn set(&mut self, number: usize, input: Input) {
        if let Some(known) = self.0.get_mut(number) {
            *known = input;
        }
    }

    /// Tells the engine what each input is at `now_ns`: false where the last message has expired, or none has come.
    pub fn tell(&self, engine: &mut Engine, now_ns: i64) {
        for (number, input) in self.0.iter().enumerate() {
            let is_live = input.until_ns.is_none_or(|until| now_ns <= until);
            engine.set_input(number, input.value && is_live);
        }
    }
}
