//! Measurements that a step of a plan can make. Each probe has a file in this folder, and a line in [`LIST`].

mod cpus;
mod ping_pong;
mod reflect;
mod relays;
mod sampled_values;
mod talk_listen;
pub(super) mod there;
mod trip;

use super::beds::{BedOfPlan, Beds};
use super::value::{Duration, in_words};
use bed::End;
use place::Place;
use probes::noise::NoiseConfig;
use probes::options::text;
use probes::subscribe::{ClockRelation, JudgedLans};
use probes::wakeup::WakeupConfig;
use probes::{Directions, Need, Numbers, Port, Running, SenderEnd};
use run::Stop;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use session::runner::{Launched, Side, Underway};
use session::{Session, SessionError};
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::Policy;
use toml::Value;
use units::CpuList;
use wire::ether::Mac;

pub(super) use cpus::CpuStep;
pub(super) use ping_pong::PingPongStep;
pub(super) use reflect::ReflectStep;
pub(super) use sampled_values::SampledValuesStep;
pub(super) use talk_listen::TalkListenStep;
use there::There;
pub(super) use trip::TripStep;

/// The measurement of a step, with its own keys.
pub(super) trait Measure: Any + Debug {
    /// Its name in events and progress.
    fn words(&self) -> &'static str;

    /// First part of the names of its series.
    fn family(&self) -> &'static str;

    /// True if its series can have a label.
    fn takes_label(&self) -> bool {
        true
    }

    /// True if it measures over the test bed.
    fn needs_bed(&self) -> bool {
        true
    }

    /// True if one of its ends is the test set.
    fn has_test_set(&self) -> bool {
        self.needs_bed()
    }

    /// True if it is measured over every network of the plan in turn, false if over the first only.
    fn compares_networks(&self) -> bool {
        self.needs_bed()
    }

    /// True if both ends wait by spinning.
    fn spins(&self) -> bool {
        false
    }

    /// Frames for the NIC to stamp, at the test set and at the device.
    fn stamped(&self) -> [Directions; 2] {
        [Directions::default(); 2]
    }

    /// True if frames are traced on their path.
    fn is_traced(&self) -> bool {
        false
    }

    /// Stamps a second that it keeps of every frame at all points together, if a traced stream passes this many hops; 0: it keeps none.
    fn stamps_kept(&self, _hops: u64) -> u64 {
        0
    }

    /// Control block of the relay, not of this program, that it is measured with over one port of this machine; `None` for every other step.
    fn relay(&self) -> Option<&str> {
        None
    }

    /// Checks that it can be measured between doubly attached nodes.
    ///
    /// # Errors
    /// The key that does not allow it, and why.
    fn in_two_lans(&self) -> Result<(), (&'static str, String)> {
        match self.needs_bed() {
            true => Err((
                "probe",
                format!(
                    "\"{}\" is measured over one LAN: give it a plan of its own, without bed.lans",
                    self.words()
                ),
            )),
            false => Ok(()),
        }
    }

    /// True if it makes a fault of one LAN.
    fn needs_two_lans(&self) -> bool {
        false
    }

    /// The LANs of which it judges the losses where its nodes are doubly attached; `label` is that of the step.
    ///
    /// # Errors
    /// Impossible keys.
    fn judged_lans(&self, _label: Option<&str>) -> Result<Vec<JudgedLans>, String> {
        Ok(Vec::new())
    }

    /// Number of devices under test side by side on the bed.
    fn devices(&self) -> usize {
        1
    }

    /// Smallest number of series over one network, if these CPUs are judged and a traced stream passes this many hops.
    fn series(&self, _judged: &CpuList, _hops: u64) -> u64 {
        2
    }

    /// True if its threads use their CPUs completely, at real-time priority.
    fn occupies(&self) -> bool {
        false
    }

