//! The published part of the relay's state.

use super::logic::Logic;
use crate::config::{Config, Feed, Watch};
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

/// Supervision of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watched {
    pub(super) samples: bool,
    pub(super) synchronised: bool,
    pub(super) fuse: bool,
    pub(super) swing: bool,
}

impl Watched {
    fn is(self, watch: Watch) -> bool {
        match watch {
            Watch::Samples => self.samples,
            Watch::Synchronised => self.synchronised,
            Watch::Fuse => self.fuse,
            Watch::Swing => self.swing,
        }
    }
}

/// Members of a control block that follow a state, with their last values.
type Members = Box<[(Feed, State)]>;

/// The members of all control blocks.
#[derive(Debug)]
pub(super) struct Outputs {
    blocks: Box<[Members]>,
    health: u8,
    inputs: Box<[Option<bool>]>,
    streams: Box<[Watched]>,
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
            inputs: vec![None; config.inputs.len()].into(),
            streams: vec![Watched::default(); config.streams.len()].into(),
            has_new_input: false,
        }
    }

    /// Sets an input.
    pub(super) fn set_input(&mut self, number: usize, value: Option<bool>) {
        if let Some(input) = self.inputs.get_mut(number) {
            self.has_new_input |= *input != value;
            *input = value;
        }
    }

    /// Sets the supervision of a stream.
    pub(super) fn supervise(&mut self, number: usize, watched: Watched) {
        if let Some(stream) = self.streams.get_mut(number) {
            *stream = watched;
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
        let (inputs, streams) = (&self.inputs, &self.streams);
        let mut changed = 0;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            for (feed, state) in block.iter_mut() {
                let now = state_of(logic, (inputs, streams), health, *feed);
                changed |= u64::from(*state != now) << index;
                *state = now;
            }
        }
        changed
    }

    pub(super) fn state(&self, logic: &Logic, feed: Feed) -> State {
        state_of(logic, (&self.inputs, &self.streams), self.health, feed)
    }
}

fn state_of(logic: &Logic, (inputs, streams): (&[Option<bool>], &[Watched]), health: u8, feed: Feed) -> State {
    let input = |number: usize| inputs.get(number).copied().flatten();
    match feed {
        Feed::Signal(signal, attribute) => State::Boolean(logic.is_set(signal, attribute)),
        Feed::Input(number) => State::Boolean(input(number).unwrap_or(false)),
        Feed::Live(number) => State::Boolean(input(number).is_some()),
        Feed::Stream(number, watch) => State::Boolean(streams.get(number).is_some_and(|stream| stream.is(watch))),
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
