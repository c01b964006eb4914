//! Supervision of a stream of sampled values (LSVS).

use serde::Deserialize;

use crate::error::{Check, SettingError};
use crate::measure::{Blocks, Measured, Synch};
use crate::rated::Rated;

/// Settings of LSVS.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SampleSupervision {
    /// Consecutive lost samples that cause a warning, 2 to 100.
    pub warning: u32,
    /// Consecutive lost samples that block functions, 2 to 100, not below `warning`.
    pub alarm: u32,
    /// Lost or implausible samples within one cycle that block functions, consecutive or not, 2 to 1000.
    pub alarm_per_cycle: u32,
    /// Time that functions stay blocked after the last conflict of two publishers, in ms, 0 to 600 000.
    pub conflict_hold_ms: f64,
}

impl Default for SampleSupervision {
    /// One lost sample is substituted, two cause a warning, three block (our reference, 2.3, after ABB's SSC600); six in a cycle block; a conflict
    /// blocks for a second.
    fn default() -> Self {
        Self {
            warning: 2,
            alarm: 3,
            alarm_per_cycle: 6,
            conflict_hold_ms: 1000.0,
        }
    }
}

/// State of the samples' arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SampleState {
    /// None has arrived yet.
    #[default]
    Never,
    /// All samples arrive.
    Good,
    /// One sample is missing, and a substitute is used.
    Hold,
    /// Several samples in a row are missing.
    Warning,
    /// Too many are missing, now or within the window: functions are blocked.
    Alarm,
    /// None has arrived for a cycle: the subscription is not active.
    Inactive,
}

/// The output of LSVS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SampleStatus {
    /// State of the samples' arrival.
    pub state: SampleState,
    /// True if the subscription is active (`St`).
    pub active: bool,
    /// True if simulated samples are used (`SimSt`).
    pub simulated: bool,
    /// Synchronisation of the last sample.
    pub synch: Synch,
    /// Samples received and lost since the start.
    pub received: u64,
    /// Samples lost since the start.
    pub lost: u64,
    /// Samples lost in a row, up to now.
    pub lost_in_a_row: u32,
    /// Samples lost, or replaced as implausible, in the current cycle.
    pub lost_this_cycle: u32,
    /// Samples lost in the cycle before.
    pub lost_last_cycle: u32,
    /// Most samples lost in one cycle since the start.
    pub most_per_cycle: u32,
    /// Samples with a value that left the course of the wave for one sample: replaced in the window.
    pub implausible: u64,
    /// Samples with conflicting data from two publishers.
    pub conflicting: u64,
    /// Changes of smpSynch.
    pub synch_changes: u64,
    /// Reasons that block the functions that use the stream.
    pub blocks: Blocks,
}

/// LSVS: counts received and lost samples one by one, and decides what they mean for the functions.
#[derive(Debug, Clone)]
pub struct Lsvs {
    settings: SampleSupervision,
    cycle: u64,
    window: u64,
    conflict_hold: u64,
    cycle_ends: u64,
    blocked_until: u64,
    conflict_until: u64,
    /// First sample whose window holds one synchronisation alone.
    mixed_until: u64,
    status: SampleStatus,
}

