//! The uncertainty of a measured duration, put together from its components as the GUM (JCGM 100:2008) does, and the risk of a
//! decision about it (JCGM 106:2012).
//!
//! An error is measured value minus true value: it is positive if the value was measured too long.

use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;

/// Factor between standard and expanded uncertainty: some 95 % of a normal distribution.
pub const COVERAGE: f64 = 2.0;

/// Steps of the grid on which a distribution is computed.
const STEPS: usize = 1_024;

/// Standard deviations of the normal part that the grid covers on each side.
const NORMAL_REACH: f64 = 8.0;

/// The distribution of one component's error, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Anywhere between two ends, all equally likely.
    Uniform {
        /// Smallest error.
        low: f64,
        /// Largest error.
        high: f64,
    },
    /// A normal distribution.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
}

impl Shape {
    /// An error of at most `most` in either direction.
    pub fn within(most: f64) -> Self {
        Self::Uniform { low: -most, high: most }
    }

    /// Mean error: how much too long the values are on average.
    pub fn mean(self) -> f64 {
        match self {
            Self::Uniform { low, high } => f64::midpoint(low, high),
            Self::Normal { mean, .. } => mean,
        }
    }

    /// Standard uncertainty.
    pub fn standard(self) -> f64 {
        match self {
            Self::Uniform { low, high } => (high - low) / 12.0_f64.sqrt(),
            Self::Normal { deviation, .. } => deviation,
        }
    }
}

/// The sum of independent errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    bias: f64,
    /// Standard deviation of the normal components together.
    normal: f64,
    /// Half widths of the uniform components.
    uniform: Vec<f64>,
}

impl Combined {
    /// Adds up components.
    pub fn of(shapes: impl IntoIterator<Item = Shape>) -> Self {
        let (mut bias, mut variance, mut uniform) = (0.0, 0.0, Vec::new());
        for shape in shapes {
            bias += shape.mean();
            match shape {
                Shape::Uniform { low, high } => uniform.push((high - low) / 2.0),
                Shape::Normal { deviation, .. } => variance += deviation * deviation,
            }
        }
        uniform.retain(|half| *half > 0.0);
        uniform.sort_by(|a, b| b.total_cmp(a));
        Self {
            bias,
            normal: f64::sqrt(variance),
            uniform,
        }
    }

    /// Mean error in ns: positive if the values are too long.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// Combined standard uncertainty, in ns.
    pub fn standard(&self) -> f64 {
        let uniform = self.uniform.iter().map(|half| half * half / 3.0).sum::<f64>();
        (self.normal * self.normal + uniform).sqrt()
    }

    /// Expanded uncertainty in ns, with [`COVERAGE`]. A bias towards too short values, which nobody corrects, is added; one towards
    /// too long values is on the safe side, and nothing is taken off for it.
    pub fn expanded(&self) -> f64 {
        COVERAGE * self.standard() + (-self.bias).max(0.0)
    }

    /// Probability that the true value is over `allowed`, given the measured value and nothing else about the true one.
    pub fn risk(&self, measured: f64, allowed: f64) -> f64 {
        // true = measured - error > allowed
        self.probability_below(measured - allowed)
    }

    /// Probability that the error is below `error`.
    fn probability_below(&self, error: f64) -> f64 {
        let at = error - self.bias;
        let reach = NORMAL_REACH * self.normal + self.uniform.iter().sum::<f64>();
        if at <= -reach {
            // With no uncertainty at all, the measured value is the true one, and its limit itself is allowed.
            return 0.0;
        }
        if at >= reach {
            return 1.0;
        }
        Grid::of(self, reach).at(at).clamp(0.0, 1.0)
    }
}

/// A distribution function on evenly spaced points, from `-reach` to `reach`.
struct Grid {
    reach: f64,
    step: f64,
    values: Vec<f64>,
}

impl Grid {
    /// Starts with the normal part or, without one, with the widest uniform component; each further uniform component averages over
    /// its width.
    fn of(errors: &Combined, reach: f64) -> Self {
        let step = 2.0 * reach / STEPS as f64;
        let points = (0..=STEPS).map(|at| at as f64 * step - reach);
        let (values, rest): (Vec<f64>, &[f64]) = match (errors.normal > 0.0, errors.uniform.as_slice()) {
            (false, [widest, rest @ ..]) => (
                points
                    .map(|x| (f64::midpoint(x / widest, 1.0)).clamp(0.0, 1.0))
                    .collect(),
                rest,
            ),
            (_, uniform) => (
                points.map(|x| erfc(-x / (errors.normal * SQRT_2)) / 2.0).collect(),
                uniform,
            ),
        };
        let mut grid = Self { reach, step, values };
        for half in rest {
            grid.average(*half);
        }
        grid
    }

    /// Replaces each value by the mean of the distribution over `half` on both sides.
    fn average(&mut self, half: f64) {
        let mut integral = Vec::with_capacity(self.values.len());
        let mut sum = 0.0;
        integral.push(sum);
        for pair in self.values.windows(2) {
            sum += f64::midpoint(pair[0], pair[1]) * self.step;
            integral.push(sum);
        }
        let up_to = |x: f64| {
            if x <= -self.reach {
                return 0.0;
            }
            if x >= self.reach {
                return sum + (x - self.reach);
            }
            let place = (x + self.reach) / self.step;
            let cell = (place as usize).min(STEPS - 1);
            let part = place - cell as f64;
            let (from, to) = (self.values[cell], self.values[cell + 1]);
            integral[cell] + self.step * part * (from + part * (to - from) / 2.0)
        };
        let averaged = (0..=STEPS).map(|at| {
            let x = at as f64 * self.step - self.reach;
            (up_to(x + half) - up_to(x - half)) / (2.0 * half)
        });
        self.values = averaged.collect();
    }

