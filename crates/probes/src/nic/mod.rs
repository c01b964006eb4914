//! Time stamps of the NIC: the ports that have them, and their relation to the clocks of this host. All probes follow the same
//! rules.
//!
//! A NIC stamps frames with its own clock. Times between two of its stamps need no other clock. To compare a stamp with an
//! instant of this host, it is converted to `CLOCK_REALTIME`: a separate thread reads both clocks ten times a second, and each
//! reading shows the error of the conversion since the reading before. The stated error is checked against these readings during
//! the whole run; if a clock is set, the affected samples are in doubt.
//!
//! A frame that the NIC did not stamp is counted, but never measured with another clock instead.

mod clock;
mod follower;
mod relation;
mod setting;

use crate::error::ProbeError;
pub(crate) use clock::{IN_KERNEL_NS, NicClock};
use follower::{Follower, Following, Looked};
use model::{EventKind, Fact};
use run::Recorder;
use serde::Deserialize;
use setting::Stamping;
use sys::ethtool::TimeStamping;
use sys::packet::PortOptions;
use sys::phc::Phc;
use units::Ns;

/// Group of the facts about stamps.
const GROUP: &str = "time stamps";

/// Makers of the stamps of sent frames and of their answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamps {
    /// None
    #[default]
    Off,
    /// The kernel, when the driver takes a frame or passes it up
    Software,
    /// The NIC, with its own clock
    Hardware,
}

/// Makers of the stamps of received frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveStamps {
    /// The kernel, when the driver passes a frame up
    #[default]
    Software,
    /// The NIC, with its own clock
    Hardware,
}

impl Stamps {
    /// Source of the stamps of the same frames on reception.
    pub fn received(self) -> ReceiveStamps {
        match self {
            Self::Off | Self::Software => ReceiveStamps::Software,
            Self::Hardware => ReceiveStamps::Hardware,
        }
    }

    /// Options of a port that sends and has such stamps.
    #[must_use]
    pub fn asked_of(self, options: PortOptions) -> PortOptions {
        PortOptions {
            tx_stamps: self != Self::Off,
            hardware_stamps: self == Self::Hardware,
            ..options
        }
    }

    /// Description of the stamped event, for the report.
    pub(crate) fn leaves(self) -> &'static str {
        match self {
            Self::Hardware => "the NIC has sent it (its own stamp)",
            Self::Off | Self::Software => "the driver has it (the kernel's stamp)",
        }
    }
}

impl ReceiveStamps {
    /// Options of a port that receives and has such stamps.
    #[must_use]
    pub fn asked_of(self, options: PortOptions) -> PortOptions {
        PortOptions {
            hardware_stamps: self == Self::Hardware,
            ..options
        }
    }

    /// Source of the stamps, as text.
    pub(crate) fn maker(self) -> &'static str {
        match self {
            Self::Software => "kernel",
            Self::Hardware => "NIC's",
        }
    }
}

/// Directions in which frames are to be stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directions {
    /// True to stamp the frames that are received.
    pub received: bool,
    /// True to stamp the frames that are sent.
    pub sent: bool,
}

/// A NIC that stamps frames, and its clock. When this is dropped, the earlier setting is restored.
#[derive(Debug)]
pub struct NicStamps {
    interface: String,
    device: String,
    looked: Option<(Phc, Looked)>,
    clock: NicClock,
    // Declared first, so that the clock is no longer read when the stamps are turned off.
    follower: Option<Follower>,
    stamping: Stamping,
}

