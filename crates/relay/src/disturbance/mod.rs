//! Disturbance records: all channels and states around a trip.
//!
//! A driver takes the [`Row`]s of each task from its engine with a [`RowTap`], and a [`Keeper`] makes records from them. A live
//! task puts its rows into a ring, and the keeper runs in another thread; a replay passes them to its keeper directly.

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

/// Number of words for states in a row, so that they are as large as the values of a sample.
const WORDS: usize = 8;

/// Number of states in a row.
const STATES: usize = 64 * WORDS;

/// Part of the data of a task. The rows of samples come first, then those of states, then the row of the task.
#[derive(Debug, Clone, Copy)]
pub enum Row {
    /// A sample that the task has put into its window. Missing samples have no row.
    Sample {
        /// Number of its stream.
        stream: u16,
        /// Number of the sample.
        number: u64,
        /// Primary values in A and V.
        values: [f64; 8],
        /// Channels that are not used because of their quality.
        bad: Channels,
    },
    /// Decisions of the task, one bit for each state.
    States {
        /// Number of rows of states before this one.
        place: u16,
        /// Words of states; the first state is the lowest bit of the first word.
        words: [u64; WORDS],
    },
    /// End of the task's rows.
    Task {
        /// Number of the first sample that the task put into its window.
        from: u64,
        /// Number of the first sample after those.
        to: u64,
        /// Current relation of numbers and UTC.
        stamp: Option<Stamp>,
    },
}

/// Arrival of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the sample.
    pub newest: u64,
    /// Time of arrival, UTC.
    pub came: Realtime,
    /// [`Engine::top`], if the publisher's clock gives the position of the sample in its second. `None` if the time of arrival is
    /// used as the instant.
    pub top: Option<u64>,
}

/// Reads rows from an engine.
#[derive(Debug, Clone)]
pub struct RowTap {
    streams: u16,
    watched: Box<[Watched]>,
}

impl RowTap {
    /// Makes a tap for engines of this relay.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            streams: u16::try_from(config.streams.len()).unwrap_or(u16::MAX),
            watched: watched(config).into_iter().map(|(watched, _)| watched).collect(),
        }
    }

    /// Maximum number of rows of a task over `numbers`.
    #[must_use]
    pub fn most(&self, numbers: &Range<u64>) -> usize {
        let samples = (numbers.end - numbers.start).min(Engine::KEPT) as usize;
        samples * usize::from(self.streams) + self.watched.len().div_ceil(STATES) + 1
    }

    /// Rows of the samples of the last call of [`Engine::align`], which processed `numbers`.
    pub fn samples<'a>(&self, engine: &'a Engine, numbers: Range<u64>) -> impl Iterator<Item = Row> + use<'a> {
        let last = numbers.start.max(numbers.end.saturating_sub(Engine::KEPT))..numbers.end;
        (0..self.streams).flat_map(move |stream| last.clone().filter_map(move |number| sample(engine, stream, number)))
    }

    /// Rows of the decisions after samples `numbers`, and the end of the task.
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
