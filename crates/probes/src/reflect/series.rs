//! Names and meaning of the series of `reflect`.

use super::notice::Notice;
use super::{Dialect, ReflectConfig, Role, initiator};
use crate::nic::{NicClock, Stamps};
use crate::port::Port;
use model::{EventKind, QuestionKind, SeriesClock, SeriesSpec, kind, setting};
use run::{Describe, FRAME_WORTH_ASKING_NS};
use units::Ns;

/// Slot of the initiator's series.
pub(super) const RTT: u16 = 0;
/// Slot of the part from the application to the driver.
pub(super) const SEND: u16 = 1;
/// Slot of the part from driver to driver, or from NIC to NIC.
pub(super) const WIRE: u16 = 2;
/// Slot of the part from the driver to the application.
pub(super) const RECEIVE: u16 = 3;
/// Slot of the round trip without the part between the NIC's stamps.
pub(super) const HOST: u16 = 4;
/// Number of slots.
pub(super) const SLOTS: usize = 5;
/// Slot of the reflector's series.
pub(super) const TURNAROUND: u16 = 0;

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
    pub(super) interface: String,
    pub(super) engine: String,
    pub(super) nic: Option<NicClock>,
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

    /// The path that the figure is of, if the far end may be another program.
    fn path(&self) -> Option<(String, String)> {
        let text = "this end's kernel sockets, the wire, and the turn-round of the far end; l2reflect's own figure of the same frame is of \
                    its driver, the wire, and the turn-round of this end";
        (self.config.dialect == Dialect::L2reflect).then(|| ("path".to_owned(), text.to_owned()))
    }

    fn settings(&self) -> Vec<(String, String)> {
        let config = &self.config;
        let pace = match (config.interval_ns, config.frames) {
            (0, 1) => "back to back".to_owned(),
            (0, frames) => format!("back to back, {frames} frames under way"),
            (ns, 1) => format!("one frame every {}", Ns(ns)),
            (ns, frames) => format!("{frames} frames every {}", Ns(ns)),
        };
        let tag = config.vlan.map_or_else(
            || "none".to_owned(),
            |tag| format!("{}, priority {}", tag.vid(), tag.pcp()),
        );
        let rest = match config.rest.is_on() {
            true => format!(
                "{} after each {}, below the kernel's real-time throttling",
                Ns(config.rest.length_ns),
                Ns(config.rest.every_ns)
            ),
            false => "none".to_owned(),
        };
        let pauses = config.rest.is_on().then(|| {
            let most_ns = initiator::longest_silence_ns(config.rest.length_ns);
            (setting::PAUSES_NS.to_owned(), most_ns.to_string())
        });
        let mut settings = vec![
            ("kind".into(), "immediate-reflect round trip, not halved".into()),
            ("dialect".into(), config.dialect.word().into()),
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
            ("late after".into(), Ns(config.late_after_ns).to_string()),
            (setting::REST.into(), rest),
        ];
        settings.extend(pauses);
        settings.extend(self.path());
        settings
    }
}

impl Describe for Reflect {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let (kind, what) = match (self.role, slot) {
            (Role::Initiator, RTT) if self.config.dialect == Dialect::L2reflect => {
                (&kind::RTT, "just before the send call -> the same frame received again")
            }
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
            // A step of the NIC's clock between its two stamps is reported like a step of the wall clock.
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

    /// Keeps a round trip that ends the measurement.
    fn threshold_otherwise(&self, slot: u16) -> Option<u64> {
        self.config
            .break_above_ns
            .filter(|_| self.role == Role::Initiator && slot == RTT)
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        Some(self.told(Notice::of(code)?, name, a, b))
    }

    /// A turnaround is the reflector's own work; the stages between drivers or NICs do not run on this CPU.
    fn question(&self, slot: u16, value_ns: i64) -> Option<QuestionKind> {
        let is_waited_for = self.role == Role::Initiator && matches!(slot, RTT | RECEIVE);
        (is_waited_for && value_ns >= FRAME_WORTH_ASKING_NS).then_some(QuestionKind::Frame)
    }
}
