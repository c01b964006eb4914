//! Types that all protection functions share.

use serde::Deserialize;

use crate::complex::Complex;
use crate::measure::{Blocks, Channels, Measured};
use crate::phases::Phases;

/// The name of a protection function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    /// Class of the logical node, IEC 61850-7-4: `PTOC`.
    pub class: &'static str,
    /// Device number, IEEE C37.2: `51`; empty if there is none.
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

/// Direction of a fault, seen from the relay: `dirGeneral` of IEC 61850.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Cannot be determined, or is not used.
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
    /// Common direction of several phases.
    #[must_use]
    pub fn together(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (one, two) if one == two => one,
            _ => Self::Both,
        }
    }
}

/// The samples behind the measured sets, for functions that look at the course of a wave.
pub trait Waves: std::fmt::Debug {
    /// The phase currents of sample `at` of a set, in A; `None` if it is not kept. At least a cycle before
    /// the oldest sample of a task is, up to a task of 20 ms.
    fn phase_currents(&self, set: usize, at: u64) -> Option<[f64; 3]>;
}

/// Input of a task's functions: measured sets of one instant, by index.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// One set per bay.
    pub sets: &'a [Measured],
    /// External blocks of the functions: usually none, or [`Blocks::EXTERNAL`].
    pub blocked: Blocks,
    /// The samples of the sets, if there are any: functions that would look at them go without.
    pub waves: Option<&'a dyn Waves>,
}

impl<'a> Inputs<'a> {
    /// Sets with nothing blocked.
    #[must_use]
    pub fn of(sets: &'a [Measured]) -> Self {
        Self {
            sets,
            blocked: Blocks::NONE,
            waves: None,
        }
    }

    /// The same with the samples of the sets.
    #[must_use]
    pub fn with_waves(self, waves: &'a dyn Waves) -> Self {
        Self {
            waves: Some(waves),
            ..self
        }
    }
}

/// Output of a function. A blocked function neither starts nor operates, and gives the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Output {
    /// Phases that have started (`Str`).
    pub started: Phases,
    /// Phases that have operated (`Op`).
    pub operated: Phases,
    /// Reasons why the function is blocked.
    pub blocked: Blocks,
    /// Direction of the fault.
    pub direction: Direction,
}

impl Output {
    /// Output of a blocked function.
    #[must_use]
    pub fn blocked(blocked: Blocks) -> Self {
        Self {
            blocked,
            ..Self::default()
        }
    }
}

/// A protection function, which runs in each cycle of its task: every millisecond, or every sample.
///
/// Its time is `at` of the measured sets. While a function is blocked its timers are reset; the trip conditioning keeps earlier operations.
pub trait Function {
    /// The name of the logical node.
    fn node(&self) -> Node;

    /// Evaluates the sets of one instant.
    fn step(&mut self, inputs: &Inputs<'_>) -> Output;

    /// Clears everything except the settings.
    fn reset(&mut self);
}

/// The sets from which a function takes its currents and voltages; in a file a number, or `{ current = 0, voltage = 1 }`. Two different sets are
/// combined only while their synchronisation permits it, and only if they are of one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Written")]
pub struct Source {
    /// Index of the set with the currents.
    pub current: usize,
    /// Index of the set with the voltages.
    pub voltage: usize,
}

/// Form of a source in a file.
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

    /// One set, if its `channels` can be used.
    #[inline]
    pub(crate) fn one<'a>(inputs: &Inputs<'a>, index: usize, channels: Channels) -> Result<&'a Measured, Blocks> {
        let Some(set) = inputs.sets.get(index) else {
            return Err(inputs.blocked | Blocks::MISSING);
        };
        let blocks = inputs.blocked | set.health.blocks(channels) | Blocks::QUALITY.when(!are_numbers(set, channels));
        if blocks.any() { Err(blocks) } else { Ok(set) }
    }

    /// The sets of currents and voltages, if their channels can be used and the two may be combined.
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

    /// [`Self::both`] for two different sets.
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

/// The reasons why two sets must not be combined.
pub(crate) fn combining(one: &Measured, other: &Measured) -> Blocks {
    Blocks::SYNCHRONISATION.when(!one.health.synch.may_combine(other.health.synch))
        | Blocks::INSTANT.when(one.at != other.at)
}

/// True if the fundamental phasors of `channels` are finite.
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
    // One NaN makes the sum NaN.
    (all.re + all.im).is_finite()
}
