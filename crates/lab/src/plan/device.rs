//! The device's end of a step, as a task for a place: what it is told, and how it is done there.

use super::file::{Cpus, Duration};
use super::measure::{Given, StepContext};
use super::step::Step;
use crate::load::LoadSpec;
use crate::loads::{self, Loads};
use crate::place::line::{FromPlace, ToPlace, read};
use crate::place::{Answers, Job, Kind, Place, say};
use crate::runner::{Runner, Side};
use crate::session::{Session, SessionError};
use probes::SenderEnd;
use probes::subscribe::ClockRelation;
use run::Stop;
use serde::{Deserialize, Serialize};
use std::io::BufRead;
use units::{CpuList, Realtime};

/// Name of the file that a place is given.
const TASK: &str = "device.toml";

/// Name of the file with the limits that the run is judged by: from when on a sample is over depends on them.
const LIMITS: &str = "limits.toml";

/// What the device's end is told, beside the step itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct There {
    /// Name of the plan.
    plan: String,
    /// The device's interface, as it is called in the place.
    pub(super) interface: String,
    /// Which of several devices side by side it is, from 0.
    pub(super) device: usize,
    /// How far the clocks of the two ends may be apart, in ns; `None`: both read the same.
    clock_within_ns: Option<u64>,
    /// What this end asks the other about.
    asks: Asks,
    /// What loads the machine of the other end, as a setting of series says it.
    load_here: Option<String>,
}

/// What the device's end asks the other about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// Nothing: the other end cannot tell.
    Nothing,
    /// Why any sample was late: this end has no right to look into the kernel.
    Causes,
    /// What a virtual CPU went through: this end is in a guest.
    VirtualCpus,
}

impl There {
    /// How the clock of the other end relates to the place's.
    pub(super) fn clock(&self) -> ClockRelation {
        match self.clock_within_ns {
            Some(ns) => ClockRelation::Within { ns },
            None => ClockRelation::SameHost,
        }
    }
}

/// The file that a place is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    there: There,
    step: Step,
}

/// The same to be written.
#[derive(Serialize)]
struct Written<'a> {
    there: &'a There,
    step: &'a toml::Table,
}

/// What a place is told to do of the step.
pub(super) fn job(
    context: &StepContext<'_>,
    given: Given,
    device: usize,
    place: &dyn Place,
    session: &Session,
) -> Result<Job, SessionError> {
    let Given { mut keys, mut files } = given;
    let clock = place.clock()?;
    let apart_ns = clock.offset_ns.unsigned_abs().saturating_add(clock.uncertainty_ns);
    let there = There {
        plan: context.plan.clone(),
        interface: place.interface().to_owned(),
        device,
        clock_within_ns: (apart_ns > 0).then_some(apart_ns),
        asks: match (session.explainer(), place.kind()) {
            (None, _) | (_, Kind::Native) => Asks::Nothing,
            (_, Kind::Container) => Asks::Causes,
            (_, Kind::Vm) => Asks::VirtualCpus,
        },
        load_here: session.recorder.setting(loads::SETTING).map(str::to_owned),
    };
    for of_here in ["test_set", "beside_previous"] {
        keys.remove(of_here);
    }
    if let Some(toml::Value::Array(loads)) = keys.get_mut("load") {
        loads.retain(|load| load.get("there").and_then(toml::Value::as_bool) == Some(true));
    }
    keys.insert("cpus".to_owned(), judged(context, place).to_string().into());
    keys.insert("duration".to_owned(), format!("{}ns", context.duration.0).into());
    let written = Written {
        there: &there,
        step: &keys,
    };
    let text = toml::to_string(&written).map_err(|error| super::PlanError::Invalid {
        name: context.plan.clone(),
        problem: format!("cannot be told to a place: {error}"),
    })?;
    files.push((TASK.to_owned(), text));
    let mut words: Vec<String> = ["device", TASK, "--quiet", "--window"].map(str::to_owned).to_vec();
    words.push(format!("{}ns", context.window_ns));
    if let Some(limits) = session.document("limits") {
        files.push((LIMITS.to_owned(), limits.to_owned()));
        words.extend(["--limits", LIMITS].map(str::to_owned));
    }
    Ok(Job { words, files })
}

