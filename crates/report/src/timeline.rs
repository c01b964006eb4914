//! The occupants of each CPU around a stall, from the flight recorder.

use units::foreign::Show;

/// Each CPU over one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// From when, in ns since the run's start.
    pub from_ns: u64,
    /// To when.
    pub to_ns: u64,
    /// When the late sample was due, and when it came.
    pub waited_ns: (u64, u64),
    /// Of which series it is.
    pub series: String,
    /// A lane for each CPU.
    pub lanes: Vec<Lane>,
}

/// One CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Its number.
    pub cpu: u32,
    /// The stretches, in order of time and without gaps.
    pub stretches: Vec<Stretch>,
}

/// A time in which one had a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// From when, in ns since the run's start.
    pub from_ns: u64,
    /// To when.
    pub to_ns: u64,
    /// The occupant, by name.
    pub who: String,
    /// Its kind.
    pub occupant: Occupant,
}

/// Kinds of occupants of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occupant {
    /// A thread.
    Thread,
    /// An interrupt.
    Interrupt,
    /// A softirq.
    Softirq,
    /// Nobody.
    Idle,
    /// The events do not tell.
    Unknown,
}

impl Occupant {
    /// All of them, in the order of the key.
    pub(crate) const ALL: [Self; 5] = [Self::Thread, Self::Interrupt, Self::Softirq, Self::Idle, Self::Unknown];

    /// The word for it, and its class in a drawing.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Interrupt => "interrupt",
            Self::Softirq => "softirq",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
        }
    }
}

impl Show for Timeline {
    fn show(&mut self) {
        self.series.show();
        let stretches = self.lanes.iter_mut().flat_map(|lane| &mut lane.stretches);
        stretches.for_each(|stretch| stretch.who.show());
    }
}
