//! The six loops of a three-phase line.

use crate::complex::Complex;
use crate::measure::Measured;
use crate::phases::Phases;

/// Voltages of the six loops relative to phase A in a healthy system: 1, a², a, 1 - a², a² - a, a - 1.
const TURNS: [Complex; 6] = [
    Complex::ONE,
    Complex::A2,
    Complex::A,
    Complex::new(1.5, Complex::A.im),
    Complex::new(0.0, -2.0 * Complex::A.im),
    Complex::new(-1.5, Complex::A.im),
];

/// A loop, and the magnitude of its impedance in ohm.
type Length = (Loop, f64);

/// The loops between two phases.
const BETWEEN: [Loop; 3] = [Loop::AB, Loop::BC, Loop::CA];

/// Ratio of the smallest phase loop to the smallest earth loop up to which an earth fault has two phases.
const TWO_PHASES: f64 = 1.6;

/// Ratio of the two smallest earth loops up to which an earth fault has two phases.
const TWO_TO_EARTH: f64 = 1.8;

/// Ratio of the two smallest phase loops up to which a fault has three phases; without earth and load it is 2 or more in a fault of two.
const THREE_PHASES: f64 = 1.7;

/// Share of the negative in the positive sequence below which currents are balanced.
const BALANCED: f64 = 0.25;

/// Ratio of the smallest phase loop to the smallest earth loop above which the earth loop alone may measure the fault.
const PLAIN: f64 = 1.25;

/// Cosine of half the sector in which the negative sequence points with the zero sequence: 60 degrees, and a margin.
const COS_SECTOR: f64 = 0.5;

/// Share of the negative in the zero sequence from which its angle says something. At a passive end it is the load's.
const TELLING: f64 = 0.3;

/// A loop that a fault closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// Phase A to earth.
    AN,
    /// Phase B to earth.
    BN,
    /// Phase C to earth.
    CN,
    /// Phase A to phase B.
    AB,
    /// Phase B to phase C.
    BC,
    /// Phase C to phase A.
    CA,
}

impl Loop {
    /// All six, earth loops first.
    pub const ALL: [Self; 6] = [Self::AN, Self::BN, Self::CN, Self::AB, Self::BC, Self::CA];

    /// True if it includes the earth.
    #[must_use]
    pub fn is_earth(self) -> bool {
        matches!(self, Self::AN | Self::BN | Self::CN)
    }

    /// Its phases.
    #[must_use]
    pub fn phases(self) -> Phases {
        match self {
            Self::AN => Phases::A | Phases::NEUTRAL,
            Self::BN => Phases::B | Phases::NEUTRAL,
            Self::CN => Phases::C | Phases::NEUTRAL,
            Self::AB => Phases::A | Phases::B,
            Self::BC => Phases::B | Phases::C,
            Self::CA => Phases::C | Phases::A,
        }
    }

    /// The positive-sequence voltage of phase A, rotated to the angle of the loop's voltage in a healthy system.
    #[must_use]
    pub fn polarised(self, positive: Complex) -> Complex {
        positive * TURNS[self.index()]
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// The loops that measure a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// The loops by all criteria.
    pub preferred: &'static [Loop],
    /// The loops by impedance alone, which decide if none of the preferred ones is in the zone.
    pub reserve: &'static [Loop],
}

/// Voltage and current of the six loops: `Z_A = V_A / (I_A + K0 In)` with `In = 3 I0` the sum of the phases, and
/// `Z_AB = (V_A - V_B) / (I_A - I_B)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loops {
    voltage: [Complex; 6],
    current: [Complex; 6],
    least_a: f64,
    /// Positive, negative and zero sequence of the currents, of phase A.
    positive: Complex,
    negative: Complex,
    zero: Complex,
    /// Square of the residual current, A².
    residual_sqr: f64,
    /// Squares of the phase currents, A².
    phases_sqr: [f64; 3],
}

impl Loops {
    /// The loops of measured currents and voltages; a loop with less than `least_a` A has no impedance.
    #[must_use]
    pub fn of(current: &Measured, voltage: &Measured, k0: Complex, least_a: f64) -> Self {
        let [ia, ib, ic] = current.current;
        let [ua, ub, uc] = voltage.voltage;
        let sum = ia + ib + ic;
        let residual = k0 * sum;
        let voltages = [ua, ub, uc, ua - ub, ub - uc, uc - ua];
        let currents = [ia + residual, ib + residual, ic + residual, ia - ib, ib - ic, ic - ia];
        Self {
            voltage: voltages,
            current: currents,
            least_a,
            positive: current.current_sequence.positive,
            negative: current.current_sequence.negative,
            zero: current.current_sequence.zero,
            residual_sqr: sum.norm_sqr(),
            phases_sqr: [ia.norm_sqr(), ib.norm_sqr(), ic.norm_sqr()],
        }
    }

