//! One stream on its way from samples to a measured set.

use super::Sample;
use super::align::{Aligner, Axis, Placement, Slot};
use super::outputs::{ALARM, Watched, health};
use crate::config::{Config, Stream};
use crate::events::{Change, changes};
use protection::measure::Synch;
use protection::measure::{Bay, Blocks, Channels, Measured, Reference, Swing, Tracker, TrackerSettings};
use protection::supervision::{FuseSupervision, Fuses, Lsvs, Questionable, SampleState, Simulation};
use protection::supervision::{SwingSupervision, bad_channels};
use protection::{Complex, Output, Phases, SettingError, Waves};
use wire::quality::SvQuality;

/// Least positive-sequence current, in x In, that the reference follows if the relay has no voltage, and the largest share of the negative sequence.
const LEAST_CURRENT: f64 = 0.2;
const BALANCED: f64 = 0.2;

/// State of a stream as last reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Told {
    state: SampleState,
    blocks: Blocks,
    synch: u8,
    restarts: u64,
    implausible: u64,
}

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) aligner: Aligner,
    pub(super) bay: Bay,
    pub(super) supervision: Lsvs,
    fuse: Option<FuseSupervision>,
    /// State of the fuses, and as last reported.
    fuses: Fuses,
    told_fuses: Fuses,
    swing: Option<SwingSupervision>,
    /// State of a power swing, and as last reported.
    swings: Swing,
    told_swing: Swing,
    simulation: Simulation,
    tracker: Tracker,
    questionable: Questionable,
    in_test: bool,
    clock: u16,
    /// Rated phase-to-earth voltage in V.
    pub(super) rated_v: f64,
    /// Rated current in A.
    rated_a: f64,
    told: Told,
    /// Number of restarts whose first sample a task has processed.
    restarts: u64,
}

/// The samples in the windows of all streams.
#[derive(Debug)]
pub(super) struct Samples<'a>(pub(super) &'a [Lane]);

impl Waves for Samples<'_> {
    fn phase_currents(&self, set: usize, at: u64) -> Option<[f64; 3]> {
        let [a, b, c, ..] = *self.0.get(set)?.bay.sample(at)?;
        Some([a, b, c])
    }
}

impl Lane {
    pub(super) fn new(config: &Config, stream: &Stream, rate: f64) -> Result<Self, SettingError> {
        let rated = config.rated(stream, rate);
        let mut simulation = Simulation::default();
        simulation.allow(config.simulation);
        let following = TrackerSettings {
            steer: false,
            ..TrackerSettings::default()
        };
        Ok(Self {
            aligner: Aligner::new(rate.round() as u32),
            bay: Bay::new(&stream.measuring, &rated)?,
            supervision: Lsvs::new(stream.supervision, &rated)?,
            fuse: stream.fuse.map(|fuse| FuseSupervision::new(fuse, &rated)).transpose()?,
            fuses: Fuses::default(),
            told_fuses: Fuses::default(),
            swing: stream
                .swing
                .map(|swing| SwingSupervision::new(swing, &rated))
                .transpose()?,
            swings: Swing::default(),
            told_swing: Swing::default(),
            simulation,
            tracker: Tracker::new(following, &rated, rated.phase_voltage_v())?,
            questionable: stream.questionable,
            in_test: config.in_test,
            clock: stream.clock,
            rated_v: rated.phase_voltage_v(),
            rated_a: rated.current_a,
            told: Told::default(),
            restarts: 0,
        })
    }

    pub(super) fn push(&mut self, axis: &mut Axis, sample: &Sample) -> Placement {
        if !self.simulation.accepts(sample.simulated) {
            self.aligner.counters.simulation += 1;
            return Placement::Simulation;
        }
        let words = sample.quality.iter().fold(0, |all, quality| all | quality.0);
        let slot = Slot {
            number: 0,
            values: sample.values,
            bad: match SvQuality(words) == SvQuality::GOOD {
                true => Channels::NONE,
                false => bad_channels(&sample.quality, self.questionable, self.in_test),
            },
            synch: sample.smp_synch,
            simulated: sample.simulated,
            conflicting: sample.conflicting,
            begins: false,
        };
        self.aligner.push(axis, sample.smp_cnt, &slot)
    }

    /// Moves sample `number`, or its replacement, into the window.
    pub(super) fn advance(&mut self, reference: &Reference, number: u64, common: Option<u64>) {
        let is_common = self.aligner.counts_as(common);
        let Some((slot, is_conflicting)) = self.aligner.take(number) else {
            self.miss(reference, number);
            return;
        };
        if slot.begins {
            self.bay.restart(number);
            self.restarts += 1;
        }
        let synch = Synch {
            value: if is_common { slot.synch } else { 0 },
            clock: self.clock,
        };
        self.supervision.received(number, synch, slot.simulated, is_conflicting);
        let before = self.bay.phase_spikes();
        self.bay.push(reference, number, &slot.values, slot.bad);
        if self.bay.phase_spikes() != before {
            self.supervision.implausible(number);
        } else if self.bay.spikes() != self.supervision.status().implausible {
            self.supervision.implausible_residual(number);
        }
    }

