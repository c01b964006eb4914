//! Controls. A negative control is a shot after which no relay may trip. The positive control is a fault for which the relay has
//! to trip: without it, the relay's silence in other shots proves nothing.

use super::UnderTest;
use super::conductor::{Conductor, EarlyEnd, Over};
use super::notice::Notice;
use super::peer::{Course, PeerConfig};
use super::script::Manner;
use super::stage::Planned;
use super::watch::{Act, UNSURE};
use model::EventKind;
use serde::Deserialize;
use std::fmt;
use units::{Monotonic, SignedNs};
use waveform::scenario::Scenario;
use waveform::type_test::PointOnWave;

/// A shot at which the relay must not trip. If it does, its trips are not caused by the published samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// No fault for the time of a shot
    NoFault,
    /// The fault comes with another svID; the stream with the relay's svID has the steady state
    OtherSvId,
    /// The fault comes with smpSynch 0. Only for relays that must not use such samples; a relay may use them from a single stream
    Unsynchronised,
}

impl Control {
    /// Manner of sending the fault; `None` if there is no fault.
    fn manner(self) -> Option<Manner> {
        match self {
            Self::NoFault => None,
            Self::OtherSvId => Some(Manner::OtherSvId),
            Self::Unsynchronised => Some(Manner::Unsynchronised),
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFault => "no-fault",
            Self::OtherSvId => "other-sv-id",
            Self::Unsynchronised => "unsynchronised",
        })
    }
}

/// A negative control that did not hold.
enum Broken {
    /// The relay acted, or could not be seen to act.
    Failed(String),
    /// The relay was quiet, and that proves nothing.
    NotMade(&'static str),
}

/// Samples that the test set itself missed, as a text.
fn own(notice: Notice) -> &'static str {
    match notice {
        Notice::NoLink => "the test set had no link",
        Notice::NotHeard => "the test set may have missed a trip",
        _ => "the test set did not send all of its samples in time",
    }
}

/// Number of attempts at a control that could not be made.
const TRIES: u32 = 5;

/// Random span in ns for the fault of the positive control and of the first shots. A device that only knows the usual times of
/// shots, and reads no sample, seldom trips at the right instant.
pub(super) const SPREAD_NS: u64 = 1_000_000_000;

impl Conductor {
    /// Runs the negative controls, one shot each.
    pub(super) fn controls(&mut self) -> Result<(), EarlyEnd> {
        let scenario = self.config.faulted();
        for control in self.config.controls.clone() {
            self.control(control, &scenario)?;
        }
        Ok(())
    }