    /// CPUs that its threads use, in a step that measures on `judged`.
    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.iter().take(1).collect()
    }

    /// CPUs of each guest that its threads use, if its devices are in guests and these CPUs of each are judged.
    fn takes_in_guest(&self, judged: &CpuList) -> CpuList {
        self.takes(judged)
    }

    /// Requirements of its measuring threads, in addition to the CPUs they use.
    fn needs(&self, judged: &CpuList) -> Vec<Need>;

    /// Limits that the step defines itself, each in the form of a profile, for series with this label.
    ///
    /// # Errors
    /// Impossible keys.
    fn limits(&self, _label: Option<&str>) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Checks for keys that contradict each other.
    ///
    /// # Errors
    /// The keys, and advice.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Adapts the input of a place for its end of the step, if the step needs values that only this machine knows.
    ///
    /// # Errors
    /// Keys that are impossible in a place.
    fn for_place(&self, _place: &StepContext<'_>, _given: &mut Given) -> Result<(), SessionError> {
        Ok(())
    }

    /// Starts the end at the device under test; for a step without a bed this is all. `sender` is notified when the sender has ended.
    ///
    /// # Errors
    /// The step cannot start; then no part of it keeps running.
    fn device(
        &self,
        place: &StepContext<'_>,
        sender: &SenderEnd,
        session: &mut Session,
    ) -> Result<Running, SessionError>;

    /// Starts the test set's end.
    ///
    /// # Errors
    /// The step has no test set, or it cannot start; then no part of it keeps running.
    fn test_set(&self, _: &StepContext<'_>, _session: &mut Session) -> Result<Running, SessionError> {
        let problem = format!("a step \"{}\" has no test set", self.words());
        Err(SessionError::Wrong(problem))
    }

    /// Starts both ends.
    ///
    /// # Errors
    /// The step cannot start; then no part of it keeps running.
    fn start<'a>(&self, place: &StepContext<'a>, session: &mut Session)
    -> Result<Box<dyn Underway + 'a>, SessionError>;
}

/// Keys and files that a place gets for its end of a step.
pub(super) struct Given {
    /// The step's keys.
    pub(super) keys: toml::Table,
    /// Files that keys name, by their names in the place.
    pub(super) files: Vec<(String, String)>,
}

/// CPUs, duration and surroundings of a step.
pub(super) struct StepContext<'a> {
    /// The CPUs that are judged.
    pub(super) judged: CpuList,
    /// CPUs that are judged inside the guest, by its own numbers; empty if the device is in no guest.
    pub(super) inside: Option<CpuList>,
    /// CPUs that all steps side by side judge, by the numbers of the device's machine.
    pub(super) judged_by_all: CpuList,
    /// CPUs of all steps of the plan in a guest, for the guest's audit; empty if the device is in no guest.
    pub(super) audited: CpuList,
    /// Number of devices side by side, each in a place of its own if the devices are in places.
    pub(super) devices: usize,
    /// True if these are guests that measure the same step, each with series of its own.
    pub(super) in_several_guests: bool,
    /// True if virtual CPUs share CPUs of this machine.
    pub(super) is_crowded: bool,
    /// Ends of devices that are being prepared in their places.
    pub(super) launched: RefCell<Vec<Launched>>,
    /// The test set's end, while it is being prepared in its place.
    pub(super) launched_test_set: RefCell<Option<Launched>>,
    /// The CPUs of the test set.
    pub(super) test_set: CpuList,
    /// Measuring time.
    pub(super) duration: Duration,
    /// Second part of the series' names.
    pub(super) label: Option<String>,
    /// The bed it is measured over, and all beds of the plan.
    pub(super) bed: Option<(&'a BedOfPlan, &'a Beds)>,
    /// Length of the run's windows.
    pub(super) window_ns: u64,
    /// The plan's name.
    pub(super) plan: String,
    /// Ends the step.
    pub(super) stop: Stop,
    /// Places of the devices, in order; empty if they are in this process.
    pub(super) places: Vec<Arc<dyn Place>>,
    /// Place of the test set; `None` if it is in this process.
    pub(super) test_set_place: Option<Arc<dyn Place>>,
    /// In a place: the input of the step there.
    pub(super) there: Option<&'a There>,
    /// The step as written in the plan.
    pub(super) written: &'a toml::Table,
}

