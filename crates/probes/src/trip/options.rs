//! Options of a test set, on the command line and in a plan.

use super::members::{Finder, FunctionMember, MemberName};
use super::{Control, Hostile, PeerConfig, PeerRole, Security, TripConfig, UnderTest};
use crate::error::ProbeError;
use crate::options::{appid, defaults, duration, mac, ns, positive_duration, some_positive_ns, some_vlan, text, vlan};
use crate::reception::Receive;
use serde::Deserialize;
use std::path::PathBuf;
use streamset::{StreamSpec, following};
use sys::thread::Policy;
use waveform::scenario::{self, Scenario};
use waveform::{WaveformError, type_test};
use wire::ether::{Mac, VlanTag};
use wire::goose::Member;
use wire::sv::Profile;

/// Number of shots of each scenario on the command line, if none is given.
pub const USUAL_SHOTS: u32 = 100;

/// Least stNum with which the peer begins, as a device that has run for long: lower numbers are then old ones, and no new beginning.
const LONG_RUN: u32 = 1_000;

/// Options for what is published, and what is listened for. In a plan each option is a key of the step: `breaker = "40ms"`.
#[derive(Debug, Clone, PartialEq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TripOptions {
    /// A built-in scenario, or a TOML file; can be repeated: the shots of the scenarios then alternate
    #[arg(long, value_name = "NAME|FILE", default_value = "overcurrent")]
    pub scenario: Vec<String>,
    /// A built-in type test, or a TOML file: thousands of shots that differ in a few values, each once, in random order (--seed)
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["scenario", "shots", "security"])]
    pub type_test: Option<String>,
    /// Shots of each scenario [default: 100; in a plan as many as its step has time for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub shots: Option<u32>,
    /// Minimum length of the steady state before each fault
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = positive_duration)]
    #[serde(deserialize_with = "ns")]
    pub settle: u64,
    /// Seed of the random pauses before faults; the first three shots of a run have a further random pause, which does not depend on the seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The relay's GOOSE control block [default: the one that trips in a first shot, which is not counted]
    #[arg(long, value_name = "GOCBREF", help_heading = "GOOSE")]
    pub goose: Option<String>,
    /// Member of the control block's dataset that is true when the relay trips, or that is the breaker's position: its number from 0 (2.0:
    /// first part of structure 2), or its name in the SCL file, such as PTRC1.Tr.general
    #[arg(long, value_name = "MEMBER", default_value = "0", help_heading = "GOOSE")]
    pub trip_member: MemberName,
    /// Member that is true when the relay has started
    #[arg(long, value_name = "MEMBER", help_heading = "GOOSE")]
    pub start_member: Option<MemberName>,
    /// Members that are true when phase a, b and c trip, to detect a wrong phase
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', help_heading = "GOOSE")]
    pub phase_members: Vec<MemberName>,
    /// Members that are true when a zone or function trips, by the name that scenarios use, to detect a wrong zone
    #[arg(long, value_name = "NAME=MEMBER,...", value_delimiter = ',', help_heading = "GOOSE")]
    pub function_members: Vec<FunctionMember>,
    /// Read names of members from this SCL file, and the control block if the file has only one
    #[arg(long, value_name = "FILE", help_heading = "GOOSE")]
    pub scl: Option<String>,
    /// Simulate a breaker: stop the currents this long after a trip
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    #[serde(deserialize_with = "some_positive_ns")]
    pub breaker: Option<u64>,
    /// Negative controls at the beginning and the end
    #[arg(long, value_enum, value_delimiter = ',', default_value = "no-fault,other-sv-id")]
    pub controls: Vec<Control>,
    /// Disturbances of the samples for which the relay must not trip: as many shots of each as of a scenario
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CASES")]
    pub security: Vec<Security>,
    /// Play a second device whose GOOSE the relay uses, and attack under its name: a file of one control block, as for publish --goose
    #[arg(long, value_name = "FILE", requires = "goose", conflicts_with_all = ["type_test", "security"], help_heading = "Peer")]
    pub peer: Option<PathBuf>,
    /// Number of the boolean member of its dataset that the relay uses
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "peer",
        help_heading = "Peer"
    )]
    pub peer_member: usize,
    /// Meaning of this member for the relay
    #[arg(
        long,
        value_enum,
        default_value = "transfer",
        value_name = "ROLE",
        requires = "peer",
        help_heading = "Peer"
    )]
    pub peer_role: PeerRole,
    /// Attacks, each with shots of its own [default: all that its messages can carry]
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "CASES",
        requires = "peer",
        help_heading = "Peer"
    )]
    pub hostile_goose: Vec<Hostile>,
    /// svID of the stream that the relay takes
    #[arg(long, value_name = "TEXT", default_value = "MU01", help_heading = "Stream")]
    pub sv_id: String,
    /// Number of streams: the first one has the faults; the others, with the following svIDs, have the steady state. A
    /// scenario with two sides has its far side in the second one, which it brings by itself
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1_000), help_heading = "Stream")]
    pub streams: u16,
    /// Samples a second, ASDUs in a frame, currents and voltages
    #[arg(long, value_name = "NAME", default_value = "F4800S1I4U4", help_heading = "Stream")]
    #[serde(deserialize_with = "text")]
    pub profile: Profile,
    /// APPID
    #[arg(long, value_name = "N", default_value = "0x4000", value_parser = appid, help_heading = "Stream")]
    pub appid: u16,
    /// Destination
    #[arg(long, value_name = "MAC", default_value = "01:0c:cd:04:00:01", value_parser = mac, help_heading = "Stream")]
    #[serde(deserialize_with = "text")]
    pub dst: Mac,
    /// 802.1Q tag: VID, or VID:PRIORITY
    #[arg(long, value_name = "VID[:PCP]", value_parser = vlan, help_heading = "Stream")]
    #[serde(deserialize_with = "some_vlan")]
    pub vlan: Option<VlanTag>,
    /// confRev
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Stream")]
    pub conf_rev: u32,
    /// smpSynch: 0 none, 1 local, 2 global clock
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Stream")]
    pub smp_synch: u8,
    /// Sleep until this long before the due instant, then spin
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration, help_heading = "Stream")]
    #[serde(deserialize_with = "ns")]
    pub spin_ahead: u64,
}

