//! A simulated network as a scenario: its steady state in phasors, then the transients of its disturbance, then the steady state again.

use super::{Shot, Wave};
use crate::WaveformError;
use crate::circuit::{Circuit, LineSide, Saturation, Transient};
use crate::network;
use crate::sample::{MemberRole, Quantity, SampleTable, Sampling, Source, Writer};
use crate::synth::{Loop, Operating, State, Synth};
use std::f64::consts::SQRT_2;
use std::sync::Arc;
use wire::quality::SvQuality;

/// Longest time in s between the last pole and the steady state: what is left then fades away in a cycle.
const SETTLES_S: f64 = 1.0;

/// Share of the largest value of a quantity below which a transient has decayed.
const DECAYED: f64 = 2e-3;

/// A network and its disturbance.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    circuit: Arc<Circuit>,
    side: LineSide,
    steady: Synth,
    ct: Option<Saturation>,
    /// Begin of the named fault, in ns after that of the disturbance.
    fault_ns: u64,
    fault: String,
    /// First sample of the disturbance; `None` if it is never played.
    begin: Option<u64>,
    shift_deg: f64,
    quality: SvQuality,
}

/// Values of the six phases.
type Six = [[f64; 3]; 2];

impl Simulated {
    /// The network of a file; `fault` names the fault whose begin is that of the scenario, the first one by default. Returns its name as well.
    pub(super) fn of(file: &network::File, fault: Option<String>) -> Result<(Wave, String), WaveformError> {
        let disturbed = file.disturbed()?;
        let refused = |problem: String| Err(WaveformError::setting(problem));
        if disturbed.circuit.lasts_s * 1e9 > super::LONGEST_NS as f64 {
            return refused("network: the disturbance lasts longer than a minute: make it shorter".to_owned());
        }
        let name = fault.unwrap_or_else(|| disturbed.begins[0].0.clone());
        let mut named = disturbed.begins.iter().filter(|(each, _)| *each == name);
        let fault_ns = match (named.next(), named.next()) {
            (Some((_, ns)), None) => *ns,
            (None, _) => return refused(format!("fault: no state is called `{name}`")),
            _ => {
                return refused(format!(
                    "fault: several states are called `{name}`: give each its own name"
                ));
            }
        };
        let circuit = Arc::new(disturbed.circuit);
        let of = |side: LineSide, ct: Option<network::FileTransformer>| {
            let nominal = circuit.before(side);
            let hz = nominal.frequency_hz;
            Wave::Simulated(Box::new(Self {
                steady: Synth {
                    nominal,
                    clears: true,
                    ..Synth::default()
                },
                circuit: Arc::clone(&circuit),
                side,
                ct: ct.map(|ct| Saturation::of(ct, hz)),
                fault_ns,
                fault: name.clone(),
                begin: None,
                shift_deg: 0.0,
                quality: SvQuality::GOOD,
            }))
        };
        let near = of(LineSide::Near, file.ct);
        let wave = match file.far_side {
            Some(far) => Wave::Sides(Box::new([near, of(LineSide::Far, far.ct)])),
            None => near,
        };
        Ok((wave, name))
    }

    /// The steady state alone.
    pub(super) fn steady(&self) -> Synth {
        self.steady.shifted(self.shift_deg, 0)
    }

    /// The steady state in place of the disturbance, for the same time.
    pub(super) fn at_load(&self) -> Synth {
        let mut synth = self.steady();
        let lasts_ns = (self.circuit.lasts_s * 1e9) as u64;
        for (name, ns) in [
            ("before", self.fault_ns),
            (self.fault.as_str(), lasts_ns.saturating_sub(self.fault_ns)),
        ] {
            if ns > 0 {
                synth.states.push(State {
                    duration_ns: Some(ns),
                    ..State::steady(name, synth.nominal.clone())
                });
            }
        }
        synth
    }

    pub(super) fn add_quality(&mut self, quality: SvQuality) {
        self.quality = SvQuality(self.quality.0 | quality.0);
    }

    pub(super) fn shifted(&self, deg: f64) -> Self {
        Self {
            shift_deg: self.shift_deg + deg,
            ..self.clone()
        }
    }

    pub(super) fn operating(&self) -> &Operating {
        &self.steady.nominal
    }

    /// Same as [`super::Scenario::shot`].
    pub(super) fn shot(&self, sampling: &Sampling, lead: u64, shift_deg: f64) -> Result<Shot, WaveformError> {
        let played = Self {
            begin: Some(lead),
            ..self.shifted(shift_deg)
        };
        let (table, end) = played.played(sampling)?;
        Ok(Shot {
            table,
            fault: lead + sampling.first_at(self.fault_ns),
            end,
            flaw_change: 0,
            wave: Wave::Simulated(Box::new(played)),
        })
    }

    pub(super) fn table(&self, sampling: &Sampling) -> Result<SampleTable, WaveformError> {
        Ok(self.played(sampling)?.0)
    }