/// The CPUs that are judged, by the numbers of the place. The first of a place with numbers of its own keeps house.
fn judged(context: &StepContext<'_>, place: &dyn Place) -> CpuList {
    match place.cpus() {
        None => context.judged.clone(),
        Some(own) => {
            let judged: CpuList = own.iter().skip(1).collect();
            if judged.is_empty() { own } else { judged }
        }
    }
}

impl Task {
    /// Reads the file that a place was given.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The CPUs that are judged.
    pub fn judged(&self) -> CpuList {
        match &self.step.common.cpus {
            Some(Cpus::List(cpus)) => cpus.clone(),
            _ => CpuList::default(),
        }
    }

    /// The interface it receives or sends on, if its step has a network.
    pub fn interface(&self) -> Option<&str> {
        self.step.needs_bed().then_some(self.there.interface.as_str())
    }

    /// What it asks the other end about.
    pub fn asks(&self) -> Asks {
        self.there.asks
    }

    /// Whether it leaves idle states alone.
    pub fn leaves_idle_alone(&self) -> bool {
        self.step.common.idle.is_system()
    }

    /// Its loads, on the CPUs that are not judged.
    fn loads(&self) -> impl Iterator<Item = LoadSpec> {
        let allowed = sys::thread::allowed_cpus();
        let others = allowed.without(&self.judged());
        let usual = if others.is_empty() { allowed } else { others };
        self.step.common.loads.iter().map(move |load| LoadSpec {
            kind: load.kind.clone(),
            cpus: match &load.cpus {
                Some(Cpus::List(cpus)) => cpus.clone(),
                _ => usual.clone(),
            },
        })
    }

    /// What runs beside its series, on the machine of the other end and here.
    fn load(&self, own: &[String]) -> String {
        let here = self.there.load_here.iter().filter(|text| *text != loads::NONE).cloned();
        let own = own.iter().map(|load| format!("in the place of the device: {load}"));
        let all: Vec<String> = here.chain(own).collect();
        loads::setting(&all).1
    }

    /// Does it: says when it is ready, and goes on until its own end, or until it is told to end.
    ///
    /// # Errors
    /// What was refused, or what the measurement ended with.
    pub fn run(&self, mut runner: Runner<'_>, window_ns: u64, answers: Answers) -> Result<(), SessionError> {
        let context = StepContext {
            judged: self.judged(),
            test_set: CpuList::default(),
            duration: Duration(self.step.common.duration.0),
            label: self.step.common.label.clone(),
            bed: None,
            window_ns,
            plan: self.there.plan.clone(),
            stop: runner.session.stop.clone(),
            places: Vec::new(),
            there: Some(&self.there),
            written: &self.step.written,
        };
        let own = Loads::start(self.loads(), &runner.session.recorder.events())?;
        let setting = (loads::SETTING.to_owned(), self.load(&own.describe()));
        runner.session.recorder.set_settings(vec![setting]);
        runner.loads.join(own);
        let sender = SenderEnd::default();
        let running = self.step.measure.device(&context, &sender, runner.session)?;
        listen(sender, runner.session.stop.clone(), answers);
        // An error: whoever started it sees that it has ended.
        let _ = say(&FromPlace::Ready);
        runner.attend("measuring", vec![Box::new(Side::Here(running))])
    }
}

/// Hears what the other end has to say, for as long as the process lives. When there is nobody any more, this end is over, too.
fn listen(sender: SenderEnd, stop: Stop, answers: Answers) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match read(&line) {
                Some(ToPlace::SenderEnded(at)) => {
                    let now = sys::clock::pair();
                    sender.tell(now.monotonic - (now.realtime - Realtime::from_ns(at)));
                }
                Some(ToPlace::Because(told)) => answers.take(told),
                None => {}
            }
        }
        stop.request();
    });
}
