//! The relays of a step: one, or several side by side that receive the same streams.

use ::relay::Config;
use ::relay::config::{Attribute, Cpus, Feed, Signal, numbered};
use probes::relay::{Found, RelayConfig, find};
use probes::subscribe::ClockRelation;
use probes::trip::UnderTest;
use serde::Deserialize;
use sys::thread::Policy;
use wire::goose::{MAX_NAME, Member};

/// The key `relay` of a step: the name of a built-in relay or a file, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) struct RelaysKey(pub(super) Vec<Found>);

/// Largest number of relays side by side.
const MOST: usize = 16;

impl TryFrom<toml::Value> for RelaysKey {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let listed = match value {
            toml::Value::Array(listed) => listed,
            one => vec![one],
        };
        if !(1..=MOST).contains(&listed.len()) {
            return Err(format!(
                "relay: {} relays; 1 to {MOST} can be side by side",
                listed.len()
            ));
        }
        let found = |value: &toml::Value| match value.as_str() {
            Some(name) => find(name).map_err(|error| error.to_string()),
            None => Err(format!(
                "relay = {value}: name a relay of the program or a file, or several: [\"bays20\", \"bays20\"]"
            )),
        };
        listed.iter().map(found).collect::<Result<_, _>>().map(Self)
    }
}

impl RelaysKey {
    /// The relays of a step with this label. Relays with equal names are numbered, and so are their control blocks: two instances of one relay are
    /// two devices.
    ///
    /// # Errors
    /// A name that gets too long.
    pub(super) fn side_by_side(&self, label: Option<&str>) -> Result<Relays, String> {
        let mut all: Vec<Config> = self.0.iter().map(|found| found.config.clone()).collect();
        if let Some(label) = label {
            all.iter_mut().for_each(|relay| label.clone_into(&mut relay.name));
        }
        let step = all[0].name.clone();
        let names: Vec<String> = all.iter().map(|relay| relay.name.clone()).collect();
        let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
        for (number, relay) in all
            .iter_mut()
            .enumerate()
            .filter(|(number, _)| !is_alone(&names[*number]))
        {
            let before = names[..number].iter().filter(|name| **name == relay.name).count();
            relay.name = format!("{}-{}", relay.name, before + 1);
        }
        number_blocks(&mut all)?;
        Ok(Relays {
            step,
            is_labelled: label.is_some() || all.len() > 1,
            all,
        })
    }
}

/// Renames control blocks whose names an earlier relay already has.
fn number_blocks(all: &mut [Config]) -> Result<(), String> {
    let mut taken: Vec<Vec<u8>> = Vec::new();
    for relay in all {
        for output in &mut relay.gooses {
            let name = &mut output.block.message.gocb_ref;
            let plain = name.clone();
            let mut number = 1;
            while taken.contains(name) {
                number += 1;
                *name = numbered(&plain, number);
            }
            if name.len() > MAX_NAME {
                let name = String::from_utf8_lossy(name);
                return Err(format!(
                    "relay {}: gocb_ref {name} has more than {MAX_NAME} octets: shorten it, or name each relay's own",
                    relay.name
                ));
            }
            taken.push(name.clone());
        }
    }
    Ok(())
}

/// Relays side by side, with their names in the run.
#[derive(Debug)]
pub(super) struct Relays {
    /// Name of the step, the first part of its streams' names.
    step: String,
    /// True if the names of trips begin with the names of the relays.
    is_labelled: bool,
    pub(super) all: Vec<Config>,
}

impl Relays {
    /// Name of the stream with this svID as sent in the step.
    pub(super) fn on_the_wire(&self, sv_id: &str) -> String {
        format!("{}-{sv_id}", self.step)
    }

    /// Relays from the test set's view: the step's settings of each, and the signal of its trip.
    ///
    /// # Errors
    /// A relay without a trip signal.
    pub(super) fn under_test(&self, said: &UnderTest) -> Result<Vec<UnderTest>, String> {
        let heard = |relay: &Config| {
            let (goose, trip) = trip_of(relay)?;
            Ok(UnderTest {
                label: self.is_labelled.then(|| relay.name.clone()),
                goose: Some(goose),
                trip,
                ..said.clone()
            })
        };
        self.all.iter().map(heard).collect()
    }

