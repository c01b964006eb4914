//! A current transformer that saturates.
#![allow(dead_code, reason = "each test program uses its part")]

/// A current transformer with a resistive burden: it transforms until its flux, the integral of the current, reaches a limit. Beyond the limit it
/// magnetises through a small inductance. Flux in amperes (of any unit) times s; burden and ratio are 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transformer {
    pub(crate) limit: f64,
    pub(crate) flux: f64,
    /// Inductance above the limit, relative to the burden, in s.
    pub(crate) saturated_s: f64,
    /// Inductance below the limit, relative to the burden, in s.
    pub(crate) linear_s: f64,
}

/// One that hardly errs below its limit.
pub(crate) const LINEAR_S: f64 = 5.0;

/// A sharp knee, and a soft one.
pub(crate) const SHARP_S: f64 = 5e-5;
pub(crate) const SOFT_S: f64 = 1e-3;

impl Transformer {
    pub(crate) const IDEAL: Self = Self {
        limit: f64::INFINITY,
        flux: 0.0,
        saturated_s: SHARP_S,
        linear_s: LINEAR_S,
    };

    /// Secondary current after a step of `dt` s with a primary current.
    pub(crate) fn step(&mut self, primary: f64, dt: f64) -> f64 {
        // Implicit: flux' = flux + dt (i - m(flux')).
        let linear = (self.flux + dt * primary) / (1.0 + dt / self.linear_s);
        self.flux = if linear.abs() <= self.limit {
            linear
        } else {
            let sign = linear.signum();
            let knee = sign * self.limit;
            (self.flux + dt * (primary - knee / self.linear_s + knee / self.saturated_s))
                / (1.0 + dt / self.saturated_s)
        };
        let magnetising = if self.flux.abs() <= self.limit {
            self.flux / self.linear_s
        } else {
            let knee = self.flux.signum() * self.limit;
            knee / self.linear_s + (self.flux - knee) / self.saturated_s
        };
        primary - magnetising
    }
}