impl NicStamps {
    /// Turns on the stamps of the NIC of `interface` before a port is opened there, in the calling thread's network namespace.
    ///
    /// # Errors
    /// The interface does not exist or has no such stamps (the text names its stamps, and other interfaces that have them);
    /// another program has restricted its stamps; the clock cannot be read; or `CAP_NET_ADMIN` is missing.
    pub fn take(interface: &str, directions: Directions) -> Result<Self, ProbeError> {
        let number = Self::check(interface, directions)?;
        let device = format!("/dev/ptp{number}");
        let phc = Phc::open(number)?;
        let stamping = Stamping::hold(interface, number, directions.received, directions.sent)?;
        let looked = follower::look(&phc).map_err(|why| {
            let text = format!("{interface}: its clock {device} cannot be used: {why}: use --stamps software");
            ProbeError::Usage(text)
        })?;
        let clock = NicClock::new(&device, looked.within_ns);
        if let Some(line) = looked.relation.line() {
            clock.set(&line);
        }
        Ok(Self {
            interface: interface.to_owned(),
            device,
            looked: Some((phc, looked)),
            clock,
            follower: None,
            stamping,
        })
    }

    /// Checks that the NIC of `interface` can stamp these frames; changes nothing. Returns the number of the NIC's clock.
    ///
    /// # Errors
    /// The interface does not exist or has no such stamps: as [`NicStamps::take`].
    pub fn check(interface: &str, directions: Directions) -> Result<u32, ProbeError> {
        let refuse = |why: String| Err(ProbeError::Usage(format!("{interface}: {why}")));
        let able = match sys::ethtool::stamping(interface)? {
            Ok(able) => able,
            Err(silence) => {
                return refuse(format!(
                    "what it can stamp is not known: {silence}: use --stamps software"
                ));
            }
        };
        if let Some(why) = unable(&able, directions) {
            return refuse(format!("{why}: use --stamps software{}", others(directions)));
        }
        match able.phc {
            Some(number) => Ok(number),
            None => refuse(format!(
                "its NIC has no clock that can be read (no /dev/ptpN): use --stamps software{}",
                others(directions)
            )),
        }
    }

    /// The NIC's clock.
    pub(crate) fn clock(&self) -> &NicClock {
        &self.clock
    }

    /// Follows the clock from now on, for a run that receives the known facts about it.
    ///
    /// # Errors
    /// The kernel cannot create another thread.
    pub(crate) fn follow(&mut self, recorder: &Recorder) -> Result<(), ProbeError> {
        let Some((phc, looked)) = self.looked.take() else {
            return Ok(());
        };
        let events = recorder.events();
        if let Some(changed) = &self.stamping.changed {
            events.write(EventKind::Note, changed.clone());
        }
        let fact = |name: &str, value: String, source: &str| Fact {
            group: GROUP.to_owned(),
            name: format!("{} {name}", self.interface),
            value: Ok(value),
            source: source.to_owned(),
        };
        let within = format!("{} (checked ten times a second)", Ns(self.clock.within_ns()));
        recorder.add_facts(vec![
            fact("stamps by", format!("the NIC, {}", self.device), "ETHTOOL_GET_TS_INFO"),
            fact("stamps placed on the system clock within", within, looked.method.word()),
        ]);
        let following = Following {
            interface: self.interface.clone(),
            phc,
            relation: looked.relation,
            clock: self.clock.clone(),
            events,
        };
        let started = Follower::start(following);
        let started = started.map_err(|error| ProbeError::Usage(format!("cannot start a thread: {error}")))?;
        self.follower = Some(started);
        Ok(())
    }
}

/// Text about `frames` without a NIC stamp, or whose stamps could not be converted.
pub(crate) fn unstamped_text(interface: &str, frames: u64) -> String {
    format!(
        "{interface}: {frames} frames have no usable time stamp of the NIC (it had no room for more, or its clock was set or not \
         read): they are counted but not measured"
    )
}

