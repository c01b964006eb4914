//! Names and meaning of this probe's series.

use super::{ReflectConfig, Role, initiator};
use crate::nic::{NicClock, Stamps};
use crate::port::Port;
use model::{EventKind, QuestionKind, SeriesClock, SeriesSpec, kind, setting};
use run::{Describe, FRAME_WORTH_ASKING_NS};
use units::format_ns;

/// Slot of the initiator's series.
pub(super) const RTT: u16 = 0;
/// Slot of the part from us to the driver.
pub(super) const SEND: u16 = 1;
/// Slot of the part from driver to driver, or from NIC to NIC.
pub(super) const WIRE: u16 = 2;
/// Slot of the part from the driver to us.
pub(super) const RECEIVE: u16 = 3;
/// Slot of the parts that are not between the NICs' stamps.
pub(super) const HOST: u16 = 4;
/// Slots in all.
pub(super) const SLOTS: usize = 5;
/// Slot of the reflector's series.
pub(super) const TURNAROUND: u16 = 0;
/// Notice: the socket dropped frames before we read them.
pub(super) const SOCKET_DROP: u16 = 1;
/// Notice: the link went down (1) or takes frames again (0).
pub(super) const LINK: u16 = 2;
/// Notice: frames lost on the way there, and on the way back.
pub(super) const LOST_WHERE: u16 = 3;
/// Notice: frames the initiator sent, and answers it got.
pub(super) const FAR_COUNTS: u16 = 4;
/// Notice: mean and longest round trip the initiator measured, in ns.
pub(super) const FAR_TIMES: u16 = 5;
/// Notice: round trips that could not be split into stages.
pub(super) const UNSPLIT: u16 = 8;
/// Notice: the round trip that ended the measurement, in ns, and its number.
pub(super) const BREAK: u16 = 9;
/// Notice: frames that were longer than the ring's places.
pub(super) const TOO_LONG: u16 = 10;
/// Notice: answers of others than the far end.
pub(super) const OTHERS: u16 = 11;
/// Notice: answers with other contents than were sent.
pub(super) const CHANGED: u16 = 12;
/// Notice: so many frames were answered twice, so many of them in a row.
pub(super) const DOUBLE: u16 = 13;
/// Notice: which engine runs.
pub(super) const ENGINE: u16 = 7;
/// Notice: frames that arrived at the reflector, and how often one was doubled or out of order.
pub(super) const ARRIVED: u16 = 6;

/// The series of the stages, with their labels.
pub(super) fn stages(stamps: Stamps) -> &'static [(u16, &'static str)] {
    match stamps {
        Stamps::Off => &[],
        Stamps::Software => &[(SEND, "send"), (WIRE, "wire"), (RECEIVE, "receive")],
        Stamps::Hardware => &[(WIRE, "wire"), (HOST, "host")],
    }
}

/// Names and settings of `rtt/reflect` and `turnaround/reflect`.
pub(super) struct Reflect {
    config: ReflectConfig,
    role: Role,
    interface: String,
    engine: String,
    nic: Option<NicClock>,
}

