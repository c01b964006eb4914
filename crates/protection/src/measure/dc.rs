//! Removal of the decaying DC component.
//!
//! A fault current begins with a DC component that decays within tens of milliseconds, and a full-cycle DFT takes part of it
//! for fundamental: up to a fifth too much, which makes a distance zone overreach. We use a *mimic filter*,
//! `y[n] = (1 + T) x[n] - T x[n-1]` with `T` the time constant in samples (G. Benmouyal, "Removal of DC-offset in current
//! waveforms using digital mimic filtering", IEEE Transactions on Power Delivery 10(2), 1995; from memory). It removes a
//! component of its own time constant entirely, and others mostly, from the second sample of the fault on. Methods that
//! estimate the component from two successive cycles (Cho and others) remove any time constant, but only when a whole cycle
//! of fault is in the window: in the cycle in which a relay decides, they estimate nonsense.
//!
//! Filter and DFT are both linear, so we filter the phasor in place of the samples: with `S[n]` the DFT at sample `n`, `w`
//! the radians between samples and `h` the order, the filtered phasor at the filter's own gain of 1 is
//!
//! `P = S[n] + g (S[n] - S[n-1])`, `g = T e^(-jhw) / (1 + T - T e^(-jhw))`.
//!
//! In the steady state `S` stands still, and fundamental and harmonics keep their exact values.

use crate::complex::Complex;

/// The weight `g` of order `order`, for a time constant of `samples` samples.
pub(super) fn weight(order: u32, radians: f64, samples: f64) -> Complex {
    let delayed = Complex::polar(samples, -f64::from(order) * radians);
    delayed / (Complex::new(1.0 + samples, 0.0) - delayed)
}

/// Gain of the filter at the fundamental, by which a phasor of filtered samples is divided.
pub(super) fn gain(radians: f64, samples: f64) -> Complex {
    Complex::new(1.0 + samples, 0.0) - Complex::polar(samples, -radians)
}
