//! GOOSE output of a relay: control blocks whose members follow functions, trips and inputs.

use super::file::Problem;
use super::{Config, names};
use crate::metering::{OF_MMXU, OF_MSQI};
use protection::Phases;
use streamset::goose::{Block, ControlBlock};
use units::{Refusal, refusal};
use wire::goose::Value;

/// Maximum number of control blocks, which is the number of bits for changed ones.
pub(super) const MOST: usize = 64;

/// A control block, with the members that follow a state.
#[derive(Debug, Clone)]
pub struct GooseOutput {
    /// Addresses, first values, and repetition times.
    pub block: ControlBlock,
    /// Positions of members, from 0, with the state that each follows. The other members keep their values.
    pub feeds: Vec<(usize, Feed)>,
}

/// The state that a member follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// State of a function or a trip, as a boolean.
    Signal(Signal, Attribute),
    /// An input, by its number, as a boolean. False while it is not known.
    Input(usize),
    /// Supervision of an input, by its number, as a boolean (`LGOS.St`): true while a message of it is live.
    Live(usize),
    /// Supervision of a stream, by its number, as a boolean.
    Stream(usize, Watch),
    /// Measured value of a stream, by its place in [`crate::metering`], as a number of 32 bits.
    Measured(usize, usize),
    /// `Health` of the relay, as a whole number: 1 all well, 2 samples are missing, 3 a stream cannot be processed.
    Health,
    /// Quality: good, or invalid while the health is 3.
    Quality,
}

/// Supervised property of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Its samples come, and can be used (`LSVS.St`).
    Samples,
    /// Its publisher follows a clock (`smpSynch` above 0).
    Synchronised,
    /// A fuse of its voltage transformers counts as blown (RFUF).
    Fuse,
    /// A power swing blocks its distance zones (`RPSB.BlkZn`).
    Swing,
}

/// State of a function or a trip, which is given by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `Str` of a function.
    Start(usize),
    /// `Op` of a function.
    Operate(usize),
    /// `Tr` of a trip.
    Trip(usize),
    /// `OpIn` of the breaker failure function of a trip.
    Retrip(usize),
    /// `OpEx` of the breaker failure function of a trip.
    Backtrip(usize),
}

/// Attribute of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute {
    /// `general`: any phase.
    General,
    /// One phase, or the neutral.
    Phase(Phases),
}

impl Attribute {
    const NAMES: [(&str, Self); 5] = [
        ("general", Self::General),
        ("phsA", Self::Phase(Phases::A)),
        ("phsB", Self::Phase(Phases::B)),
        ("phsC", Self::Phase(Phases::C)),
        ("neut", Self::Phase(Phases::NEUTRAL)),
    ];

    fn named(name: &str) -> Result<Self, Refusal> {
        let names = Self::NAMES.iter().map(|(name, _)| *name);
        names::find("attribute", name, names).map(|found| Self::NAMES[found].1)
    }

    /// True if the attribute is set in `phases`.
    #[must_use]
    pub fn of(self, phases: Phases) -> bool {
        match self {
            Self::General => phases.any(),
            Self::Phase(phase) => phases.contains(phase),
        }
    }
}

/// Makes the output described by the keys of a control block, which begin at byte `start` of the file.
pub(super) fn output(keys: &Block, start: usize, config: &Config) -> Result<GooseOutput, Problem> {
    let block = keys.build()?;
    if config.gooses.len() == MOST {
        return Err((start, refusal!("more than {MOST} control blocks")));
    }
    if !block.changes.is_empty() {
        return Err((
            start,
            refusal!("change is for `publish --goose`: members of a relay follow its functions and inputs"),
        ));
    }
    let mut feeds = Vec::new();
    for (member, (name, at)) in keys.names().enumerate() {
        let problem = |refusal: Refusal| (at, refusal.of(format_args!("member \"{name}\"")));
        let Some(feed) = feed(name, config).map_err(problem)? else {
            continue;
        };
        checked(&feed, &block.message.all_data[member]).map_err(problem)?;
        feeds.push((member, feed));
    }
    Ok(GooseOutput { block, feeds })
}

