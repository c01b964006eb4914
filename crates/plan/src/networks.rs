//! The networks that a plan compares.

use super::step::Step;
use bed::Network;
use serde::Deserialize;

/// Networks that the round trip is measured over, in turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Networks {
    /// Which; what is not available here is left out, and the result says so. The first is what the others are held
    /// against.
    pub networks: Vec<Network>,
    /// How often each is measured: forwards, backwards, forwards, so that a drift of the machine touches all alike.
    #[serde(default = "one")]
    pub rounds: u32,
}

fn one() -> u32 {
    1
}

impl Networks {
    /// How many measurements a step over the bed is.
    pub(super) fn times(&self) -> u64 {
        u64::from(self.rounds) * self.networks.len() as u64
    }

    /// What cannot be, in words.
    pub(super) fn check(&self, steps: &[Step]) -> Result<(), String> {
        if self.networks.is_empty() || self.rounds == 0 {
            return Err("bed: no network, or no round: leave [bed] out for a bridge alone".into());
        }
        let repeated = (1..self.networks.len()).find(|at| self.networks[..*at].contains(&self.networks[*at]));
        if let Some(at) = repeated {
            return Err(format!("bed.networks: {} is listed twice", self.networks[at].name()));
        }
        let thread = self.networks.iter().find(|network| network.in_user_space());
        if let Some(network) = thread.filter(|_| steps.iter().any(Step::spins)) {
            return Err(format!(
                "receive = \"spin\" would keep the switch of {} from its CPU: leave one of them out",
                network.name()
            ));
        }
        match steps.iter().any(Step::needs_bed) {
            true => Ok(()),
            false => Err("bed: no step measures over it: add one with probe = \"reflect\"".into()),
        }
    }
}
