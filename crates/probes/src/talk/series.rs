//! Names and meaning of the series of `talk`.

use super::TalkConfig;
use crate::credit::{self, Allowed};
use crate::nic::{NicClock, Stamps};
use crate::notice::notices;
use crate::port::Port;
use model::{EventKind, QuestionKind, SeriesClock, SeriesSpec, kind};
use run::Describe;
use units::Ns;

/// Slot of the talker delta.
pub(super) const TALK: u16 = 0;
/// Slot of the send call.
pub(super) const SEND: u16 = 1;

/// Slot of the departure stamps.
pub(super) const DEPARTURE: u16 = 2;
/// Slot of the credit of the port's shaper.
pub(super) const CREDIT: u16 = 3;
/// Number of slots.
pub(super) const SLOTS: usize = 4;

notices! {
    /// Notices of `talk`, each with a number of cycles or frames.
    pub(super) enum Notice {
        /// Cycles missed during the warm-up.
        LateStart = 1,
        /// Frames that the kernel refused.
        Refused = 2,
        /// Frames that the queueing discipline dropped because they missed their launch time.
        Launch = 3,
        /// Frames without a stamp.
        Unstamped = 4,
    }
}

/// Deviation from the due instant that a spinning thread can have without having been held up.
const WORTH_ASKING_NS: i64 = 1_000;

/// Names and settings of `talk/LABEL` and `send/LABEL`.
pub(super) struct Talk {
    config: TalkConfig,
    interface: String,
    nic: Option<NicClock>,
    allowed: Result<Allowed, String>,
}

impl Talk {
    pub(super) fn of(config: &TalkConfig, port: &Port, allowed: &Result<Allowed, String>) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
            nic: port.nic_clock(),
            allowed: allowed.clone(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let config = &self.config;
        let ahead = Ns(config.spin_ahead_ns);
        let sent_by = match config.launch_time {
            true => format!("launch time, handed over {ahead} before"),
            false => "the send call".to_owned(),
        };
        let cpu = config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let mut settings = vec![
            ("interface".into(), self.interface.clone()),
            ("frames".into(), config.framing.describe().into()),
            ("interval".into(), config.period.to_string()),
            ("spin ahead".into(), ahead.to_string()),
            ("sent by".into(), sent_by),
            (
                "late after".into(),
                format!("{} µs after due", config.late_after_ns as f64 / 1e3),
            ),
            ("policy".into(), config.policy.to_string()),
            ("cpu".into(), cpu),
            credit::setting(&self.allowed),
        ];
        if let Some(tag) = config.vlan {
            settings.push(("vlan".into(), format!("{}, priority {}", tag.vid(), tag.pcp())));
        }
        settings
    }
}

impl Talk {
    /// Threshold of the credit.
    fn most_ns(&self, slot: u16) -> Option<u64> {
        let allowed = self.allowed.as_ref().ok().filter(|_| slot == CREDIT);
        allowed.map(|allowed| allowed.most_ns)
    }

    /// Series of the departure stamps, with due instants converted to the wall clock.
    fn departure(&self, label: &str) -> SeriesSpec {
        let mut settings = self.settings();
        settings.extend(self.nic.iter().flat_map(NicClock::settings));
        let what = format!("frame's due instant -> {}", self.config.stamps.leaves());
        SeriesSpec {
            clock: SeriesClock::Realtime,
            interval_ns: Some(self.config.period.as_f64()),
            settings,
            ..SeriesSpec::of(&kind::DEPARTURE, label, what)
        }
    }
}

impl Describe for Talk {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let (kind, what) = match (slot, self.config.launch_time) {
            (TALK, false) => (&kind::TALK, "frame's due instant -> just before its send call"),
            (TALK, true) => (
                &kind::TALK,
                "planned hand-over of a frame with launch time -> just before its send call",
            ),
            (DEPARTURE, _) => return self.departure(label),
            (CREDIT, _) => (
                &kind::CREDIT,
                "time by which a frame was sent before the port's shaper has the credit for it",
            ),
            _ => (&kind::SEND, "just before the send call -> it returned"),
        };
        SeriesSpec {
            interval_ns: Some(self.config.period.as_f64()),
            settings: self.settings(),
            threshold_ns: self.most_ns(slot),
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn threshold_otherwise(&self, slot: u16) -> Option<u64> {
        self.config.threshold_ns.filter(|_| slot == TALK)
    }

    fn notice(&self, code: u16, name: &str, a: u64, _b: u64) -> Option<(EventKind, String)> {
        let told = match Notice::of(code)? {
            Notice::Unstamped if self.config.stamps == Stamps::Hardware => {
                (EventKind::Incomplete, crate::nic::unstamped_text(&self.interface, a))
            }
            Notice::Unstamped => (
                EventKind::Incomplete,
                format!("{name}: {a} frames have no stamp of the driver: they are counted but not measured"),
            ),
            Notice::LateStart => (
                EventKind::Note,
                format!("{name}: the warm-up slept through {a} cycles; the measurement begins with the next one"),
            ),
            Notice::Refused => (
                EventKind::SocketDrop,
                format!("{name}: {a} frames were not sent: the kernel had no room for them, or the link was down"),
            ),
            Notice::Launch => (
                EventKind::SocketDrop,
                format!("{name}: the etf queueing discipline dropped {a} frames that missed their launch time"),
            ),
        };
        Some(told)
    }

    fn question(&self, slot: u16, value_ns: i64) -> Option<QuestionKind> {
        (slot == TALK && value_ns > WORTH_ASKING_NS).then_some(QuestionKind::WakeUp)
    }
}
