//! GOOSE there and back: between two devices side by side, or with a relay that is not of this program.

use super::{Given, Measure, OwnKeys, StepContext, TwoEnds};
use crate::value::Duration;
use probes::ping_pong::{
    Case, PingPongConfig, PingPorts, PongConfig, PongPorts, limits, ping_of, ping_port_options, usual_ping,
};
use probes::publish::port_options;
use probes::trip::{MemberName, TripOptions, goose_port_options};
use probes::{Need, Probe, ProbeError, Receive, Running, SenderEnd};
use serde::Deserialize;
use session::runner::{Ends, Side, Underway};
use session::{Session, SessionError};
use std::path::PathBuf;
use streamset::goose::ControlBlock;
use sys::packet::PortOptions;
use units::CpuList;
use wire::goose::Member;

/// Number of the device that answers.
const ANSWERS: usize = 0;

/// Number of the device that pings.
const PINGS: usize = 1;

/// Label of the series, unless the step has one: between two devices, and with a relay that is not of this program.
const LABELS: [&str; 2] = ["devices", "relay"];

/// Names of the files of a step in a place, by their keys.
const FILES: [(&str, &str); 2] = [("ping", "ping.toml"), ("scl", "relay.scd")];

/// A ping from the second device to the first, which repeats it at once; or from the only device to a relay that is not of this program.
pub(crate) type PingPongStep = TwoEnds<Waiting, PingPongKeys>;

/// Method of waiting.
#[derive(Debug, Deserialize)]
pub(crate) struct Waiting {
    /// Both ends wait in this way; by default they sleep, as an application does.
    #[serde(default)]
    receive: Option<Receive>,
}

impl OwnKeys for Waiting {
    const NAMES: &[&str] = &["receive"];
}

/// Keys with the meaning of the options of `trip --ping-pong`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PingPongKeys {
    /// Shortest pause between an answer and the next ping; the longest is twice this.
    pause: Duration,
    /// Time after which a ping is lost.
    deadline: Duration,
    /// Seed of the pauses.
    seed: u64,
    /// Control block of the relay that answers; `None`: the first device answers.
    goose: Option<String>,
    /// Its member that follows the ping.
    trip_member: Option<MemberName>,
    /// SCL file with names of members.
    scl: Option<String>,
    /// GOOSE file with the ping that the relay subscribes to.
    ping: Option<PathBuf>,
    /// Number of its boolean that changes.
    ping_member: Option<usize>,
}

impl Default for PingPongKeys {
    fn default() -> Self {
        Self {
            pause: Duration(20_000_000),
            deadline: Duration(500_000_000),
            seed: 0,
            goose: None,
            trip_member: None,
            scl: None,
            ping: None,
            ping_member: None,
        }
    }
}

impl PingPongKeys {
    /// A key that is about the relay that is not of this program, if one is given.
    fn about_relay(&self) -> Option<&'static str> {
        let keys = [
            ("trip_member", self.trip_member.is_some()),
            ("scl", self.scl.is_some()),
            ("ping", self.ping.is_some()),
            ("ping_member", self.ping_member.is_some()),
        ];
        keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

impl Measure for PingPongStep {
    fn words(&self) -> &'static str {
        "ping-pong"
    }

    fn family(&self) -> &'static str {
        "pong"
    }

    fn has_test_set(&self) -> bool {
        false
    }

    fn compares_networks(&self) -> bool {
        false
    }

    fn in_two_lans(&self) -> Result<(), (&'static str, String)> {
        Err((
            "probe",
            "this machine's part of an answer is timed by stamps of sent frames, which two LANs do not have: give it a plan of its own, \
             without bed.lans"
                .to_owned(),
        ))
    }

    fn relay(&self) -> Option<&str> {
        self.options.goose.as_deref()
    }

    fn devices(&self) -> usize {
        match self.relay() {
            Some(_) => 1,
            None => 2,
        }
    }

    fn spins(&self) -> bool {
        self.own.receive == Some(Receive::Spin)
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.iter().take(self.devices()).collect()
    }

    /// Each guest has one of the two ends.
    fn takes_in_guest(&self, judged: &CpuList) -> CpuList {
        judged.iter().take(1).collect()
    }

    /// The answers, the own part of the pings, and that of the answers of this program.
    fn series(&self, _: &CpuList, _: u64) -> u64 {
        1 + self.devices() as u64
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy)]
    }

    fn limits(&self, _: Option<&str>) -> Result<Vec<String>, String> {
        let config = self.pinger(None, None, 0).map_err(|error| error.to_string())?;
        Ok(limits(&config))
    }

    fn check(&self) -> Result<(), String> {
        let keys = [("pause", self.options.pause), ("deadline", self.options.deadline)];
        match keys.iter().find(|(_, duration)| duration.0 == 0) {
            Some((name, _)) => return Err(format!("{name}: must be more than 0")),
            None => self.is_about_a_relay()?,
        }
        let config = self.pinger(None, None, 0);
        config
            .and_then(|config| config.check())
            .map_err(|error| error.to_string())
    }

    /// The files about the relay are sent with the task.
    fn for_place(&self, _: &StepContext<'_>, given: &mut Given) -> Result<(), SessionError> {
        for (key, there) in FILES {
            let Some(name) = given.keys.get_mut(key) else { continue };
            let path = name.as_str().unwrap_or_default();
            let text = std::fs::read_to_string(path)
                .map_err(|error| SessionError::Wrong(format!("{key}: {path}: {error}")))?;
            given.files.push((there.to_owned(), text));
            *name = there.into();
        }
        Ok(())
    }

    /// The end of a device in its place.
    fn device(&self, place: &StepContext<'_>, _: &SenderEnd, session: &mut Session) -> Result<Running, SessionError> {
        let cpu = place.judged.first();
        match place.there.map_or(ANSWERS, |there| there.device) {
            _ if self.relay().is_some() => self.ping(place, 0, cpu, session),
            ANSWERS => self.answer(place, cpu, session),
            _ => self.ping(place, PINGS, cpu, session),
        }
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let sender = SenderEnd::default();
        let devices = place.start_device(self, &sender, session)?;
        if self.relay().is_some() {
            return Ok(Box::new(devices));
        }
        let (near, far) = match devices {
            Side::Away(mut ends) => (Ok(Side::Away(ends.split_off(PINGS))), Side::Away(ends)),
            answering @ Side::Here(_) => {
                let cpu = self.takes(&place.judged).iter().last();
                (self.ping(place, PINGS, cpu, session).map(Side::Here), answering)
            }
        };
        Ok(Box::new(Ends::of(near, far, &place.stop, sender, session)?))
    }
}

