//! Faults from the test set to one relay or several on the device side, whose trips come back.

use super::relays::{Relays, RelaysKey};
use super::{Given, Measure, OwnKeys, StepContext, TwoEnds};
use ::relay::Config;
use ::relay::config::Cpus;
use bed::End;
use model::EventKind;
use probes::options::some_text;
use probes::publish;
use probes::relay::{Found, RelayConfig, port_options, start_together};
use probes::subscribe::JudgedLans;
use probes::trip::{OVERRUNS, Ports, TripConfig, TripOptions, goose_port_options, limits};
use probes::{LanFault, Need, Numbers, Probe, ProbeError, Receive, Running, SenderEnd};
use serde::Deserialize;
use session::runner::{Ends, Underway};
use session::{Session, SessionError};
use streamset::StreamSpec;
use units::CpuList;

/// Faults from the test set to relays on the device side, with the options of `trip` as keys.
pub(crate) type TripStep = TwoEnds<UnderTest, TripOptions>;

/// The relays.
#[derive(Debug, Deserialize)]
pub(crate) struct UnderTest {
    /// A built-in relay or a file; or several, side by side.
    relay: RelaysKey,
    /// True if each of their tasks has its own thread, even if the relay's file has one thread for all.
    #[serde(default)]
    apart: bool,
    /// Fault of the LANs in each disturbance.
    #[serde(default, deserialize_with = "some_text")]
    lan_fault: Option<LanFault>,
}

impl UnderTest {
    /// CPUs of each relay's tasks, on devices where these CPUs are judged: separate CPUs as long as there are enough.
    fn cpus(&self, judged: &CpuList) -> Vec<Cpus> {
        let judged: Vec<u32> = judged.iter().collect();
        let mut next = judged.into_iter().cycle();
        let of_relay = |found: &Found| Cpus::next_of(&mut next, self.apart || found.config.cpus.are_apart());
        self.relay.0.iter().map(of_relay).collect()
    }
}

impl OwnKeys for UnderTest {
    const NAMES: &[&str] = &["relay", "apart", "lan_fault"];
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

    fn devices(&self) -> usize {
        self.own.relay.0.len()
    }

    /// As many CPUs as its relays have threads.
    fn takes(&self, judged: &CpuList) -> CpuList {
        let taken = self.own.cpus(judged).into_iter().map(Cpus::all);
        taken.flat_map(|cpus| cpus.iter().collect::<Vec<_>>()).collect()
    }

