//! Compares each reading of the clock with the one before: the changes, and the trust in the clock between the two. This module
//! reads no clock and no socket.

#[cfg(test)]
mod tests;

use super::client::{DaemonState, PtpError};
use ::relay::ptp::PtpState;
use model::EventKind;
use units::{Monotonic, Ns, SignedNs};
use wire::ptp::{ClockIdentity, PortData, PortState};

/// Number of readings without trouble after which a doubtful clock is good again. One of them may have been just before the next
/// trouble, or its data from before the trouble.
const CALM_LOOKS: u32 = 2;

/// Number of Sync intervals without a Sync message after which the clock counts as free-running, and the minimum of that time.
const SILENT_SYNCS: f64 = 4.0;
const SILENT_AT_LEAST_NS: f64 = 3e9;

/// Rules for a good clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Largest good distance from the master, in ns.
    pub(super) limit_ns: u64,
    /// This clock's own identity; `None` when no `ptp4l` is watched.
    pub(super) own: Option<ClockIdentity>,
    /// True if this host is the grandmaster that the publisher follows, so that having no master is correct.
    pub(super) grandmaster: bool,
}

/// Everything read at one time.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    /// Answer of `ptp4l`, or the error; `None` if none is watched.
    pub(super) ptp: Option<Result<DaemonState, PtpError>>,
    /// Step of the wall clock since the last reading.
    pub(super) step_ns: Option<i64>,
    /// Distance of the system clock from the network card's clock in ns, or the reason why it is not known; `None` unless `ptp4l`
    /// steers that clock.
    pub(super) card: Option<Result<u64, String>>,
    /// Reason why the clock is not trusted without `ptp4l`; `None` if it is.
    pub(super) unsynchronised: Option<String>,
}

/// An event to write: its time, its kind and its text.
pub(super) type Said = (Monotonic, EventKind, String);

/// Result of one reading.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) said: Vec<Said>,
    /// Signed distance from the master, if a Sync message came since the last reading.
    pub(super) offset_ns: Option<i64>,
    /// Mean path delay, under the same condition.
    pub(super) delay_ns: Option<i64>,
    /// True if a distance was due but could not be read.
    pub(super) missing: bool,
    /// State of the host's PTP after this reading.
    pub(super) ptp: PtpState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// No reading so far.
    New,
    Good,
    Doubtful {
        why: Trouble,
        calm: u32,
    },
}

/// Kinds of trouble; each is reported when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Silent,
    Gone,
    NoMaster,
    Grandmaster,
    Servo,
    NoSync,
    Offset,
    Card,
    Step,
    Unsynchronised,
}

impl Trouble {
    /// True if nothing was said about PTP.
    fn is_silence(self) -> bool {
        matches!(self, Self::Silent | Self::Gone | Self::Unsynchronised)
    }
}

/// State kept from one reading to the next.
pub(super) struct Judge {
    rules: Rules,
    condition: Condition,
    last: Option<DaemonState>,
    /// Last time at which the daemon answered, or there was no trouble.
    last_good: Option<Monotonic>,
    /// Last time at which a new Sync message was seen.
    last_sync: Option<Monotonic>,
    was_silent: bool,
    ptp: PtpState,
}

