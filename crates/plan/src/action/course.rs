//! The actions of a plan under way: a thread that gives orders to the steward at the times of the steps, and records what came of them.

use super::{PlanAction, last_first, line};
use crate::file::Plan;
use crate::step::Step;
use model::{Action, ActionEnd, ActionPart, EventKind};
use run::Events;
use session::SessionError;
use session::steward::{Ending, Order, Steward};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Monotonic, Ns};

/// Longest wait of the thread, so that a clock that runs apart from its timer matters little.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Time added to a command's limit before the steward counts as stuck: the program may take two seconds to end after SIGTERM.
const SLACK: Duration = Duration::from_secs(10);

/// Messages to the thread.
enum Message {
    Begin(Group, Monotonic),
    End(Sender<()>),
    Answer(Option<Ending>),
    Close,
}

/// The actions of steps side by side.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    step: u64,
    length_ns: u64,
    actions: Vec<PlanAction>,
}

impl Group {
    /// The actions of the group with this number, from 1; `None` if it has none.
    pub(crate) fn of(plan: &Plan, number: usize, group: &[Step]) -> Option<Self> {
        let actions: Vec<PlanAction> = plan.actions_of(group).cloned().collect();
        (!actions.is_empty()).then(|| Self {
            step: number as u64,
            length_ns: group[0].common.duration.0,
            actions,
        })
    }
}

/// The actions of a plan. Dropping it undoes what is not undone.
pub(crate) struct Actions {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Actions {
    /// Starts what is needed for them, before anything is measured.
    ///
    /// # Errors
    /// The steward or the thread cannot be started.
    pub(crate) fn start(events: Events) -> Result<Self, SessionError> {
        let refused =
            |error: std::io::Error| SessionError::Wrong(format!("actions: cannot start what runs them: {error}"));
        let (messages, inbox) = channel();
        let hear = messages.clone();
        let steward = Steward::start(move |answer| {
            // An error means that the thread has ended: nobody waits for it.
            let _ = hear.send(Message::Answer(answer));
        });
        let mut course = Course {
            steward: Some(steward.map_err(refused)?),
            events,
            last_id: 0,
            all: Vec::new(),
            not_undone: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("actions".to_owned());
        let thread = thread.spawn(move || course.run(&inbox)).map_err(refused)?;
        Ok(Self {
            messages,
            thread: Some(thread),
        })
    }

    /// Begins the times of a step whose parts all measure.
    pub(crate) fn begin(&self, group: &Group) {
        let _ = self
            .messages
            .send(Message::Begin(group.clone(), sys::clock::monotonic()));
    }

    /// Ends the commands that still run, undoes everything, and waits until that is recorded.
    pub(crate) fn end(&self) {
        let (done, ended) = channel();
        let _ = self.messages.send(Message::End(done));
        // An error means that the thread is gone; the steward undoes what it left.
        let _ = ended.recv();
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        self.end();
        let _ = self.messages.send(Message::Close);
        if let Some(thread) = self.thread.take() {
            // A panic was reported by its thread.
            let _ = thread.join();
        }
    }
}

/// A command under way.
struct Pending {
    id: u64,
    part: ActionPart,
    /// Its row, as far as it is known.
    row: Action,
}

/// An action in a step.
struct Acting {
    action: PlanAction,
    step: u64,
    began: Monotonic,
    /// Times that are still to come, with the numbers of their executions.
    due: VecDeque<(u64, Monotonic)>,
    /// The command under way.
    pending: Option<Pending>,
    /// An execution that waits for the undo of the one before.
    next: Option<(u64, Monotonic)>,
    /// Executions that are to be undone, by their numbers in the run and in the step.
    done: Option<(u64, u64)>,
}

impl Acting {
    fn new(action: PlanAction, group: &Group, began: Monotonic) -> Self {
        let due = action.due_ns(group.length_ns);
        let at = |ns: u64| began + i64::try_from(ns).unwrap_or(i64::MAX);
        Self {
            due: (1..).zip(due.into_iter().map(at)).collect(),
            step: group.step,
            action,
            began,
            pending: None,
            next: None,
            done: None,
        }
    }

    fn is_idle(&self) -> bool {
        self.pending.is_none() && self.next.is_none()
    }

