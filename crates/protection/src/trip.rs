//! Trip conditioning (PTRC).

use serde::Deserialize;

use crate::error::{Check, SettingError};
use crate::function::Node;
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::Pace;

/// Number of poles that a trip opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Poles {
    /// Always all three.
    #[default]
    Three,
    /// One pole for a single-phase fault; all three for any other fault, and when a second phase follows.
    Single,
}

/// Settings of PTRC (94, 86).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PtrcSettings {
    /// Number of poles that a trip opens.
    pub poles: Poles,
    /// Shortest trip in ms, 0 to 60 000.
    pub minimum_ms: f64,
    /// True if a trip stays until a manual reset (86).
    pub lockout: bool,
}

impl Default for PtrcSettings {
    /// Three poles, at least 150 ms, no lockout.
    fn default() -> Self {
        Self {
            poles: Poles::Three,
            minimum_ms: 150.0,
            lockout: false,
        }
    }
}

/// The output of the trip conditioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trip {
    /// Phases that a function has started in (`Str`).
    pub started: Phases,
    /// Phases that a function operates in (`Op`).
    pub operated: Phases,
    /// Poles to open (`Tr`).
    pub trip: Phases,
    /// True if the trip waits for a manual reset.
    pub locked_out: bool,
}

/// PTRC (94, 86): makes trips of the operations that a trip matrix sends here, holds them for a minimum time, and opens the correct poles. A trip
/// keeps its minimum time even if its function is blocked afterwards.
#[derive(Debug, Clone)]
pub struct Ptrc {
    settings: PtrcSettings,
    minimum: u64,
    pace: Pace,
    trip: Phases,
    run: u64,
    locked_out: bool,
}

impl Ptrc {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: PtrcSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        Check("PTRC").range("minimum-ms", settings.minimum_ms, "ms", 0.0..=60_000.0)?;
        Ok(Self {
            minimum: rated.samples_in_ms(settings.minimum_ms),
            settings,
            pace: Pace::default(),
            trip: Phases::NONE,
            run: 0,
            locked_out: false,
        })
    }

    /// The name of the logical node.
    #[must_use]
    pub fn node(&self) -> Node {
        Node {
            class: "PTRC",
            ansi: if self.settings.lockout { "86" } else { "94" },
        }
    }

    /// Evaluates the combined outputs of the functions in its matrix, at sample `at`.
    pub fn step(&mut self, at: u64, started: Phases, operated: Phases) -> Trip {
        let passed = self.pace.passed(at);
        if self.trip.any() {
            self.run = self.run.saturating_add(passed);
        }
        if operated.any() {
            self.trip |= self.poles(self.trip | operated);
            self.locked_out |= self.settings.lockout;
        } else if self.run >= self.minimum && !self.locked_out {
            self.trip = Phases::NONE;
        }
        if !self.trip.any() {
            self.run = 0;
        }
        Trip {
            started,
            operated,
            trip: self.trip,
            locked_out: self.locked_out,
        }
    }

    /// Ends a lockout.
    pub fn reset_lockout(&mut self) {
        self.locked_out = false;
    }

    fn poles(&self, phases: Phases) -> Phases {
        match self.settings.poles {
            Poles::Single if phases.count() == 1 => phases & Phases::ABC,
            Poles::Single | Poles::Three => Phases::ABC,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Poles, Ptrc, PtrcSettings};
    use crate::phases::Phases;
    use crate::rated::Rated;

    fn ptrc(settings: PtrcSettings) -> Ptrc {
        Ptrc::new(settings, &Rated::default()).expect("settings")
    }

    #[test]
    fn a_trip_lasts_its_shortest_time() {
        let mut function = ptrc(PtrcSettings::default());
        assert!(!function.step(0, Phases::A, Phases::NONE).trip.any());
        assert_eq!(function.step(4, Phases::A, Phases::A).trip, Phases::ABC);
        for at in (8..604).step_by(4) {
            assert_eq!(function.step(at, Phases::NONE, Phases::NONE).trip, Phases::ABC, "{at}");
        }
        assert!(!function.step(604, Phases::NONE, Phases::NONE).trip.any());
        // A longer operation gives a trip that lasts as long as the operation.
        for at in (608..4000).step_by(4) {
            assert!(function.step(at, Phases::A, Phases::A).trip.any());
        }
        assert!(!function.step(4004, Phases::NONE, Phases::NONE).trip.any());
    }

    #[test]
    fn a_second_phase_makes_it_three_poles() {
        let single = PtrcSettings {
            poles: Poles::Single,
            ..PtrcSettings::default()
        };
        let mut function = ptrc(single);
        assert_eq!(function.step(0, Phases::B, Phases::B | Phases::NEUTRAL).trip, Phases::B);
        assert_eq!(function.step(4, Phases::B, Phases::B).trip, Phases::B);
        assert_eq!(function.step(8, Phases::C, Phases::C).trip, Phases::ABC);
        assert_eq!(ptrc(single).step(0, Phases::NEUTRAL, Phases::NEUTRAL).trip, Phases::ABC);
        assert_eq!(
            ptrc(single).step(0, Phases::ABC, Phases::A | Phases::C).trip,
            Phases::ABC
        );
    }

    #[test]
    fn a_lockout_waits_for_a_hand() {
        let mut function = ptrc(PtrcSettings {
            lockout: true,
            ..PtrcSettings::default()
        });
        assert_eq!(function.node().to_string(), "PTRC (86)");
        assert!(function.step(0, Phases::A, Phases::A).locked_out);
        assert!(function.step(1_000_000, Phases::NONE, Phases::NONE).trip.any());
        function.reset_lockout();
        assert!(!function.step(1_000_004, Phases::NONE, Phases::NONE).trip.any());
    }

    #[test]
    fn settings_outside_their_ranges_are_refused() {
        let long = PtrcSettings {
            minimum_ms: 1e6,
            ..PtrcSettings::default()
        };
        let error = Ptrc::new(long, &Rated::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "PTRC: minimum-ms is 1000000 ms; it must be 0 to 60000 ms"
        );
    }
}
