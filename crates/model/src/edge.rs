//! A search for the border of a characteristic: each shot is at one value along a line.

use crate::shot::Outcome;
use serde::{Deserialize, Serialize};

/// The characteristic whose border is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Characteristic {
    /// A distance zone in the R-X plane: it trips up to its border. Lines are angles in degrees, values are ohm.
    Reach,
    /// A differential function: it trips from its border on. Lines are restraining currents, values are differential currents, both as multiples
    /// of the rated current.
    Bias,
}

impl Characteristic {
    /// The word in tables and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reach => "reach",
            Self::Bias => "bias",
        }
    }

    /// True if the relay trips at values below the border.
    pub fn trips_below(self) -> bool {
        self == Self::Reach
    }
}

/// A shot of such a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeShot {
    /// The characteristic.
    pub of: Characteristic,
    /// The faulted conductors.
    pub fault: String,
    /// Place of the line: an angle in degrees, or a restraining current.
    pub along: f64,
    /// Value of this shot.
    pub value: f64,
    /// The border by the settings.
    pub wanted: f64,
    /// Declared error in percent of it.
    pub error_percent: f64,
    /// Distance of neighbouring values.
    pub resolution: f64,
    /// The lowest and the highest value of the line. `None` in files of earlier versions.
    #[serde(default)]
    pub ends: Option<[f64; 2]>,
    /// A trip later than this, in ns from the begin of the fault, is none of this characteristic.
    pub within_ns: u64,
    /// For this long before, in ns, the value was one at which the relay must not trip: that of a fault further away. A trip in that time is one at
    /// this value, too.
    pub approach_ns: u64,
}

impl EdgeShot {
    /// True if a search can have made it: its values are finite, and those that divide are above 0.
    pub fn is_possible(&self) -> bool {
        let ends = self.ends.unwrap_or_default();
        let values = [
            self.along,
            self.value,
            self.wanted,
            self.error_percent,
            self.resolution,
            ends[0],
            ends[1],
        ];
        values.iter().all(|value| value.is_finite()) && self.wanted > 0.0 && self.resolution > 0.0
    }

    /// True if the relay tripped in time, false if it did not; `None` if the shot shows neither.
    pub fn tripped(&self, outcome: Outcome, trip_ns: Option<i64>) -> Option<bool> {
        match (outcome, trip_ns) {
            (Outcome::NotCounted, _) => None,
            (_, Some(ns)) if ns < 0 => (ns.unsigned_abs() <= self.approach_ns).then_some(true),
            (Outcome::Tripped | Outcome::False, Some(ns)) => Some(ns.unsigned_abs() <= self.within_ns),
            (Outcome::Late | Outcome::Failed | Outcome::Quiet, _) => Some(false),
            (Outcome::Early | Outcome::Tripped | Outcome::False, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Characteristic, EdgeShot};
    use crate::shot::Outcome;

    #[test]
    fn a_trip_of_a_later_zone_is_none_and_an_early_one_shows_nothing() {
        let shot = EdgeShot {
            of: Characteristic::Reach,
            fault: "AG".to_owned(),
            along: 75.0,
            value: 5.0,
            wanted: 9.9,
            error_percent: 5.0,
            resolution: 0.05,
            ends: Some([1.0, 20.0]),
            within_ns: 40,
            approach_ns: 100,
        };
        let tripped = |outcome, ns| shot.tripped(outcome, ns);
        assert_eq!(tripped(Outcome::Tripped, Some(40)), Some(true));
        assert_eq!(tripped(Outcome::False, Some(12)), Some(true));
        assert_eq!(tripped(Outcome::Tripped, Some(41)), Some(false));
        assert_eq!(tripped(Outcome::Failed, None), Some(false));
        assert_eq!(
            tripped(Outcome::Early, Some(-100)),
            Some(true),
            "it trips even further away"
        );
        assert_eq!(
            tripped(Outcome::False, Some(-100)),
            Some(true),
            "also where no trip is wanted"
        );
        assert_eq!(tripped(Outcome::Early, Some(-101)), None);
        assert_eq!(tripped(Outcome::False, Some(-101)), None);
        assert_eq!(tripped(Outcome::NotCounted, None), None);
    }
}
