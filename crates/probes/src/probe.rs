//! Parts that every probe has: facts that are known before it runs, its needs, and its start.

use crate::error::ProbeError;
use crate::need::{Machine, Need};
use model::kind::Kind;
use run::{Recorder, Stop};

/// Facts known about a probe before it is told anything.
#[derive(Debug, PartialEq, Eq)]
pub struct About {
    /// The word for it: of its command, its folder, and its page.
    pub name: &'static str,
    /// Words for a step of a plan that measures it, in events.
    pub words: &'static str,
    /// Measurement of the probe, from which instant to which.
    pub what: &'static str,
    /// The series that it makes, the one that it is asked for first.
    pub kinds: &'static [&'static Kind],
    /// Its page, below `docs/`.
    pub page: &'static str,
}

/// A probe that was told how to measure.
pub trait Probe {
    /// Facts known about it before it is told anything.
    const ABOUT: &'static About;

    /// Target that it measures on: nothing but CPUs, `()`, or an open port.
    type On;

    /// Measurement under way once it has started.
    type Started;

    /// Needs of the probe here. It works with exactly that.
    fn needs(&self) -> Vec<Need>;

    /// Checks that it can run on a machine of which this is known, on this interface if it measures on one. Nothing is touched.
    ///
    /// # Errors
    /// The first need that is not met, with what to do.
    fn can_run(&self, machine: &Machine, interface: Option<&str>) -> Result<(), ProbeError> {
        Need::check_all(&self.needs(), machine, interface)
    }

    /// Starts measuring; it goes on until its duration is over or `stop` is set.
    ///
    /// # Errors
    /// A setting that cannot be, or what the kernel refused, before anything was measured.
    fn start(&self, on: impl Into<Self::On>, recorder: &mut Recorder, stop: &Stop)
    -> Result<Self::Started, ProbeError>;
}

#[cfg(test)]
mod tests {
    use crate::LIST;
    use model::kind;

    #[test]
    fn each_has_a_name_of_its_own_and_fits_a_thread() {
        for (at, about) in LIST.iter().enumerate() {
            assert!(LIST[..at].iter().all(|other| other.name != about.name), "{about:?}");
            assert!(about.name.len() <= 15 && about.what.ends_with('.'), "{about:?}");
            assert!(!about.kinds.is_empty(), "{about:?}");
        }
    }

    #[test]
    fn every_kind_that_is_measured_live_is_some_probes() {
        // Of other tools' files, and of the watch over the clocks.
        let others = [&kind::LATENCY, &kind::CLOCK];
        for kind in kind::ALL {
            let ours = LIST.iter().any(|about| about.kinds.contains(&kind));
            assert_ne!(ours, others.contains(&kind), "{}", kind.name);
        }
    }
}
