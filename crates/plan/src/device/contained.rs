//! The end of a step in a place inside a place: a container in a guest, or a container or guest on the far machine.
//!
//! ```text
//! host                        guest                                    container in it
//! [ qualify ]--its channel--[ device: flight recorder, this ]--pipes--[ device: the step ]
//! ```
//!
//! The container's run becomes a part of the guest's run, and the guest's run a part of the host's.

use super::{Task, listen, say_ended};
use crate::measure::there::{Asks, Inside, There, clock_in, in_text, words_of_device};
use crate::value::PlanError;
use bed::kernel_threads::KernelThreads;
use bed::{DeviceEnd, EndInterface, Stands};
use model::EventKind;
use place::container::{Container, Containers};
use place::guest::Guest;
use place::line::FromPlace;
use place::{Answers, Job, Place, say};
use session::runner::{AwayEnd, Launched, Runner, Underway};
use session::{Session, SessionError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use units::CpuList;

/// The container's end; the listener sends it the messages about the sender's end, too.
struct Contained(Arc<AwayEnd>);

impl Underway for Contained {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError> {
        if let Some(at) = self.0.ended_at() {
            say_ended(at);
        }
        self.0.finish(session).map(drop)
    }
}

/// Runs the task in a container until its end, or until it is stopped.
///
/// # Errors
/// There is no runtime, or the container ended with an error.
pub(super) fn run(task: &Task, inside: &Inside, runner: &mut Runner<'_>, answers: Answers) -> Result<(), SessionError> {
    // The guest's network card stands on an interface that is removed with its end.
    let (place, _card) = up(task, inside, runner.session)?;
    let listening = Arc::new(Mutex::new(Weak::<AwayEnd>::new()));
    let heard = Arc::clone(&listening);
    let tell_end = move |at| {
        let end = heard.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        if let Some(end) = end {
            end.tell_end(at);
        }
    };
    let begin = listen(tell_end, runner.session.stop.clone(), answers);
    let job = job(task, inside, place.as_ref(), runner.session)?;
    let stop = runner.session.stop.clone();
    // A recording that the step makes inside is one of this place's run.
    let launched = Launched::start(&place, &job, runner.session, &stop)?.with_recording();
    // A guest has a clock of its own, about which the machine that runs the plan cannot ask.
    let mut launched = match task.there.is_test_set {
        true => launched.of_test_set(),
        false => launched.asked_for_its_time(),
    };
    launched.until_prepared()?;
    // A write error is ignored: the starting process sees that this one has ended.
    let _ = say(&FromPlace::Prepared);
    // If the sender is gone, the run ends at once, because it is stopped then.
    let _ = begin.recv();
    let before = KernelThreads::look();
    let end = Arc::new(launched.begin()?);
    // The listener lives as long as the process, but the container does not.
    *listening.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&end);
    let _ = say(&FromPlace::Ready);
    let outcome = runner.attend("measuring", vec![Box::new(Contained(end))], &[]);
    // The container sees only its own threads, so the kernel threads are read here.
    let facts = KernelThreads::look().since(&before, &task.judged());
    runner.session.recorder.add_facts(facts);
    outcome
}

/// A guest or a container on the interface of the task, and the ends that it stands on. A container has its CPUs and one CPU for everything else.
fn up(task: &Task, inside: &Inside, session: &Session) -> Result<(Arc<dyn Place>, Vec<EndInterface>), SessionError> {
    let (place, ends): (Arc<dyn Place>, _) = match &inside.guest {
        Some(spec) => {
            let ends = match task.network() {
                Some(port) => bed::behind(port, Stands::Guests(1))?,
                None => Vec::new(),
            };
            let end = ends.first().map(EndInterface::device).transpose()?;
            (Arc::new(Guest::up(spec, 0, end, None)?), ends)
        }
        None => (Arc::new(container(task, inside)?), Vec::new()),
    };
    let events = session.recorder.events();
    events.write(EventKind::Note, place.describe());
    session.recorder.add_facts(place.facts());
    if let Some(why) = place.emulated() {
        events.write(EventKind::Emulated, why);
    }
    Ok((place, ends))
}

fn container(task: &Task, inside: &Inside) -> Result<Container, SessionError> {
    let containers = Containers {
        cpus: task.judged().iter().chain(task.others().first()).collect::<CpuList>(),
        runtime: inside.runtime,
        ..Containers::default()
    };
    let link = task.network().map(sys::link::find).transpose()?;
    let end = link.as_ref().map(|link| DeviceEnd {
        namespace: None,
        interface: &link.name,
        mac: link.mac,
        card: None,
    });
    Ok(Container::up(&containers, end)?)
}

/// The same task for that place, which asks this process why a sample was late.
fn job(task: &Task, inside: &Inside, place: &dyn Place, session: &Session) -> Result<Job, SessionError> {
    let there = There {
        interface: place.interface().to_owned(),
        asks: match (session.explainer(), &inside.guest) {
            (Some(_), None) => Asks::Causes,
            (Some(_), Some(_)) => Asks::VirtualCpus,
            (None, _) => Asks::Nothing,
        },
        clock: clock_in(place, task.there.clock)?,
        audited: match &inside.guest {
            Some(_) => Some(Vec::new()),
            None => task.there.audited.clone(),
        },
        container: None,
        ..task.there.clone()
    };
    let mut step = task.step.written.clone();
    if let Some(judged) = place.judged() {
        step.insert("cpus".to_owned(), judged.to_string().into());
    }
    let mut files = vec![in_text(&there, &step)?];
    for name in &inside.files {
        let text = std::fs::read_to_string(Path::new(name)).map_err(|error| PlanError::Invalid {
            name: task.there.plan.clone(),
            problem: format!("{name}, which the task needs: {error}"),
        })?;
        files.push((name.clone(), text));
    }
    Ok(words_of_device(files, session))
}
