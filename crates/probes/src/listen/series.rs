//! Names and meaning of the series of `listen`.

use super::ListenConfig;
use super::notice::Notice;
use crate::credit::{self, Allowed};
use crate::nic::NicClock;
use crate::port::Port;
use model::{EventKind, SeriesClock, SeriesSpec, kind, setting, under};
use run::Describe;

/// Slot of `delivery/listen`.
pub(super) const DELIVERY: u16 = 0;

/// Slot of the series of stream number `stream`.
pub(super) fn slot(stream: u16) -> u16 {
    1 + stream
}

/// Slot of the credit of stream number `stream`, of up to `most` streams.
pub(super) fn credit_slot(stream: u16, most: u16) -> u16 {
    slot(most).saturating_add(stream)
}

/// Names and settings of the series of `listen`.
pub(super) struct Listen {
    pub(super) config: ListenConfig,
    pub(super) interface: String,
    nic: Option<NicClock>,
    allowed: Result<Allowed, String>,
}

impl Listen {
    pub(super) fn of(config: &ListenConfig, port: &Port, allowed: &Result<Allowed, String>) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
            nic: port.nic_clock(),
            allowed: allowed.clone(),
        }
    }

    fn label(&self, label: &str) -> String {
        under(self.config.label.as_deref(), label)
    }

    fn settings(&self, slot: u16) -> Vec<(String, String)> {
        let config = &self.config;
        let engine = format!("AF_PACKET TPACKET_V2 ring, {}", config.receive.word());
        let late = format!("{} µs since the frame before", config.late_after_ns as f64 / 1e3);
        let cpu = config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let mut settings = vec![
            ("interface".into(), self.interface.clone()),
            ("engine".into(), engine),
            ("interval".into(), config.period.to_string()),
            ("late after".into(), late),
            ("policy".into(), config.policy.to_string()),
            ("cpu".into(), cpu),
        ];
        if slot != DELIVERY {
            settings.push(credit::setting(&self.allowed));
        }
        if let Some(nic) = &self.nic {
            match slot {
                DELIVERY => settings.extend(nic.settings()),
                _ => settings.push(nic.alone()),
            }
        }
        if slot != DELIVERY {
            settings.push((
                setting::SOCKET.into(),
                format!("{}/{}", kind::DELIVERY.name, self.label("listen")),
            ));
        }
        settings
    }
}

impl Listen {
    fn credit(&self, slot: u16, label: &str) -> SeriesSpec {
        let what = "time by which a frame of an SR class came before its class measurement interval";
        SeriesSpec {
            clock: SeriesClock::Realtime,
            threshold_ns: self.allowed.as_ref().ok().map(|allowed| allowed.most_ns),
            settings: self.settings(slot),
            ..SeriesSpec::of(&kind::CREDIT, &self.label(label), what)
        }
    }
}

impl Describe for Listen {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let stamp = config.stamps.maker();
        if slot >= credit_slot(0, config.max_streams) {
            return self.credit(slot, label);
        }
        let (kind, what) = match slot {
            DELIVERY => (
                &kind::DELIVERY,
                format!("{stamp} receive stamp -> application has the frame"),
            ),
            _ => (
                &kind::LISTEN,
                format!("{stamp} receive stamp of one frame -> receive stamp of the next"),
            ),
        };
        SeriesSpec {
            clock: SeriesClock::Realtime,
            interval_ns: (slot != DELIVERY).then_some(config.period.as_f64()),
            threshold_ns: config.threshold_ns.filter(|_| slot != DELIVERY),
            settings: self.settings(slot),
            ..SeriesSpec::of(kind, &self.label(label), what)
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        Some(self.told(Notice::of(code)?, name, a, b))
    }
}
