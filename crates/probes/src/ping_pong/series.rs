//! Names and meaning of the series of a ping-pong.

use super::class::met;
use super::notice::Notice;
use super::{Case, PingPongConfig};
use model::{EventKind, SeriesSpec, kind, setting};
use run::Describe;
use units::Ns;

/// Slot of a case's answers.
pub(super) fn answer_slot(case: usize) -> u16 {
    u16::try_from(2 * case).unwrap_or(u16::MAX)
}

/// Slot of this machine's part of a case's answers.
pub(super) fn own_slot(case: usize) -> u16 {
    answer_slot(case) + 1
}

/// Names and settings of the series.
pub(super) struct PingPong {
    pub(super) config: PingPongConfig,
    interface: String,
}

impl PingPong {
    pub(super) fn of(config: &PingPongConfig, interface: &str) -> Self {
        Self {
            config: config.clone(),
            interface: interface.to_owned(),
        }
    }

    fn settings(&self, number: usize) -> Vec<(String, String)> {
        let config = &self.config;
        let cpu = |cpu: Option<u32>| cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let case = config.cases.get(number);
        let sent = case.map(|case| case.what(config.goose_rate, config.streams.len()));
        let ping = String::from_utf8_lossy(&config.block.message.gocb_ref).into_owned();
        let ns = |ns: u64| Ns(ns).to_string();
        vec![
            ("interface".into(), self.interface.clone()),
            ("sent beside the pings".into(), sent.unwrap_or_default()),
            ("ping".into(), format!("member {} of {ping}", config.ping_member)),
            (
                "answer".into(),
                format!("member {} of {}", config.member, config.device),
            ),
            ("deadline".into(), ns(config.deadline_ns)),
            (
                "pause".into(),
                format!("{} to {}", Ns(config.pause_ns), Ns(2 * config.pause_ns)),
            ),
            ("seed".into(), config.seed.to_string()),
            ("policy".into(), config.policy.to_string()),
            ("cpu".into(), cpu(config.cpu)),
            ("load cpu".into(), cpu(config.load_cpu)),
            ("receive".into(), config.receive.word().into()),
            (setting::SAMPLED_VALUES.into(), setting::NOT_TESTED.into()),
        ]
    }

    pub(super) fn class(&self, longest_ns: u64) -> String {
        let config = &self.config;
        format!(
            "the longest answer, {longest}, is within: {classes} (IEC 61850-5, {hz} Hz; an answer has 80 % of a transfer's time, and \
             {application} for the application; nothing is subtracted)",
            longest = Ns(longest_ns),
            hz = config.frequency_hz,
            classes = met(longest_ns, config.frequency_hz, config.application_ns),
            application = Ns(config.application_ns),
        )
    }
}

/// Name and settings of `publish/load`.
pub(super) struct LoadSeries {
    settings: Vec<(String, String)>,
}

impl LoadSeries {
    pub(super) fn of(config: &PingPongConfig, interface: &str) -> Self {
        let cpu = config.load_cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let sent = config
            .cases
            .iter()
            .filter(|case| matches!(case, Case::Goose | Case::Sv))
            .map(|case| case.what(config.goose_rate, config.streams.len()));
        let settings = [
            ("interface", interface.to_owned()),
            ("sent in turn", sent.collect::<Vec<_>>().join("; ")),
            ("policy", config.policy.to_string()),
            ("cpu", cpu),
            ("late after", "one interval".to_owned()),
        ];
        Self {
            settings: settings.map(|(key, value)| (key.to_owned(), value)).to_vec(),
        }
    }
}

impl Describe for LoadSeries {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            settings: self.settings.clone(),
            ..SeriesSpec::of(
                &kind::PUBLISH,
                label,
                "instant a frame of the load is due -> its send call returned",
            )
        }
    }
}

impl Describe for PingPong {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let (kind, what) = match slot % 2 {
            0 => (
                &kind::PONG,
                "just before the send call of a ping -> kernel has the first GOOSE message with the answer",
            ),
            _ => (
                &kind::PING,
                "just before the send call of a ping -> its driver takes it, by the kernel's stamp",
            ),
        };
        SeriesSpec {
            settings: self.settings(usize::from(slot / 2)),
            // The kernel's stamps are converted from the wall clock to the monotonic clock, so a step of the wall clock moves no
            // message.
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        Some(self.told(Notice::of(code)?, name, a, b))
    }
}
