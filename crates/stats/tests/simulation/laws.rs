//! Laws by which the simulated windows are made, with a known truth.

use stats::random::Random;

/// How the windows of a run are made. Values are largest samples of windows, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// Windows are independent.
    Independent,
    /// Each window resembles the one before with this correlation.
    Alike(f64),
    /// Half slow load, half chance of each window.
    SlowUnderNoise(f64),
    /// Rises by this many standard deviations over the run.
    Drift(f64),
    /// A random walk.
    Walk,
    /// A slow wave of random phase, under noise.
    Wave,
    /// Two of a hundred windows have a stall a hundred times as long.
    Mixed,
    /// A tail without variance.
    Heavy,
    /// Bursts: windows of one load, then of another.
    Bursts,
}

impl Law {
    /// Name of the law in a table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Independent => "independent".into(),
            Self::Alike(rho) => format!("AR({rho})"),
            Self::SlowUnderNoise(rho) => format!("AR({rho}) under noise"),
            Self::Drift(by) => format!("drift by {by} deviations"),
            Self::Walk => "random walk".into(),
            Self::Wave => "slow wave".into(),
            Self::Mixed => "2 % far stalls".into(),
            Self::Heavy => "heavy tail".into(),
            Self::Bursts => "bursts".into(),
        }
    }

    /// Makes a run of so many windows.
    pub(crate) fn run(self, random: &mut Random, windows: usize) -> Vec<f64> {
        let mut state = random.normal();
        let phase = random.unit();
        let n = windows as f64;
        (0..windows)
            .map(|index| {
                let at = index as f64 / n;
                let noise = random.normal();
                let next = |rho: f64, state: f64, noise: f64| rho * state + (1.0 - rho * rho).sqrt() * noise;
                let height = match self {
                    Self::Independent => noise,
                    Self::Alike(rho) => {
                        state = next(rho, state, noise);
                        state
                    }
                    Self::SlowUnderNoise(rho) => {
                        state = next(rho, state, random.normal());
                        (state + noise) / 2f64.sqrt()
                    }
                    Self::Drift(by) => noise + by * at,
                    Self::Walk => {
                        state += noise / n.sqrt() * 3.0;
                        state + 0.3 * random.normal()
                    }
                    Self::Wave => 1.5 * (std::f64::consts::TAU * (at + phase)).sin() + noise,
                    Self::Bursts => {
                        if random.unit() < 0.1 {
                            state = random.normal();
                        }
                        1.5 * state + 0.5 * noise
                    }
                    Self::Mixed => {
                        let far = if random.unit() < 0.02 { 100f64.ln() / 0.1 } else { 0.0 };
                        noise + far
                    }
                    Self::Heavy => return 20_000.0 * random.unit().powf(-1.0 / 1.5),
                };
                20_000.0 * (0.1 * height).exp()
            })
            .collect()
    }

    /// The value that one of `ahead` windows exceeds, if known.
    pub(crate) fn level(self, ahead: f64) -> Option<f64> {
        use statrs::distribution::{ContinuousCDF, Normal};
        let normal = |share: f64| 20_000.0 * (0.1 * Normal::standard().inverse_cdf(1.0 - share)).exp();
        match self {
            Self::Independent | Self::Alike(_) | Self::SlowUnderNoise(_) => Some(normal(1.0 / ahead)),
            Self::Mixed => Some(100.0 * normal(50.0 / ahead)),
            Self::Heavy => Some(20_000.0 * ahead.powf(1.0 / 1.5)),
            _ => None,
        }
    }
}
