//! Time overcurrent.

use serde::Deserialize;

use super::curve::Curve;
use super::lane::{Lane, Stage};
use super::quantity::CurrentQuantity;
use crate::direction::{EarthDirection, EarthDirectionSettings, PhaseDirection, PhaseDirectionSettings};
use crate::error::{Check, SettingError};
use crate::function::{Direction, Function, Inputs, Node, Output, Source};
use crate::measure::Channels;
use crate::rated::Rated;
use crate::timing::Pace;

/// Reset of an overcurrent function when the current falls before it operates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// At once.
    #[default]
    Immediate,
    /// After a time below the setting; until then the progress is kept.
    DefiniteTime,
    /// Like an induction disc that turns back: `t(M) = TMS tr / (1 - M^2)` (IEEE C37.112, IEC 60255-151).
    Inverse,
}

/// The directional element of an overcurrent function.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PtocDirection {
    /// No direction: 51, 51N, 46.
    #[default]
    None,
    /// Direction of each phase (67).
    Phase(PhaseDirectionSettings),
    /// Direction of the residual current (67N).
    Earth(EarthDirectionSettings),
}

/// Settings of PTOC (51, 51N, 46, 67, 67N).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PtocSettings {
    /// Source of currents and voltages.
    pub source: Source,
    /// The compared current.
    pub quantity: CurrentQuantity,
    /// Setting in x In, 0.005 to 40.
    pub pickup: f64,
    /// Curve of the operate time.
    pub curve: Curve,
    /// Time multiplier TMS (or time dial), 0.05 to 15; of inverse curves.
    pub time_multiplier: f64,
    /// Definite time in ms, 0 to 300 000; of the definite-time curve.
    pub delay_ms: f64,
    /// Shortest operate time of inverse curves in ms, 0 to 60 000.
    pub minimum_ms: f64,
    /// Multiple of the setting above which inverse curves are definite time, 2 to 100.
    pub most: f64,
    /// Kind of reset.
    pub reset: Reset,
    /// Reset time in ms of the definite-time reset, 0 to 60 000.
    pub reset_ms: f64,
    /// Reset time tr in s of the inverse reset, 0.1 to 200; 0: the value of the curve, which IEC curves do not have.
    pub reset_tr_s: f64,
    /// Share of the setting below which it resets, 0.8 to 0.99.
    pub reset_ratio: f64,
    /// Direction.
    pub direction: PtocDirection,
}

impl Default for PtocSettings {
    /// Phases at 1.2 In, definite time of 1 s, immediate reset at 0.96, without direction; inverse curves at TMS 0.1, from
    /// 20 ms on, up to 20 times the setting.
    fn default() -> Self {
        Self {
            source: Source::default(),
            quantity: CurrentQuantity::Phases,
            pickup: 1.2,
            curve: Curve::DefiniteTime,
            time_multiplier: 0.1,
            delay_ms: 1000.0,
            minimum_ms: 20.0,
            most: 20.0,
            reset: Reset::Immediate,
            reset_ms: 0.0,
            reset_tr_s: 0.0,
            reset_ratio: 0.96,
            direction: PtocDirection::None,
        }
    }
}

impl PtocSettings {
    fn check(&self) -> Result<(), SettingError> {
        let check = Check("PTOC");
        check.range("pickup", self.pickup, "x In", 0.005..=40.0)?;
        check.range("time-multiplier", self.time_multiplier, "", 0.05..=15.0)?;
        check.range("delay-ms", self.delay_ms, "ms", 0.0..=300_000.0)?;
        check.range("minimum-ms", self.minimum_ms, "ms", 0.0..=60_000.0)?;
        check.range("most", self.most, "x pickup", 2.0..=100.0)?;
        check.range("reset-ms", self.reset_ms, "ms", 0.0..=60_000.0)?;
        check.range("reset-ratio", self.reset_ratio, "x pickup", 0.8..=0.99)?;
        if let Curve::User(own) = self.curve {
            check.range("curve.user.k", own.k, "s", 0.005..=200.0)?;
            check.range("curve.user.c", own.c, "s", 0.0..=2.0)?;
            check.range("curve.user.alpha", own.alpha, "", 0.005..=4.0)?;
            check.range("curve.user.tr", own.tr.unwrap_or(1.0), "s", 0.1..=200.0)?;
        }
        if self.reset_tr_s != 0.0 {
            check.range("reset-tr-s", self.reset_tr_s, "s", 0.1..=200.0)?;
        }
        check.together(self.reset != Reset::Inverse || self.tr().is_some(), || {
            "an inverse reset needs a curve that has one (IEEE, or user with tr), or reset-tr-s".to_owned()
        })?;
        check.together(self.reset != Reset::DefiniteTime || self.reset_ms > 0.0, || {
            "a definite-time reset needs reset-ms above 0".to_owned()
        })?;
        let fits = match self.direction {
            PtocDirection::None => true,
            PtocDirection::Phase(_) => self.quantity == CurrentQuantity::Phases,
            PtocDirection::Earth(_) => self.quantity.is_residual(),
        };
        check.together(fits, || {
            "direction.phase goes with quantity phases, direction.earth with residual or phase-sum".to_owned()
        })
    }