impl Reflect {
    pub(super) fn of(config: &ReflectConfig, role: Role, port: &Port) -> Self {
        Self {
            config: config.clone(),
            role,
            interface: port.interface().to_owned(),
            engine: format!("{}, {}", port.describe(), config.receive.word()),
            nic: port.nic_clock(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let config = &self.config;
        let pace = match (config.interval_ns, config.frames) {
            (0, 1) => "back to back".to_owned(),
            (0, frames) => format!("back to back, {frames} frames under way"),
            (ns, 1) => format!("one frame every {}", format_ns(ns as f64)),
            (ns, frames) => format!("{frames} frames every {}", format_ns(ns as f64)),
        };
        let tag = config.vlan.map_or_else(
            || "none".to_owned(),
            |tag| format!("{}, priority {}", tag.vid(), tag.pcp()),
        );
        let rest = match config.rest.is_on() {
            true => format!(
                "{} after each {}, below the kernel's real-time throttling",
                format_ns(config.rest.length_ns as f64),
                format_ns(config.rest.every_ns as f64)
            ),
            false => "none".to_owned(),
        };
        let pauses = config.rest.is_on().then(|| {
            let most_ns = initiator::longest_silence_ns(config.rest.length_ns);
            (setting::PAUSES_NS.to_owned(), most_ns.to_string())
        });
        let mut settings = vec![
            ("kind".into(), "immediate-reflect round trip, not halved".into()),
            ("interface".into(), self.interface.clone()),
            ("engine".into(), self.engine.clone()),
            ("pace".into(), pace),
            ("frame".into(), format!("{} octets without FCS", config.frame_bytes)),
            ("vlan".into(), tag),
            ("policy".into(), config.policy.to_string()),
            (
                "cpu".into(),
                config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            ),
            ("late after".into(), format_ns(config.late_after_ns as f64)),
            (setting::REST.into(), rest),
        ];
        settings.extend(pauses);
        settings
    }
}

impl Describe for Reflect {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let (kind, what) = match (self.role, slot) {
            (Role::Initiator, RTT) => (
                &kind::RTT,
                "just before the send call -> answer with the same sequence number received",
            ),
            (Role::Initiator, SEND) => (&kind::STAGE, "just before the send call -> frame handed to the driver"),
            (Role::Initiator, WIRE) if self.config.stamps == Stamps::Hardware => (
                &kind::STAGE,
                "frame leaves the NIC -> answer reaches the NIC: wire and far end",
            ),
            (Role::Initiator, WIRE) => (
                &kind::STAGE,
                "frame handed to the driver -> answer handed up by the driver: wire and far end",
            ),
            (Role::Initiator, RECEIVE) => (&kind::STAGE, "answer handed up by the driver -> answer received"),
            (Role::Initiator, _) => (&kind::STAGE, "the round trip without the time between the NIC's stamps"),
            (Role::Reflector | Role::Auto, _) => (
                &kind::TURNAROUND,
                "frame seen in the ring -> answer handed to the driver",
            ),
        };
        let mut settings = self.settings();
        let by_nic = self.nic.as_ref().filter(|_| matches!(slot, WIRE | HOST));
        settings.extend(by_nic.map(NicClock::alone));
        SeriesSpec {
            // A clock of the NIC that is set between its two stamps is told like a step of the wall clock.
            clock: match by_nic {
                Some(_) => SeriesClock::Realtime,
                None => SeriesClock::Monotonic,
            },
            interval_ns: (self.config.interval_ns > 0).then_some(self.config.interval_ns as f64),
            threshold_ns: self.config.threshold_ns.filter(|_| slot == RTT),
            settings,
            ..SeriesSpec::of(kind, label, what)
        }
    }

    /// A round trip that ends the measurement is kept.
    fn threshold_otherwise(&self, slot: u16) -> Option<u64> {
        self.config
            .break_above_ns
            .filter(|_| self.role == Role::Initiator && slot == RTT)
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let interface = &self.interface;
        let duration = |ns: u64| format_ns(ns as f64);
        match code {
            ENGINE => (
                EventKind::Note,
                format!("{name}: engine {}; interface {interface}", self.engine),
            ),
            BREAK => (
                EventKind::Note,
                format!(
                    "{name}: ended by frame {b}, whose round trip of {} is above --break-above",
                    duration(a)
                ),
            ),
            TOO_LONG => (
                EventKind::Note,
                format!(
                    "{name}: {a} frames were longer than --size here and were not returned: give both ends the same --size"
                ),
            ),
            OTHERS => (
                EventKind::Incomplete,
                format!(
                    "{name}: {a} answers came from a station other than the far end: two stations answer, and the \
                     right one is not certain"
                ),
            ),
            DOUBLE => (
                EventKind::Incomplete,
                format!(
                    "{name}: {a} frames were answered twice, up to {b} of them in a row: two stations answer with one address, or \
                     frames go two ways; the faster answer counts, so round trips may be longer than these"
                ),
            ),
            CHANGED => (
                EventKind::Incomplete,
                format!("{name}: {a} answers differ from what was sent, or are shorter: they do not count as answers"),
            ),
            UNSPLIT if self.nic.is_some() => (
                EventKind::Incomplete,
                format!("{name}: {a} round trips could not be split into stages: the NIC did not stamp both frames"),
            ),
            UNSPLIT => (
                EventKind::Note,
                format!("{name}: {a} round trips could not be split into stages: a time stamp was missing"),
            ),
            LINK if a == 1 => (
                EventKind::Link,
                format!("{interface} is down: frames sent now are lost"),
            ),
            LINK => (EventKind::Link, format!("{interface} takes frames again")),
            LOST_WHERE => (
                EventKind::Note,
                format!("{name}: lost on the way there: {a}, on the way back: {b} (by the far end's count)"),
            ),
            FAR_COUNTS => (
                EventKind::Note,
                format!("the initiator says: {a} frames sent, {b} came back"),
            ),
            FAR_TIMES => (
                EventKind::Note,
                format!(
                    "the initiator says: round trip mean {}, max {}",
                    duration(a),
                    duration(b)
                ),
            ),
            ARRIVED => (
                EventKind::Note,
                format!("{a} different frames of the initiator arrived here; {b} doubled or out of order"),
            ),
            _ => (
                EventKind::SocketDrop,
                format!("{name}: the socket dropped {a} frames before they were read"),
            ),
        }
    }

    /// A turnaround is the reflector's own work, and the stages between drivers and NICs are not this CPU's.
    fn question(&self, slot: u16, value_ns: i64) -> Option<QuestionKind> {
        let is_waited_for = self.role == Role::Initiator && matches!(slot, RTT | RECEIVE);
        (is_waited_for && value_ns >= FRAME_WORTH_ASKING_NS).then_some(QuestionKind::Frame)
    }
}
