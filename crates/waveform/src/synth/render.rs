//! The samples of a signal.

use super::clearing::Clearing;
use super::signal::{InForce, Phases};
use super::steady::Loop;
use super::timeline::{Segment, segments};
use super::{Extra, Operating, Synth};
use crate::WaveformError;
use crate::sample::{MemberRole, Quantity, SampleTable, Sampling, Source, Writer};
use stats::random::Random;
use std::f64::consts::{SQRT_2, TAU};

impl Synth {
    /// The samples of the signal.
    ///
    /// # Errors
    /// Impossible values, states that contradict each other, or a table that needs too much memory.
    pub fn table(&self, sampling: &Sampling) -> Result<SampleTable, WaveformError> {
        sampling.check()?;
        super::file::check(self)?;
        self.check_rate(sampling.rate)?;
        let segments = segments(self)?;
        match self.repeat_every_ns {
            Some(ns) => self.repeated(sampling, &segments, ns),
            None => self.settling(sampling, &segments),
        }
    }

    /// Phase of the frequency `seconds` after the start of the signal, in degrees from 0 to 360. [`Synth::shifted`] by this angle gives a signal that
    /// continues without a jump.
    ///
    /// # Errors
    /// The states contradict each other.
    pub fn phase_deg_at(&self, seconds: f64) -> Result<f64, WaveformError> {
        let segments = segments(self)?;
        let mut in_force = InForce::first(&segments[0].state, &self.harmonics);
        let mut start_s = 0.0;
        for next in &segments[1..] {
            let next_s = next.start_ns as f64 / 1e9;
            if next_s > seconds {
                break;
            }
            in_force = in_force.next(&next.state, next_s - start_s);
            start_s = next_s;
        }
        Ok(360.0 * in_force.cycles_at(seconds - start_s).rem_euclid(1.0))
    }

    /// The sequence once, then the last state forever.
    fn settling(&self, sampling: &Sampling, segments: &[Segment]) -> Result<SampleTable, WaveformError> {
        let (in_force, last_ns) = self.last(segments);
        let last_s = last_ns as f64 / 1e9;
        let clearing = self.clearing(segments, sampling);
        let settled = sampling.first_at(last_ns.saturating_add((in_force.settled_after_s() * 1e9).ceil() as u64));
        let over = clearing.as_ref().map_or(sampling.first_at(last_ns), Clearing::done);
        let settled = settled.max(over);
        let mut steady = Loop::of(in_force.settled_hz(), sampling.rate);
        if !self.noise.is_silent() {
            // A second of it, so that the noise does not repeat in every cycle.
            steady = steady.at_least(u64::from(sampling.rate));
        }
        let mut render = Render::new(self, sampling, settled.saturating_add(steady.samples))?;
        render.clearing = clearing;
        render.once(segments, settled);
        let rate = f64::from(sampling.rate);
        let begin_s = settled as f64 / rate - last_s;
        let begin_cycles = in_force.cycles_at(begin_s);
        if render.writer_is_at(over) {
            render.writer.mark(&in_force.state().name);
        }
        for sample in 0..steady.samples {
            // Multiplying before dividing keeps every sample exact, because the numbers are integers.
            let cycles = begin_cycles + (sample * steady.cycles) as f64 / steady.samples as f64;
            let seconds = begin_s + sample as f64 / rate;
            render.push(&in_force, in_force.at_cycles(cycles, seconds), cycles);
        }
        render
            .writer
            .finish(steady.samples, Some(steady.frequency_hz(sampling.rate)))
    }

    /// The end of the last state, if a breaker makes it.
    fn clearing<'a>(&'a self, segments: &'a [Segment], sampling: &Sampling) -> Option<Clearing<'a>> {
        let (last, states) = segments.split_last().filter(|_| self.clears)?;
        let (state, start_ns) = self.last(states.get(..states.len()).filter(|states| !states.is_empty())?);
        let start_s = start_ns as f64 / 1e9;
        let next = state.next(&last.state, last.start_ns as f64 / 1e9 - start_s);
        Some(Clearing::of(state, start_s, &next, last.start_ns, sampling))
    }

    /// The sequence repeated, without a jump of the phase.
    fn repeated(&self, sampling: &Sampling, segments: &[Segment], every_ns: u64) -> Result<SampleTable, WaveformError> {
        let samples = sampling.first_at(every_ns);
        let (in_force, last_ns) = self.last(segments);
        let rate = f64::from(sampling.rate);
        let last_s = samples as f64 / rate - last_ns as f64 / 1e9;
        let cycles = in_force.cycles_at(last_s);
        let off = cycles - cycles.round();
        let hz = in_force.settled_hz();
        // A correct `repeat_every` leaves at most half a sample; rounded up.
        if off.abs() > (0.6 * hz / rate).max(0.01) {
            let whole_ns = every_ns as f64 - off / hz * 1e9;
            return Err(WaveformError::setting(format!(
                "repeat_every: the phase would jump by {:.1} degrees from one repetition to the next: use \"{:.0}ns\" \
                 for whole cycles",
                off * 360.0,
                whole_ns
            )));
        }
        let mut render = Render::new(self, sampling, samples)?;
        render.closing = Some((last_ns, off, last_s));
        render.once(segments, samples);
        render.writer.finish(samples, None)
    }