    /// Voltage of a loop, V.
    #[must_use]
    pub fn voltage(&self, each: Loop) -> Complex {
        self.voltage[each.index()]
    }

    /// Current of a loop, A.
    #[must_use]
    pub fn current(&self, each: Loop) -> Complex {
        self.current[each.index()]
    }

    /// Impedance of a loop in ohm, if it carries enough current.
    #[must_use]
    pub fn impedance(&self, each: Loop) -> Option<Complex> {
        self.voltage(each).ratio(self.current(each), self.least_a)
    }

    /// The loops that measure the fault. With a residual current: the earth loop of the faulted phase (the smallest impedance), unless two phases are
    /// involved. Otherwise: the phase loop with the smallest impedance, or all three if another one is hardly larger, as in a three-phase fault.
    /// `rated_a` is In (our reference, 3.8). Loops of phases whose pole is `open` measure no fault.
    ///
    /// Two phases are involved in an earth fault if the smallest phase loop is hardly larger than the smallest earth loop (in a single-phase fault it is
    /// more than twice as large), or if the negative-sequence current of that phase does not point with the zero sequence: in a fault of B and C to
    /// earth it does in A. The margins are our choice.
    ///
    /// Resistance of the fault and load move the impedances of a single-phase fault beyond these margins. So the earth loop stays in reserve, unless the
    /// negative sequence points away from the zero sequence.
    #[must_use]
    pub fn selected(&self, rated_a: f64, open: Phases) -> Selection {
        let most_sqr = self.phases_sqr.iter().copied().fold(0.0, f64::max);
        let earth = self.residual_sqr > square(0.1 * rated_a).max(square(0.15) * most_sqr);
        let [between, other] = self.shortest(BETWEEN, rated_a, open);
        let [to_earth, other_earth] = if earth {
            self.shortest([Loop::AN, Loop::BN, Loop::CN], rated_a, open)
        } else {
            [None, None]
        };
        let is_single = |least: f64| other_earth.is_none_or(|(_, other)| other > TWO_TO_EARTH * least);
        let preferred: &'static [Loop] = match (to_earth, between) {
            (Some((each, earth)), Some((_, phase)))
                if phase > TWO_PHASES * earth
                    && is_single(earth)
                    && self.cosine(each).is_none_or(|cos| cos > COS_SECTOR) =>
            {
                only(each)
            }
            (Some((each, _)), None) => only(each),
            (_, Some((each, phase)))
                if !self.is_balanced() && other.is_none_or(|(_, other)| other > THREE_PHASES * phase) =>
            {
                only(each)
            }
            _ => &BETWEEN,
        };
        let reserve: &'static [Loop] = match (to_earth, between) {
            (Some((each, earth)), Some((_, phase)))
                if phase > PLAIN * earth && self.cosine(each).is_none_or(|cos| cos > 0.0) =>
            {
                only(each)
            }
            (Some((each, _)), None) => only(each),
            _ => &BETWEEN,
        };
        Selection { preferred, reserve }
    }

    /// The loop with the smallest impedance among these, and the one after it, each with its impedance in ohm.
    fn shortest(&self, loops: [Loop; 3], rated_a: f64, open: Phases) -> [Option<Length>; 2] {
        let [mut found, mut next]: [Option<Length>; 2] = [None, None];
        for each in loops {
            let carries = !each.is_earth() || self.phases_sqr[each.index()] > square(0.2 * rated_a);
            let current = self.current(each).norm();
            if !carries || current <= self.least_a || (open & each.phases()).any() {
                continue;
            }
            let impedance = self.voltage(each).norm() / current;
            if found.is_none_or(|(_, least)| impedance < least) {
                next = found.replace((each, impedance));
            } else if next.is_none_or(|(_, least)| impedance < least) {
                next = Some((each, impedance));
            }
        }
        [found, next]
    }

    /// True if the negative sequence is that of a three-phase fault. In a fault of two phases it is as large as the positive sequence without load.
    fn is_balanced(&self) -> bool {
        self.negative.norm_sqr() < square(BALANCED) * self.positive.norm_sqr()
    }

    /// Cosine of the angle between the negative-sequence current of the phase of an earth loop and the zero sequence; `None` if the negative sequence is
    /// too small to tell.
    fn cosine(&self, each: Loop) -> Option<f64> {
        let negative = self.negative * [Complex::ONE, Complex::A, Complex::A2][each.index()];
        let product = negative.norm() * self.zero.norm();
        (negative.norm() > TELLING * self.zero.norm()).then(|| negative.dot(self.zero) / product)
    }
}

/// Square of a number.
fn square(value: f64) -> f64 {
    value * value
}

fn only(each: Loop) -> &'static [Loop] {
    const ALL: &[Loop; 6] = &Loop::ALL;
    let index = each.index();
    &ALL[index..=index]
}