    fn row(&self, events: &Events, number: u64, part: ActionPart, due: Option<Monotonic>) -> Action {
        let words = match part {
            ActionPart::Run => &self.action.run,
            ActionPart::Undo => self.action.undo.as_ref().unwrap_or(&self.action.run),
        };
        Action {
            name: self.action.name.clone(),
            step: self.step,
            step_ns: events.since_start(self.began),
            number,
            part,
            line: line(words),
            due_ns: due.map(|due| events.since_start(due)),
            began_ns: None,
            ended_ns: None,
            settle_ns: self.action.settle_ns,
            end: ActionEnd::Unknown,
            said: String::new(),
        }
    }
}

/// The work of the thread.
struct Course {
    /// `None` once its process is gone.
    steward: Option<Steward>,
    events: Events,
    last_id: u64,
    all: Vec<Acting>,
    /// Undos that failed, each with the begin of its step: the rest of the run has their effects.
    not_undone: Vec<(Monotonic, String)>,
}

impl Course {
    fn run(&mut self, inbox: &Receiver<Message>) {
        loop {
            self.start_due();
            let message = match inbox.recv_timeout(self.wait()) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return self.close(),
            };
            match message {
                Message::Begin(group, began) => {
                    let acting = |action: &PlanAction| Acting::new(action.clone(), &group, began);
                    self.all = group.actions.iter().map(acting).collect();
                }
                Message::Answer(answer) => self.take(answer),
                Message::End(done) => {
                    self.end(inbox);
                    let _ = done.send(());
                }
                Message::Close => return self.close(),
            }
        }
    }

    /// Doubts everything that was measured after an undo that failed.
    fn close(&mut self) {
        for (began, text) in std::mem::take(&mut self.not_undone) {
            let text = format!("{text}: the rest of the run was measured with what the action had changed");
            self.events.write_since(began, EventKind::ActionFailed, text);
        }
    }

    /// Time until the next execution is due.
    fn wait(&self) -> Duration {
        let due = self.all.iter().filter_map(|one| one.due.front()).map(|(_, due)| *due);
        let left = |due: Monotonic| Duration::from_nanos(u64::try_from(due - sys::clock::monotonic()).unwrap_or(0));
        due.min().map_or(LONGEST_WAIT, |due| left(due).min(LONGEST_WAIT))
    }

    /// Begins what is due.
    fn start_due(&mut self) {
        let now = sys::clock::monotonic();
        for at in 0..self.all.len() {
            while let Some((number, due)) = self.all[at].due.front().copied().filter(|(_, due)| *due <= now) {
                self.all[at].due.pop_front();
                if !self.all[at].is_idle() {
                    self.skip(at, number, due, "the execution before it still ran");
                    continue;
                }
                self.all[at].next = Some((number, due));
                match self.all[at].done.take() {
                    Some(done) => self.undo(at, done),
                    None => self.begin_next(at),
                }
            }
        }
    }

    fn begin_next(&mut self, at: usize) {
        let Some((number, due)) = self.all[at].next.take() else {
            return;
        };
        self.last_id += 1;
        let (id, acting) = (self.last_id, &self.all[at]);
        let row = acting.row(&self.events, number, ActionPart::Run, Some(due));
        let order = Order::Run {
            id,
            name: row.name.clone(),
            words: acting.action.run.clone(),
            undo: acting.action.undo.clone(),
            limit_ns: acting.action.limit_ns,
        };
        self.order(at, &order, id, row);
    }

    fn undo(&mut self, at: usize, (id, number): (u64, u64)) {
        let row = self.all[at].row(&self.events, number, ActionPart::Undo, None);
        self.order(at, &Order::Undo { id }, id, row);
    }

    /// Gives an order whose answer is then pending.
    fn order(&mut self, at: usize, order: &Order, id: u64, row: Action) {
        let text = format!("{}: {}", title(&row), row.line);
        self.events.write(EventKind::Action, format!("began {text}"));
        let part = row.part;
        self.all[at].pending = Some(Pending { id, part, row });
        match &mut self.steward {
            Some(steward) => steward.order(order),
            None => self.take(None),
        }
    }

