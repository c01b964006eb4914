//! What the series of this probe are called and mean.

use super::{ReflectConfig, Role};
use crate::record::Describe;
use store::model::{EventKind, SeriesClock, SeriesSpec};
use sys::packet::PacketPort;
use units::format_ns;

/// Slot of the initiator's series.
pub(super) const RTT: u16 = 0;
/// Slot of the reflector's series.
pub(super) const TURNAROUND: u16 = 0;
/// Notice: the socket dropped frames before we read them.
pub(super) const SOCKET_DROP: u16 = 1;

/// Names and settings of `rtt/reflect` and `turnaround/reflect`.
pub(super) struct Reflect {
    config: ReflectConfig,
    interface: String,
}

impl Reflect {
    pub(super) fn of(config: &ReflectConfig, port: &PacketPort) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let config = &self.config;
        let pace = match config.interval_ns {
            0 => "back to back".to_owned(),
            ns => format!("one frame every {}", format_ns(ns as f64)),
        };
        let rest = match config.rest.is_on() {
            true => format!(
                "{} after each {}, below the kernel's real-time throttling",
                format_ns(config.rest.length_ns as f64),
                format_ns(config.rest.every_ns as f64)
            ),
            false => "none".to_owned(),
        };
        vec![
            ("kind".into(), "immediate-reflect round trip, not halved".into()),
            ("interface".into(), self.interface.clone()),
            (
                "engine".into(),
                format!("AF_PACKET TPACKET_V2 ring, {}", config.receive.word()),
            ),
            ("pace".into(), pace),
            ("frame".into(), format!("{} octets without FCS", config.frame_bytes)),
            ("policy".into(), config.policy.to_string()),
            (
                "cpu".into(),
                config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            ),
            ("late after".into(), format_ns(config.late_after_ns as f64)),
            ("rest".into(), rest),
        ]
    }
}

impl Describe for Reflect {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let (family, what) = match self.config.role {
            Role::Initiator => (
                "rtt",
                "just before the send call -> answer with the same sequence number received",
            ),
            Role::Reflector => ("turnaround", "frame seen in the ring -> answer handed to the driver"),
        };
        SeriesSpec {
            name: format!("{family}/{label}"),
            what: what.into(),
            clock: SeriesClock::Monotonic,
            interval_ns: (self.config.interval_ns > 0).then_some(self.config.interval_ns as f64),
            threshold_ns: self.config.threshold_ns,
            settings: self.settings(),
        }
    }

    fn notice(&self, _code: u16, name: &str, a: u64, _b: u64) -> (EventKind, String) {
        (
            EventKind::SocketDrop,
            format!("{name}: the socket dropped {a} frames before they were read"),
        )
    }
}