impl<'a> StepContext<'a> {
    /// Opens a port of the node at this end, in both LANs if the bed has two; otherwise with the stamps that its options ask for. `numbers` are those
    /// of the node.
    fn node_port(
        &self,
        (end, number): (End, usize),
        options: &PortOptions,
        numbers: &Numbers,
    ) -> Result<Port, SessionError> {
        if let (None, Some((way, protocol))) = (
            self.there,
            self.bed.and_then(|(way, _)| way.lans.map(|lans| (way, lans))),
        ) {
            return Ok(way.bed.pair((end, number), options, protocol, numbers)?.into());
        }
        match end {
            End::TestSet => self.stamped_port(end, options),
            End::Device if number == 0 => self.stamped_port(end, options),
            End::Device => self.device_port(number, options).map(Port::from),
        }
    }

    /// True if the nodes of the bed are doubly attached.
    fn has_two_lans(&self) -> bool {
        self.bed.is_some_and(|(way, _)| way.lans.is_some())
    }

    /// Opens a port at device number `number`.
    fn device_port(&self, number: usize, options: &PortOptions) -> Result<PacketPort, SessionError> {
        match self.there {
            Some(there) => Ok(PacketPort::open(&there.interface, options)?),
            None => Ok(self.way().bed.port_of_device(number, options)?),
        }
    }

    /// Opens a port at this end with the stamps that its options ask for.
    fn stamped_port(&self, end: End, options: &PortOptions) -> Result<Port, SessionError> {
        Ok(match self.there {
            Some(there) => Port::open(&there.interface, options)?,
            None => self.way().bed.stamped_port(end, options)?,
        })
    }

    /// Address of the device's interface.
    fn device_mac(&self) -> Result<Mac, SessionError> {
        Ok(Mac(match (self.there, &self.places[..]) {
            (Some(there), _) => there.device_mac.ok_or_else(|| {
                SessionError::Wrong("the address of the device's interface was not sent to the test set".to_owned())
            })?,
            (None, [first, ..]) => first.mac(),
            (None, []) => self.way().bed.mac(End::Device)?,
        }))
    }

    /// Label of series over the bed, after their family name, unless they are named after their streams.
    fn label(&self) -> String {
        self.bed
            .map_or_else(|| "reflect".to_owned(), |(way, _)| way.label.clone())
    }

    /// How a publisher's clock relates to the device's.
    fn clock(&self) -> Result<ClockRelation, SessionError> {
        match (self.there, &self.test_set_place) {
            (Some(there), _) => Ok(there.clock),
            (None, Some(test_set)) => there::clock_between(&[test_set.as_ref()]),
            (None, None) => Ok(ClockRelation::SameHost),
        }
    }

    /// The places whose clocks a way from the publisher to the device concerns.
    fn ends_of_clocks(&self) -> Vec<Arc<dyn Place>> {
        self.test_set_place.iter().chain(self.places.first()).cloned().collect()
    }

    /// Starts the device's end of `measure`, where the device is.
    fn start_device(
        &self,
        measure: &impl Measure,
        sender: &SenderEnd,
        session: &mut Session,
    ) -> Result<Side, SessionError> {
        if self.places.is_empty() {
            return measure.device(self, sender, session).map(Side::Here);
        }
        self.until_prepared()?;
        let begun = self.launched.take().into_iter().map(Launched::begin);
        Ok(Side::Away(begun.collect::<Result<_, _>>()?))
    }

    /// Starts the test set's end of `measure`, where the test set is.
    fn start_test_set(&self, measure: &impl Measure, session: &mut Session) -> Result<Side, SessionError> {
        if self.test_set_place.is_none() {
            return measure.test_set(self, session).map(Side::Here);
        }
        self.until_prepared()?;
        let begun = self.launched_test_set.take().into_iter().map(Launched::begin);
        Ok(Side::Away(begun.collect::<Result<_, _>>()?))
    }

