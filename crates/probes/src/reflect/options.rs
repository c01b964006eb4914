//! Options of a round trip, on the command line and in a plan.

use super::{MOST_FRAMES, ReflectConfig, Role, SHORTEST_FRAME};
use crate::options::{defaults, duration, positive_duration, some_ns, some_positive_ns, some_vlan, vlan};
use serde::Deserialize;
use wire::ether::VlanTag;

/// Time between frames if none is given.
const USUAL_INTERVAL_NS: u64 = 250_000;

/// Time after which an answer is late if frames are sent back to back.
const LATE_BACK_TO_BACK_NS: u64 = 1_000_000;

/// Options for what is sent, and from when on an answer is late. In a plan each option is a key of the step: `late_after = "1ms"`.
#[derive(Debug, Clone, PartialEq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReflectOptions {
    /// Time between frames; 0 sends the next as soon as the answer is there [default: 250us; with --dialect l2reflect 0]
    #[arg(long, short, value_name = "DURATION", value_parser = duration)]
    #[serde(deserialize_with = "some_ns")]
    pub interval: Option<u64>,
    /// Frames sent at each due instant; with --interval 0, frames kept under way
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_FRAMES)))]
    pub frames: u32,
    /// Octets of a frame, without frame check sequence and VLAN tag
    #[arg(long, value_name = "OCTETS", default_value_t = SHORTEST_FRAME)]
    pub size: usize,
    /// VLAN tag of the frames, the same at both ends: identifier, or identifier:priority
    #[arg(long, value_name = "VID[:PCP]", value_parser = vlan)]
    #[serde(deserialize_with = "some_vlan")]
    pub vlan: Option<VlanTag>,
    /// Count answers as late when they took longer than this [default: one interval, or 1ms back to back]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub late_after: Option<u64>,
    /// End at the first round trip above this
    #[arg(long, short, value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub break_above: Option<u64>,
}

impl Default for ReflectOptions {
    fn default() -> Self {
        defaults()
    }
}

impl ReflectOptions {
    /// Makes one end of a round trip with these options.
    pub fn config(&self, role: Role) -> ReflectConfig {
        let interval_ns = self.interval.unwrap_or(USUAL_INTERVAL_NS);
        let one_interval = match interval_ns {
            0 => LATE_BACK_TO_BACK_NS,
            interval => interval,
        };
        ReflectConfig {
            interval_ns,
            frames: self.frames,
            frame_bytes: self.size,
            vlan: self.vlan,
            late_after_ns: self.late_after.unwrap_or(one_interval),
            break_above_ns: self.break_above,
            ..ReflectConfig::new(role)
        }
    }
}