    /// Of each relay: spacing, arrival and use of each stream, delivery, its task, and the stages of that. In three threads also the age of
    /// each stream, a task more for each further thread, and how long the output takes to wake.
    fn series(&self, judged: &CpuList, _: u64) -> u64 {
        let streams = u64::from(self.options.streams);
        let of_relay = |cpus: Cpus| match cpus.are_apart() {
            true => 4 * streams + 10,
            false => 3 * streams + 7,
        };
        self.own.cpus(judged).into_iter().map(of_relay).sum()
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy)]
    }

    fn limits(&self, label: Option<&str>) -> Result<Vec<String>, String> {
        let relays = self.own.relay.side_by_side(label)?;
        let mut all = self.test(&relays).map(|test| limits(&test))?;
        all.push(OVERRUNS.to_owned());
        Ok(all)
    }

    fn check(&self) -> Result<(), String> {
        let relays = self.own.relay.side_by_side(None)?;
        let test = self.test(&relays)?;
        relays.all.iter().try_for_each(|relay| is_sent_to(relay, &test))
    }

    fn in_two_lans(&self) -> Result<(), (&'static str, String)> {
        let is_apart = |found: &Found| self.own.apart || found.config.cpus.are_apart();
        match self.own.relay.0.iter().any(is_apart) {
            true => Err((
                if self.own.apart { "apart" } else { "relay" },
                "a doubly attached relay has all its tasks in one thread: name one CPU, and leave `apart` out"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Both LANs of each relay, unless the step cuts one of them itself. A delayed LAN loses nothing.
    fn judged_lans(&self, label: Option<&str>) -> Result<Vec<JudgedLans>, String> {
        if matches!(self.own.lan_fault, Some(LanFault::Cut(_) | LanFault::Flap(_))) {
            return Ok(Vec::new());
        }
        let relays = self.own.relay.side_by_side(label)?;
        let judged = |relay: &Config| JudgedLans {
            name: relay.name.clone(),
            series: format!("lan/{0}-A|lan/{0}-B", relay.name),
        };
        Ok(relays.all.iter().map(judged).collect())
    }

    fn needs_two_lans(&self) -> bool {
        self.own.lan_fault.is_some()
    }

    /// The files of relays are sent with the task.
    fn for_place(&self, _: &StepContext<'_>, given: &mut Given) -> Result<(), SessionError> {
        let names = match given.keys.get_mut("relay") {
            Some(toml::Value::Array(names)) => names.iter_mut().collect(),
            Some(name) => vec![name],
            None => Vec::new(),
        };
        for (number, name) in names.into_iter().enumerate() {
            let path = name.as_str().unwrap_or_default();
            // Built-in relays have no file.
            if let Ok(text) = std::fs::read_to_string(path) {
                let there = format!("relay{number}.toml");
                given.files.push((there.clone(), text));
                *name = there.into();
            }
        }
        Ok(())
    }

    /// All relays of this process; in a place only the relay of that place.
    fn device(&self, place: &StepContext<'_>, _: &SenderEnd, session: &mut Session) -> Result<Running, SessionError> {
        let (relays, _) = self.ends(place)?;
        for text in relays.iter().flat_map(shared_cpus) {
            session.recorder.events().write(EventKind::Note, text);
        }
        let device = |(number, relay): (usize, RelayConfig)| {
            let at = (End::Device, number);
            let port = place.node_port(at, &port_options(&relay.relay), &Numbers::default())?;
            Ok::<_, SessionError>((relay, port))
        };
        let is_here = |number: usize| place.there.is_none_or(|there| there.device == number);
        let relays = relays.into_iter().enumerate().filter(|(number, _)| is_here(*number));
        let at_devices = relays.map(device).collect::<Result<_, _>>()?;
        Ok(start_together(at_devices, &mut session.recorder, &place.stop)?)
    }

    fn test_set(&self, place: &StepContext<'_>, session: &mut Session) -> Result<Running, SessionError> {
        let (_, test) = self.ends(place)?;
        let numbers = Numbers::default();
        let at = (End::TestSet, 0);
        let ports = Ports {
            stream: place.node_port(at, &publish::port_options(), &numbers)?,
            goose: place.node_port(at, &goose_port_options(), &numbers)?,
        };
        Ok(test.start(ports, &mut session.recorder, &place.stop)?)
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let sender = SenderEnd::default();
        let far = place.start_device(self, &sender, session)?;
        let near = place.start_test_set(self, session);
        Ok(Box::new(Ends::of(near, far, &place.stop, sender, session)?))
    }
}

/// Checks that the test set sends the streams that a relay subscribes to.
fn is_sent_to(relay: &Config, test: &TripConfig) -> Result<(), String> {
    let sent: Vec<&StreamSpec> = std::iter::once(&test.stream).chain(&test.others).collect();
    let is_sent = |spec: &StreamSpec| {
        let same = |other: &&StreamSpec| (&other.sv_id, other.rate) == (&spec.sv_id, spec.rate);
        sent.iter().any(same)
    };
    match relay.streams.iter().find(|stream| !is_sent(&stream.spec)) {
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
        None => Ok(()),
    }
}

/// For each CPU that a relay's tasks share: a sentence that says so.
fn shared_cpus(relay: &RelayConfig) -> Vec<String> {
    let shared = |cpu: u32| {
        let others = relay.sharing(cpu);
        (!others.is_empty()).then(|| {
            let (name, others) = (&relay.relay.name, others.join(", "));
            format!("{name} shares cpu {cpu} with {others}: the task of one waits for that of the other")
        })
    };
    relay.relay.cpus.all().iter().filter_map(shared).collect()
}

impl TripStep {
    /// Settings of the test set without interface and duration. If the number of shots is not set, as many as there is time for.
    fn test(&self, relays: &Relays) -> Result<TripConfig, String> {
        let test = self.options.config().map_err(|error| error.to_string())?;
        Ok(TripConfig {
            shots: self.options.shots.unwrap_or(u32::MAX),
            relays: relays.under_test(&test.relays[0])?,
            lan_fault: self.own.lan_fault,
            ..test
        })
    }

    /// Settings of both ends. The streams are named after the step, because other steps of the plan may use the same svIDs.
    fn ends(&self, place: &StepContext<'_>) -> Result<(Vec<RelayConfig>, TripConfig), SessionError> {
        let wrong = |text| SessionError::from(ProbeError::Usage(text));
        let relays = self.own.relay.side_by_side(place.label.as_deref()).map_err(wrong)?;
        let mut test = TripConfig {
            duration_ns: Some(place.duration.0),
            receive: Receive::Block,
            policy: self.policy,
            cpu: place.test_set.first(),
            goose_cpu: place.test_set.first(),
            ..self.test(&relays).map_err(wrong)?
        };
        let sent = std::iter::once(&mut test.stream).chain(&mut test.others);
        sent.for_each(|spec| spec.sv_id = relays.on_the_wire(&spec.sv_id));
        let mut configs = relays.configs(self.policy, &self.own.cpus(&place.judged));
        let clock = place.clock()?;
        configs.iter_mut().for_each(|config| config.clock = clock);
        Ok((configs, test))
    }
}

#[cfg(test)]
mod tests {
    use super::{Measure, TripStep};

    #[test]
    fn relays_and_tasks_apart_take_a_cpu_each() {
        let takes = |relays: &str, keys: &str| {
            let text = format!("policy = \"other\"\nrelay = {relays}\nscenario = [\"overcurrent\"]\n{keys}");
            let step: TripStep = toml::from_str(&text).expect("a step");
            let judged = "1-7".parse().expect("a list");
            step.takes(&judged).to_string()
        };
        let (one, two) = ("\"bays1\"", "[\"bays1\", \"bays1\"]");
        assert_eq!([takes(one, ""), takes(one, "apart = true")], ["1", "1-3"]);
        assert_eq!([takes(two, ""), takes(two, "apart = true")], ["1-2", "1-6"]);
    }

    /// The limits of ABB are on the age at the application, which a relay in one thread does not have.
    #[test]
    fn plans_after_abb_have_a_receiving_thread() {
        let judged = "1-9".parse().expect("a list");
        for name in ["vpc", "container-table"] {
            let plan = crate::Plan::load(name).expect("embedded");
            let steps = plan.steps.iter().filter(|step| step.measure.family() == "trip");
            for step in steps {
                let (taken, relays) = (step.measure.takes(&judged).len(), step.measure.devices());
                assert_eq!(taken, 3 * relays, "{name}: {}", step.name());
            }
        }
    }
}
