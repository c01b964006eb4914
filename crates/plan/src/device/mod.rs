//! The device's end of a step, as a task for a place: its input, and how it is done there.

mod allow;
mod contained;

use super::measure::StepContext;
use super::measure::there::{Asks, Inside, LIMITS, TASK, There, WORDS};
use super::step::Step;
use super::value::{Cpus, Duration};
pub use allow::{DeviceSteps, Within};
use bed::kernel_threads::KernelThreads;
use bed::load::LoadSpec;
use bed::loads::{self, Loads};
use model::setting;
use place::line::{FromPlace, ToPlace, read};
use place::{Answers, Files, say};
use probes::subscribe::ClockRelation;
use probes::{Running, SenderEnd};
use run::Stop;
use serde::Deserialize;
use session::runner::{Runner, Underway};
use session::{Inventory, Session, SessionError};
use std::cell::RefCell;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};
use units::{CpuList, Monotonic, Ns, Realtime};

/// Content of the file that a place gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    there: There,
    step: Step,
}

/// The same files, for a task that is done in a guest of the place, or in a container.
///
/// # Errors
/// The files do not contain a valid task.
fn contained(mut files: Files, within: &Within) -> Result<Files, String> {
    let is_other = |name: &&String| ![TASK, LIMITS].contains(&name.as_str());
    let inside = Inside {
        files: files.iter().map(|(name, _)| name).filter(is_other).cloned().collect(),
        guest: match within {
            Within::Guest(spec) => Some(spec.clone()),
            Within::Container(_) => None,
        },
        runtime: match within {
            Within::Guest(_) => None,
            Within::Container(runtime) => Some(*runtime),
        },
    };
    let inside = toml::Value::try_from(inside).map_err(|error| error.to_string())?;
    let (_, text) = files
        .iter_mut()
        .find(|(name, _)| name == TASK)
        .ok_or_else(|| format!("no {TASK}"))?;
    let mut task: toml::Table = toml::from_str(text).map_err(|error| format!("{TASK}: {error}"))?;
    let there = task.get_mut("there").and_then(toml::Value::as_table_mut);
    there
        .ok_or_else(|| format!("{TASK}: no [there]"))?
        .insert("container".to_owned(), inside);
    *text = task.to_string();
    Ok(files)
}

impl Task {
    /// Parses the file that a place got.
    ///
    /// # Errors
    /// The mistake in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The judged CPUs.
    pub fn judged(&self) -> CpuList {
        match &self.step.common.cpus {
            Some(Cpus::List(cpus)) => cpus.clone(),
            _ => CpuList::default(),
        }
    }

    /// Extent of the inventory of the machine that it is on.
    pub fn inventory(&self) -> Inventory {
        match &self.there.audited {
            None => Inventory::Known,
            // A place with the numbers of another machine: its own CPUs are in the step.
            Some(cpus) if cpus.is_empty() => Inventory::Measured,
            Some(cpus) => Inventory::Of(cpus.iter().copied().collect()),
        }
    }

    /// CPUs for everything that does not measure: those that no concurrent step judges, if there are any.
    pub fn others(&self) -> CpuList {
        let allowed = sys::thread::allowed_cpus();
        let of_all = self.there.judged_by_all.iter().copied().collect();
        let free = allowed.without(&of_all).without(&self.judged());
        if free.is_empty() { allowed } else { free }
    }

    /// The interface on which it receives or sends, if its step has a network.
    pub fn interface(&self) -> Option<&str> {
        self.network().filter(|_| self.there.container.is_none())
    }

    /// The interface of its step, if that has a network.
    fn network(&self) -> Option<&str> {
        self.step.needs_bed().then_some(self.there.interface.as_str())
    }

    /// The interface assigned to it, even if its step has no network.
    pub(crate) fn stands_on(&self) -> &str {
        &self.there.interface
    }

    /// True if it is done in a container of the place.
    pub(crate) fn is_contained(&self) -> bool {
        self.there.container.is_some()
    }

    /// True if loads run during it.
    pub(crate) fn has_loads(&self) -> bool {
        !self.step.common.loads.is_empty()
    }

    /// In words: the step, its plan, and the duration; of the test set also that.
    pub(crate) fn describe(&self) -> String {
        let (step, plan) = (self.step.name(), &self.there.plan);
        let as_test_set = match self.there.is_test_set {
            true => " as the test set",
            false => "",
        };
        format!(
            "{step} of the plan {plan}{as_test_set}, for {}",
            Ns(self.step.common.duration.0)
        )
    }

    /// Its questions for the other end.
    pub fn asks(&self) -> Asks {
        self.there.asks
    }

    /// How far apart its clock and the test set's are in ns, where both were stated to follow PTP; `None`: nothing was stated.
    pub fn clock_within(&self) -> Option<u64> {
        match self.there.clock {
            ClockRelation::Ptp { stated_ns, .. } => stated_ns,
            _ => None,
        }
    }

    /// True if it holds idle states off.
    pub fn holds_idle(&self) -> bool {
        !self.step.common.idle.is_system()
    }