    /// Makes a control until each relay has been seen; a relay for which it could not be made is left open, and fails it in the end.
    fn control(&mut self, control: Control, scenario: &Scenario) -> Result<(), EarlyEnd> {
        let relays = self.config.relays.clone();
        let mut open: Vec<usize> = (0..relays.len()).collect();
        for attempt in 1..=TRIES {
            let all = self.control_shot(scenario, control.manner(), false)?;
            open.retain(|relay| {
                let (Some(over), Some(under_test)) = (all.get(*relay), relays.get(*relay)) else {
                    return false;
                };
                let stayed = self.stayed(over);
                let is_open = attempt < TRIES && matches!(stayed, Err(Broken::NotMade(_)));
                if !is_open {
                    self.tell_control(control, stayed, over, under_test);
                }
                is_open
            });
            if open.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn control_shot(
        &mut self,
        scenario: &Scenario,
        manner: Option<Manner>,
        breaks: bool,
    ) -> Result<Vec<Over>, EarlyEnd> {
        let point = PointOnWave::anywhere(scenario.wave.voltage_deg());
        let planned = self.stage.plan(scenario, point)?;
        self.permit(&planned);
        self.watch(planned, manner, breaks)
    }

    /// Gives the permission of the peer all through a shot, if the relay needs one: without it, the relay would stay quiet whatever it does with the
    /// samples. A peer that blocks or orders trips stays at rest.
    pub(super) fn permit(&mut self, planned: &Planned) {
        if self.config.peer.as_ref().is_some_and(PeerConfig::permits) {
            self.stage.order(planned, Course::PERMITTED);
        }
    }

    /// Checks that a relay did nothing in a negative control, as required. Silence counts only if the relay would have been heard, and if all samples of the
    /// control were sent.
    fn stayed(&mut self, over: &Over) -> Result<(), Broken> {
        let failed = |why: &str| Err(Broken::Failed(why.to_owned()));
        match over.watch.act() {
            Act::Quiet => match (self.our_own(over, over.samples), over.unsure) {
                (Some(notice), _) => Err(Broken::NotMade(own(notice))),
                (None, Some(which)) => Err(Broken::NotMade(UNSURE.get(which).copied().unwrap_or_default())),
                (None, None) => Ok(()),
            },
            Act::WasSet => failed("the trip bit was set already"),
            Act::Unknown => failed("no GOOSE message of the relay had come before"),
            Act::Early(trip) | Act::Tripped(trip) | Act::Late(trip) => Err(Broken::Failed(format!(
                "the relay tripped, {} from the instant at which the fault would begin",
                SignedNs(trip - over.watch.span.fault)
            ))),
        }
    }

    fn tell_control(&self, control: Control, stayed: Result<(), Broken>, over: &Over, relay: &UnderTest) {
        let (kind, text) = match stayed {
            Ok(()) => (EventKind::Note, format!("control {control}: no trip, as required")),
            Err(Broken::Failed(why)) => (EventKind::ControlFailed, format!("control {control} failed: {why}")),
            Err(Broken::NotMade(why)) => (
                EventKind::ControlFailed,
                format!("control {control} could not be made in {TRIES} tries: {why}"),
            ),
        };
        self.events
            .write_at(over.watch.span.fault, kind, relay.prefix() + &text);
    }

    /// Runs the positive control, if the run has shots in which the relays must not trip.
    pub(super) fn positive_control(&mut self) -> Result<(), EarlyEnd> {
        if !self.config.groups().iter().any(|group| group.stays) {
            return Ok(());
        }
        let scenario = self.config.faulted();
        for _ in 0..TRIES {
            self.stage.linger(SPREAD_NS);
            let all = self.control_shot(&scenario, Some(Manner::Plain), true)?;
            let acts: Vec<Result<Act, Notice>> = all.iter().map(|over| self.seen(over)).collect();
            if acts
                .iter()
                .all(|act| !matches!(act, Err(notice) if notice.is_our_own()))
            {
                for (relay, act) in acts.into_iter().enumerate() {
                    self.shown(relay, act, all[relay].watch.span.fault);
                }
                return Ok(());
            }
        }
        let text =
            format!("control fault: not made, since the test set did not send or receive all of it in {TRIES} tries");
        self.events.write(EventKind::Note, text);
        Ok(())
    }

    /// Records whether relay number `relay` tripped in the positive control.
    fn shown(&mut self, relay: usize, act: Result<Act, Notice>, fault: Monotonic) {
        let what = match act {
            Ok(Act::Tripped(at)) => format!("trip after {}, as required", SignedNs(at - fault)),
            Ok(Act::Early(_)) => "trip before the fault".to_owned(),
            Ok(Act::Late(_)) => "no trip while the fault lasted, but later".to_owned(),
            Err(Notice::WasSet) => "the trip bit was set already".to_owned(),
            _ => "no trip".to_owned(),
        };
        let text = format!("control fault: {what}");
        let prefix = self.config.relays[relay].prefix();
        self.events.write_at(fault, EventKind::Note, prefix + &text);
        self.proven(relay, matches!(act, Ok(Act::Tripped(_))), fault);
    }

    /// Relay number `relay` had to trip: decides whether its silence before proves anything.
    pub(super) fn proven(&mut self, relay: usize, tripped: bool, at: Monotonic) {
        for slot in self.proofs[relay].had_to_trip(tripped) {
            self.feed.notice(slot, Notice::Unproven, at, self.shots, 0);
        }
    }
}
