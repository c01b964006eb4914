//! The published part of the relay's state.

use super::logic::Logic;
use crate::config::{Config, Feed};
use protection::supervision::{SampleState, SampleStatus};

/// Values of `Health` (IEC 61850-7-3): all well.
pub(super) const WELL: u8 = 1;
/// Samples are missing.
pub(crate) const WARNING: u8 = 2;
/// A stream cannot be processed.
pub(crate) const ALARM: u8 = 3;

/// The value of a member of a control block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Value of a boolean.
    Boolean(bool),
    /// Value of a whole number.
    Number(u8),
    /// Value of a quality: true for good, false for invalid.
    Quality(bool),
}

/// Members of a control block that follow a state, with their last values.
type Members = Box<[(Feed, State)]>;

/// The members of all control blocks.
#[derive(Debug)]
pub(super) struct Outputs {
    blocks: Box<[Members]>,
    health: u8,
    inputs: Box<[bool]>,
    /// True if an input has changed since the last step.
    has_new_input: bool,
}

impl Outputs {
    pub(super) fn new(config: &Config) -> Self {
        // The first values in the file are no state of the relay: the first task reports all members as changed.
        let unknown = State::Number(0);
        let block =
            |output: &crate::config::GooseOutput| output.feeds.iter().map(|(_, feed)| (*feed, unknown)).collect();
        Self {
            blocks: config.gooses.iter().map(block).collect(),
            health: ALARM,
            inputs: vec![false; config.inputs.len()].into(),
            has_new_input: false,
        }
    }

    /// Sets an input.
    pub(super) fn set_input(&mut self, number: usize, value: bool) {
        if let Some(input) = self.inputs.get_mut(number) {
            self.has_new_input |= *input != value;
            *input = value;
        }
    }

    /// True if an input has changed since the last step.
    pub(super) fn has_new_input(&self) -> bool {
        self.has_new_input
    }

    /// One bit for each control block with a changed member.
    pub(super) fn step(&mut self, logic: &Logic, health: u8) -> u64 {
        self.health = health;
        self.has_new_input = false;
        let inputs = &self.inputs;
        let mut changed = 0;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            for (feed, state) in block.iter_mut() {
                let now = state_of(logic, inputs, health, *feed);
                changed |= u64::from(*state != now) << index;
                *state = now;
            }
        }
        changed
    }

    pub(super) fn state(&self, logic: &Logic, feed: Feed) -> State {
        state_of(logic, &self.inputs, self.health, feed)
    }
}

fn state_of(logic: &Logic, inputs: &[bool], health: u8, feed: Feed) -> State {
    match feed {
        Feed::Signal(signal, attribute) => State::Boolean(logic.is_set(signal, attribute)),
        Feed::Input(number) => State::Boolean(inputs.get(number).is_some_and(|input| *input)),
        Feed::Health => State::Number(health),
        Feed::Quality => State::Quality(health != ALARM),
    }
}

/// The worst health that any stream causes.
pub(super) fn health<'a>(streams: impl Iterator<Item = &'a SampleStatus>) -> u8 {
    let of = |status: &SampleStatus| match status.state {
        _ if status.blocks.any() => ALARM,
        SampleState::Good | SampleState::Hold => WELL,
        SampleState::Warning => WARNING,
        SampleState::Never | SampleState::Alarm | SampleState::Inactive => ALARM,
    };
    streams.map(of).max().unwrap_or(ALARM)
}