    /// Prepares the ends of `measure` that are in places.
    pub(super) fn launch(&self, measure: &dyn Measure, session: &Session) -> Result<(), SessionError> {
        let mut launched = Vec::new();
        let launch = |end: End, number: usize, place: &Arc<dyn Place>| {
            let mut given = Given {
                keys: self.written.clone(),
                files: Vec::new(),
            };
            measure.for_place(self, &mut given)?;
            let job = there::job(self, given, (end, number), place.as_ref(), session)?;
            Ok::<_, SessionError>(Launched::start(place, &job, session, &self.stop)?)
        };
        for (number, place) in self.places.iter().take(self.devices).enumerate() {
            let device = launch(End::Device, number, place)?;
            launched.push(match self.test_set_place {
                None => device.asked_for_its_time(),
                Some(_) => device,
            });
        }
        let test_set = self.test_set_place.as_ref().filter(|_| measure.needs_bed());
        let test_set = test_set.map(|place| launch(End::TestSet, 0, place).map(Launched::of_test_set));
        self.launched_test_set.replace(test_set.transpose()?);
        self.launched.replace(launched);
        Ok(())
    }

    /// Waits until these ends are prepared.
    pub(super) fn until_prepared(&self) -> Result<(), SessionError> {
        let (mut launched, mut test_set) = (self.launched.borrow_mut(), self.launched_test_set.borrow_mut());
        let mut all = launched.iter_mut().chain(test_set.as_mut());
        Ok(all.try_for_each(Launched::until_prepared)?)
    }

    /// The bed of a step that needs one. It was built before the step.
    fn way(&self) -> &'a BedOfPlan {
        self.bed.expect("a bed was built for a step that needs one").0
    }
}

/// Parses the step's own keys.
type Read = fn(toml::Table) -> Result<Box<dyn Measure>, String>;

/// Name of each probe in a plan, and the function that parses its keys.
pub(super) const LIST: [(&str, Read); 7] = [
    ("wakeup", read::<CpuStep<WakeupConfig>>),
    ("noise", read::<CpuStep<NoiseConfig>>),
    ("reflect", read::<ReflectStep>),
    ("sampled-values", read::<SampledValuesStep>),
    ("talk-listen", read::<TalkListenStep>),
    ("trip", read::<TripStep>),
    ("ping-pong", read::<PingPongStep>),
];

/// A step with an end on either side of the bed. The options of its command are keys here, in addition to keys that only a step has.
#[derive(Debug)]
pub(crate) struct TwoEnds<Own, Options> {
    /// Policy of both ends.
    pub(crate) policy: Policy,
    /// Keys that only the step has.
    pub(crate) own: Own,
    /// Keys that the command has as options.
    pub(crate) options: Options,
}

/// Keys that only a step has, by their names.
pub(crate) trait OwnKeys: DeserializeOwned {
    /// Their names.
    const NAMES: &[&str];
}

/// The key of all steps with two ends.
#[derive(Deserialize)]
struct BothEnds {
    #[serde(deserialize_with = "text")]
    policy: Policy,
}

impl OwnKeys for BothEnds {
    const NAMES: &[&str] = &["policy"];
}

impl<'de, Own: OwnKeys, Options: DeserializeOwned> Deserialize<'de> for TwoEnds<Own, Options> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keys = toml::Table::deserialize(deserializer)?;
        let read = |error: toml::de::Error| serde::de::Error::custom(in_words(&error));
        Ok(Self {
            policy: take::<BothEnds>(&mut keys).map_err(read)?.policy,
            own: take(&mut keys).map_err(read)?,
            options: Value::Table(keys)
                .try_into()
                .map_err(|error| serde::de::Error::custom(in_options::<Own>(&error)))?,
        })
    }
}

/// The mistake in the options. For an unknown key, the step's own keys are listed, too.
fn in_options<Own: OwnKeys>(error: &toml::de::Error) -> String {
    let text = in_words(error);
    if !text.starts_with("unknown field") {
        return text;
    }
    let own = BothEnds::NAMES.iter().chain(Own::NAMES);
    own.fold(text, |text, name| format!("{text}, `{name}`"))
}

/// Removes the keys of one kind from all keys, and parses them.
fn take<Own: OwnKeys>(keys: &mut toml::Table) -> Result<Own, toml::de::Error> {
    let own = Own::NAMES.iter().filter_map(|name| keys.remove_entry(*name));
    Value::Table(own.collect()).try_into()
}

fn read<T: Measure + DeserializeOwned>(keys: toml::Table) -> Result<Box<dyn Measure>, String> {
    let step: T = Value::Table(keys).try_into().map_err(|error| in_words(&error))?;
    step.check()?;
    Ok(Box::new(step))
}
