//! A current transformer that saturates.
//!
//! The flux is the integral of the secondary current over the resistance of the secondary circuit; counted in A s, it needs no resistance. Up to its
//! limit, the core takes a small current in proportion to the flux, and beyond it nearly all. The limit is the flux of a symmetrical current of the
//! accuracy limit factor times the rated one at the frequency of the network (IEC 61869-2), with the burden that the transformer really has.

use crate::network::FileTransformer;
use std::f64::consts::{SQRT_2, TAU};

/// Time constants of the core in s: unsaturated and saturated.
const CORE_S: f64 = 3.0;
const SATURATED_S: f64 = 1e-3;

/// The transformer of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Saturation {
    /// Flux at which it saturates, and present flux, in A s.
    limit: f64,
    flux: f64,
    step_s: f64,
}

impl Saturation {
    /// The transformer of a network with this frequency, which is its rated one.
    pub(crate) fn of(file: FileTransformer, rated_hz: f64) -> Self {
        let limit = file.limit_factor * file.rated_a * SQRT_2 / (TAU * rated_hz);
        Self {
            limit,
            flux: limit * file.remanence_percent / 100.0,
            step_s: 0.0,
        }
    }

    /// The same with steps of a sample.
    pub(crate) fn fresh(self, rate: f64) -> Self {
        Self {
            step_s: 1.0 / rate,
            ..self
        }
    }

    /// The secondary current, in primary amperes, at the end of a step with this primary current.
    pub(crate) fn secondary(&mut self, primary: f64) -> f64 {
        // The core takes flux / T below the limit, and a line of another slope beyond it; the step is implicit.
        let free = (self.flux + self.step_s * primary) / (1.0 + self.step_s / CORE_S);
        self.flux = if free.abs() <= self.limit {
            free
        } else {
            let offset = self.limit.copysign(free) * (1.0 / SATURATED_S - 1.0 / CORE_S);
            (self.flux + self.step_s * (primary + offset)) / (1.0 + self.step_s / SATURATED_S)
        };
        let core = if self.flux.abs() <= self.limit {
            self.flux / CORE_S
        } else {
            let limit = self.limit.copysign(self.flux);
            limit / CORE_S + (self.flux - limit) / SATURATED_S
        };
        primary - core
    }
}

#[cfg(test)]
mod tests {
    use super::Saturation;
    use crate::network::FileTransformer;

    fn transformer(limit_factor: f64, hz: f64) -> Saturation {
        let file = FileTransformer {
            rated_a: 400.0,
            limit_factor,
            remanence_percent: 0.0,
        };
        Saturation::of(file, hz).fresh(4_800.0)
    }

    /// Largest error of a current of `times` the rated one, in parts of its peak, with or without a full direct component.
    fn error(limit_factor: f64, times: f64, offset: bool) -> f64 {
        error_at(50.0, limit_factor, times, offset)
    }

    fn error_at(hz: f64, limit_factor: f64, times: f64, offset: bool) -> f64 {
        let mut transformer = transformer(limit_factor, hz);
        let peak = times * 400.0 * std::f64::consts::SQRT_2;
        let of = |sample: u64| {
            let seconds = f64::from(u32::try_from(sample).expect("small")) / 4_800.0;
            let wave = (std::f64::consts::TAU * hz * seconds).sin();
            let turned = (std::f64::consts::TAU * hz * seconds).cos();
            let primary = if offset { (-seconds / 0.1).exp() - turned } else { wave };
            peak * primary
        };
        let errors = (0..480).map(|sample| {
            let primary = of(sample);
            (primary - transformer.secondary(primary)).abs() / peak
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn it_follows_up_to_its_limit_and_not_beyond() {
        // A current that begins at its zero takes twice the flux of its steady state.
        assert!(error(20.0, 9.5, false) < 0.02);
        assert!(error(20.0, 40.0, false) > 0.5);
        assert!(
            error(20.0, 9.5, true) > 0.5,
            "a direct component saturates it far below the limit"
        );
        assert!(error(600.0, 9.5, true) < 0.05);
    }

    #[test]
    fn its_factor_is_that_of_the_frequency_of_the_network() {
        for hz in [16.7, 50.0, 60.0] {
            assert!(error_at(hz, 20.0, 9.5, false) < 0.03, "{hz} Hz");
            assert!(error_at(hz, 20.0, 11.5, false) > 0.03, "{hz} Hz");
        }
    }
}
