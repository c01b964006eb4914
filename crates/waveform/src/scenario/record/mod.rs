//! A COMTRADE record as a scenario: its pre-fault cycle repeated, then the record, then that cycle again.
//!
//! The phase continues as that of a synthesised signal does. The point on wave is given by the record, so the record can only start once per cycle.
//! To start at a different phase of the second in each shot, the steady state before it is slightly slower than the record.

mod inception;
mod keys;
mod laid;

pub(super) use keys::Keys;

use super::{Shot, Wave};
use crate::WaveformError;
use crate::sample::{Quantity, SampleTable, Sampling, Writer};
use crate::synth::Loop;
use laid::Laid;
use stats::random::Random;
use std::sync::Arc;
use wire::quality::SvQuality;

/// Largest difference of the steady state's frequency from that of the record, in Hz: less than the usual deviation of grids.
const OFF_HZ: f64 = 0.05;

/// A record in played form.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    laid: Arc<Laid>,
    /// Phase of the frequency at the first sample, in degrees.
    shift_deg: f64,
    /// Start of the record; `None` if it is never played.
    placed: Option<Placed>,
    has_currents: bool,
    /// True if the steady state replaces the record.
    pub(super) is_load: bool,
    /// Added to the quality of every member while the record is played.
    pub(super) quality: SvQuality,
}

/// Start of the record in a shot.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Placed {
    /// Its first sample.
    begin: u64,
    /// Additional phase that accumulates until then, in degrees, relative to the frequency.
    turn_deg: f64,
}

impl Replayed {
    fn of(laid: Laid) -> Self {
        Self {
            laid: Arc::new(laid),
            shift_deg: 0.0,
            placed: None,
            has_currents: true,
            is_load: false,
            quality: SvQuality::GOOD,
        }
    }

    pub(super) fn steady(&self) -> Self {
        Self {
            placed: None,
            ..self.clone()
        }
    }

    pub(super) fn without_currents(self) -> Self {
        Self {
            has_currents: false,
            ..self
        }
    }

    pub(super) fn shifted(&self, deg: f64) -> Self {
        Self {
            shift_deg: self.shift_deg + deg,
            ..self.clone()
        }
    }

    pub(super) fn frequency_hz(&self) -> f64 {
        self.laid.frequency_hz()
    }

    /// Phase of the frequency, without the shift, in degrees.
    pub(super) fn phase_deg_at(&self, seconds: f64) -> f64 {
        self.turned_deg(seconds * f64::from(self.laid.sampling.rate))
    }

    fn turned_deg(&self, sample: f64) -> f64 {
        let turn_deg = self.placed.map_or(0.0, |Placed { begin, turn_deg }| {
            turn_deg * (sample / begin.max(1) as f64).min(1.0)
        });
        360.0 * sample / self.laid.cycle + turn_deg
    }

    /// Same as [`super::Scenario::shot`]: the fault starts at the record's phase, after `lead` samples or as many as the record has before its fault.
    pub(super) fn shot(
        &self,
        sampling: &Sampling,
        lead: u64,
        shift_deg: f64,
        number: u64,
    ) -> Result<Shot, WaveformError> {
        let placed = self.placed(lead, shift_deg, number);
        let replayed = Self {
            placed: Some(placed),
            ..self.shifted(shift_deg)
        };
        Ok(Shot {
            table: replayed.table(sampling)?,
            fault: placed.begin + self.laid.own(),
            end: placed.begin + self.laid.length(),
            flaw_change: 0,
            wave: Wave::Record(replayed),
        })
    }

    fn placed(&self, lead: u64, shift_deg: f64, number: u64) -> Placed {
        let laid = &self.laid;
        let step_deg = 360.0 / laid.cycle;
        let least = lead.saturating_sub(laid.own()).max(laid.cycle.ceil() as u64);
        let off_deg = (laid.begin_deg() - shift_deg - step_deg * least as f64).rem_euclid(360.0);
        let nearest = least + (off_deg / step_deg).round() as u64;
        // The earliest time for the start.
        let seconds = least as f64 / f64::from(laid.sampling.rate);
        let reach = (OFF_HZ * seconds * laid.cycle).floor() as u64;
        let begin = nearest + Random::new(number ^ lead << 20).next_u64() % (reach + 1);
        let ahead_deg = (laid.begin_deg() - shift_deg - step_deg * begin as f64).rem_euclid(360.0);
        Placed {
            begin,
            turn_deg: if ahead_deg > 180.0 {
                ahead_deg - 360.0
            } else {
                ahead_deg
            },
        }
    }

    pub(super) fn table(&self, sampling: &Sampling) -> Result<SampleTable, WaveformError> {
        let laid = &self.laid;
        if laid.sampling != *sampling {
            return Err(WaveformError::setting("the record was laid out for another stream"));
        }
        let steady = Loop::of(laid.frequency_hz(), sampling.rate);
        let end = self.placed.map_or(0, |placed| placed.begin + laid.length());
        let mut writer = Writer::new(sampling, laid.sources.clone(), end + steady.samples)?;
        let mut row = vec![0.0; laid.columns.len()];
        for sample in 0..end {
            let is_disturbed = self.placed.is_some_and(|placed| sample >= placed.begin);
            self.fill(&mut row, sample);
            writer.push(&row, if is_disturbed { self.quality } else { SvQuality::GOOD });
        }
        let end_deg = self.shift_deg + self.turned_deg(end as f64);
        for sample in 0..steady.samples {
            // Multiplying before dividing keeps every sample exact, because the numbers are integers.
            let turned_deg = 360.0 * ((sample * steady.cycles) as f64 / steady.samples as f64);
            self.fill_steady(&mut row, end_deg + turned_deg);
            writer.push(&row, SvQuality::GOOD);
        }
        writer.finish(steady.samples, Some(steady.frequency_hz(sampling.rate)))
    }

    /// The values of a sample up to the record's end.
    fn fill(&self, row: &mut [f64], sample: u64) {
        let laid = &self.laid;
        self.fill_steady(row, self.shift_deg + self.turned_deg(sample as f64));
        let begin = self.placed.map_or(u64::MAX, |placed| placed.begin);
        let Some(played) = sample.checked_sub(begin).filter(|_| !self.is_load) else {
            return;
        };
        // The last cycle is cross-faded into the steady state.
        let share = ((laid.length() - played) as f64 / laid.cycle).min(1.0);
        for (place, values) in row.iter_mut().zip(&laid.columns) {
            let value = values[laid.begin + played as usize];
            *place = if share < 1.0 {
                share * value + (1.0 - share) * *place
            } else {
                value
            };
        }
    }

    fn fill_steady(&self, row: &mut [f64], phase_deg: f64) {
        let members = self.laid.sampling.dataset.members();
        for (number, (place, member)) in row.iter_mut().zip(members).enumerate() {
            *place = match member.quantity {
                Quantity::Current if !self.has_currents => 0.0,
                _ => self.laid.steady(number, phase_deg),
            };
        }
    }
}