    /// Takes an answer; `None`: the steward is gone, and with it everything that is pending.
    fn take(&mut self, answer: Option<Ending>) {
        let Some(answer) = answer else {
            self.steward = None;
            for at in 0..self.all.len() {
                if let Some(pending) = self.all[at].pending.take() {
                    let said = "the process that runs the actions is gone".to_owned();
                    self.record(at, Action { said, ..pending.row });
                }
            }
            return;
        };
        let is_it = |one: &Acting| {
            let pending = one.pending.as_ref();
            pending.is_some_and(|pending| (pending.id, pending.part) == (answer.id, answer.part()))
        };
        let Some(at) = self.all.iter().position(is_it) else {
            return;
        };
        let Some(pending) = self.all[at].pending.take() else {
            return;
        };
        let span = answer.span();
        let row = Action {
            began_ns: span.map(|(began, _)| self.events.since_start(began)),
            ended_ns: span.map(|(_, ended)| self.events.since_start(ended)),
            end: answer.end(),
            said: answer.said,
            ..pending.row
        };
        if row.part == ActionPart::Run && row.began_ns.is_some() && self.all[at].action.undo.is_some() {
            self.all[at].done = Some((pending.id, row.number));
        }
        self.record(at, row);
        // It waited for the undo of the execution before.
        self.begin_next(at);
    }

    /// Ends what still runs, undoes everything, the last execution first, and records what did not run.
    fn end(&mut self, inbox: &Receiver<Message>) {
        for at in 0..self.all.len() {
            for (number, due) in std::mem::take(&mut self.all[at].due) {
                self.skip(at, number, due, "the step ended before");
            }
            if let Some((number, due)) = self.all[at].next.take() {
                self.skip(at, number, due, "the step ended before");
            }
            let pending = self.all[at].pending.as_ref().map(|pending| (pending.id, pending.part));
            if let (Some((id, ActionPart::Run)), Some(steward)) = (pending, &mut self.steward) {
                steward.order(&Order::Cut { id });
            }
        }
        self.settle(inbox);
        for at in last_first(self.all.iter().map(|one| one.done)) {
            if let Some(done) = self.all[at].done.take() {
                self.undo(at, done);
                self.settle(inbox);
            }
        }
        self.all.clear();
    }

    /// Waits for every pending answer, as long as the limits allow.
    fn settle(&mut self, inbox: &Receiver<Message>) {
        while let Some(limit_ns) = self
            .all
            .iter()
            .filter(|one| one.pending.is_some())
            .map(|one| one.action.limit_ns)
            .max()
        {
            match inbox.recv_timeout(Duration::from_nanos(limit_ns) + SLACK) {
                Ok(Message::Answer(answer)) => self.take(answer),
                Ok(_) => {}
                Err(_) => self.take(None),
            }
        }
    }

    fn skip(&mut self, at: usize, number: u64, due: Monotonic, why: &str) {
        let row = self.all[at].row(&self.events, number, ActionPart::Run, Some(due));
        let row = Action {
            end: ActionEnd::Skipped,
            said: why.to_owned(),
            ..row
        };
        self.record(at, row);
    }

    /// Records an execution that is over; one that failed leaves the step undecided.
    fn record(&mut self, at: usize, row: Action) {
        let took = row.began_ns.zip(row.ended_ns);
        let took = took.map_or_else(String::new, |(began, ended)| {
            format!(" after {}", Ns(ended.saturating_sub(began)))
        });
        let said = if row.said.is_empty() {
            String::new()
        } else {
            format!(": {}", row.said)
        };
        let text = format!("{}: {}{took}{said}", title(&row), row.end.words());
        if row.end.is_good() {
            self.events.write(EventKind::Action, format!("ended {text}"));
        } else {
            let began = self.all[at].began;
            if row.part == ActionPart::Undo {
                self.not_undone.push((began, text.clone()));
            }
            let text = format!("{text}: the step was to be measured under it");
            self.events.write_since(began, EventKind::ActionFailed, text);
        }
        self.events.action(row);
    }
}

/// Such as `action backup 2`, or `undo of action backup 2`.
fn title(row: &Action) -> String {
    let of = if row.part == ActionPart::Undo { "undo of " } else { "" };
    format!("{of}action {} {}", row.name, row.number)
}