impl Default for TripOptions {
    fn default() -> Self {
        defaults()
    }
}

impl TripOptions {
    /// Settings of a test set with these options, at normal priority on no particular CPU, that ends with its last shot.
    ///
    /// # Errors
    /// A scenario or a type test cannot be found or read.
    pub fn config(&self) -> Result<TripConfig, ProbeError> {
        let usage = |error: WaveformError| ProbeError::Usage(error.to_string());
        let type_test = self.type_test.as_deref().map(type_test::find);
        let type_test = type_test.transpose().map_err(usage)?;
        let finder = Finder::new(self.scl.as_deref(), self.goose.clone())?;
        let phases: Vec<Member> = self
            .phase_members
            .iter()
            .map(|name| finder.find(name))
            .collect::<Result<_, _>>()?;
        let phases = match <[Member; 3]>::try_from(phases) {
            Ok(phases) => Some(phases),
            Err(none) if none.is_empty() => None,
            Err(_) => {
                let problem = "trip: --phase-members: name three members, of the phases a, b and c";
                return Err(ProbeError::Usage(problem.into()));
            }
        };
        let functions = self.function_members.iter().map(|named| {
            let member = finder.find(&named.member);
            member.map(|member| (named.function.clone(), member))
        });
        let stream = self.stream();
        let sampling = super::sampling(&stream)?;
        let scenarios = match &type_test {
            Some(test) => Ok(vec![test.reference()]),
            None => {
                let find = |name: &String| scenario::find(name, &sampling);
                self.scenario.iter().map(find).collect()
            }
        };
        let scenarios: Vec<Scenario> = scenarios.map_err(usage)?;
        let sides = scenarios
            .iter()
            .map(|scenario| scenario.wave.sides())
            .max()
            .unwrap_or(1);
        let streams = usize::from(self.streams).max(sides);
        Ok(TripConfig {
            scenarios,
            type_test,
            shots: self.shots.unwrap_or(USUAL_SHOTS),
            settle_ns: self.settle,
            seed: self.seed,
            others: following(&stream, u16::try_from(streams - 1).unwrap_or(u16::MAX)),
            stream,
            relays: vec![UnderTest {
                label: None,
                trip: finder.find(&self.trip_member)?,
                start: self.start_member.as_ref().map(|name| finder.find(name)).transpose()?,
                phases,
                functions: functions.collect::<Result<_, _>>()?,
                goose: finder.goose,
            }],
            breaker_ns: self.breaker,
            controls: self.controls.clone(),
            security: self.security.clone(),
            peer: self.peer()?,
            lan_fault: None,
            spin_ahead_ns: self.spin_ahead,
            duration_ns: None,
            receive: Receive::Block,
            policy: Policy::Other,
            cpu: None,
            goose_cpu: None,
        })
    }

