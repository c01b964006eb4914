//! Name and meaning of the publisher's series.

use super::config::GooseConfig;
use crate::notice::notices;
use crate::port::Port;
use model::{EventKind, SeriesSpec, kind};
use run::Describe;
use units::Ns;

/// Slot of the only series.
pub(super) const LATENESS: u16 = 0;

notices! {
    /// Notices of this probe.
    pub(super) enum Notice {
        /// The kernel refused this many messages.
        Refused = 1,
    }
}

/// Name and settings of the series `publish/goose-lateness`.
pub(super) struct Publish {
    config: GooseConfig,
    interface: String,
}

impl Publish {
    pub(super) fn of(config: &GooseConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interfaces(),
        }
    }
}

impl Describe for Publish {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let names = config
            .blocks
            .iter()
            .map(|block| String::from_utf8_lossy(&block.message.gocb_ref));
        SeriesSpec {
            threshold_ns: config.threshold_ns,
            settings: vec![
                ("interface".into(), self.interface.clone()),
                ("control blocks".into(), names.collect::<Vec<_>>().join(", ")),
                ("policy".into(), config.policy.to_string()),
                (
                    "cpu".into(),
                    config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
                ),
                ("spin ahead".into(), Ns(config.spin_ahead_ns).to_string()),
                ("late after".into(), "the message's first repetition was due".into()),
            ],
            ..SeriesSpec::of(
                &kind::PUBLISH,
                label,
                "instant a GOOSE message is due -> its send call returned",
            )
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, _b: u64) -> Option<(EventKind, String)> {
        let Notice::Refused = Notice::of(code)?;
        Some((
            EventKind::SocketDrop,
            format!("{name}: {a} messages were not sent: the kernel had no room for them, or the link was down"),
        ))
    }
}
