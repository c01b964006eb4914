//! The task of a relay: samples in, changes out.
//!
//! A driver pushes the received samples, and calls [`Engine::task`] with the number of the first sample that the task must not
//! process. The stages of a task can also be called one by one ([`Engine::align`], [`Engine::measure`], [`Engine::decide`]), to
//! time each.
//!
//! Only [`Engine::new`] allocates memory.

mod align;
mod host;
mod lane;
mod logic;
mod outputs;

pub use align::{Counters, Placement};
pub use outputs::State;
pub(crate) use outputs::{ALARM, WARNING};

use crate::config::{Config, Feed};
use crate::events::{Change, Event, Subject};
use crate::ptp::PtpState;
use align::Axis;
use host::HostClock;
use lane::{Lane, Samples};
use logic::Logic;
use outputs::Outputs;
use protection::measure::Synch;
use protection::measure::{Channels, Measured, Reference, Tracker, TrackerSettings};
use protection::supervision::SampleStatus;
use protection::{Complex, Inputs, Rated, SettingError};
use wire::quality::SvQuality;

/// Number of samples by which the reference runs ahead of the bays at a time; at most the 64 that a bay allows.
const BLOCK: u64 = 32;

/// Maximum number of changes of one subject in a task.
const CHANGES: usize = 5;

/// A received sample of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Sample count (smpCnt).
    pub smp_cnt: u16,
    /// Primary values in A and V, in the order of [`CHANNELS`](crate::config::CHANNELS).
    pub values: [f64; 8],
    /// Quality of each value.
    pub quality: [SvQuality; 8],
    /// Synchronisation (smpSynch); 0 if the publisher left it out.
    pub smp_synch: u8,
    /// True if the sample is simulated (`S` of the header).
    pub simulated: bool,
    /// True if the driver knows that another publisher sent different values. The engine itself finds samples that are repeated
    /// with other contents.
    pub conflicting: bool,
}

/// The decisions of a task.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    /// The changes, in the order of streams, functions, trips.
    pub events: &'a [Event],
    /// One bit for each GOOSE control block with changed members.
    pub gooses: u64,
}

/// A sample as processed by a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aligned<'a> {
    /// Primary values in A and V, in the order of [`CHANNELS`](crate::config::CHANNELS).
    pub values: &'a [f64; 8],
    /// Channels that are not used because of their quality.
    pub bad: Channels,
}

/// Time in s without a voltage of any stream after which the reference follows a current.
const WITHOUT_VOLTAGE_S: f64 = 2.0;

/// The quantity that the reference follows, by its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Master {
    Voltage(usize),
    Current(usize),
}

/// Engine of a relay.
pub struct Engine {
    rate: f64,
    axis: Axis,
    reference: Reference,
    steering: Tracker,
    /// The quantity that controls the reference.
    master: Option<Master>,
    /// Sample of the last usable voltage of any stream.
    voltage_at: Option<u64>,
    lanes: Box<[Lane]>,
    sets: Box<[Measured]>,
    logic: Logic,
    outputs: Outputs,
    host: HostClock,
    events: Vec<Event>,
    /// True if there are samples that `decide` has not processed.
    is_fresh: bool,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Engine")
            .field("axis", &self.axis)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Number of samples of a stream that remain available after they were aligned.
    pub const KEPT: u64 = align::RING as u64;

