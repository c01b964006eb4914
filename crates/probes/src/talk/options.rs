//! Options of a paced stream, on the command line and in a plan.

use super::TalkConfig;
use crate::framing::Framing;
use crate::options::{
    defaults, duration, mac, ns, positive_duration, some_positive_ns, some_text, some_vlan, text, vlan,
};
use serde::Deserialize;
use units::Period;
use wire::ether::{Mac, VlanTag};
use wire::test_frame::MIN_OCTETS;

/// Options for what is sent when, and from when on it is late. In a plan each option is a key of the step: `spin_ahead = "30us"`.
#[derive(Debug, Clone, PartialEq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TalkOptions {
    /// Time between frames: a duration (125us) or a rate (8000/s)
    #[arg(long, short, value_name = "PERIOD", default_value = "125us")]
    #[serde(deserialize_with = "text")]
    pub interval: Period,
    /// Sleep until this long before the due instant, then spin; with --launch-time: hand the frame over this long before
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    #[serde(deserialize_with = "ns")]
    pub spin_ahead: u64,
    /// Count frames as late when they are sent more than this after their due instant [default: one interval; 1us in a
    /// search]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub late_after: Option<u64>,
    /// Format of the frames
    #[arg(long, value_enum, default_value = "test")]
    pub framing: Framing,
    /// Destination of the frames [default: broadcast; 91:e0:f0:00:fe:00 for avtp; 01:0c:cd:04:00:00 for sv]
    #[arg(long, value_name = "MAC", value_parser = mac)]
    #[serde(deserialize_with = "some_text")]
    pub dst: Option<Mac>,
    /// VLAN and priority, such as 2:3
    #[arg(long, value_name = "VID[:PCP]", value_parser = vlan)]
    #[serde(deserialize_with = "some_vlan")]
    pub vlan: Option<VlanTag>,
    /// Octets of a test frame, without frame check sequence and tag [default: 60]
    #[arg(long, value_name = "OCTETS")]
    pub size: Option<usize>,
}

impl Default for TalkOptions {
    fn default() -> Self {
        defaults()
    }
}

impl TalkOptions {
    /// Checks for options that exclude each other.
    ///
    /// # Errors
    /// The option, and the reason why it is refused.
    pub fn check(&self) -> Result<(), String> {
        if self.size.is_some() && self.framing != Framing::Test {
            return Err(format!(
                "--size applies to test frames only: the protocol sets the length of --framing {} frames",
                self.framing.word()
            ));
        }
        Ok(())
    }

    /// Makes a talker with these options. Late frames are kept, each with its cause.
    pub fn config(&self) -> TalkConfig {
        let every = TalkConfig::every(self.interval);
        let late_after_ns = self.late_after.unwrap_or(every.late_after_ns);
        TalkConfig {
            framing: self.framing,
            destination: self.dst,
            vlan: self.vlan,
            frame_bytes: self.size.unwrap_or(MIN_OCTETS),
            spin_ahead_ns: self.spin_ahead,
            late_after_ns,
            threshold_ns: Some(late_after_ns),
            ..every
        }
    }
}
