//! Breaker failure (RBRF).

use serde::Deserialize;

use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::function::{Inputs, Node, Source};
use crate::measure::{Blocks, Channels, Measured};
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::Pace;

/// Time until a vanished current is detected as gone, and an additional margin, in ms (our reference, 3.12).
const RESET_MS: f64 = 20.0;
const MARGIN_MS: f64 = 40.0;

/// Criterion by which a breaker counts as closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Its current.
    #[default]
    Current,
    /// Its position: for trips at low current.
    Contact,
    /// Either of the two.
    CurrentOrContact,
}

/// Position of a breaker, as reported by its contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Position {
    /// Unknown or intermediate.
    #[default]
    Unknown,
    /// Open.
    Open,
    /// Closed.
    Closed,
}

/// Settings of RBRF (50BF).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RbrfSettings {
    /// Source of the current.
    pub source: Source,
    /// The criterion by which the breaker counts as closed.
    pub criterion: Criterion,
    /// Phase current in x In above which the breaker is not open, 0.05 to 2.
    pub phase_current: f64,
    /// Residual current in x In above which it is not open, 0.05 to 2; of the sum of the phases.
    pub residual_current: f64,
    /// Delay of the second trip of the own breaker in ms, 0 to 60 000.
    pub retrip_ms: f64,
    /// Delay of the trip of the neighbours in ms, 0 to 60 000.
    pub backtrip_ms: f64,
    /// Time that the breaker takes to open in ms, 10 to 500; `backtrip-ms` is at least 60 ms longer.
    pub breaker_ms: f64,
}

impl Default for RbrfSettings {
    /// By current, 0.3 In and 0.2 In residual; re-trip 120 ms, back-trip 240 ms, a breaker of 50 ms.
    fn default() -> Self {
        Self {
            source: Source::default(),
            criterion: Criterion::Current,
            phase_current: 0.3,
            residual_current: 0.2,
            retrip_ms: 120.0,
            backtrip_ms: 240.0,
            breaker_ms: 50.0,
        }
    }
}

/// The output of RBRF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BreakerFailure {
    /// True if it has started (`Str`): a trip was given, and the breaker is not open.
    pub started: bool,
    /// Poles of the own breaker to trip again (`OpIn`).
    pub retrip: Phases,
    /// True if the neighbours are to be tripped (`OpEx`).
    pub backtrip: bool,
    /// Reasons why the function is blocked.
    pub blocked: Blocks,
}

/// RBRF (50BF): if a tripped breaker does not open, trips it again, and then trips its neighbours.
#[derive(Debug, Clone)]
pub struct Rbrf {
    settings: RbrfSettings,
    phase_a: f64,
    residual_a: f64,
    retrip: u64,
    backtrip: u64,
    pace: Pace,
    poles: Phases,
    run: u64,
    gone: u32,
}

impl Rbrf {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or a back trip before the breaker could have opened.
    pub fn new(settings: RbrfSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("RBRF");
        check.range("phase-current", settings.phase_current, "x In", 0.05..=2.0)?;
        check.range("residual-current", settings.residual_current, "x In", 0.05..=2.0)?;
        check.range("retrip-ms", settings.retrip_ms, "ms", 0.0..=60_000.0)?;
        check.range("backtrip-ms", settings.backtrip_ms, "ms", 0.0..=60_000.0)?;
        check.range("breaker-ms", settings.breaker_ms, "ms", 10.0..=500.0)?;
        let least = settings.breaker_ms + RESET_MS + MARGIN_MS;
        check.together(settings.backtrip_ms >= least, || {
            format!(
                "backtrip-ms is {}: a breaker of {} ms is seen as open, with margin, after {least} ms; raise it",
                settings.backtrip_ms, settings.breaker_ms
            )
        })?;
        Ok(Self {
            phase_a: settings.phase_current * rated.current_a,
            residual_a: settings.residual_current * rated.current_a,
            retrip: rated.samples_in_ms(settings.retrip_ms),
            backtrip: rated.samples_in_ms(settings.backtrip_ms),
            settings,
            pace: Pace::default(),
            poles: Phases::NONE,
            run: 0,
            gone: 0,
        })
    }

    /// The name of the logical node.
    #[must_use]
    pub fn node(&self) -> Node {
        Node {
            class: "RBRF",
            ansi: "50BF",
        }
    }

    /// Evaluates the current and the position of the breaker; `trip`: the poles that are being tripped.
    pub fn step(&mut self, inputs: &Inputs<'_>, trip: Phases, position: Position) -> BreakerFailure {
        let by_contact = self.settings.criterion == Criterion::Contact;
        let channels = if by_contact {
            Channels::NONE
        } else {
            Channels::PHASE_CURRENTS
        };
        let set = match Source::one(inputs, self.settings.source.current, channels) {
            Ok(set) => set,
            Err(blocked) => {
                self.reset();
                return BreakerFailure {
                    blocked,
                    ..BreakerFailure::default()
                };
            }
        };
        let passed = self.pace.passed(set.at);
        let closed = match self.settings.criterion {
            Criterion::Current => self.carries(set),
            Criterion::Contact => position != Position::Open,
            Criterion::CurrentOrContact => self.carries(set) || position == Position::Closed,
        };
        self.gone = if closed { 0 } else { self.gone.saturating_add(1) };
        if self.poles.any() {
            self.run = self.run.saturating_add(passed);
            self.poles |= trip;
        } else if trip.any() && closed {
            self.poles = trip;
            self.run = 0;
        }
        if self.gone >= 2 {
            self.poles = Phases::NONE;
        }
        let started = self.poles.any();
        BreakerFailure {
            started,
            retrip: self.poles.when(started && closed && self.run >= self.retrip),
            backtrip: started && closed && self.run >= self.backtrip,
            blocked: Blocks::NONE,
        }
    }

    /// True if the function has started. Its set should then have [`Measured::half_cycle_current`]; without it, a vanished current is detected up to
    /// 10 ms later.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.poles.any()
    }

    /// Clears everything except the settings.
    pub fn reset(&mut self) {
        self.pace = Pace::default();
        self.poles = Phases::NONE;
        self.run = 0;
        self.gone = 0;
    }

    /// True if the breaker carries current.
    fn carries(&self, set: &Measured) -> bool {
        let phases = set.half_cycle_current.unwrap_or(set.current);
        let [a, b, c] = phases;
        let over = |current: &Complex, limit: f64| current.norm_sqr() > limit * limit;
        phases.iter().any(|each| over(each, self.phase_a)) || over(&(a + b + c), self.residual_a)
    }
}
