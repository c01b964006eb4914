//! The contents of a run: series and their kinds, windows, counters, spikes, events, causes and facts. No SQL and no I/O.
//!
//! Every instant (`at_ns`, `start_ns`, `end_ns`) is in nanoseconds of `CLOCK_MONOTONIC` since the run's start; its wall-clock time
//! is [`RunInfo::started`] plus that. A run that was measured and read back is a [`RunView`].

#![forbid(unsafe_code)]

mod action;
mod along;
mod change;
mod clock;
mod counters;
mod edge;
mod event;
mod explanation;
pub mod fact;
mod figures;
pub mod hop;
pub mod kind;
mod layout;
mod planned;
mod question;
mod ramp;
mod reading;
mod rows;
mod run;
mod series;
pub mod setting;
mod shot;
mod shown;
mod slice;
mod spike;
mod stream;
mod tally;
pub mod task;
mod view;
mod window;

pub use action::{Action, ActionEnd, ActionPart};
pub use along::{Along, Alongs};
pub use change::{Change, ChangeWatch, Subject};
pub use clock::Doubtful;
pub use counters::{Counter, Counters};
pub use edge::{Characteristic, EdgeShot};
pub use event::{Event, EventKind, STEP_NOTICED_NS};
pub use explanation::{Cause, CauseTotal, Explanation, Extent, Part};
pub use fact::{Fact, FactOf, NOT_APPLICABLE};
pub use figures::{Figure, FigureValue, Figures};
pub use kind::Kind;
pub use layout::Layout;
pub use planned::{PlannedMember, PlannedStep};
pub use question::{Question, QuestionKind};
pub use ramp::{CurrentRamp, RampSignal};
pub use reading::{Reading, ReadingUnit, Readings};
pub use rows::Rows;
pub use run::{RunInfo, RunState};
pub use series::{SeriesClock, SeriesId, SeriesSpec, under};
pub use shot::{Cell, Outcome, Shot};
pub use slice::{SLICE_NS, Slice, Slices};
pub use spike::{Flight, Spike};
pub use stream::{MAX_NAME, Observer, StreamId, StreamKind, StreamLabels, StreamName};
pub use tally::Tally;
pub use view::{IMPORTED, MEASURED, RunView, SCHEDULED, SeriesView};
pub use window::{Window, WindowRow};