    /// The value between the points.
    fn at(&self, x: f64) -> f64 {
        let place = (x + self.reach) / self.step;
        let cell = (place as usize).min(STEPS - 1);
        let part = place - cell as f64;
        self.values[cell] + part * (self.values[cell + 1] - self.values[cell])
    }
}

#[cfg(test)]
mod tests {
    use super::{COVERAGE, Combined, Shape};
    use crate::random::Random;

    fn draw(shape: Shape, random: &mut Random) -> f64 {
        match shape {
            Shape::Uniform { low, high } => low + (high - low) * random.unit(),
            Shape::Normal { mean, deviation } => mean + deviation * random.normal(),
        }
    }

    /// Shapes of real budgets: read-outs that only lengthen, one bound that dominates, a triangle, a normal mix, a coarse clock.
    fn budgets() -> Vec<Vec<Shape>> {
        let late = |high| Shape::Uniform { low: 0.0, high };
        let early = |low| Shape::Uniform { low, high: 0.0 };
        vec![
            vec![late(30.0), early(-1.0)],
            vec![late(25.0), Shape::within(900.0), early(-1.0)],
            vec![early(-100.0), late(100.0), late(40.0)],
            vec![
                Shape::Normal {
                    mean: 4.0,
                    deviation: 20.0,
                },
                Shape::within(30.0),
                late(50.0),
            ],
            vec![Shape::Normal {
                mean: 0.0,
                deviation: 50.0,
            }],
        ]
    }

    #[test]
    fn moments_add_up_and_a_bias_counts_only_where_it_hides_a_late_value() {
        let one = Combined::of([Shape::Uniform { low: 0.0, high: 12.0 }]);
        assert!((one.bias() - 6.0).abs() < 1e-12 && (one.standard() - 12.0_f64.sqrt()).abs() < 1e-12);
        assert!((one.expanded() - COVERAGE * one.standard()).abs() < 1e-12);
        let short = Combined::of([Shape::Uniform { low: -12.0, high: 0.0 }]);
        assert!((short.expanded() - COVERAGE * short.standard() - 6.0).abs() < 1e-12);
        assert!(Combined::of([]).expanded().abs() < 1e-12);
    }

    #[test]
    fn a_normal_error_at_the_limit_is_a_coin_and_a_guard_of_two_deviations_leaves_two_percent() {
        let normal = Combined::of([Shape::Normal {
            mean: 0.0,
            deviation: 40.0,
        }]);
        assert!((normal.risk(1_000.0, 1_000.0) - 0.5).abs() < 1e-6);
        let guarded = normal.risk(1_000.0 - normal.expanded(), 1_000.0);
        assert!((guarded - 0.022_750).abs() < 1e-5, "{guarded}");
        assert!(normal.risk(0.0, 1_000.0).abs() < 1e-12);
        assert!((normal.risk(2_000.0, 1_000.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_uncertainty_the_measured_value_is_the_true_one() {
        let none = Combined::of([]);
        assert!(none.risk(1_000.0, 1_000.0).abs() < 1e-12);
        assert!((none.risk(1_001.0, 1_000.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn read_outs_alone_never_hide_a_late_value() {
        let late = Combined::of([
            Shape::Uniform { low: 0.0, high: 40.0 },
            Shape::Uniform { low: 0.0, high: 25.0 },
        ]);
        assert!(
            late.risk(1_000.0, 1_000.0) < 1e-9,
            "measured at the limit, so true below it"
        );
    }

    /// Values spread evenly around a limit are measured with drawn errors and accepted by each rule. The share of accepted ones that
    /// are truly over the limit must be the mean of their stated risks, to a tenth.
    #[test]
    fn stated_and_true_risk_agree_for_simple_and_guarded_acceptance() {
        const DRAWS: usize = 1_500_000;
        let mut random = Random::new(106);
        let allowed = 100_000.0;
        for shapes in budgets() {
            let errors = Combined::of(shapes.clone());
            let spread = 6.0 * (errors.standard() + errors.bias().abs());
            let table: Vec<f64> = (0..=2_000)
                .map(|at| errors.risk(allowed - spread + f64::from(at) * spread / 1_000.0, allowed))
                .collect();
            for guard in [0.0, errors.expanded() / 2.0, errors.expanded()] {
                let (mut stated, mut over, mut accepted) = (0.0, 0_u32, 0_u32);
                for _ in 0..DRAWS {
                    let truth = allowed + spread * (2.0 * random.unit() - 1.0);
                    let error: f64 = shapes.iter().map(|shape| draw(*shape, &mut random)).sum();
                    let measured = truth + error;
                    // Only figures near the limit, where truth is drawn on both sides of every possible error.
                    if measured + guard > allowed || measured < allowed - spread / 2.0 {
                        continue;
                    }
                    accepted += 1;
                    over += u32::from(truth > allowed);
                    let place = ((measured - allowed + spread) / spread * 1_000.0).round() as usize;
                    stated += table[place];
                }
                let wrong = f64::from(over);
                assert!(accepted > 10_000, "{shapes:?}, {guard}");
                // Four standard errors of the count come on top of the tenth.
                let allowance = stated.max(wrong) / 10.0 + 4.0 * stated.max(1.0).sqrt();
                assert!(
                    (stated - wrong).abs() <= allowance,
                    "{shapes:?}, guard {guard}: stated {stated}, true {wrong} of {accepted}"
                );
            }
        }
    }
}
