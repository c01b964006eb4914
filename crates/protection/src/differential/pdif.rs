//! The differential function.

use serde::Deserialize;

use super::characteristic::Characteristic;
use super::group::{Compensation, VectorGroup};
use super::saturation::Saturation;
use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::function::{Function, Inputs, Node, Output, Source, combining};
use crate::measure::{Blocks, Channels, Measured};
use crate::phases::Phases;
use crate::rated::Rated;

/// Share of the threshold at which a phase that has started resets.
const RESET: f64 = 0.95;

/// The protected object.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Object {
    /// A line, a cable or a busbar with two ends (87L): currents are compared without adjustment.
    #[default]
    Line,
    /// A transformer (87T).
    Transformer {
        /// Its vector group, the first of the two sides being the high-voltage one.
        vector_group: VectorGroup,
    },
}

/// Settings of PDIF (87T, 87L).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PdifSettings {
    /// Indices of the sets of the two sides.
    pub sides: [usize; 2],
    /// The protected object.
    pub object: Object,
    /// Rated current of the object at each side in primary A, 1 to 50 000: `Sn / (sqrt(3) Un)` of a transformer. The base of
    /// all settings.
    pub rated_current_a: [f64; 2],
    /// The restrained characteristic.
    pub characteristic: Characteristic,
    /// Differential current in x rated above which it operates without restraint, 5 to 30.
    pub high: f64,
    /// Share of the 2nd harmonic in the differential current that blocks the restrained stage (inrush), 0.07 to 0.5; 0: none.
    pub second_harmonic: f64,
    /// Share of the 5th harmonic in the differential current that blocks the restrained stage of its phase (overexcitation),
    /// 0.1 to 0.5; 0: none.
    pub fifth_harmonic: f64,
    /// True if the 2nd harmonic of one phase blocks all.
    pub cross_block: bool,
    /// True if a fault outside the object, whose current transformers may saturate, blocks the function.
    pub saturation: bool,
    /// Consecutive runs of the task above the characteristic before it operates, 1 to 20.
    pub confirmations: u32,
}

impl Default for PdifSettings {
    /// A line of 1000 A; for a transformer, set the object. Harmonics of 15 % (2nd, blocks all phases) and 35 % (5th) block; high at 10.
    fn default() -> Self {
        Self {
            sides: [0, 1],
            object: Object::Line,
            rated_current_a: [1000.0; 2],
            characteristic: Characteristic::default(),
            high: 10.0,
            second_harmonic: 0.15,
            fifth_harmonic: 0.35,
            cross_block: true,
            saturation: true,
            confirmations: 2,
        }
    }
}

/// PDIF (87T, 87L): operates when the currents into the object do not sum to zero: `Id = |i1 + i2|` above a threshold that rises with `Ib = |i1 - i2|
/// / 2`. Currents are compensated for the vector group and are in x rated of their side.
///
/// Both bays must measure the restraining harmonics; without them the function is blocked with the reason "no such input".
#[derive(Debug, Clone)]
pub struct Pdif {
    settings: PdifSettings,
    compensations: [Compensation; 2],
    saturation: Saturation,
    tasks: [u32; 3],
    high_tasks: [u32; 3],
}

/// Differential and restraining current of three phases, in x rated.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Currents {
    differential: [Complex; 3],
    restraint: [f64; 3],
}

impl Pdif {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or settings that contradict each other.
    pub fn new(settings: PdifSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        settings.characteristic.check()?;
        let check = Check("PDIF");
        for rated_a in settings.rated_current_a {
            check.range("rated-current-a", rated_a, "A", 1.0..=50_000.0)?;
        }
        check.range("high", settings.high, "x rated", 5.0..=30.0)?;
        if settings.second_harmonic != 0.0 {
            check.range("second-harmonic", settings.second_harmonic, "", 0.07..=0.5)?;
        }
        if settings.fifth_harmonic != 0.0 {
            check.range("fifth-harmonic", settings.fifth_harmonic, "", 0.1..=0.5)?;
        }
        check.range("confirmations", f64::from(settings.confirmations), "tasks", 1.0..=20.0)?;
        check.together(settings.sides[0] != settings.sides[1], || {
            "both sides have the same set: give each its own".to_owned()
        })?;
        Ok(Self {
            compensations: match settings.object {
                Object::Line => [Compensation::NONE; 2],
                Object::Transformer { vector_group } => vector_group.compensations(),
            },
            settings,
            saturation: Saturation::new(rated),
            tasks: [0; 3],
            high_tasks: [0; 3],
        })
    }

