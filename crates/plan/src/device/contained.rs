//! The device's end of a step in a container of the place that was told to do it: a container in a guest, or on the far machine.
//!
//! ```text
//! host                        guest                                    container in it
//! [ qualify ]--its channel--[ device: flight recorder, this ]--pipes--[ device: the step ]
//! ```
//!
//! The container's run becomes a part of the guest's, and that one a part of the host's.

use super::{Task, listen};
use crate::measure::there::{Asks, Inside, There, in_text, words_of_device};
use crate::value::PlanError;
use bed::DeviceEnd;
use bed::kernel_threads::KernelThreads;
use model::EventKind;
use place::container::{Container, Containers};
use place::line::FromPlace;
use place::{Answers, Job, Place, say};
use session::runner::{AwayEnd, Launched, Runner, Underway};
use session::{Session, SessionError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use units::CpuList;

/// The container's end, which the listener tells of the sender's, too.
struct Contained(Arc<AwayEnd>);

impl Underway for Contained {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError> {
        self.0.finish(session)
    }
}

/// Has the task done in a container, and goes on until its end, or until it is told to end.
///
/// # Errors
/// There is no runtime, or what the container ended with.
pub(super) fn run(task: &Task, inside: &Inside, runner: &mut Runner<'_>, answers: Answers) -> Result<(), SessionError> {
    let place = up(task, inside, runner.session)?;
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
    let mut launched = Launched::start(&place, &job, runner.session, &stop)?;
    launched.until_prepared()?;
    // An error: whoever started this sees that it has ended.
    let _ = say(&FromPlace::Prepared);
    // Nobody tells it any more: it ends at once then, for the run is told to.
    let _ = begin.recv();
    let before = KernelThreads::look();
    let end = Arc::new(launched.begin()?);
    // The listener lives as long as the process, and the container does not.
    *listening.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&end);
    let _ = say(&FromPlace::Ready);
    let outcome = runner.attend("measuring", vec![Box::new(Contained(end))]);
    // The container sees no threads but its own.
    let facts = KernelThreads::look().since(&before, &task.judged());
    runner.session.recorder.add_facts(facts);
    outcome
}

/// A container on the interface of the task, with its CPUs and one for everything else.
fn up(task: &Task, inside: &Inside, session: &Session) -> Result<Arc<dyn Place>, SessionError> {
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
    let container = Container::up(&containers, end)?;
    session.recorder.events().write(EventKind::Note, container.describe());
    session.recorder.add_facts(container.facts());
    Ok(Arc::new(container))
}

/// The same task for the container, which asks here why a sample was late.
fn job(task: &Task, inside: &Inside, place: &dyn Place, session: &Session) -> Result<Job, SessionError> {
    let there = There {
        interface: place.interface().to_owned(),
        asks: match session.explainer() {
            Some(_) => Asks::Causes,
            None => Asks::Nothing,
        },
        container: None,
        ..task.there.clone()
    };
    let mut files = vec![in_text(&there, &task.step.written)?];
    for name in &inside.files {
        let text = std::fs::read_to_string(Path::new(name)).map_err(|error| PlanError::Invalid {
            name: task.there.plan.clone(),
            problem: format!("{name}, which stands beside the task: {error}"),
        })?;
        files.push((name.clone(), text));
    }
    Ok(words_of_device(files, session))
}
