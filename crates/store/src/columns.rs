//! Converts between the model's types and SQLite's 64-bit signed integers. Values that do not fit are reported as
//! errors.

use crate::error::Fault;
use model::{Counter, Counters, RunState, SeriesClock};
use rusqlite::Row;

/// Names of the counter columns, in the order of [`Counter::ALL`].
pub(crate) fn counter_names() -> String {
    Counter::ALL.map(Counter::name).join(", ")
}

/// Converts a value to SQLite's integer; `what` names the value in the error.
pub(crate) fn integer<T>(value: T, what: &str) -> Result<i64, Fault>
where
    T: TryInto<i64> + Copy + std::fmt::Display,
{
    value
        .try_into()
        .map_err(|_| Fault::Refused(format!("{what} of {value}: above 2^63")))
}

/// Reads a count or a time since the start, which are never negative.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> Result<u64, rusqlite::Error> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// Like [`unsigned`], for a column that may be NULL.
pub(crate) fn optional_unsigned(row: &Row<'_>, column: usize) -> Result<Option<u64>, rusqlite::Error> {
    match row.get::<_, Option<i64>>(column)? {
        None => Ok(None),
        Some(_) => unsigned(row, column).map(Some),
    }
}

/// Reads the counters of a row, whose columns begin at `first` in the order of [`Counter::ALL`].
pub(crate) fn counters(row: &Row<'_>, first: usize) -> Result<Counters, rusqlite::Error> {
    let mut counters = Counters::default();
    for (column, counter) in (first..).zip(Counter::ALL) {
        *counters.get_mut(counter) = unsigned(row, column)?;
    }
    Ok(counters)
}

/// Value of `state` while a run is written; it remains if the process was killed.
pub(crate) const RUNNING: &str = "running";

/// Value of `state` for a closed run.
pub(crate) fn state_word(state: RunState) -> &'static str {
    match state {
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Running => RUNNING,
    }
}

/// Meaning of `state` for a reader: every run that was not closed as complete was interrupted.
pub(crate) fn state_from_word(word: &str) -> RunState {
    if word == state_word(RunState::Complete) {
        RunState::Complete
    } else {
        RunState::Interrupted
    }
}

/// Value of `clock` for a series.
pub(crate) fn clock_word(clock: SeriesClock) -> &'static str {
    match clock {
        SeriesClock::Monotonic => "monotonic",
        SeriesClock::Realtime => "realtime",
    }
}

/// The reverse of [`clock_word`].
pub(crate) fn clock_from_word(word: &str) -> Option<SeriesClock> {
    [SeriesClock::Monotonic, SeriesClock::Realtime]
        .into_iter()
        .find(|clock| clock_word(*clock) == word)
}
