//! The staircase of a current by which a pick-up and a drop-off are measured.

use serde::{Deserialize, Serialize};

/// The state of a relay by which its pick-up is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RampSignal {
    /// Its start.
    Start,
    /// Its trip, with the relay's operate time in the value.
    Trip,
}

impl RampSignal {
    /// The word in tables and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Trip => "trip",
        }
    }
}

/// A current that rises in equal steps, and falls by the same steps. Its first step begins at the instant of the shot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurrentRamp {
    /// The phases that carry it: `A`, `ABC`.
    pub phases: String,
    /// The setting in A RMS.
    pub setting_a: f64,
    /// Declared error of the pick-up value, in percent of the setting.
    pub error_percent: f64,
    /// Current before the first step, in A RMS; also that of the last one.
    pub from_a: f64,
    /// Height of a step in A RMS.
    pub step_a: f64,
    /// Duration of a step in ns.
    pub step_ns: u64,
    /// Steps upwards; as many follow downwards.
    pub steps: u32,
    /// The state that was watched.
    pub signal: RampSignal,
}

/// Most steps upwards, and longest step in ns, of a ramp that can have been played.
const MOST_STEPS: u32 = 100_000;
const LONGEST_STEP_NS: u64 = 1_000_000_000_000;

impl CurrentRamp {
    /// True if a test set can have played it: a run file of somebody else may claim anything.
    pub fn is_possible(&self) -> bool {
        let values = [self.setting_a, self.error_percent, self.from_a, self.step_a];
        (1..=MOST_STEPS).contains(&self.steps)
            && (1..=LONGEST_STEP_NS).contains(&self.step_ns)
            && values.iter().all(|value| value.is_finite())
            && self.setting_a > 0.0
    }

    /// Duration of the whole ramp in ns.
    pub fn lasts_ns(&self) -> u64 {
        2 * u64::from(self.steps) * self.step_ns
    }

    /// Current of a step in A; steps count from 0.
    pub fn step_current_a(&self, step: u32) -> f64 {
        let height = if step < self.steps {
            step + 1
        } else {
            (2 * self.steps).saturating_sub(step + 1)
        };
        self.from_a + f64::from(height) * self.step_a
    }

    /// Current in A at this time in ns after the begin of the ramp; `None` outside it.
    pub fn current_a(&self, ns: i64) -> Option<f64> {
        let step = u64::try_from(ns).ok()? / self.step_ns.max(1);
        let step = u32::try_from(step).ok().filter(|step| *step < 2 * self.steps)?;
        Some(self.step_current_a(step))
    }

    /// True if this time is in the rising half.
    pub fn is_rising(&self, ns: i64) -> bool {
        u64::try_from(ns).is_ok_and(|ns| ns < u64::from(self.steps) * self.step_ns)
    }

    /// Error of a pick-up value in percent of the setting.
    pub fn error_of(&self, value_a: f64) -> f64 {
        100.0 * (value_a / self.setting_a - 1.0)
    }

    /// True if a pick-up value is within the declared error.
    pub fn is_allowed(&self, value_a: f64) -> bool {
        // Values are sums of steps: a value at the border is within it.
        self.error_of(value_a).abs() <= self.error_percent + 1e-6
    }

    /// Earliest and latest permitted pick-up in ns: begin of the first step, and end of the last step upwards, with a permitted value. `None` if no
    /// step has one.
    pub fn allowed_ns(&self) -> Option<[u64; 2]> {
        let allowed = |step: &u32| self.is_allowed(self.step_current_a(*step));
        let first = (0..self.steps).find(allowed)?;
        let last = (0..self.steps).rfind(allowed)?;
        Some([u64::from(first) * self.step_ns, u64::from(last + 1) * self.step_ns])
    }
}

#[cfg(test)]
mod tests {
    use super::{CurrentRamp, RampSignal};

    #[test]
    fn a_time_of_the_ramp_is_a_current_up_and_down() {
        let ramp = CurrentRamp {
            phases: "A".to_owned(),
            setting_a: 100.0,
            error_percent: 2.0,
            from_a: 80.0,
            step_a: 1.0,
            step_ns: 100,
            steps: 30,
            signal: RampSignal::Start,
        };
        assert_eq!(ramp.lasts_ns(), 6_000);
        let at = |ns| ramp.current_a(ns);
        assert_eq!(
            (at(0), at(99), at(100), at(2_999)),
            (Some(81.0), Some(81.0), Some(82.0), Some(110.0))
        );
        assert_eq!(
            (at(3_000), at(5_999), at(6_000), at(-1)),
            (Some(109.0), Some(80.0), None, None)
        );
        assert!(ramp.is_rising(2_999) && !ramp.is_rising(3_000));
        // 98 A is step 17, 102 A is step 21.
        assert_eq!(ramp.allowed_ns(), Some([1_700, 2_200]));
        assert!(ramp.is_allowed(98.0) && ramp.is_allowed(102.0) && !ramp.is_allowed(103.0));
    }
}
