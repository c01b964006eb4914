//! Parts that all protection functions have in common.

use serde::Deserialize;

use crate::complex::Complex;
use crate::measure::{Blocks, Channels, Measured};
use crate::phases::Phases;

/// The name of a protection function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    /// Class of the logical node, IEC 61850-7-4: `PTOC`.
    pub class: &'static str,
    /// Device number, IEEE C37.2: `51`; empty where there is none.
    pub ansi: &'static str,
}

impl std::fmt::Display for Node {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.ansi {
            "" => out.write_str(self.class),
            ansi => write!(out, "{} ({ansi})", self.class),
        }
    }
}

/// Where a fault lies, seen from the relay: `dirGeneral` of IEC 61850.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Cannot be told, or is not asked for.
    #[default]
    Unknown,
    /// In the protected object.
    Forward,
    /// Behind the relay.
    Reverse,
    /// Some phases forward, others reverse.
    Both,
}

impl Direction {
    /// Of several phases together.
    #[must_use]
    pub fn together(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (one, two) if one == two => one,
            _ => Self::Both,
        }
    }
}

/// Input of a task's functions: measured sets of one instant, by index.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// One set per bay.
    pub sets: &'a [Measured],
    /// External blocks of the functions: usually none, or [`Blocks::EXTERNAL`].
    pub blocked: Blocks,
}

impl<'a> Inputs<'a> {
    /// Sets with nothing blocked.
    #[must_use]
    pub fn of(sets: &'a [Measured]) -> Self {
        Self {
            sets,
            blocked: Blocks::NONE,
        }
    }
}

/// Output of a function. A blocked function neither starts nor operates, and says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Output {
    /// Phases that have started (`Str`).
    pub started: Phases,
    /// Phases that have operated (`Op`).
    pub operated: Phases,
    /// Why the function does not decide.
    pub blocked: Blocks,
    /// Where the fault lies.
    pub direction: Direction,
}

impl Output {
    /// Blocked, and nothing else.
    #[must_use]
    pub fn blocked(blocked: Blocks) -> Self {
        Self {
            blocked,
            ..Self::default()
        }
    }
}

/// A protection function, run once a task: every millisecond, or every sample.
///
/// Time is `at` of the measured sets. While a function is blocked its timers stand at nothing; what has operated before is
/// kept by the trip conditioning.
pub trait Function {
    /// The name of the logical node.
    fn node(&self) -> Node;

    /// Looks at the sets of one instant.
    fn step(&mut self, inputs: &Inputs<'_>) -> Output;

    /// Forgets everything but the settings.
    fn reset(&mut self);
}

/// The sets from which a function takes its currents and voltages; in a file a number, or `{ current = 0, voltage = 1 }`. Two
/// different ones are combined only while their synchronisation allows it, and only if they are of one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Written")]
pub struct Source {
    /// Index of the set with the currents.
    pub current: usize,
    /// Index of the set with the voltages.
    pub voltage: usize,
}

/// How a source is written in a file.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected the number of a set, or { current = 0, voltage = 1 }"
)]
enum Written {
    One(usize),
    #[serde(rename_all = "kebab-case")]
    Two {
        current: usize,
        voltage: usize,
    },
}

impl From<Written> for Source {
    fn from(written: Written) -> Self {
        match written {
            Written::One(set) => Self::of(set),
            Written::Two { current, voltage } => Self { current, voltage },
        }
    }
}

impl Source {
    /// Currents and voltages of one set.
    #[must_use]
    pub fn of(set: usize) -> Self {
        Self {
            current: set,
            voltage: set,
        }
    }

    /// The set of one of the two kinds of channel, if those of `channels` are fit for use.
    #[inline]
    pub(crate) fn one<'a>(inputs: &Inputs<'a>, index: usize, channels: Channels) -> Result<&'a Measured, Blocks> {
        let Some(set) = inputs.sets.get(index) else {
            return Err(inputs.blocked | Blocks::MISSING);
        };
        let blocks = inputs.blocked | set.health.blocks(channels) | Blocks::QUALITY.when(!are_numbers(set, channels));
        if blocks.any() { Err(blocks) } else { Ok(set) }
    }

    /// The sets of currents and voltages, if the channels are fit for use, and the two may be combined.
    #[inline]
    pub(crate) fn both<'a>(
        self,
        inputs: &Inputs<'a>,
        currents: Channels,
        voltages: Channels,
    ) -> Result<(&'a Measured, &'a Measured), Blocks> {
        if self.current == self.voltage {
            return Self::one(inputs, self.current, currents | voltages).map(|set| (set, set));
        }
        self.two(inputs, currents, voltages)
    }

    /// [`Self::both`] where they are two.
    #[inline(never)]
    fn two<'a>(
        self,
        inputs: &Inputs<'a>,
        currents: Channels,
        voltages: Channels,
    ) -> Result<(&'a Measured, &'a Measured), Blocks> {
        let current = Self::one(inputs, self.current, currents)?;
        let voltage = Self::one(inputs, self.voltage, voltages)?;
        let blocks = combining(current, voltage);
        if blocks.any() {
            Err(blocks)
        } else {
            Ok((current, voltage))
        }
    }
}

/// The reasons that forbid to combine two sets.
pub(crate) fn combining(one: &Measured, other: &Measured) -> Blocks {
    Blocks::SYNCHRONISATION.when(!one.health.synch.may_combine(other.health.synch))
        | Blocks::INSTANT.when(one.at != other.at)
}

/// True if the fundamental phasors of `channels` are numbers.
fn are_numbers(set: &Measured, channels: Channels) -> bool {
    let mut all = Complex::ZERO;
    if channels.meets(Channels::PHASE_CURRENTS) {
        all += set.current_sum();
    }
    if channels.meets(Channels::RESIDUAL_CURRENT) {
        all += set.residual_current;
    }
    if channels.meets(Channels::PHASE_VOLTAGES) {
        all += set.voltage_sum();
    }
    if channels.meets(Channels::RESIDUAL_VOLTAGE) {
        all += set.residual_voltage;
    }
    // A part that is not a number makes the sum not a number.
    (all.re + all.im).is_finite()
}
