//! Faults that another injector makes (a real-time simulator, a secondary injection, a network), and the trips that follow.
//!
//! Give every frame of sampled values and GOOSE to [`Observer::take`], with its stamp, in the order in which they came; all stamps are of one
//! clock. A [`Rule`] says how the start of a fault is recognised: a threshold, a change of phasor, a bit of the dataset, a contact by
//! GOOSE. Each fault is a [`Shot`], and what the relay did is judged as with a test set's own faults: in time, late, before the fault, not at
//! all, or not known. The same rules hold for frames that come now, and for those of a capture.
//!
//! *Start.* The injector's schedule is not known. So a fault starts with the stamp of the frame that carried its first sample. It began up
//! to [`Start::uncertain_ns`] earlier: the distance of two samples, what comes after it in its frame, and how much later this frame came
//! than the earliest ones of the last second. Which sample is the first is found by a comparison with the one a cycle earlier.
//!
//! *Doubt.* Samples that are missing right before the first faulted one, a relay that was not heard, a start that is not known: such a shot
//! does not count, and says why. An observation without any fault judges nothing.
#![forbid(unsafe_code)]

mod detector;
mod history;
mod intake;
mod lateness;
mod observer;
mod onset;
mod phasor;
mod relay;
mod rule;
mod seen;
mod shots;
mod start;
mod whole;

pub use observer::{Config, Observer};
pub use rule::{Digital, MOST_MEMBERS, Rule, RuleError, StepSize};
pub use seen::{Act, Count, Seen, Series, Shot, WhyNot};
pub use start::{Start, StartDoubt};
pub use whole::Whole;
