//! What the series of this probe are called and mean, and its notices in words.

use super::ListenConfig;
use crate::port::Port;
use crate::record::Describe;
use store::model::{EventKind, SeriesClock, SeriesSpec};

/// Slot of `delivery/listen`.
pub(super) const DELIVERY: u16 = 0;

/// Slot of stream number `stream`.
pub(super) fn slot(stream: u16) -> u16 {
    1 + stream
}

/// Notices, in this probe's own numbering.
pub(super) mod notice {
    pub(in crate::listen) const SOCKET_DROP: u16 = 1;
    pub(in crate::listen) const RESTART: u16 = 2;
    pub(in crate::listen) const MORE_RESTARTS: u16 = 3;
    pub(in crate::listen) const STALE: u16 = 4;
    pub(in crate::listen) const TOO_MANY_STREAMS: u16 = 5;
    pub(in crate::listen) const LINK: u16 = 6;
    pub(in crate::listen) const OUT_OF_RANGE: u16 = 7;
    pub(in crate::listen) const OTHER_RATE: u16 = 8;
}

/// Names and settings of the series of this probe.
pub(super) struct Listen {
    config: ListenConfig,
    interface: String,
}

impl Listen {
    pub(super) fn of(config: &ListenConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
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
        settings.extend(config.more_settings.iter().cloned());
        settings
    }
}

impl Describe for Listen {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let (family, what) = match slot {
            DELIVERY => ("delivery", "kernel receive stamp -> application has the frame"),
            _ => ("listen", "kernel receive stamp of one frame -> that of the next"),
        };
        let name = match &config.label {
            Some(under) => format!("{family}/{under}/{label}"),
            None => format!("{family}/{label}"),
        };
        SeriesSpec {
            name,
            what: what.into(),
            clock: SeriesClock::Realtime,
            interval_ns: (slot != DELIVERY).then_some(config.period.as_f64()),
            threshold_ns: config.threshold_ns.filter(|_| slot != DELIVERY),
            settings: self.settings(),
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, _b: u64) -> (EventKind, String) {
        let stream = name.split_once('/').map_or(name, |(_, stream)| stream);
        let text = match code {
            notice::SOCKET_DROP => {
                let text = format!("the socket dropped {a} frames before they were read");
                return (EventKind::SocketDrop, text);
            }
            notice::LINK => {
                return (EventKind::Link, crate::reception::link_text(a == 1, &self.interface));
            }
            notice::RESTART => format!("{stream}: the talker began anew (for the {a}. time)"),
            notice::MORE_RESTARTS => format!(
                "{stream}: the talker began anew {a} times more: if two talkers send this stream, give them different VLANs \
                 or interfaces"
            ),
            notice::STALE => format!("{stream}: {a} frames came so late or so often that they had been counted before"),
            notice::OTHER_RATE => format!(
                "{stream}: its smpCnt shows {a} frames a second, and --interval says {}: late frames are counted by that; give \
                 --interval {a}/s",
                self.config.period
            ),
            notice::OUT_OF_RANGE => {
                let text = format!(
                    "{stream}: {a} frames have a smpCnt beyond the {} frames a second that --interval says: what is missing among \
                     them is not known",
                    crate::talk::per_second(self.config.period).unwrap_or_default()
                );
                return (EventKind::Incomplete, text);
            }
            _ => format!(
                "{a} frames of more streams than the {} that are told apart",
                self.config.max_streams
            ),
        };
        (EventKind::Stream, text)
    }
}