    /// Its loads, on CPUs that are not judged.
    fn loads(&self) -> impl Iterator<Item = LoadSpec> {
        let usual = self.others();
        self.step.common.loads.iter().map(move |load| LoadSpec {
            kind: load.kind.at((None, self.there.interface.clone())),
            cpus: match &load.cpus {
                Some(Cpus::List(cpus)) => cpus.clone(),
                Some(Cpus::First) => usual.iter().take(1).collect(),
                Some(Cpus::Rest) => self.judged(),
                None | Some(Cpus::All | Cpus::Others) => usual.clone(),
            },
        })
    }

    /// Loads during its series, on the machine of the other end and here.
    fn load(&self, own: &[String]) -> String {
        let here = self
            .there
            .load_here
            .iter()
            .filter(|text| *text != setting::NO_LOAD)
            .cloned();
        let own = own.iter().map(|load| format!("in the place of the device: {load}"));
        let all: Vec<String> = here.chain(own).collect();
        loads::setting(&all).1
    }

    /// Runs the task: reports when it is ready, and runs until its own end, or until it is stopped.
    ///
    /// # Errors
    /// A refusal, or the error that ended the measurement.
    pub fn run(&self, mut runner: Runner<'_>, answers: Answers) -> Result<(), SessionError> {
        match &self.there.container {
            None => self.run_here(&mut runner, answers),
            Some(inside) => contained::run(self, inside, &mut runner, answers),
        }
    }

    /// Runs the task in the place itself, without a container.
    fn run_here(&self, runner: &mut Runner<'_>, answers: Answers) -> Result<(), SessionError> {
        let context = StepContext {
            // The test set's threads use the CPUs of the task, too.
            judged: self.judged(),
            inside: None,
            judged_by_all: CpuList::default(),
            audited: CpuList::default(),
            devices: 1,
            in_several_guests: false,
            is_crowded: false,
            launched: RefCell::default(),
            launched_test_set: RefCell::default(),
            test_set: match self.there.is_test_set {
                true => self.judged(),
                false => CpuList::default(),
            },
            duration: Duration(self.step.common.duration.0),
            label: self.step.common.label.clone(),
            bed: None,
            window_ns: runner.session.window_ns(),
            plan: self.there.plan.clone(),
            stop: runner.session.stop.clone(),
            places: Vec::new(),
            test_set_place: None,
            there: Some(&self.there),
            written: &self.step.written,
        };
        let sender = SenderEnd::default();
        let ended = sender.clone();
        let begin = listen(move |at| ended.tell(at), runner.session.stop.clone(), answers);
        // A write error is ignored: the starting process sees that this one has ended.
        let _ = say(&FromPlace::Prepared);
        // If the sender is gone, the run ends at once, because it is stopped then.
        let _ = begin.recv();
        let own = Loads::start(self.loads(), &runner.session.recorder.events())?;
        let setting = (setting::LOAD.to_owned(), self.load(&own.describe()));
        runner.session.recorder.set_settings(vec![setting]);
        runner.loads.join(own);
        let before = KernelThreads::look();
        let running = match self.there.is_test_set {
            true => self.step.measure.test_set(&context, runner.session)?,
            false => self.step.measure.device(&context, &sender, runner.session)?,
        };
        let _ = say(&FromPlace::Ready);
        let outcome = runner.attend("measuring", vec![Box::new(Reporting(running))], &[]);
        let facts = KernelThreads::look().since(&before, &self.judged());
        runner.session.recorder.add_facts(facts);
        outcome
    }
}

/// A measurement that reports the instant of its end to the other end: no frame is due after it.
struct Reporting(Running);

impl Underway for Reporting {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn end(self: Box<Self>, _: &Session) -> Result<(), SessionError> {
        if let Some(at) = self.0.ended_at() {
            say_ended(at);
        }
        Ok(self.0.join()?)
    }
}

/// Reports that this end has ended its measurement at `at`.
fn say_ended(at: Monotonic) {
    let now = sys::clock::pair();
    // A write error is ignored: the process that started this one has ended.
    let _ = say(&FromPlace::Ended(now.realtime.as_ns() - (now.monotonic - at)));
}

/// Receives the messages of the other end for as long as the process lives. When the other end is gone, this end stops, too. The returned receiver
/// gets the order to begin, or closes if none will come; `ended` is called when the sender has ended.
fn listen(ended: impl Fn(Monotonic) + Send + 'static, stop: Stop, answers: Answers) -> Receiver<()> {
    let (told, begin) = channel();
    let mut told = Some(told);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match read(&line) {
                // A second order to begin has no effect.
                Some(ToPlace::Begin) => drop(told.take()),
                Some(ToPlace::SenderEnded(at)) => {
                    let now = sys::clock::pair();
                    ended(now.monotonic - (now.realtime - Realtime::from_ns(at)));
                }
                Some(ToPlace::Because(told)) => answers.take(told),
                None => {}
            }
        }
        stop.request();
        drop(told);
    });
    begin
}