impl PingPongStep {
    fn answer(
        &self,
        place: &StepContext<'_>,
        cpu: Option<u32>,
        session: &mut Session,
    ) -> Result<Running, SessionError> {
        let config = PongConfig {
            // Until the other end has ended, however late that one begins.
            duration_ns: None,
            receive: self.receive(),
            policy: self.policy,
            cpu,
            ..PongConfig::usual(&usual_ping()?)?
        };
        let port = |options: &PortOptions| place.device_port(ANSWERS, options);
        let ports = PongPorts {
            pong: port(&PongPorts::sending())?.into(),
            goose: port(&goose_port_options())?.into(),
        };
        Ok(config.start(ports, &mut session.recorder, &place.stop)?)
    }

    /// Pings from device number `device` of the bed.
    fn ping(
        &self,
        place: &StepContext<'_>,
        device: usize,
        cpu: Option<u32>,
        session: &mut Session,
    ) -> Result<Running, SessionError> {
        let config = self.pinger(place.label.clone(), cpu, place.duration.0)?;
        let port = |options: &PortOptions| place.device_port(device, options);
        let ports = PingPorts {
            ping: port(&ping_port_options())?.into(),
            goose: port(&goose_port_options())?.into(),
            load: port(&port_options())?.into(),
        };
        Ok(config.start(ports, &mut session.recorder, &place.stop)?)
    }

    fn receive(&self) -> Receive {
        self.own.receive.unwrap_or(Receive::Block)
    }

    /// Refuses keys about a relay that no key names.
    fn is_about_a_relay(&self) -> Result<(), String> {
        match self.options.about_relay().filter(|_| self.relay().is_none()) {
            Some(key) => Err(format!(
                "{key}: it is about a relay that is not of this program: name its control block (goose = \"...\")"
            )),
            None => Ok(()),
        }
    }

    /// Reference and member of the answer to this ping.
    fn awaited(&self, ping: &ControlBlock) -> Result<(String, Member), ProbeError> {
        let Some(relay) = self.relay() else {
            let answer = PongConfig::usual(ping)?.block.message.gocb_ref;
            return Ok((String::from_utf8_lossy(&answer).into_owned(), Member::numbered(0)));
        };
        let named = TripOptions {
            goose: Some(relay.to_owned()),
            scl: self.options.scl.clone(),
            ..TripOptions::default()
        };
        let named = match &self.options.trip_member {
            Some(trip_member) => TripOptions {
                trip_member: trip_member.clone(),
                ..named
            },
            None => named,
        };
        Ok((relay.to_owned(), named.member()?))
    }

    /// Settings of the end that pings, for `duration_ns`.
    fn pinger(&self, label: Option<String>, cpu: Option<u32>, duration_ns: u64) -> Result<PingPongConfig, ProbeError> {
        let block = ping_of(self.options.ping.as_deref())?;
        let (device, member) = self.awaited(&block)?;
        let usual = LABELS[usize::from(self.relay().is_some())];
        Ok(PingPongConfig {
            device,
            block,
            ping_member: self.options.ping_member.unwrap_or(0),
            member,
            cases: vec![Case::None],
            pings: u32::MAX,
            deadline_ns: self.options.deadline.0,
            pause_ns: self.options.pause.0,
            seed: self.options.seed,
            goose_rate: 1,
            streams: Vec::new(),
            class: None,
            application_ns: 0,
            frequency_hz: 50,
            duration_ns: Some(duration_ns),
            receive: self.receive(),
            policy: self.policy,
            cpu,
            load_cpu: None,
            label: Some(label.unwrap_or_else(|| usual.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Measure, PingPongStep};

    #[test]
    fn a_ping_pong_has_two_devices_and_judges_every_ping() {
        let step: PingPongStep = toml::from_str("policy = \"fifo:60\"\npause = \"5ms\"").expect("a step");
        assert_eq!(
            (step.devices(), step.takes(&"1-7".parse().expect("a list")).to_string()),
            (2, "1-2".to_owned())
        );
        let limits = step.limits(None).expect("limits").concat();
        assert!(
            limits.contains("pong.lost") && limits.contains("pong.unwanted"),
            "{limits}"
        );
        let none: PingPongStep = toml::from_str("policy = \"other\"\npause = \"0s\"").expect("a step");
        assert!(none.check().is_err());
        assert!(toml::from_str::<PingPongStep>("policy = \"other\"\ncases = [\"sv\"]").is_err());
    }
}
