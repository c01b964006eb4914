//! Name and meaning of the series of `replay`.

use super::ReplayConfig;
use crate::notice::notices;
use crate::port::Port;
use model::{EventKind, SeriesSpec, kind};
use run::Describe;
use units::Ns;

/// Slot of the only series.
pub(super) const LATENESS: u16 = 0;

notices! {
    /// Notices of `replay`.
    pub(super) enum Notice {
        /// Number of frames that the kernel refused.
        Refused = 1,
    }
}

/// Name and settings of `publish/lateness`.
pub(super) struct Replay {
    config: ReplayConfig,
    interface: String,
}

impl Replay {
    pub(super) fn of(config: &ReplayConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
        }
    }
}

impl Describe for Replay {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let frames = &config.frames;
        let streams: Vec<&str> = frames.sv_ids().collect();
        let or = |value: Option<String>, otherwise: &str| value.unwrap_or_else(|| otherwise.to_owned());
        SeriesSpec {
            interval_ns: Some(frames.period_ns() as f64 / frames.count() as f64),
            threshold_ns: config.threshold_ns,
            settings: vec![
                ("interface".into(), self.interface.clone()),
                ("replays".into(), config.name.clone()),
                ("frames in a round".into(), frames.count().to_string()),
                ("a round".into(), Ns(frames.period_ns()).to_string()),
                (
                    "rounds".into(),
                    or(config.rounds.map(|rounds| rounds.to_string()), "until the end"),
                ),
                ("streams".into(), streams.join(", ")),
                ("policy".into(), config.policy.to_string()),
                ("cpu".into(), or(config.cpu.map(|cpu| cpu.to_string()), "any")),
                ("spin ahead".into(), Ns(config.spin_ahead_ns).to_string()),
                ("late after".into(), Ns(config.late_after_ns).to_string()),
            ],
            ..SeriesSpec::of(
                &kind::PUBLISH,
                label,
                "instant a frame is due by the capture's timing -> send call returned",
            )
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, _b: u64) -> Option<(EventKind, String)> {
        let Notice::Refused = Notice::of(code)?;
        Some((
            EventKind::SocketDrop,
            format!("{name}: {a} frames were not sent: the kernel had no room for them, or the link was down"),
        ))
    }
}
