//! A measured set: the values of one bay at one instant.

use super::frequency::Frequency;
use super::health::Health;
use super::reference::ORDERS;
use super::sequence::Sequence;
use crate::complex::Complex;

/// The channels of a bay, in the order of the dataset of 9-2LE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Channel {
    /// Current of phase A.
    IA,
    /// Current of phase B.
    IB,
    /// Current of phase C.
    IC,
    /// Residual current 3 I0.
    IN,
    /// Voltage of phase A to earth.
    UA,
    /// Voltage of phase B to earth.
    UB,
    /// Voltage of phase C to earth.
    UC,
    /// Residual voltage 3 U0.
    UN,
}

impl Channel {
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// Phasors of one bay at one instant: primary amperes and volts RMS, angles against the common reference. Currents are
/// positive from the busbar into the protected object.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// Number of the last sample in the window, counted from the start.
    pub at: u64,
    /// Phase currents, fundamental.
    pub current: [Complex; 3],
    /// Fundamental of the residual current 3 I0: from its channel, or the sum of the phases.
    pub residual_current: Complex,
    /// Phase-to-earth voltages, fundamental.
    pub voltage: [Complex; 3],
    /// Fundamental of the residual voltage 3 U0: from its channel, or the sum of the phases.
    pub residual_voltage: Complex,
    /// Symmetrical components of the phase currents.
    pub current_sequence: Sequence,
    /// Symmetrical components of the phase voltages.
    pub voltage_sequence: Sequence,
    /// Phasors by order (as in [`ORDERS`]) and channel; zero for orders that the bay does not measure.
    pub harmonics: [[Complex; 8]; ORDERS.len()],
    /// The members of [`ORDERS`] that are measured for all channels; the lowest bit is the fundamental.
    pub orders: u8,
    /// The members of [`ORDERS`] that are measured for the residuals only.
    pub residual_orders: u8,
    /// True RMS by channel: all frequencies, DC included.
    pub rms: [f64; 8],
    /// Phase currents over half a cycle, if the relay asks the bay for them ([`super::Bay::half_cycle`]).
    pub half_cycle_current: Option<[Complex; 3]>,
    /// Frequency, if it can be measured.
    pub frequency: Option<Frequency>,
    /// Trust in the set.
    pub health: Health,
}

impl Measured {
    /// A set of given phasors, with all other values derived from them: for tests, and for phasors from other sources. The residuals are the sums of
    /// the phases.
    #[must_use]
    pub fn of(at: u64, current: [Complex; 3], voltage: [Complex; 3]) -> Self {
        let mut set = Self {
            at,
            current,
            voltage,
            residual_current: current[0] + current[1] + current[2],
            residual_voltage: voltage[0] + voltage[1] + voltage[2],
            orders: 1,
            ..Self::default()
        };
        set.derive();
        set.rms = set.harmonics[0].map(Complex::norm);
        set
    }

    /// Derives the symmetrical components, and copies the fundamental into the harmonics.
    pub(super) fn derive(&mut self) {
        self.current_sequence = Sequence::of(self.current);
        self.voltage_sequence = Sequence::of(self.voltage);
        let [ia, ib, ic] = self.current;
        let [ua, ub, uc] = self.voltage;
        self.harmonics[0] = [ia, ib, ic, self.residual_current, ua, ub, uc, self.residual_voltage];
    }

    /// Phasor of a channel at an order; `None` if the bay does not measure it.
    #[must_use]
    pub fn phasor(&self, channel: Channel, order: u32) -> Option<Complex> {
        let row = ORDERS.iter().position(|each| *each == order)?;
        let measured = match channel {
            Channel::IN | Channel::UN => self.orders | self.residual_orders,
            _ => self.orders,
        };
        (measured >> row & 1 == 1).then(|| self.harmonics[row][channel.index()])
    }

    /// Sets the phasor of a channel at an order: for phasors from other sources.
    pub fn set_phasor(&mut self, channel: Channel, order: u32, phasor: Complex) {
        if let Some(row) = ORDERS.iter().position(|each| *each == order) {
            self.harmonics[row][channel.index()] = phasor;
            self.orders |= 1 << row;
        }
    }

    /// Phasors of all channels at an order; `None` if the bay does not measure the order for all channels.
    pub(crate) fn row(&self, order: u32) -> Option<&[Complex; 8]> {
        let row = ORDERS.iter().position(|each| *each == order)?;
        (self.orders >> row & 1 == 1).then(|| &self.harmonics[row])
    }

    /// Phase-to-phase voltages AB, BC, CA.
    #[must_use]
    pub fn phase_to_phase(&self) -> [Complex; 3] {
        let [a, b, c] = self.voltage;
        [a - b, b - c, c - a]
    }

    /// Sum of the phase currents.
    #[must_use]
    pub fn current_sum(&self) -> Complex {
        let [a, b, c] = self.current;
        a + b + c
    }

    /// Sum of the phase voltages.
    #[must_use]
    pub fn voltage_sum(&self) -> Complex {
        let [a, b, c] = self.voltage;
        a + b + c
    }
}