impl Judge {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            condition: Condition::New,
            last: None,
            last_good: None,
            last_sync: None,
            was_silent: false,
            ptp: PtpState::Unknown,
        }
    }

    /// Evaluates one reading.
    pub(super) fn look(&mut self, at: Monotonic, look: &Look) -> Found {
        let mut found = Found::default();
        let mut trouble = match &look.ptp {
            None => None,
            Some(Ok(answer)) => self.answered(at, answer, &mut found),
            Some(Err(error)) => {
                self.was_silent = true;
                found.missing = true;
                let trouble = match error {
                    PtpError::Gone { .. } => Trouble::Gone,
                    _ => Trouble::Silent,
                };
                Some((trouble, format!("ptp4l does not answer: {error}")))
            }
        };
        if let (None, Some(why)) = (&trouble, &look.unsynchronised) {
            trouble = Some((Trouble::Unsynchronised, why.clone()));
        }
        if trouble.is_none() {
            trouble = self.card(look);
        }
        if let Some(step_ns) = look.step_ns {
            let text = format!("the wall clock stepped by {}", SignedNs(step_ns));
            trouble = Some((Trouble::Step, text));
        }
        let state = match &trouble {
            Some((kind, _)) if kind.is_silence() => PtpState::Unknown,
            Some((Trouble::Card, _)) if matches!(look.card, Some(Err(_))) => PtpState::Unknown,
            Some(_) => PtpState::Lost,
            None => PtpState::Synchronised,
        };
        self.conclude(at, trouble, &mut found.said);
        // A clock that calms down keeps the state of its last trouble until it is good.
        if state != PtpState::Synchronised || self.condition == Condition::Good {
            self.ptp = state;
        }
        // Another source may keep this clock, but it says nothing about PTP.
        found.ptp = look.ptp.as_ref().map_or(PtpState::Unknown, |_| self.ptp);
        found
    }

    fn answered(&mut self, at: Monotonic, answer: &DaemonState, found: &mut Found) -> Option<(Trouble, String)> {
        if self.was_silent {
            self.was_silent = false;
            found
                .said
                .push((at, EventKind::TimeSync, "ptp4l answers again".to_owned()));
        }
        let before = self.last.replace(answer.clone());
        let mut new_grandmaster = false;
        if let Some(before) = &before {
            let changes = changes(before, answer);
            new_grandmaster = before.parent.grandmaster != answer.parent.grandmaster;
            found
                .said
                .extend(changes.into_iter().map(|text| (at, EventKind::TimeSync, text)));
        }
        let following = answer
            .ports
            .iter()
            .find(|port| matches!(port.state, PortState::Slave | PortState::Uncalibrated));
        let Some(port) = following else {
            return self.without_master(answer, found);
        };
        let is_new = before.is_none_or(|before| before.status.ingress_ns != answer.status.ingress_ns);
        if is_new && answer.status.grandmaster_present {
            self.last_sync = Some(at);
            found.offset_ns = Some(answer.status.master_offset_ns);
            found.delay_ns = Some(delay_ns(port, answer));
        }
        let trouble = self.following(at, port, answer, new_grandmaster);
        found.missing = found.offset_ns.is_none() && matches!(trouble, Some((Trouble::NoSync, _)));
        trouble
    }

    /// Finds the trouble of a clock that has a master.
    fn following(
        &self,
        at: Monotonic,
        port: &PortData,
        answer: &DaemonState,
        new_grandmaster: bool,
    ) -> Option<(Trouble, String)> {
        let grandmaster = answer.parent.grandmaster;
        if new_grandmaster {
            return Some((Trouble::Grandmaster, format!("new grandmaster {grandmaster}")));
        }
        let number = port.identity.port;
        if port.state == PortState::Uncalibrated {
            let text = format!("port {number} is UNCALIBRATED: the servo has not locked to {grandmaster}");
            return Some((Trouble::Servo, text));
        }
        let silent_ns = self.last_sync.map_or(0, |last| at - last);
        let most_ns = (SILENT_SYNCS * 1e9 * 2f64.powi(i32::from(port.log_sync_interval))).max(SILENT_AT_LEAST_NS);
        if silent_ns as f64 > most_ns {
            let text = format!("no Sync message for {}: the clock is in holdover", SignedNs(silent_ns));
            return Some((Trouble::NoSync, text));
        }
        let offset_ns = answer.status.master_offset_ns;
        if offset_ns.unsigned_abs() > self.rules.limit_ns {
            let (by, limit) = (SignedNs(offset_ns), Ns(self.rules.limit_ns));
            return Some((Trouble::Offset, format!("offset from the master {by}, over {limit}")));
        }
        None
    }

    fn without_master(&self, answer: &DaemonState, found: &mut Found) -> Option<(Trouble, String)> {
        let is_master = |port: &PortData| matches!(port.state, PortState::Master | PortState::Grandmaster);
        let own = self.rules.own == Some(answer.parent.grandmaster);
        let reigns = own && answer.ports.iter().any(is_master);
        if reigns && self.rules.grandmaster {
            return None;
        }
        found.missing = true;
        let states: Vec<String> = answer
            .ports
            .iter()
            .map(|port| format!("port {} is {}", port.identity.port, port.state))
            .collect();
        let states = states.join(", ");
        let text = match reigns {
            true => format!("{states}: this clock follows no master but itself"),
            false => format!("{states}: this clock follows no master"),
        };
        Some((Trouble::NoMaster, text))
    }

    fn card(&self, look: &Look) -> Option<(Trouble, String)> {
        match look.card.as_ref()? {
            Err(why) => Some((
                Trouble::Card,
                format!("the system clock's distance from the network card's is not known: {why}"),
            )),
            Ok(ns) if *ns > self.rules.limit_ns => {
                let limit = Ns(self.rules.limit_ns);
                let text = format!("the system clock is {} from the network card's, over {limit}", Ns(*ns));
                Some((Trouble::Card, text))
            }
            Ok(_) => None,
        }
    }

    /// Updates the condition. A new trouble began after the last good reading, so its event has that time.
    fn conclude(&mut self, at: Monotonic, trouble: Option<(Trouble, String)>, said: &mut Vec<Said>) {
        let Some((kind, text)) = trouble else {
            self.last_good = Some(at);
            let good = match &mut self.condition {
                Condition::Good => return,
                Condition::New => true,
                Condition::Doubtful { calm, .. } => {
                    *calm += 1;
                    *calm >= CALM_LOOKS
                }
            };
            if good {
                self.condition = Condition::Good;
                said.push((at, EventKind::ClockGood, self.good_text()));
            }
            return;
        };
        let since = match &self.condition {
            Condition::Doubtful { why, .. } if *why == kind => None,
            Condition::Doubtful { .. } | Condition::New => Some(at),
            Condition::Good if kind == Trouble::NoSync => Some(self.last_sync.or(self.last_good).unwrap_or(at)),
            Condition::Good => Some(self.last_good.unwrap_or(at)),
        };
        self.condition = Condition::Doubtful { why: kind, calm: 0 };
        if let Some(since) = since {
            said.push((since, EventKind::ClockDoubt, text));
        }
    }

    fn good_text(&self) -> String {
        let Some(answer) = &self.last else {
            return "the system clock is synchronised".to_owned();
        };
        let grandmaster = answer.parent.grandmaster;
        match answer.status.grandmaster_present {
            true => format!(
                "this clock follows {grandmaster}, offset {}",
                SignedNs(answer.status.master_offset_ns)
            ),
            false => "this clock is the grandmaster".to_owned(),
        }
    }
}

