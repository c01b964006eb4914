//! Parts of every probe: facts known before it runs, its needs, and its start.

use crate::error::ProbeError;
use crate::need::{Machine, Need};
use model::kind::Kind;
use run::{Recorder, Stop};

/// Facts about a probe that do not depend on its settings.
#[derive(Debug, PartialEq, Eq)]
pub struct About {
    /// Short name of the probe: of its command, its folder and its page.
    pub name: &'static str,
    /// Description for events, of a plan's step that uses the probe.
    pub words: &'static str,
    /// Description of the measured time: from which instant to which.
    pub what: &'static str,
    /// Series that the probe makes; the main one is first.
    pub kinds: &'static [&'static Kind],
    /// Path of its page, below `docs/`.
    pub page: &'static str,
}

/// A probe with its settings.
pub trait Probe {
    /// Facts that do not depend on its settings.
    const ABOUT: &'static About;

    /// Target of the measurement: `()` for CPUs only, or an open port.
    type On;

    /// The running measurement after the start.
    type Started;

    /// Needs of the probe with these settings; it uses nothing else.
    fn needs(&self) -> Vec<Need>;

    /// Checks that the probe can run on a machine with these facts, on this interface if it measures on one. Changes nothing.
    ///
    /// # Errors
    /// The first need that is not met; the text says what to do.
    fn can_run(&self, machine: &Machine, interface: Option<&str>) -> Result<(), ProbeError> {
        Need::check_all(&self.needs(), machine, interface)
    }

    /// Starts the measurement, which runs until its duration is over or `stop` is set.
    ///
    /// # Errors
    /// An impossible setting, or a refusal of the kernel before anything was measured.
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
        // Kinds for files of other tools, and for the monitoring of clocks.
        let others = [&kind::LATENCY, &kind::CLOCK];
        for kind in kind::ALL {
            let ours = LIST.iter().any(|about| about.kinds.contains(&kind));
            assert_ne!(ours, others.contains(&kind), "{}", kind.name);
        }
    }
}