    /// Settings of each relay, with its tasks on these CPUs.
    pub(super) fn configs(&self, policy: Policy, cpus: &[Cpus]) -> Vec<RelayConfig> {
        let names = self.all.iter().map(|relay| relay.name.clone());
        let places: Vec<(String, Cpus)> = names.zip(cpus.iter().copied()).collect();
        let config = |number: usize| {
            let mut beside = places.clone();
            let (name, cpus) = beside.remove(number);
            let mut relay = Config {
                cpus,
                ..self.all[number].clone()
            };
            let mut stream_labels = Vec::new();
            for stream in &mut relay.streams {
                let sv_id = &mut stream.spec.sv_id;
                stream_labels.push(format!("{name}-{sv_id}"));
                *sv_id = self.on_the_wire(sv_id);
            }
            RelayConfig {
                relay,
                clock: ClockRelation::SameHost,
                duration_ns: None,
                policy,
                spin_ahead_ns: 0,
                records: None,
                stream_labels,
                ptp: None,
                beside,
            }
        };
        (0..places.len()).map(config).collect()
    }
}

/// The control block with which a relay sends its trip, and the member in it.
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
    use super::RelaysKey;
    use ::relay::config::Cpus;
    use probes::trip::TripOptions;
    use sys::thread::Policy;
    use toml::Value;

    fn key(names: &[&str]) -> RelaysKey {
        let names = names.iter().map(|name| Value::String((*name).to_owned()));
        RelaysKey::try_from(Value::Array(names.collect())).expect("relays of the program")
    }

    fn blocks(key: &RelaysKey, label: Option<&str>) -> Vec<(String, String)> {
        let relays = key.side_by_side(label).expect("side by side");
        let said = TripOptions {
            phase_members: ["1", "2", "3"].map(|name| name.parse().expect("a number")).to_vec(),
            ..TripOptions::default()
        };
        let said = &said.config().expect("a test set").relays[0];
        let heard = relays.under_test(said).expect("they trip");
        assert!(
            heard
                .iter()
                .all(|one| one.phases == said.phases && one.phases.is_some())
        );
        heard
            .into_iter()
            .map(|one| (one.label.unwrap_or_default(), one.goose.expect("a name")))
            .collect()
    }

    #[test]
    fn two_instances_of_one_relay_are_two_devices() {
        let named = |pairs: [[&str; 2]; 2]| pairs.map(|[name, block]| (name.to_owned(), block.to_owned()));
        let twins = key(&["bays2", "bays2"]);
        let block = "BAYSLD0/LLN0$GO$gcbTrip";
        assert_eq!(
            blocks(&twins, Some("two")),
            named([["two-1", block], ["two-2", "BAYSLD0/LLN0$GO$gcbTrip_2"]])
        );
        let differ = key(&["bays2", "bays1"]);
        assert_eq!(
            blocks(&differ, None),
            named([["bays2", block], ["bays1", "BAYSLD0/LLN0$GO$gcbTrip_2"]])
        );
        // A single relay keeps its name, and its trips have the names of their scenarios.
        assert_eq!(blocks(&key(&["bays2"]), None), [(String::new(), block.to_owned())]);
    }

    #[test]
    fn they_take_the_same_streams_and_say_who_shares_a_cpu() {
        let relays = key(&["bays1", "bays1", "bays1"])
            .side_by_side(Some("x"))
            .expect("three");
        let apart = "receive=2,functions=3,output=4".parse().expect("CPUs");
        let configs = relays.configs(Policy::Fifo(60), &[Cpus::One(Some(2)), apart, Cpus::One(Some(3))]);
        let of = |number: usize, cpu: u32| configs[number].sharing(cpu).join(" ");
        assert_eq!((configs[1].relay.cpus, of(0, 2)), (apart, "x-2".to_owned()));
        assert_eq!([of(1, 2), of(1, 3), of(1, 4)], ["x-1", "x-3", ""]);
        let streams = |number: usize| configs[number].relay.streams[0].spec.sv_id.as_str();
        assert_eq!([streams(0), streams(2)], ["x-MU01"; 2]);
        assert_eq!(configs[2].stream_labels, ["x-3-MU01"]);
    }

    #[test]
    fn what_is_no_list_of_relays_is_refused() {
        let refused = |value: Value| RelaysKey::try_from(value).expect_err("refused");
        assert!(refused(Value::Integer(3)).contains("relay = 3: name a relay"));
        assert!(refused(Value::Array(Vec::new())).contains("0 relays; 1 to 16"));
        assert!(refused(Value::String("nowhere".into())).contains("bays1 to bays999"));
    }
}