    fn tr(&self) -> Option<f64> {
        if self.reset_tr_s > 0.0 {
            return Some(self.reset_tr_s);
        }
        self.curve.constants().and_then(|constants| constants.tr)
    }

    fn stage(&self, rated: &Rated) -> Stage {
        let inverse = self
            .curve
            .constants()
            .map(|constants| (constants, self.time_multiplier));
        let delay_ms = if inverse.is_some() {
            self.minimum_ms
        } else {
            self.delay_ms
        };
        let reset_ms = if self.reset == Reset::DefiniteTime {
            self.reset_ms
        } else {
            0.0
        };
        Stage {
            pickup: self.pickup * rated.current_a,
            reset_ratio: self.reset_ratio,
            inverse,
            most: self.most,
            delay: rated.samples_in_ms(delay_ms),
            reset: self.reset,
            reset_delay: rated.samples_in_ms(reset_ms),
            tr: self.tr().unwrap_or(1.0),
            seconds_per_sample: 1.0 / rated.samples_per_second,
        }
    }
}

/// The directional element with its state.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and a box is a cache miss"
)]
enum Directional {
    None,
    Phase(PhaseDirection),
    Earth(EarthDirection),
}

/// PTOC (51, 51N, 46; with RDIR 67, 67N): operates when a current has been above its setting for a time that depends on the
/// current, IEC 60255-151 and IEEE C37.112. A current that varies is integrated: `sum dt / t(M)` reaches 1.
#[derive(Debug, Clone)]
pub struct Ptoc {
    settings: PtocSettings,
    stage: Stage,
    directional: Directional,
    pace: Pace,
    lanes: [Lane; 3],
}

impl Ptoc {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or settings that contradict each other.
    pub fn new(settings: PtocSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        settings.check()?;
        let directional = match settings.direction {
            PtocDirection::None => Directional::None,
            PtocDirection::Phase(direction) => Directional::Phase(PhaseDirection::new(direction, rated)?),
            PtocDirection::Earth(direction) => Directional::Earth(EarthDirection::new(direction, rated)?),
        };
        Ok(Self {
            stage: settings.stage(rated),
            settings,
            directional,
            pace: Pace::default(),
            lanes: [Lane::default(); 3],
        })
    }

    fn voltages(&self) -> Channels {
        match &self.directional {
            Directional::None => Channels::NONE,
            Directional::Phase(_) => Channels::PHASE_VOLTAGES,
            Directional::Earth(earth) => earth.voltages(),
        }
    }
}

impl Function for Ptoc {
    fn node(&self) -> Node {
        let ansi = match (&self.directional, self.settings.quantity) {
            (Directional::Phase(_), _) => "67",
            (Directional::Earth(_), _) => "67N",
            (Directional::None, CurrentQuantity::Phases) => "51",
            (Directional::None, CurrentQuantity::NegativeSequence) => "46",
            (Directional::None, _) => "51N",
        };
        Node { class: "PTOC", ansi }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let channels = self.settings.quantity.channels();
        let source = self.settings.source;
        let sets = match &self.directional {
            Directional::None => Source::one(inputs, source.current, channels).map(|set| (set, set)),
            _ => source.both(inputs, channels, self.voltages()),
        };
        let (current, voltage) = match sets {
            Ok(sets) => sets,
            Err(blocks) => {
                self.reset();
                return Output::blocked(blocks);
            }
        };
        let passed = self.pace.passed(current.at);
        let mut values = self.settings.quantity.of(current);
        let mut permitted = [true; 3];
        let mut directions = [Direction::Unknown; 3];
        match &mut self.directional {
            Directional::None => {}
            Directional::Phase(phase) => (directions, permitted) = phase.step(current, voltage),
            Directional::Earth(earth) => {
                let residual = if self.settings.quantity == CurrentQuantity::Residual {
                    current.residual_current
                } else {
                    current.current_sum()
                };
                let found = earth.step(residual, voltage);
                (directions[0], values.values[0]) = (found.direction, found.operating_a);
            }
        }
        let mut output = Output::default();
        for lane in 0..values.count {
            let value = values.values[lane];
            let (started, operated) = self.lanes[lane].step(&self.stage, passed, value, permitted[lane]);
            output.started |= values.phases[lane].when(started);
            output.operated |= values.phases[lane].when(operated);
            if value > self.stage.pickup {
                output.direction = output.direction.together(directions[lane]);
            }
        }
        output
    }

    fn reset(&mut self) {
        self.pace = Pace::default();
        self.lanes = [Lane::default(); 3];
        match &mut self.directional {
            Directional::None => {}
            Directional::Phase(phase) => phase.reset(),
            Directional::Earth(earth) => earth.reset(),
        }
    }
}
