//! Options of a measurement of wake-ups, on the command line and in a plan.

use crate::options::{defaults, duration, ns, positive_duration, some_ns, some_positive_ns, text};
use serde::Deserialize;
use sys::thread::Policy;
use sys::wait::WakeClock;
use units::Period;

/// How wake-ups are measured. In a plan each option is a key of the step: `spin_ahead = "30us"`.
#[derive(Debug, Clone, PartialEq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WakeupOptions {
    /// Time between due instants: a duration (250us, 208333.3ns) or a rate (4800/s)
    #[arg(long, short, value_name = "PERIOD", default_value = "1ms")]
    #[serde(deserialize_with = "text")]
    pub interval: Period,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY, deadline:RUNTIME/DEADLINE/PERIOD
    #[arg(long, short, default_value = "fifo:80")]
    #[serde(deserialize_with = "text")]
    pub policy: Policy,
    /// Clock whose timers wake the threads
    #[arg(long, default_value = "monotonic")]
    pub clock: Clock,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    #[serde(deserialize_with = "ns")]
    pub spin_ahead: u64,
    /// Shift the due instants of each further CPU by this much
    #[arg(long, short, value_name = "DURATION", default_value = "0", value_parser = duration)]
    #[serde(deserialize_with = "ns")]
    pub distance: u64,
    /// First due instant at a full second of the clock plus OFFSET, for example to run half a period apart from another tool
    #[arg(long, value_name = "OFFSET", num_args = 0..=1, default_missing_value = "0", value_parser = duration)]
    #[serde(deserialize_with = "some_ns")]
    pub secaligned: Option<u64>,
    /// Count samples above this as overflow, and keep them [default: the limit on the maximum, if any]
    #[arg(long, alias = "spike-above", value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub threshold: Option<u64>,
    /// End at the first sample above this, and report its cause
    #[arg(long, short, value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub break_above: Option<u64>,
}

impl Default for WakeupOptions {
    fn default() -> Self {
        defaults()
    }
}

impl WakeupOptions {
    /// Threshold above which samples count as overflow; a break value is also such a threshold.
    pub(super) fn threshold_ns(&self) -> Option<u64> {
        self.threshold.or(self.break_above)
    }
}

/// Clocks a thread can be woken by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// CLOCK_MONOTONIC, which is not affected by steps of the wall clock
    Monotonic,
    /// CLOCK_REALTIME
    Realtime,
    /// CLOCK_TAI, the time scale of PTP
    Tai,
}

impl From<Clock> for WakeClock {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Monotonic => Self::Monotonic,
            Clock::Realtime => Self::Realtime,
            Clock::Tai => Self::Tai,
        }
    }
}
