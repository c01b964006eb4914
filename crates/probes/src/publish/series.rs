//! What the series of this probe are called and mean.

use super::PublishConfig;
use crate::port::Port;
use crate::record::Describe;
use store::model::{EventKind, SeriesClock, SeriesSpec};
use units::format_ns;

/// Slot of the only series.
pub(super) const LATENESS: u16 = 0;
/// Notice: the kernel had no room for frames.
pub(super) const REFUSED: u16 = 1;

/// Name and settings of `publish/lateness`.
pub(super) struct Publish {
    config: PublishConfig,
    interface: String,
}

impl Publish {
    pub(super) fn of(config: &PublishConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
        }
    }
}

impl Describe for Publish {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let interval_ns = f64::from(config.asdus) * 1e9 / f64::from(config.rate);
        SeriesSpec {
            name: format!("publish/{label}"),
            what: "instant the frames are due -> send call for all streams returned".into(),
            clock: SeriesClock::Monotonic,
            interval_ns: Some(interval_ns),
            threshold_ns: config.threshold_ns,
            settings: vec![
                ("interface".into(), self.interface.clone()),
                ("streams".into(), config.streams.to_string()),
                ("profile".into(), format!("F{}S{}I4U4", config.rate, config.asdus)),
                ("policy".into(), config.policy.to_string()),
                (
                    "cpu".into(),
                    config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
                ),
                ("spin ahead".into(), format_ns(config.spin_ahead_ns as f64)),
                ("late after".into(), format_ns(interval_ns)),
            ],
        }
    }

    fn notice(&self, _code: u16, name: &str, a: u64, _b: u64) -> (EventKind, String) {
        (
            EventKind::SocketDrop,
            format!("{name}: the kernel had no room for {a} frames, they were not sent"),
        )
    }
}