/// Checks that a member with this value can follow that state.
pub(super) fn checked(feed: &Feed, value: &Value) -> Result<(), Refusal> {
    let fits = match (feed, value) {
        (Feed::Signal(..) | Feed::Input(_) | Feed::Live(_) | Feed::Stream(..), Value::Boolean(_))
        | (Feed::Measured(..), Value::Float32(_))
        | (Feed::Health, Value::Integer(_) | Value::Unsigned(_)) => true,
        (Feed::Quality, Value::BitString { unused, bits }) => *unused == 3 && bits.len() == 2,
        _ => false,
    };
    let wanted = match feed {
        Feed::Signal(..) | Feed::Input(_) | Feed::Live(_) | Feed::Stream(..) => "boolean",
        Feed::Measured(..) => "float32",
        Feed::Health => "integer or unsigned",
        Feed::Quality => "quality",
    };
    match fits {
        true => Ok(()),
        false => Err(refusal!("its type has to be {wanted}")),
    }
}

/// The state that a member with this name follows; `None` if it follows none.
pub(super) fn feed(name: &str, config: &Config) -> Result<Option<Feed>, Refusal> {
    let Some((kind, rest)) = name.split_once(':') else {
        return Ok(match name {
            "health" => Some(Feed::Health),
            "quality" => Some(Feed::Quality),
            _ => None,
        });
    };
    let (owner, attribute) = rest.split_once('.').unwrap_or((rest, "general"));
    let function = || {
        let names = config.functions.iter().map(|instance| instance.name.as_str());
        names::find("function", owner, names)
    };
    let trip = || {
        let names = config.trips.iter().map(|trip| trip.name.as_str());
        names::find("trip", owner, names)
    };
    let failure = || {
        let found = trip()?;
        match config.trips[found].breaker_failure {
            Some(_) => Ok(found),
            None => Err(refusal!("trip \"{owner}\" has no breaker-failure")),
        }
    };
    let input = || {
        let names = config.inputs.iter().map(|input| input.name.as_str());
        names::find("input", rest, names)
    };
    let stream = || {
        let names = config.streams.iter().map(|stream| stream.name.as_str());
        names::find("stream", rest, names)
    };
    let kinds = [
        "start",
        "operate",
        "trip",
        "retrip",
        "backtrip",
        "input",
        "live",
        "samples",
        "synchronised",
        "fuse",
        "swing",
        "mmxu",
        "msqi",
    ];
    let signal = match names::find("kind of state", kind, kinds.into_iter())? {
        0 => Signal::Start(function()?),
        1 => Signal::Operate(function()?),
        2 => Signal::Trip(trip()?),
        3 => Signal::Retrip(failure()?),
        4 => Signal::Backtrip(failure()?),
        5 => return Ok(Some(Feed::Input(input()?))),
        6 => return Ok(Some(Feed::Live(input()?))),
        7 => return Ok(Some(Feed::Stream(stream()?, Watch::Samples))),
        8 => return Ok(Some(Feed::Stream(stream()?, Watch::Synchronised))),
        9 => {
            let number = stream()?;
            let is_there = config.streams[number].fuse.is_some();
            is_there
                .then_some(())
                .ok_or_else(|| refusal!("stream \"{rest}\" has no fuse"))?;
            return Ok(Some(Feed::Stream(number, Watch::Fuse)));
        }
        of_metering @ (11 | 12) => return measured(config, owner, attribute, of_metering == 11).map(Some),
        _ => {
            let number = stream()?;
            let is_there = config.streams[number].swing.is_some();
            is_there
                .then_some(())
                .ok_or_else(|| refusal!("stream \"{rest}\" has no swing"))?;
            return Ok(Some(Feed::Stream(number, Watch::Swing)));
        }
    };
    Ok(Some(Feed::Signal(signal, Attribute::named(attribute)?)))
}

/// A value of MMXU, or of MSQI, of the stream with this name.
fn measured(config: &Config, stream: &str, value: &str, is_mmxu: bool) -> Result<Feed, Refusal> {
    let streams = config.streams.iter().map(|stream| stream.name.as_str());
    let number = names::find("stream", stream, streams)?;
    let is_there = config.streams[number].metering.is_some();
    is_there
        .then_some(())
        .ok_or_else(|| refusal!("stream \"{stream}\" has no metering"))?;
    let (names, before): (&[&str], _) = if is_mmxu {
        (&OF_MMXU, 0)
    } else {
        (&OF_MSQI, OF_MMXU.len())
    };
    let place = names::find("measured value", value, names.iter().copied())?;
    Ok(Feed::Measured(number, before + place))
}