    fn sides<'a>(&self, inputs: &Inputs<'a>) -> Result<[&'a Measured; 2], Blocks> {
        let [one, other] = self.settings.sides;
        let one = Source::one(inputs, one, Channels::PHASE_CURRENTS)?;
        let other = Source::one(inputs, other, Channels::PHASE_CURRENTS)?;
        let blocks = combining(one, other);
        if blocks.any() { Err(blocks) } else { Ok([one, other]) }
    }

    fn currents(&self, sides: [&Measured; 2]) -> Currents {
        let [one, other] = [0, 1].map(|side| self.compensated(side, sides[side].current));
        Currents {
            differential: [0, 1, 2].map(|phase| one[phase] + other[phase]),
            restraint: [0, 1, 2].map(|phase| (one[phase] - other[phase]).norm() / 2.0),
        }
    }

    fn compensated(&self, side: usize, phases: [Complex; 3]) -> [Complex; 3] {
        let scale = 1.0 / self.settings.rated_current_a[side];
        self.compensations[side].apply(phases).map(|each| each * scale)
    }

    /// Phases whose differential current has more than `share` of a harmonic, or a harmonic that is NaN.
    fn harmonic(&self, sides: [&Measured; 2], currents: &Currents, order: u32, share: f64) -> Result<Phases, Blocks> {
        if share == 0.0 {
            return Ok(Phases::NONE);
        }
        let mut sum = [Complex::ZERO; 3];
        for (side, set) in sides.into_iter().enumerate() {
            let Some(row) = set.row(order) else {
                return Err(Blocks::MISSING);
            };
            let [a, b, c] = self.compensated(side, [row[0], row[1], row[2]]);
            sum = [sum[0] + a, sum[1] + b, sum[2] + c];
        }
        let little = [0, 1, 2].map(|phase| sum[phase].norm() <= share * currents.differential[phase].norm());
        Ok(Phases::of(little.map(|little| !little)))
    }

    fn restrained(&self, sides: [&Measured; 2], currents: &Currents) -> Result<Phases, Blocks> {
        let second = self.harmonic(sides, currents, 2, self.settings.second_harmonic)?;
        let fifth = self.harmonic(sides, currents, 5, self.settings.fifth_harmonic)?;
        let relevant = second & self.above(currents);
        if self.settings.cross_block && relevant.any() {
            return Ok(Phases::ABC);
        }
        Ok(second | fifth)
    }

    /// Phases that a fault outside the object blocks. The compensation of a transformer spreads the error of one phase over others.
    fn outside(&mut self, inputs: &Inputs<'_>) -> Phases {
        let PdifSettings {
            sides, rated_current_a, ..
        } = self.settings;
        let at = inputs
            .sets
            .get(sides[0])
            .map(|set| set.at)
            .filter(|_| self.settings.saturation);
        let Some(at) = at else {
            return Phases::NONE;
        };
        let found = self
            .saturation
            .step(inputs, at, sides, &self.compensations, rated_current_a);
        match self.settings.object {
            Object::Line => found,
            Object::Transformer { .. } => Phases::ABC.when(found.any()),
        }
    }

    /// Phases above the restrained characteristic.
    fn above(&self, currents: &Currents) -> Phases {
        Phases::of([0, 1, 2].map(|phase| {
            let threshold = self.settings.characteristic.threshold(currents.restraint[phase]);
            let held = if self.tasks[phase] > 0 { RESET } else { 1.0 };
            currents.differential[phase].norm() > threshold * held
        }))
    }
}

impl Function for Pdif {
    fn node(&self) -> Node {
        let ansi = match self.settings.object {
            Object::Line => "87L",
            Object::Transformer { .. } => "87T",
        };
        Node { class: "PDIF", ansi }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let found = self.sides(inputs).and_then(|sides| {
            let currents = self.currents(sides);
            let restrained = self.restrained(sides, &currents)?;
            Ok((currents, restrained, sides[0].at))
        });
        let (currents, restrained, at) = match found {
            Ok(found) => found,
            Err(blocks) => {
                self.reset();
                return Output::blocked(blocks);
            }
        };
        let above = self.above(&currents);
        let outside = self.outside(inputs);
        let restrained = restrained.when(!self.saturation.is_inside(at));
        let mut output = Output::default();
        for (phase, name) in Phases::EACH.into_iter().enumerate() {
            let is_inside = !outside.contains(name);
            let low = is_inside && (above & !restrained).contains(name);
            let high = is_inside && currents.differential[phase].norm() > self.settings.high;
            self.tasks[phase] = if low { self.tasks[phase].saturating_add(1) } else { 0 };
            self.high_tasks[phase] = if high {
                self.high_tasks[phase].saturating_add(1)
            } else {
                0
            };
            let most = self.tasks[phase].max(self.high_tasks[phase]);
            output.started |= name.when(low || high);
            output.operated |= name.when(most >= self.settings.confirmations);
        }
        let harmonics = Blocks::HARMONICS.when((above & restrained).any());
        let saturation = Blocks::SATURATION.when((above & outside).any());
        output.blocked = (harmonics | saturation).when(!output.started.any());
        output
    }

    fn reset(&mut self) {
        self.saturation.reset();
        self.tasks = [0; 3];
        self.high_tasks = [0; 3];
    }
}