    /// The samples, and the first one after the last pole has opened.
    fn played(&self, sampling: &Sampling) -> Result<(SampleTable, u64), WaveformError> {
        let rate = f64::from(sampling.rate);
        let Some(begin) = self.begin else {
            return Ok((self.steady().table(sampling)?, 0));
        };
        let (rows, end) = self.disturbed(begin, sampling.rate);
        let steady = Loop::of(self.operating().frequency_hz, sampling.rate);
        let once = begin + rows.len() as u64;
        let mut writer = Writer::new(sampling, Source::of_phases(&sampling.dataset), once + steady.samples)?;
        let mut push = |values: Six, quality| {
            let members = sampling.dataset.members().iter();
            let row: Vec<f64> = members
                .map(|member| match (member.place, member.quantity) {
                    (MemberRole::Phase(phase), Quantity::Current) => values[0][phase],
                    (MemberRole::Phase(phase), Quantity::Voltage) => values[1][phase],
                    _ => 0.0,
                })
                .collect();
            writer.push(&row, quality);
        };
        for sample in 0..begin {
            push(self.steady_at(self.deg_at(sample, rate)), SvQuality::GOOD);
        }
        for (sample, row) in (begin..).zip(rows) {
            push(row, if sample < end { self.quality } else { SvQuality::GOOD });
        }
        let once_deg = self.deg_at(once, rate);
        for sample in 0..steady.samples {
            // Multiplying before dividing keeps every sample exact, because the numbers are integers.
            let turned_deg = 360.0 * ((sample * steady.cycles) as f64 / steady.samples as f64);
            push(self.steady_at(once_deg + turned_deg), SvQuality::GOOD);
        }
        Ok((
            writer.finish(steady.samples, Some(steady.frequency_hz(sampling.rate)))?,
            end,
        ))
    }

    /// Samples from the begin of the disturbance until the steady state is back, and the first sample after the last pole has opened.
    fn disturbed(&self, begin: u64, rate: u32) -> (Vec<Six>, u64) {
        let hz = f64::from(rate);
        let mut transient = Transient::new(&self.circuit, rate, self.deg_at(begin, hz));
        let mut ct = self.ct.map(|ct| [ct.fresh(hz); 3]);
        let cycle = (hz / self.operating().frequency_hz).ceil() as usize;
        let (mut rows, mut end, mut quiet) = (Vec::new(), None, 0);
        let mut largest = [1.0_f64, 1.0];
        while quiet < cycle && (rows.len() as f64) < (self.circuit.lasts_s + SETTLES_S) * hz {
            let [mut currents, voltages] = transient.next_sample(self.side);
            if let Some(ct) = &mut ct {
                currents = std::array::from_fn(|phase| ct[phase].secondary(currents[phase]));
            }
            let row = [currents, voltages];
            let sample = begin + rows.len() as u64;
            let steady = self.steady_at(self.deg_at(sample, hz));
            let mut is_near = true;
            for (quantity, largest) in largest.iter_mut().enumerate() {
                for phase in 0..3 {
                    *largest = largest.max(row[quantity][phase].abs());
                    is_near &= (row[quantity][phase] - steady[quantity][phase]).abs() < DECAYED * *largest;
                }
            }
            rows.push(row);
            if transient.is_over() {
                end = end.or(Some(sample + 1));
                quiet = if is_near { quiet + 1 } else { 0 };
            }
        }
        self.fade(&mut rows, begin, hz, cycle);
        let end = end.unwrap_or(begin + rows.len() as u64);
        (rows, end)
    }

    /// Draws the last cycle into the steady state.
    fn fade(&self, rows: &mut [Six], begin: u64, hz: f64, cycle: usize) {
        let first = rows.len().saturating_sub(cycle);
        for (number, row) in rows.iter_mut().enumerate().skip(first) {
            let share = (number - first + 1) as f64 / (cycle + 1) as f64;
            let steady = self.steady_at(self.deg_at(begin + number as u64, hz));
            for (values, steady) in row.iter_mut().zip(steady) {
                for (value, steady) in values.iter_mut().zip(steady) {
                    *value += share * (steady - *value);
                }
            }
        }
    }

    fn deg_at(&self, sample: u64, rate: f64) -> f64 {
        self.shift_deg + 360.0 * (sample as f64 * self.operating().frequency_hz / rate).fract()
    }

    /// The steady state at this phase of the frequency.
    fn steady_at(&self, deg: f64) -> Six {
        let Operating {
            currents_a,
            current_angles_deg,
            voltages_v,
            voltage_angles_deg,
            ..
        } = self.operating();
        let of = |rms: &[f64; 3], angles: &[f64; 3]| {
            std::array::from_fn(|phase| rms[phase] * SQRT_2 * (deg + angles[phase]).to_radians().cos())
        };
        [of(currents_a, current_angles_deg), of(voltages_v, voltage_angles_deg)]
    }
}