/// Path delay in ns: peer-to-peer to the neighbour, end-to-end to the master.
fn delay_ns(port: &PortData, answer: &DaemonState) -> i64 {
    match port.peer_to_peer() {
        true => port.peer_delay_ns,
        false => answer.current.mean_path_delay_ns,
    }
}

/// Differences between two readings, as text.
fn changes(before: &DaemonState, now: &DaemonState) -> Vec<String> {
    let mut changes = Vec::new();
    for port in &now.ports {
        let was = before.ports.iter().find(|was| was.identity == port.identity);
        if let Some(was) = was.filter(|was| was.state != port.state) {
            changes.push(format!("port {}: {} to {}", port.identity.port, was.state, port.state));
        }
    }
    if before.parent.grandmaster != now.parent.grandmaster {
        let (from, to) = (before.parent.grandmaster, now.parent.grandmaster);
        changes.push(format!("grandmaster changed from {from} to {to}"));
    } else if before.parent.grandmaster_quality.class != now.parent.grandmaster_quality.class {
        let (from, to) = (
            before.parent.grandmaster_quality.class,
            now.parent.grandmaster_quality.class,
        );
        let note = match to {
            7 | 52 | 58 | 187 => " (holdover)",
            _ => "",
        };
        changes.push(format!(
            "the grandmaster's clockClass changed from {from} to {to}{note}"
        ));
    }
    if let (Some(was), Some(is)) = (before.properties, now.properties) {
        if was.utc_offset_s != is.utc_offset_s {
            let (from, to) = (was.utc_offset_s, is.utc_offset_s);
            changes.push(format!("the announced TAI offset changed from {from} s to {to} s"));
        }
        for (was, is, seconds) in [
            (was.flags.leap_61, is.flags.leap_61, 61),
            (was.flags.leap_59, is.flags.leap_59, 59),
        ] {
            if is && !was {
                changes.push(format!(
                    "leap second announced: the last minute of the day has {seconds} seconds"
                ));
            }
        }
        if was.flags.time_traceable && !is.flags.time_traceable {
            changes.push("the grandmaster's time is no longer traceable".to_owned());
        }
    }
    changes
}
