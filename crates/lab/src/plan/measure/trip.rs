//! Faults from the test set to a relay on the device under test, whose trips come back.

use super::{Measure, OwnKeys, StepContext, TwoEnds};
use crate::bed::End;
use crate::plan::beds::BedOfPlan;
use crate::runner::{Ends, Underway};
use crate::session::{Session, SessionError};
use ::relay::config::{Attribute, Config, Cpus, Feed, Signal};
use probes::publish;
use probes::relay::{self, Found, RelayConfig, find};
use probes::subscribe::ClockRelation;
use probes::trip::{Ports, TripConfig, TripOptions, goose_port_options, limits};
use probes::{Need, Probe, Receive, SenderEnd};
use serde::Deserialize;
use streamset::StreamSpec;
use units::CpuList;
use wire::goose::Member;

/// Faults from the test set to a relay on the device under test, with the options of `trip` as keys.
pub(in crate::plan) type TripStep = TwoEnds<UnderTest, TripOptions>;

/// The relay.
#[derive(Debug, Deserialize)]
pub(in crate::plan) struct UnderTest {
    /// One of the program, or a file.
    relay: RelayKey,
    /// Whether each of its tasks has a thread, also where its file has one for all.
    #[serde(default)]
    apart: bool,
}

impl UnderTest {
    /// Where its tasks run, on a device of which these CPUs are judged.
    fn cpus(&self, judged: &CpuList) -> Cpus {
        Cpus::of(judged, self.apart || self.relay.0.config.cpus.are_apart())
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct RelayKey(Found);

impl TryFrom<String> for RelayKey {
    type Error = probes::ProbeError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        find(&name).map(Self)
    }
}

impl OwnKeys for UnderTest {
    const NAMES: &[&str] = &["relay", "apart"];
}

impl Measure for TripStep {
    fn words(&self) -> &'static str {
        "trip"
    }

    fn family(&self) -> &'static str {
        "trip"
    }

    fn compares_networks(&self) -> bool {
        false
    }

    /// As many as its relay has threads.
    fn takes(&self, judged: &CpuList) -> CpuList {
        self.own.cpus(judged).all()
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy)]
    }

    fn limits(&self, label: Option<&str>) -> Result<Vec<String>, String> {
        self.test(label).map(|test| limits(&test))
    }

    fn check(&self) -> Result<(), String> {
        let test = self.test(None)?;
        let relay = &self.own.relay.0.config;
        let sent: Vec<&StreamSpec> = std::iter::once(&test.stream).chain(&test.others).collect();
        let is_sent = |spec: &StreamSpec| {
            let same = |other: &&StreamSpec| (&other.sv_id, other.rate) == (&spec.sv_id, spec.rate);
            sent.iter().any(same)
        };
        let unsent = relay.streams.iter().find(|stream| !is_sent(&stream.spec));
        match unsent {
            Some(stream) => Err(format!(
                "the relay {} waits for {} with {} samples a second, which the test set does not send: it sends {} \
                 streams from {} on with {} (streams, sv_id, profile)",
                relay.name,
                stream.spec.sv_id,
                stream.spec.rate,
                sent.len(),
                test.stream.sv_id,
                test.stream.rate
            )),
            None => trip_of(relay).map(drop),
        }
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let way = place.way();
        let (relay, test) = self.ends(place).map_err(probes::ProbeError::Usage)?;
        let ports = ports(way)?;
        let device = way.bed.port(End::Device, &relay::port_options(&relay.relay))?;
        let far = relay.start(device, &mut session.recorder, &place.stop)?;
        let near = test.start(ports, &mut session.recorder, &place.stop);
        Ok(Box::new(Ends::of(near, far, &place.stop, SenderEnd::default())?))
    }
}

fn ports(way: &BedOfPlan) -> Result<Ports, SessionError> {
    Ok(Ports {
        stream: way.bed.port(End::TestSet, &publish::port_options())?.into(),
        goose: way.bed.port(End::TestSet, &goose_port_options())?.into(),
    })
}

impl TripStep {
    /// What the test set is told, beside where and how long. As many shots as there is time for, if their number is not said.
    fn test(&self, label: Option<&str>) -> Result<TripConfig, String> {
        let mut test = self.options.config().map_err(|error| error.to_string())?;
        test.shots = self.options.shots.unwrap_or(u32::MAX);
        if let Some(label) = label {
            let scenarios = test.scenarios.iter_mut();
            scenarios.for_each(|scenario| scenario.name = format!("{label}-{}", scenario.name));
            if let Some(type_test) = &mut test.type_test {
                type_test.name = format!("{label}-{}", type_test.name);
            }
        }
        Ok(test)
    }

    /// What both ends are told. The streams are called after the step, since others of the plan may have the same svIDs.
    fn ends(&self, place: &StepContext<'_>) -> Result<(RelayConfig, TripConfig), String> {
        let mut relay = self.own.relay.0.config.clone();
        if let Some(label) = &place.label {
            relay.name.clone_from(label);
        }
        relay.cpus = self.own.cpus(&place.judged);
        let (goose, trip) = trip_of(&relay)?;
        let mut test = TripConfig {
            duration_ns: Some(place.duration.0),
            receive: Receive::Block,
            policy: self.policy,
            cpu: place.test_set.first(),
            goose_cpu: place.test_set.first(),
            goose: Some(goose),
            trip,
            ..self.test(place.label.as_deref())?
        };
        let of_relay = relay.streams.iter_mut().map(|stream| &mut stream.spec);
        for spec in of_relay.chain([&mut test.stream]).chain(&mut test.others) {
            spec.sv_id = format!("{}-{}", relay.name, spec.sv_id);
        }
        let relay = RelayConfig {
            relay,
            clock: ClockRelation::SameHost,
            duration_ns: None,
            policy: self.policy,
            spin_ahead_ns: 0,
            records: None,
        };
        Ok((relay, test))
    }
}

/// The control block by which a relay says that it trips, and the member in it.
fn trip_of(relay: &Config) -> Result<(String, Member), String> {
    let is_trip = |feed: &Feed| matches!(feed, Feed::Signal(Signal::Trip(_), Attribute::General));
    let found = relay.gooses.iter().find_map(|output| {
        let (member, _) = output.feeds.iter().find(|(_, feed)| is_trip(feed))?;
        let name = String::from_utf8_lossy(&output.block.message.gocb_ref).into_owned();
        Some((name, Member::numbered(u8::try_from(*member).ok()?)))
    });
    found.ok_or_else(|| {
        format!(
            "the relay {} has no GOOSE with its trip: add a member such as {{ name = \"trip:Q0\", type = \"boolean\" }}",
            relay.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{Measure, TripStep};

    #[test]
    fn tasks_apart_take_a_cpu_each() {
        let takes = |keys: &str| {
            let text = format!("policy = \"other\"\nrelay = \"bays1\"\nscenario = [\"overcurrent\"]\n{keys}");
            let step: TripStep = toml::from_str(&text).expect("a step");
            let judged = "1-4".parse().expect("a list");
            step.takes(&judged).to_string()
        };
        assert_eq!((takes(""), takes("apart = true")), ("1".to_owned(), "1-3".to_owned()));
    }
}
