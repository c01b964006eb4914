//! Names and meaning of this probe's series, and its notices in words.

use super::ListenConfig;
use crate::found;
use crate::nic::NicClock;
use crate::port::Port;
use model::{EventKind, SeriesClock, SeriesSpec, kind, setting, under};
use run::Describe;
use units::format_ns;
use wire::sequence::{Finding, What};

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
    pub(in crate::listen) const MALFORMED: u16 = 7;
    pub(in crate::listen) const NEW_SESSION: u16 = 8;
    pub(in crate::listen) const SILENT: u16 = 9;
    pub(in crate::listen) const STOPPED: u16 = 10;
    pub(in crate::listen) const UNCOUNTABLE: u16 = 11;
    pub(in crate::listen) const UNSTAMPED: u16 = 12;
}

/// Names and settings of the series of this probe.
pub(super) struct Listen {
    config: ListenConfig,
    interface: String,
    nic: Option<NicClock>,
}

impl Listen {
    pub(super) fn of(config: &ListenConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
            nic: port.nic_clock(),
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

impl Describe for Listen {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let stamp = config.stamps.maker();
        let (kind, what) = match slot {
            DELIVERY => (
                &kind::DELIVERY,
                format!("{stamp} receive stamp -> application has the frame"),
            ),
            _ => (
                &kind::LISTEN,
                format!("{stamp} receive stamp of one frame -> that of the next"),
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

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let stream = name.split_once('/').map_or(name, |(_, stream)| stream);
        if let Some(finding) = found::of(code, a, b) {
            return self.found(stream, finding);
        }
        match code {
            notice::SOCKET_DROP => {
                let text = format!("the socket dropped {a} frames before they were read");
                (EventKind::SocketDrop, text)
            }
            notice::UNSTAMPED => (EventKind::Incomplete, crate::nic::unstamped_text(&self.interface, a)),
            notice::LINK => (EventKind::Link, crate::reception::link_text(a == 1, &self.interface)),
            notice::RESTART => {
                let text = format!(
                    "{stream}: the talker restarted without an end mark ({a} restarts so far): what was lost is not \
                     known"
                );
                (EventKind::StreamDoubt, text)
            }
            notice::MORE_RESTARTS => {
                let text = format!(
                    "{stream}: the talker restarted {a} more times: if two talkers send this stream, give them \
                     different VLANs or interfaces"
                );
                (EventKind::StreamDoubt, text)
            }
            notice::NEW_SESSION => (
                EventKind::Stream,
                format!("{stream}: the talker ended, and started a new run"),
            ),
            notice::STALE => {
                let text = format!("{stream}: {a} frames came too late or too often: they had been counted already");
                (EventKind::Stream, text)
            }
            notice::SILENT => (
                EventKind::Stream,
                format!("{stream}: silent for {} so far", format_ns(a as f64)),
            ),
            notice::STOPPED => {
                let text = format!(
                    "{stream}: stopped {} before the end: {b} frames lost",
                    format_ns(a as f64)
                );
                (EventKind::Stream, text)
            }
            notice::UNCOUNTABLE => {
                let text = format!(
                    "{stream}: silent for {}, which its counter of {b} values does not explain: what was lost is not known",
                    format_ns(a as f64)
                );
                (EventKind::StreamDoubt, text)
            }
            notice::MALFORMED => {
                let text = format!(
                    "{a} SV frames break a rule, or hold several streams: which stream they belong to is not known"
                );
                (EventKind::Incomplete, text)
            }
            _ => {
                let most = self.config.max_streams;
                let text =
                    format!("{a} frames belong to streams beyond the {most} that are told apart (--max-streams)");
                (EventKind::Incomplete, text)
            }
        }
    }
}

impl Listen {
    fn found(&self, stream: &str, finding: Finding) -> (EventKind, String) {
        if finding.what == What::OtherRate {
            let text = format!(
                "{stream}: its smpCnt shows {a} frames a second, but --interval says {}: late frames are counted by \
                 --interval; give --interval {a}/s",
                self.config.period,
                a = finding.a
            );
            return (EventKind::Stream, text);
        }
        found::event(stream, finding)
    }
}
