//! Disturbance records: what all channels and states were around a trip.
//!
//! A driver takes the [`Row`]s of each task from its engine with a [`RowTap`], and a [`Keeper`] makes records of them. A live task puts its
//! rows into a ring, and the keeper works in another thread; a replay gives them to its keeper at once.

mod board;
mod keeper;
mod record;

pub use keeper::{Keeper, LONGEST_NS};
pub use record::Disturbance;

use crate::config::Config;
use crate::engine::Engine;
use board::{Watched, watched};
use protection::measure::Channels;
use std::ops::Range;
use units::Realtime;

/// Words of states in a row: as large as the values of a sample.
const WORDS: usize = 8;

/// States in a row.
const STATES: usize = 64 * WORDS;

/// A part of what a task tells of itself. The rows of samples come first, then those of states, then the task.
#[derive(Debug, Clone, Copy)]
pub enum Row {
    /// A sample that the task has put into its window. Those that are missing have no row.
    Sample {
        /// Its stream.
        stream: u16,
        /// Its number.
        number: u64,
        /// Primary values in A and V.
        values: [f64; 8],
        /// Channels that are not used for their quality.
        bad: Channels,
    },
    /// The decisions of the task, a bit for each state.
    States {
        /// How many rows of states came before.
        place: u16,
        /// The first state is the lowest bit of the first word.
        words: [u64; WORDS],
    },
    /// The task is told in full.
    Task {
        /// Number of the first sample that it has put into its window.
        from: u64,
        /// Number of the first sample that it has not.
        to: u64,
        /// How numbers and UTC go together now.
        stamp: Option<Stamp>,
    },
}

/// When a sample came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the sample.
    pub newest: u64,
    /// When it came, UTC.
    pub came: Realtime,
    /// [`Engine::top`]: the publisher's clock says when in the second it was taken. `None`: it was taken when it came.
    pub top: Option<u64>,
}

/// Takes rows out of an engine.
#[derive(Debug, Clone)]
pub struct RowTap {
    streams: u16,
    watched: Box<[Watched]>,
}

impl RowTap {
    /// For engines of this relay.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            streams: u16::try_from(config.streams.len()).unwrap_or(u16::MAX),
            watched: watched(config).into_iter().map(|(watched, _)| watched).collect(),
        }
    }

    /// Most rows of a task over `numbers`.
    #[must_use]
    pub fn most(&self, numbers: &Range<u64>) -> usize {
        let samples = (numbers.end - numbers.start).min(Engine::KEPT) as usize;
        samples * usize::from(self.streams) + self.watched.len().div_ceil(STATES) + 1
    }

    /// Samples of the last call of [`Engine::align`], which went over `numbers`.
    pub fn samples<'a>(&self, engine: &'a Engine, numbers: Range<u64>) -> impl Iterator<Item = Row> + use<'a> {
        let last = numbers.start.max(numbers.end.saturating_sub(Engine::KEPT))..numbers.end;
        (0..self.streams).flat_map(move |stream| last.clone().filter_map(move |number| sample(engine, stream, number)))
    }

    /// Keeps the decisions after samples `numbers`, and the end of the task.
    pub fn decided<'a>(
        &'a self,
        engine: &'a Engine,
        numbers: Range<u64>,
        stamp: Option<Stamp>,
    ) -> impl Iterator<Item = Row> + use<'a> {
        let places = self.watched.chunks(STATES).zip(0..);
        let states = places.map(move |(watched, place)| Row::States {
            place,
            words: words(engine, watched),
        });
        states.chain(std::iter::once(Row::Task {
            from: numbers.start,
            to: numbers.end,
            stamp,
        }))
    }
}

fn sample(engine: &Engine, stream: u16, number: u64) -> Option<Row> {
    let aligned = engine.aligned(usize::from(stream), number)?;
    Some(Row::Sample {
        stream,
        number,
        values: *aligned.values,
        bad: aligned.bad,
    })
}

fn words(engine: &Engine, watched: &[Watched]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, watched) in words.iter_mut().zip(watched.chunks(64)) {
        let bits = watched.iter().zip(0..);
        *word = bits.fold(0, |word, (watched, bit)| word | u64::from(watched.is_on(engine)) << bit);
    }
    words
}