    /// Records a missing sample. A stream that has not begun, or has stopped, has no window.
    fn miss(&mut self, reference: &Reference, number: u64) {
        if self.has_begun() {
            self.supervision.lost(number);
        }
        if self.is_active() {
            self.bay.push_lost(reference, number);
        }
    }

    fn has_begun(&self) -> bool {
        self.supervision.status().received > 0
    }

    pub(super) fn is_active(&self) -> bool {
        self.supervision.status().active
    }

    /// Computes the measured set after sample `last`, without the frequency.
    pub(super) fn measure(&mut self, reference: &Reference, last: u64, needs_half_cycle: bool, set: &mut Measured) {
        if !self.is_active() {
            set.at = last;
            set.frequency = None;
            set.half_cycle_current = None;
            set.health.bad = Channels::ALL;
            set.health.stream = Blocks::LOST;
            return;
        }
        self.supervision.set_window(self.bay.samples_per_cycle());
        self.bay.measure(reference, set);
        self.supervision.apply(set);
        set.health.voltages = Blocks::NONE;
        if let Some(fuse) = &mut self.fuse {
            self.fuses = fuse.step(set);
            set.health.voltages = Blocks::FUSE.when(self.fuses.block());
        }
        if let Some(swing) = &mut self.swing {
            self.swings = swing.step(set);
            set.health.swing = self.swings;
        }
        if needs_half_cycle {
            set.half_cycle_current = Some(self.bay.half_cycle(reference));
        }
    }

    /// Measures the frequency; returns true if the required voltage is present.
    pub(super) fn track(&mut self, reference: &mut Reference, set: &mut Measured) -> bool {
        let phasor = set.voltage_sequence.positive;
        let usable = !set.health.blocks(Channels::PHASE_VOLTAGES).any();
        set.frequency = self.tracker.step(set.at, phasor, usable, reference);
        usable && phasor.is_at_least(TrackerSettings::default().least * self.rated_v)
    }

    /// The positive sequence of the currents in x In, halved, if the reference can follow it: balanced, and 0.2 In at least.
    pub(super) fn turning_current(&self, set: &Measured) -> Option<Complex> {
        let currents = set.current_sequence;
        let usable = !set.health.blocks(Channels::PHASE_CURRENTS).any();
        let is_balanced = currents.negative.norm() <= BALANCED * currents.positive.norm();
        let follows = usable && is_balanced && currents.positive.is_at_least(LEAST_CURRENT * self.rated_a);
        follows.then(|| currents.positive * (0.5 / self.rated_a))
    }

    /// Supervision of the stream, for members of a control block.
    pub(super) fn watched(&self) -> Watched {
        let status = self.supervision.status();
        Watched {
            samples: status.active && health(std::iter::once(status)) != ALARM,
            synchronised: status.active && status.synch.value != 0,
            fuse: self.has_blown_fuse(),
            swing: self.swings.blocks,
        }
    }

    /// True while a fuse of its voltage transformers counts as blown.
    pub(super) fn has_blown_fuse(&self) -> bool {
        self.fuses.blown.any()
    }

    /// Reports the changes of the fuses since the last task.
    pub(super) fn fuse_changes(&mut self, tell: impl FnMut(Change)) {
        let output = |fuses: Fuses| Output {
            started: fuses.suspected | fuses.blown,
            operated: fuses.blown,
            ..Output::default()
        };
        let before = std::mem::replace(&mut self.told_fuses, self.fuses);
        changes(&output(before), &output(self.fuses), tell);
    }

    /// Reports the changes of a power swing since the last task: it operates while it blocks.
    pub(super) fn swing_changes(&mut self, tell: impl FnMut(Change)) {
        let output = |swing: Swing| Output {
            started: Phases::ABC.when(swing.detected),
            operated: Phases::ABC.when(swing.blocks),
            ..Output::default()
        };
        let before = std::mem::replace(&mut self.told_swing, self.swings);
        changes(&output(before), &output(self.swings), tell);
    }

    /// Reports the changes since the last task.
    pub(super) fn changes(&mut self, mut tell: impl FnMut(Change)) {
        let status = self.supervision.status();
        let now = Told {
            state: status.state,
            blocks: status.blocks,
            synch: status.synch.value,
            restarts: self.restarts,
            implausible: status.implausible,
        };
        let before = std::mem::replace(&mut self.told, now);
        if now.restarts != before.restarts {
            tell(Change::Restart);
        }
        if now.implausible != before.implausible {
            tell(Change::Implausible(now.implausible));
        }
        if now.state != before.state {
            tell(Change::Samples(now.state));
        }
        if now.synch != before.synch {
            tell(Change::Synch(now.synch));
        }
        if now.blocks != before.blocks {
            tell(if now.blocks.any() {
                Change::Blocked(now.blocks)
            } else {
                Change::Released
            });
        }
    }
}
