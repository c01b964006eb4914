//! GOOSE messages on their way into the engine.

use crate::config::Config;
use crate::engine::Engine;
use wire::ether::{EthernetView, VlanTag};
use wire::goose::{Follower, Frame, Heard, Simulation};

/// Knows the control blocks that a relay subscribes to. After [`Inputs::new`] nothing here allocates.
#[derive(Debug)]
pub struct Inputs {
    followers: Box<[Follower]>,
}

impl Inputs {
    /// Has heard nothing yet: every input is false.
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

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.followers.is_empty()
    }

    /// Takes a GOOSE frame that the kernel had at `at_ns`, of a clock that does not step; `vlan` is the tag that was taken out of it.
    pub fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, at_ns: i64) {
        let ethernet = EthernetView::with_tag(data, vlan);
        let Ok(frame) = ethernet.and_then(|ethernet| Frame::parse(&ethernet)) else {
            return;
        };
        for follower in &mut self.followers {
            follower.take(&frame, Heard::at(Some(at_ns)));
        }
    }

    /// Tells the engine what each input is at `now_ns`: false where the last message has expired, or none has come.
    pub fn tell(&mut self, engine: &mut Engine, now_ns: i64) {
        for (number, follower) in self.followers.iter_mut().enumerate() {
            follower.expire(Heard::at(Some(now_ns)));
            engine.set_input(number, follower.live_value().unwrap_or(false));
        }
    }
}