    /// The relay, of which its trip and its start are looked at.
    ///
    /// # Errors
    /// A name that no SCL file has, or an SCL file that cannot be used.
    pub fn under_test(&self) -> Result<UnderTest, ProbeError> {
        let start = self.start_member.as_ref();
        UnderTest::named(self.scl.as_deref(), self.goose.clone(), &self.trip_member, start)
    }

    /// Finds the member that reports a trip, or an answer.
    ///
    /// # Errors
    /// No SCL file has this name, or the SCL file cannot be used.
    pub fn member(&self) -> Result<Member, ProbeError> {
        Finder::new(self.scl.as_deref(), self.goose.clone())?.find(&self.trip_member)
    }

    fn peer(&self) -> Result<Option<PeerConfig>, ProbeError> {
        let Some(file) = &self.peer else { return Ok(None) };
        let name = file.display().to_string();
        let refused = |problem: String| ProbeError::Usage(format!("trip: --peer {name}: {problem}"));
        let text = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
        let mut blocks = streamset::goose::parse(&text, &name).map_err(|error| ProbeError::Usage(error.to_string()))?;
        if blocks.len() > 1 {
            return Err(refused(
                "it has several control blocks: leave the one that the relay uses".to_owned(),
            ));
        }
        let mut block = blocks.remove(0);
        block.message.st_num = block.message.st_num.max(LONG_RUN);
        let hostile = match self.hostile_goose.is_empty() {
            true => Hostile::that_fit(&block.message.all_data),
            false => self.hostile_goose.clone(),
        };
        Ok(Some(PeerConfig {
            block,
            member: self.peer_member,
            role: self.peer_role,
            hostile,
        }))
    }

    /// The stream with the faults, or the first stream of a load.
    pub(crate) fn stream(&self) -> StreamSpec {
        StreamSpec {
            destination: self.dst,
            vlan: self.vlan,
            appid: self.appid,
            conf_rev: self.conf_rev,
            smp_synch: self.smp_synch,
            ..StreamSpec::named(&self.sv_id)
        }
        .with_profile(self.profile)
    }
}

#[cfg(test)]
mod tests {
    use super::TripOptions;
    use crate::options::defaults;

    #[test]
    fn a_plan_and_the_command_line_say_the_same() {
        let plan: TripOptions =
            toml::from_str("breaker = \"40ms\"\nscenario = [\"load\"]\nstart_member = \"1.2\"").expect("keys");
        assert_eq!((plan.breaker, plan.scenario.len()), (Some(40_000_000), 1));
        assert_eq!(
            plan,
            TripOptions {
                breaker: plan.breaker,
                scenario: plan.scenario.clone(),
                start_member: plan.start_member.clone(),
                ..defaults()
            }
        );
        let config = TripOptions::default().config().expect("the usual scenario");
        assert_eq!(
            (config.scenarios.len(), config.stream.rate, config.controls.len()),
            (1, 4_800, 2)
        );
        let named: TripOptions = toml::from_str(&format!(
            "scl = {:?}\ngoose = \"RELAY1PROT/LLN0$GO$gcbTrip\"\ntrip_member = \"XCBR1.Pos.stVal\"\nphase_members = [\"0\", \"1\", \"2.1\"]\n\
             function_members = [\"zone1=PTRC1.Tr.general\"]",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../scl/tests/data/station.scd")
        ))
        .expect("keys");
        let found = &named.config().expect("names of the file").relays[0];
        assert_eq!(
            (
                found.trip.to_string().as_str(),
                found.functions[0].1.to_string().as_str()
            ),
            ("3", "0")
        );
        assert!(found.phases.is_some_and(|phases| phases[2].to_string() == "2.1"));
        for (keys, why) in [
            ("trip_member = \"XCBR1.Pos.stVal\"", "--scl"),
            ("phase_members = [\"1\", \"2\"]", "three members"),
        ] {
            let refused = toml::from_str::<TripOptions>(keys).expect(keys).config();
            assert!(refused.is_err_and(|error| error.to_string().contains(why)), "{keys}");
        }
        assert!(toml::from_str::<TripOptions>("function_members = [\"3\"]").is_err());
        let wrong = TripOptions {
            scenario: vec!["nowhere".into()],
            ..TripOptions::default()
        };
        assert!(
            wrong
                .config()
                .is_err_and(|error| error.to_string().contains("overcurrent"))
        );
    }
}