/// Reason why an interface cannot stamp these frames with its NIC's clock, as text; `None` if it can.
fn unable(able: &TimeStamping, directions: Directions) -> Option<String> {
    let can = |name: &str| able.capabilities.iter().any(|known| known == name);
    let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
    let has_clock = can("hardware-raw-clock");
    let receives = can("hardware-receive") && has_clock;
    let sends = can("hardware-transmit") && has_clock;
    if (directions.received && !receives) || (directions.sent && !sends) {
        let what = match (receives, sends) {
            (false, false) => "no frames",
            (true, _) => "received frames only",
            (false, true) => "sent frames only",
        };
        let can = able
            .capabilities
            .iter()
            .filter(|name| name.ends_with("mit") || name.ends_with("ive"));
        let can = can.map(String::as_str).collect::<Vec<_>>();
        let can = if can.is_empty() {
            "nothing".to_owned()
        } else {
            can.join(", ")
        };
        return Some(format!("it stamps {what} in hardware (it can: {can})"));
    }
    if directions.received && !has(&able.rx_filters, "all") {
        return Some(format!(
            "its NIC does not stamp every received frame (it can: {})",
            able.rx_filters.join(", ")
        ));
    }
    if directions.sent && !has(&able.tx_types, "on") {
        return Some(format!(
            "its NIC does not stamp sent frames that are not PTP's (it can: {})",
            able.tx_types.join(", ")
        ));
    }
    None
}

/// Lists the other interfaces here that can stamp these frames, as text.
fn others(directions: Directions) -> String {
    let able = |name: &str| {
        let told = sys::ethtool::stamping(name);
        told.is_ok_and(|told| told.is_ok_and(|able| unable(&able, directions).is_none() && able.phc.is_some()))
    };
    let names = sys::link::list().unwrap_or_default().into_iter().map(|link| link.name);
    let names: Vec<String> = names.filter(|name| able(name)).collect();
    match names.is_empty() {
        true => " (no interface here has them)".to_owned(),
        false => format!(", or one that has them (have: {})", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Directions, NicStamps, unable};
    use sys::ethtool::TimeStamping;

    const BOTH: Directions = Directions {
        received: true,
        sent: true,
    };

    fn nic(capabilities: &[&str], tx_types: &[&str], rx_filters: &[&str]) -> TimeStamping {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        TimeStamping {
            capabilities: own(capabilities),
            tx_types: own(tx_types),
            rx_filters: own(rx_filters),
            phc: Some(0),
        }
    }

    #[test]
    fn what_a_nic_can_is_what_it_is_asked_for() {
        let all = ["hardware-transmit", "hardware-receive", "hardware-raw-clock"];
        let igc = nic(&all, &["off", "on"], &["none", "all"]);
        assert_eq!(unable(&igc, BOTH), None);
        // Capabilities of many PHYs and small controllers, which stamp only PTP frames.
        let ptp_only = nic(&all, &["off", "on"], &["none", "ptpv2-event"]);
        let why = unable(&ptp_only, BOTH).expect("cannot");
        assert!(why.contains("none, ptpv2-event"), "{why}");
        let sent = Directions {
            received: false,
            sent: true,
        };
        assert_eq!(unable(&ptp_only, sent), None);
        assert!(unable(&nic(&all, &["off", "onestep-sync"], &["all"]), sent).is_some());
        let veth = nic(
            &["software-transmit", "software-receive", "software-system-clock"],
            &[],
            &[],
        );
        let why = unable(&veth, BOTH).expect("cannot");
        assert!(
            why.contains("no frames in hardware (it can: software-transmit, software-receive)"),
            "{why}"
        );
        assert!(unable(&nic(&all[1..], &[], &["all"]), BOTH).is_some_and(|why| why.contains("received frames only")));
    }

    #[test]
    fn an_interface_without_a_nic_is_refused_with_what_to_do() {
        let error = NicStamps::take("lo", BOTH).expect_err("no NIC").to_string();
        assert!(
            error.starts_with("lo: ") && error.contains("--stamps software"),
            "{error}"
        );
        let error = NicStamps::take("nosuch0", BOTH).expect_err("no interface").to_string();
        assert!(error.contains("have: "), "{error}");
    }
}