impl Lsvs {
    /// The supervision with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: SampleSupervision, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("LSVS");
        check.range("warning", f64::from(settings.warning), "samples", 2.0..=100.0)?;
        check.range("alarm", f64::from(settings.alarm), "samples", 2.0..=100.0)?;
        check.range(
            "alarm-per-cycle",
            f64::from(settings.alarm_per_cycle),
            "samples",
            2.0..=1000.0,
        )?;
        check.range("conflict-hold-ms", settings.conflict_hold_ms, "ms", 0.0..=600_000.0)?;
        check.together(settings.alarm >= settings.warning, || {
            format!(
                "alarm at {} comes before warning at {}: raise alarm",
                settings.alarm, settings.warning
            )
        })?;
        Ok(Self {
            settings,
            cycle: rated.samples_per_cycle(),
            window: rated.samples_per_cycle(),
            conflict_hold: rated.samples_in_ms(settings.conflict_hold_ms),
            cycle_ends: 0,
            blocked_until: 0,
            conflict_until: 0,
            mixed_until: 0,
            status: SampleStatus::default(),
        })
    }

    /// Sets the window of the bay that measures the stream, if it differs from that of the rated frequency:
    /// [`Bay::samples_per_cycle`](crate::measure::Bay::samples_per_cycle).
    pub fn set_window(&mut self, samples: u64) {
        self.window = samples;
    }

    /// Sample `at` has arrived. `conflicting`: another publisher sends different data under the same svID and smpCnt.
    pub fn received(&mut self, at: u64, synch: Synch, simulated: bool, conflicting: bool) {
        self.turn(at);
        let status = &mut self.status;
        if status.received > 0 && status.synch != synch {
            status.synch_changes += 1;
            self.mixed_until = at + 1 + self.window;
        }
        status.synch = synch;
        status.simulated = simulated;
        status.received += 1;
        // The usual case: no fault before, and none now.
        if status.state == SampleState::Good && !status.blocks.any() && !conflicting {
            return;
        }
        status.lost_in_a_row = 0;
        if conflicting {
            status.conflicting += 1;
            self.conflict_until = at + 1 + self.conflict_hold.max(self.cycle);
        }
        self.decide(at);
    }

    /// Sample `at` has not arrived in time.
    pub fn lost(&mut self, at: u64) {
        self.turn(at);
        let status = &mut self.status;
        status.lost += 1;
        status.lost_in_a_row = status.lost_in_a_row.saturating_add(1);
        self.substituted(at);
    }

    /// The value of a sample that has arrived, at or just before `at`, was replaced as implausible: for `alarm-per-cycle` it counts like a lost one.
    pub fn implausible(&mut self, at: u64) {
        self.turn(at);
        self.status.implausible += 1;
        self.substituted(at);
    }

    /// The residual of a sample that has arrived, at or just before `at`, was replaced as implausible: its channel is in doubt, not the stream.
    pub fn implausible_residual(&mut self, at: u64) {
        self.turn(at);
        self.status.implausible += 1;
    }

    /// A sample in the window is a substitute.
    fn substituted(&mut self, at: u64) {
        let status = &mut self.status;
        status.lost_this_cycle += 1;
        status.most_per_cycle = status.most_per_cycle.max(status.lost_this_cycle);
        if status.lost_in_a_row >= self.settings.alarm || status.lost_this_cycle >= self.settings.alarm_per_cycle {
            // One full window after the last bad sample.
            self.blocked_until = at + 2 + self.window;
        }
        self.decide(at);
    }

    /// The status after the last sample.
    #[must_use]
    pub fn status(&self) -> &SampleStatus {
        &self.status
    }

    /// Writes the stream's status into a measured set. A window with samples of two synchronisations is combined with no other stream.
    pub fn apply(&self, set: &mut Measured) {
        set.health.stream |= self.status.blocks;
        set.health.synch = match set.at < self.mixed_until {
            true => Synch::default(),
            false => self.status.synch,
        };
    }

    fn turn(&mut self, at: u64) {
        if at >= self.cycle_ends {
            let in_order = at < self.cycle_ends + self.cycle;
            self.status.lost_last_cycle = if in_order { self.status.lost_this_cycle } else { 0 };
            self.status.lost_this_cycle = 0;
            self.cycle_ends = at - at % self.cycle + self.cycle;
        }
    }

    fn decide(&mut self, at: u64) {
        let SampleSupervision { warning, .. } = self.settings;
        let status = &mut self.status;
        let alarm = at < self.blocked_until;
        status.state = if status.received == 0 {
            SampleState::Never
        } else if u64::from(status.lost_in_a_row) >= self.cycle {
            SampleState::Inactive
        } else if alarm {
            SampleState::Alarm
        } else if status.lost_in_a_row >= warning {
            SampleState::Warning
        } else if status.lost_in_a_row > 0 {
            SampleState::Hold
        } else {
            SampleState::Good
        };
        status.active = !matches!(status.state, SampleState::Never | SampleState::Inactive);
        status.blocks = Blocks::LOST.when(alarm || !status.active) | Blocks::CONFLICT.when(at < self.conflict_until);
    }
}
