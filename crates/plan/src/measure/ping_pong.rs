//! GOOSE there and back between two devices side by side.

use super::{Measure, OwnKeys, StepContext, TwoEnds};
use crate::value::Duration;
use probes::ping_pong::{
    Case, PingPongConfig, PingPorts, PongConfig, PongPorts, limits, ping_port_options, usual_ping,
};
use probes::publish::port_options;
use probes::trip::goose_port_options;
use probes::{Need, Probe, ProbeError, Receive, Running, SenderEnd};
use serde::Deserialize;
use session::runner::{Ends, Side, Underway};
use session::{Session, SessionError};
use sys::packet::PortOptions;
use units::CpuList;
use wire::goose::Member;

/// Number of the device that answers.
const ANSWERS: usize = 0;

/// Number of the device that pings.
const PINGS: usize = 1;

/// Label of the series, unless the step has one.
const LABEL: &str = "devices";

/// Time that the answering end continues after the other one, in ns: that one may begin a second later, and waits for its first answer.
const LONGER_NS: u64 = 3_000_000_000;

/// A ping from the second device to the first, which repeats it at once.
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
}

impl Default for PingPongKeys {
    fn default() -> Self {
        Self {
            pause: Duration(20_000_000),
            deadline: Duration(500_000_000),
            seed: 0,
        }
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

    fn devices(&self) -> usize {
        2
    }

    fn spins(&self) -> bool {
        self.own.receive == Some(Receive::Spin)
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.iter().take(2).collect()
    }

    /// The answers, the own part of the pings, and that of the answers.
    fn series(&self, _: &CpuList, _: u64) -> u64 {
        3
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
            Some((name, _)) => Err(format!("{name}: must be more than 0")),
            None => Ok(()),
        }
    }

    /// The end of a device in its place.
    fn device(&self, place: &StepContext<'_>, _: &SenderEnd, session: &mut Session) -> Result<Running, SessionError> {
        let cpu = place.judged.first();
        match place.there.map_or(ANSWERS, |there| there.device) {
            ANSWERS => self.answer(place, cpu, session),
            _ => self.ping(place, cpu, session),
        }
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let sender = SenderEnd::default();
        let far = place.start_device(self, &sender, session)?;
        if !place.places.is_empty() {
            return Ok(Box::new(far));
        }
        let near = self.ping(place, self.takes(&place.judged).iter().last(), session);
        Ok(Box::new(Ends::of(
            near.map(Side::Here),
            far,
            &place.stop,
            sender,
            session,
        )?))
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
            duration_ns: Some(place.duration.0 + LONGER_NS),
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

    fn ping(&self, place: &StepContext<'_>, cpu: Option<u32>, session: &mut Session) -> Result<Running, SessionError> {
        let config = self.pinger(place.label.clone(), cpu, place.duration.0)?;
        let port = |options: &PortOptions| place.device_port(PINGS, options);
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

    /// Settings of the end that pings, for `duration_ns`.
    fn pinger(&self, label: Option<String>, cpu: Option<u32>, duration_ns: u64) -> Result<PingPongConfig, ProbeError> {
        let block = usual_ping()?;
        let answer = PongConfig::usual(&block)?.block;
        Ok(PingPongConfig {
            device: String::from_utf8_lossy(&answer.message.gocb_ref).into_owned(),
            block,
            ping_member: 0,
            member: Member::numbered(0),
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
            label: Some(label.unwrap_or_else(|| LABEL.to_owned())),
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