    /// The last state with its phase, and its start.
    fn last<'a>(&'a self, segments: &'a [Segment]) -> (InForce<'a>, u64) {
        let mut in_force = InForce::first(&segments[0].state, &self.harmonics);
        for pair in segments.windows(2) {
            let seconds = (pair[1].start_ns - pair[0].start_ns) as f64 / 1e9;
            in_force = in_force.next(&pair[1].state, seconds);
        }
        (in_force, segments[segments.len() - 1].start_ns)
    }

    fn check_rate(&self, rate: u32) -> Result<(), WaveformError> {
        let states = self.states.iter().map(|state| (&state.operating, state.ramp));
        let highest = std::iter::once((&self.nominal, None))
            .chain(states)
            .map(|(Operating { frequency_hz, .. }, ramp)| frequency_hz.max(ramp.map_or(0.0, |ramp| ramp.to_hz)))
            .fold(0.0, f64::max);
        let of_states = self.states.iter().flat_map(|state| &state.harmonics);
        let orders = self.harmonics.iter().chain(of_states).map(|harmonic| harmonic.order);
        let order = orders.max().unwrap_or(1);
        if highest * f64::from(order) < f64::from(rate) / 2.0 {
            return Ok(());
        }
        Err(WaveformError::setting(format!(
            "harmonic {order} of {highest} Hz needs more than {} samples a second, not {rate}: leave it out or use a higher rate",
            2.0 * highest * f64::from(order)
        )))
    }
}

/// A table under construction.
struct Render<'a> {
    synth: &'a Synth,
    sampling: &'a Sampling,
    writer: Writer<'a>,
    noise: Random,
    extras: Vec<Option<&'a Extra>>,
    row: Vec<f64>,
    written: u64,
    /// For a repeated sequence: start of the last state, cycles to remove from it, and its duration in seconds.
    closing: Option<(u64, f64, f64)>,
    /// The end of the last state; `None` if it is at once.
    clearing: Option<Clearing<'a>>,
}

impl<'a> Render<'a> {
    fn new(synth: &'a Synth, sampling: &'a Sampling, samples: u64) -> Result<Self, WaveformError> {
        let mut sources = Source::of_phases(&sampling.dataset);
        let mut extras = vec![None; sources.len()];
        for extra in &synth.extras {
            let find = sampling.dataset.find(&extra.member);
            let index = find.map_err(|error| WaveformError::setting(format!("extra: {error}")))?;
            if matches!(sampling.dataset.members()[index].place, MemberRole::Phase(_)) {
                return Err(WaveformError::setting(format!(
                    "extra: {} is a phase: give it in currents_a or voltages_v",
                    extra.member
                )));
            }
            sources[index] = Source::Given;
            extras[index] = Some(extra);
        }
        Ok(Self {
            synth,
            sampling,
            writer: Writer::new(sampling, sources, samples)?,
            noise: Random::new(synth.noise.seed),
            row: Vec::with_capacity(extras.len()),
            extras,
            written: 0,
            closing: None,
            clearing: None,
        })
    }

    /// Writes the states up to sample number `end`.
    fn once(&mut self, segments: &[Segment], end: u64) {
        let mut in_force = InForce::first(&segments[0].state, &self.synth.harmonics);
        for (index, segment) in segments.iter().enumerate() {
            if index > 0 {
                let seconds = (segment.start_ns - segments[index - 1].start_ns) as f64 / 1e9;
                in_force = in_force.next(&segment.state, seconds);
            }
            let next = segments
                .get(index + 1)
                .map_or(end, |next| self.sampling.first_at(next.start_ns).min(end));
            let is_cleared = index + 1 == segments.len() && self.clearing.is_some();
            if self.written < next && !is_cleared {
                self.writer.mark(&segment.state.name);
            }
            while self.written < next {
                if is_cleared
                    && self
                        .clearing
                        .as_ref()
                        .is_some_and(|clearing| clearing.done() == self.written)
                {
                    self.writer.mark(&segment.state.name);
                }
                let seconds = self.written as f64 / f64::from(self.sampling.rate) - segment.start_ns as f64 / 1e9;
                let cycles = in_force.cycles_at(seconds) - self.closing_cycles(segment.start_ns, seconds);
                self.push(&in_force, in_force.at_cycles(cycles, seconds), cycles);
            }
        }
    }

    fn closing_cycles(&self, start_ns: u64, seconds: f64) -> f64 {
        match self.closing {
            Some((last_ns, cycles, last_s)) if last_ns == start_ns => cycles * seconds / last_s,
            _ => 0.0,
        }
    }

    /// True when the next sample is `sample`.
    fn writer_is_at(&self, sample: u64) -> bool {
        self.written == sample
    }

    fn push(&mut self, in_force: &InForce<'_>, phases: Phases, cycles: f64) {
        let clearing = self.clearing.as_ref().filter(|clearing| clearing.lasts(self.written));
        let seconds = self.written as f64 / f64::from(self.sampling.rate);
        let phases = clearing.map_or(phases, |clearing| clearing.mixed(self.written, seconds, phases));
        let quality = clearing.map_or(in_force.state(), Clearing::state).quality;
        self.row.clear();
        for (member, extra) in self.sampling.dataset.members().iter().zip(&self.extras) {
            let value = match (member.place, member.quantity, extra) {
                (MemberRole::Phase(phase), Quantity::Current, _) => {
                    phases.currents_a[phase] + noise(&mut self.noise, self.synth.noise.current_a)
                }
                (MemberRole::Phase(phase), Quantity::Voltage, _) => {
                    phases.voltages_v[phase] + noise(&mut self.noise, self.synth.noise.voltage_v)
                }
                (_, _, Some(extra)) => {
                    extra.rms * SQRT_2 * (TAU * cycles.rem_euclid(1.0) + extra.angle_deg.to_radians()).cos()
                }
                (_, _, None) => 0.0,
            };
            self.row.push(value);
        }
        self.writer.push(&self.row, quality);
        self.written += 1;
    }
}

fn noise(random: &mut Random, rms: f64) -> f64 {
    if rms == 0.0 { 0.0 } else { rms * random.normal() }
}
