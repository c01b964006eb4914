//! Options of a measurement of noise, on the command line and in a plan.

use crate::options::{defaults, positive_duration, positive_ns, some_positive_ns, text};
use serde::Deserialize;
use sys::thread::Policy;

/// Default length above which gaps are counted: well above the cost of recording one.
const DEFAULT_GAP: &str = "1us";

/// How noise is measured. In a plan each option is a key of the step: `gaps_above = "500ns"`.
#[derive(Debug, Clone, PartialEq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoiseOptions {
    /// Count gaps longer than this
    #[arg(long, value_name = "DURATION", default_value = DEFAULT_GAP, value_parser = positive_duration)]
    #[serde(deserialize_with = "positive_ns")]
    pub gaps_above: u64,
    /// Count gaps above this as overflow, and keep them [default: the limit on the maximum, if any]
    #[arg(long, alias = "spike-above", value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub threshold: Option<u64>,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY
    #[arg(long, short, default_value = "fifo:80")]
    #[serde(deserialize_with = "text")]
    pub policy: Policy,
}

impl Default for NoiseOptions {
    fn default() -> Self {
        defaults()
    }
}
