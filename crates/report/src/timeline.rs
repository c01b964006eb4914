//! The occupants of each CPU around a stall, from the flight recorder.

use crate::html::timeline::{drawing, size};
use crate::picture::Drawn;
use crate::picture::sheet::{self, Part};
use units::Ns;
use units::foreign::Show;

/// All CPUs during the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Beginning in ns since the run's start.
    pub from_ns: u64,
    /// End in ns since the run's start.
    pub to_ns: u64,
    /// Due instant and arrival of the late sample.
    pub waited_ns: (u64, u64),
    /// Series of the late sample.
    pub series: String,
    /// One lane for each CPU.
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

/// A time during which one occupant had a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Beginning in ns since the run's start.
    pub from_ns: u64,
    /// End in ns since the run's start.
    pub to_ns: u64,
    /// Name of the occupant.
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
    /// No occupant.
    Idle,
    /// The events do not show the occupant.
    Unknown,
}

impl Occupant {
    /// All kinds, in the order of the key.
    pub(crate) const ALL: [Self; 5] = [Self::Thread, Self::Interrupt, Self::Softirq, Self::Idle, Self::Unknown];

    /// The word for it, which is also its CSS class in a drawing.
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

impl Timeline {
    /// The drawing as an SVG file that needs nothing else, of the run with this name.
    #[must_use]
    pub fn sheet(&self, run: &str) -> String {
        let mut shown = self.clone();
        shown.show();
        let (due_ns, came_ns) = shown.waited_ns;
        let waited = Ns(came_ns.saturating_sub(due_ns));
        let part = Part {
            heading: format!("{}: {waited} at {} after the start of the run", shown.series, Ns(came_ns)),
            drawn: Drawn {
                svg: drawing(&shown),
                size: size(&shown),
                caption: "Threads on each CPU around this sample, by the kernel's events; the red lines are its due instant and its end".to_owned(),
                left_out: Vec::new(),
            },
        };
        sheet::of(&format!("The CPUs around a late sample: {run}"), &[], &[part])
    }
}

impl Show for Timeline {
    fn show(&mut self) {
        self.series.show();
        let stretches = self.lanes.iter_mut().flat_map(|lane| &mut lane.stretches);
        stretches.for_each(|stretch| stretch.who.show());
    }
}