    /// Makes the engine of a relay at the rate of its streams. Allocates memory; no other function here does.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(config: &Config) -> Result<Self, SettingError> {
        Self::at_rate(config, f64::from(config.rate))
    }

    /// Makes the engine of a relay for samples with another rate, in samples a second, such as that of a record.
    ///
    /// # Errors
    /// A setting outside its range at this rate.
    pub fn at_rate(config: &Config, rate: f64) -> Result<Self, SettingError> {
        let lanes = config.streams.iter().map(|stream| Lane::new(config, stream, rate));
        let lanes = lanes.collect::<Result<Box<[Lane]>, _>>()?;
        let rated = Rated {
            frequency_hz: config.frequency_hz,
            samples_per_second: rate,
            ..Rated::default()
        };
        let logic = Logic::new(config, rate)?;
        Ok(Self {
            rate,
            axis: Axis {
                next: 0,
                wait: rated.samples_in_ms(config.wait_ns as f64 / 1e6),
                common: None,
                holders: 0,
                is_begun: false,
            },
            reference: Reference::new(&rated, 0),
            steering: Tracker::new(TrackerSettings::default(), &rated, 1.0)?,
            master: None,
            voltage_at: None,
            sets: vec![Measured::default(); lanes.len()].into_boxed_slice(),
            events: Vec::with_capacity(CHANGES * (1 + 3 * lanes.len() + logic.subjects())),
            outputs: Outputs::new(config, rate)?,
            host: HostClock::new(config.ptp_loss),
            lanes,
            logic,
            is_fresh: false,
        })
    }

    /// Takes a sample of stream number `stream`, from 0. The task that reaches its number processes it.
    pub fn push(&mut self, stream: usize, sample: &Sample) -> Placement {
        match self.lanes.get_mut(stream) {
            Some(lane) => lane.push(&mut self.axis, sample),
            None => Placement::Stray,
        }
    }

    /// Runs a whole task, for all samples before number `up_to`.
    pub fn task(&mut self, up_to: u64) -> Decision<'_> {
        self.align(up_to);
        self.measure();
        self.decide()
    }

    /// First stage: puts the samples before number `up_to` into their windows; missing samples are lost.
    pub fn align(&mut self, up_to: u64) {
        while self.axis.next < up_to {
            let block = self.axis.next..up_to.min(self.axis.next + BLOCK);
            for _ in block.clone() {
                self.reference.advance();
            }
            for lane in &mut self.lanes {
                for number in block.clone() {
                    lane.advance(&self.reference, number, self.axis.common);
                }
            }
            self.axis.next = block.end;
            self.is_fresh = true;
        }
        self.axis.holders = self.lanes.iter().filter(|lane| lane.aligner.holds(&self.axis)).count();
    }

    /// Second stage: computes phasors and frequency.
    pub fn measure(&mut self) {
        if !self.is_fresh {
            return;
        }
        let last = self.axis.next - 1;
        let mut tracked = None;
        for (index, (lane, set)) in self.lanes.iter_mut().zip(&mut self.sets).enumerate() {
            lane.measure(&self.reference, last, self.logic.needs_half_cycle(index), set);
            set.health.stream |= self.host.blocks();
            let is_there = lane.track(&mut self.reference, set);
            let voltage = Some(Master::Voltage(index));
            if is_there && (tracked.is_none() || self.master == voltage) {
                tracked = voltage;
                self.voltage_at = Some(last);
            }
        }
        let tracked = tracked.or_else(|| self.current_to_follow(last));
        self.steer(last, tracked);
    }

    /// The stream whose current controls the reference, if there was no voltage for some time: that of a close fault, or of a line that is switched
    /// off, comes back.
    fn current_to_follow(&self, last: u64) -> Option<Master> {
        let without = WITHOUT_VOLTAGE_S * self.rate;
        if self.voltage_at.is_some_and(|at| ((last - at) as f64) < without) {
            return None;
        }
        let follows = |index: &usize| self.lanes[*index].turning_current(&self.sets[*index]).is_some();
        let held = match self.master {
            Some(Master::Current(index)) => Some(index).filter(follows),
            _ => None,
        };
        let found = held.or_else(|| (0..self.lanes.len()).find(follows));
        found.map(Master::Current)
    }

    /// The reference follows one voltage, or one current; a switch to another one is no change of frequency.
    fn steer(&mut self, last: u64, tracked: Option<Master>) {
        let phasor = |master: Master| match master {
            Master::Voltage(index) => self.sets[index].voltage_sequence.positive * (1.0 / self.lanes[index].rated_v),
            Master::Current(index) => self.lanes[index]
                .turning_current(&self.sets[index])
                .unwrap_or(Complex::ZERO),
        };
        let phasor = tracked.map_or(Complex::ZERO, phasor);
        if tracked != self.master {
            self.steering.step(last, Complex::ZERO, false, &mut self.reference);
        }
        self.steering.step(last, phasor, tracked.is_some(), &mut self.reference);
        self.master = tracked;
    }

    /// Third stage: runs functions, trips and breaker failure, and sets the published members.
    pub fn decide(&mut self) -> Decision<'_> {
        self.events.clear();
        let mut gooses = 0;
        let is_fresh = std::mem::take(&mut self.is_fresh);
        let has_new_state = self.host.change(|change| {
            let at = self.axis.next.saturating_sub(1);
            let subject = Subject::HostClock;
            self.events.push(Event { at, subject, change });
        });
        if is_fresh {
            let at = self.axis.next - 1;
            let events = &mut self.events;
            let mut tell = |subject: Subject, change: Change| events.push(Event { at, subject, change });
            for (index, lane) in self.lanes.iter_mut().enumerate() {
                lane.changes(|change| tell(Subject::Stream(index), change));
                lane.fuse_changes(|change| tell(Subject::Fuse(index), change));
                lane.swing_changes(|change| tell(Subject::Swing(index), change));
            }
            let inputs = Inputs::of(&self.sets);
            let waves = Samples(&self.lanes);
            self.logic.step(at, &inputs.with_waves(&waves), &mut tell);
            self.outputs.meter(&self.sets);
        }
        // Inputs and the host's clock are followed even without samples.
        if is_fresh || has_new_state || self.outputs.has_new_input() {
            for (index, lane) in self.lanes.iter().enumerate() {
                self.outputs.supervise(index, lane.watched());
            }
            let states = self.lanes.iter().map(|lane| lane.supervision.status());
            let fuses = if self.lanes.iter().any(Lane::has_blown_fuse) {
                WARNING
            } else {
                0
            };
            let health = self.host.health().max(outputs::health(states)).max(fuses);
            gooses = self.outputs.step(&self.logic, health);
        }
        Decision {
            events: &self.events,
            gooses,
        }
    }

    /// Sets an input, by its number; `None` while no message is live. The next [`Engine::decide`] publishes it.
    pub fn set_input(&mut self, number: usize, value: Option<bool>) {
        self.outputs.set_input(number, value);
    }

    /// Sets the state of the host's PTP, for the next task. Without effect in a relay that ignores its loss.
    pub fn set_ptp(&mut self, state: PtpState) {
        self.host.set(state);
    }

    /// Samples a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Number of samples to wait for.
    #[must_use]
    pub fn wait(&self) -> u64 {
        self.axis.wait
    }

    /// End of the next task when the first `due` samples are due: up to the samples that every active stream has delivered, and
    /// at least up to those whose wait is over. A stream that has missed more than that is not waited for.
    #[must_use]
    pub fn ready(&self, due: u64) -> u64 {
        let waited = due.saturating_sub(self.axis.wait);
        let coming = self.lanes.iter().filter(|lane| {
            let newest = lane.aligner.newest();
            newest.is_some_and(|newest| newest >= waited)
        });
        let complete = coming.map(|lane| lane.aligner.ready(self.axis.next)).min();
        complete.unwrap_or(0).max(waited).max(self.axis.next)
    }

    /// Number of the first sample that no task has processed.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.axis.next
    }

    /// Number of the newest sample of any stream; `None` before the first.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        self.lanes.iter().filter_map(|lane| lane.aligner.newest()).max()
    }

    /// The measured sets of the last task, one for each stream.
    #[must_use]
    pub fn sets(&self) -> &[Measured] {
        &self.sets
    }

    /// State of a stream's samples; `None` if there is no such stream.
    #[must_use]
    pub fn status(&self, stream: usize) -> Option<&SampleStatus> {
        self.lanes.get(stream).map(|lane| lane.supervision.status())
    }

    /// Effect of a stream on the relay's health, as a value of `Health`; `None` if there is no such stream.
    #[must_use]
    pub fn health(&self, stream: usize) -> Option<u8> {
        let status = self.status(stream)?;
        Some(outputs::health(std::iter::once(status)))
    }

    /// Sample `number` of a stream, from the last call of [`Engine::align`]; `None` if it has not come. If the call had more than
    /// [`Engine::KEPT`] samples, only the last ones are available.
    #[must_use]
    pub fn aligned(&self, stream: usize, number: u64) -> Option<Aligned<'_>> {
        let slot = self.lanes.get(stream)?.aligner.slot(number)?;
        Some(Aligned {
            values: &slot.values,
            bad: slot.bad,
        })
    }

    /// Number, modulo the rate, of count 0 of the streams that follow a global clock (smpSynch 2), which is the top of a second.
    /// `None` if no stream does.
    #[must_use]
    pub fn top(&self) -> Option<u64> {
        let is_global = |lane: &Lane| lane.supervision.status().synch.value == Synch::GLOBAL.value;
        self.axis.common.filter(|_| self.lanes.iter().any(is_global))
    }

    /// Counts of a stream's samples by placement; `None` if there is no such stream.
    #[must_use]
    pub fn counters(&self, stream: usize) -> Option<&Counters> {
        self.lanes.get(stream).map(|lane| &lane.aligner.counters)
    }

    /// Current value of a member of a GOOSE control block.
    #[must_use]
    pub fn output(&self, feed: Feed) -> State {
        self.outputs.state(&self.logic, feed)
    }
}
