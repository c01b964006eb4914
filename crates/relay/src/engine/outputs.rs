//! The published part of the relay's state.

use super::logic::Logic;
use crate::config::{Config, Feed, Watch};
use crate::metering::Metering;
use protection::SettingError;
use protection::measure::Measured;
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
    /// Bits of a number of 32 bits: NaN, while a value is not known, is equal to itself.
    Float(u32),
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
    metering: Box<[Option<Metering>]>,
    /// True if an input has changed since the last step.
    has_new_input: bool,
}

impl Outputs {
    /// The outputs of a relay whose streams have `rate` samples a second.
    ///
    /// # Errors
    /// A setting of the measured values outside its range.
    pub(super) fn new(config: &Config, rate: f64) -> Result<Self, SettingError> {
        let metering = config.streams.iter().map(|stream| {
            let made = stream
                .metering
                .map(|metering| metering.make(&config.rated(stream, rate)));
            made.transpose()
        });
        // The first values in the file are no state of the relay: the first task reports all members as changed.
        let unknown = State::Number(0);
        let block =
            |output: &crate::config::GooseOutput| output.feeds.iter().map(|(_, feed)| (*feed, unknown)).collect();
        Ok(Self {
            metering: metering.collect::<Result<_, _>>()?,
            blocks: config.gooses.iter().map(block).collect(),
            health: ALARM,
            inputs: vec![None; config.inputs.len()].into(),
            streams: vec![Watched::default(); config.streams.len()].into(),
            has_new_input: false,
        })
    }

    /// Evaluates the measured values of the streams.
    pub(super) fn meter(&mut self, sets: &[Measured]) {
        for (metering, set) in self.metering.iter_mut().zip(sets) {
            if let Some(metering) = metering {
                metering.step(set);
            }
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
        let known = (&*self.inputs, &*self.streams, &*self.metering);
        let mut changed = 0;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            for (feed, state) in block.iter_mut() {
                let now = state_of(logic, known, health, *feed);
                changed |= u64::from(*state != now) << index;
                *state = now;
            }
        }
        changed
    }

    pub(super) fn state(&self, logic: &Logic, feed: Feed) -> State {
        state_of(logic, (&self.inputs, &self.streams, &self.metering), self.health, feed)
    }
}

/// Inputs, supervision and measured values of the streams.
type Known<'a> = (&'a [Option<bool>], &'a [Watched], &'a [Option<Metering>]);

fn state_of(logic: &Logic, (inputs, streams, metering): Known<'_>, health: u8, feed: Feed) -> State {
    let input = |number: usize| inputs.get(number).copied().flatten();
    match feed {
        Feed::Signal(signal, attribute) => State::Boolean(logic.is_set(signal, attribute)),
        Feed::Input(number) => State::Boolean(input(number).unwrap_or(false)),
        Feed::Live(number) => State::Boolean(input(number).is_some()),
        Feed::Stream(number, watch) => State::Boolean(streams.get(number).is_some_and(|stream| stream.is(watch))),
        Feed::Measured(stream, place) => {
            let metering = metering.get(stream).and_then(Option::as_ref);
            State::Float(metering.map_or(f32::NAN, |metering| metering.value(place)).to_bits())
        }
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
