//! Passes the values of received GOOSE messages to the engine.

use crate::config::Config;
use crate::engine::Engine;
use wire::ether::{EthernetView, VlanTag};
use wire::goose::{Followed, Follower, Frame, Heard, Simulation};

/// Value of an input until its last message expires; false from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Input {
    value: bool,
    /// True if a message has come that can be used.
    is_heard: bool,
    /// Instant of expiry, on the clock of the frames; `None` if it does not expire.
    until_ns: Option<i64>,
}

/// Recognises the control blocks that a relay subscribes to. Only [`Listener::new`] allocates memory.
#[derive(Debug)]
pub struct Listener {
    followers: Box<[Follower]>,
}

impl Listener {
    /// Starts without received messages.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let simulation = match config.simulation {
            true => Simulation::On,
            false => Simulation::Off,
        };
        let followers = config.inputs.iter().map(|input| {
            let name = input.gocb_ref.as_bytes();
            Follower::new(name, input.member, simulation, config.in_test).of_living()
        });
        Self {
            followers: followers.collect(),
        }
    }

    /// Takes a GOOSE frame that the kernel received at `at_ns`, on a clock that does not step, and passes on the new value of
    /// each of its inputs, by number; `vlan` is the tag that was removed from the frame.
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
                    is_heard: follower.live_value().is_some(),
                    until_ns: follower.deadline_ns(),
                };
                tell(number, input);
            }
        }
    }
}

/// Values of all inputs.
#[derive(Debug)]
pub struct Inputs(Box<[Input]>);

impl Inputs {
    /// Starts with every input false.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self(vec![Input::default(); config.inputs.len()].into())
    }

    /// Sets the input with this number.
    pub fn set(&mut self, number: usize, input: Input) {
        if let Some(known) = self.0.get_mut(number) {
            *known = input;
        }
    }

    /// Passes the value of each input at `now_ns` to the engine: false if the last message has expired, or none has come.
    pub fn tell(&self, engine: &mut Engine, now_ns: i64) {
        for (number, input) in self.0.iter().enumerate() {
            let is_live = input.is_heard && input.until_ns.is_none_or(|until| now_ns <= until);
            engine.set_input(number, is_live.then_some(input.value));
        }
    }
}
