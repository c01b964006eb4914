//! Causes that the other end tells: a container has no right to look into the kernel, and the machine has.

use super::line::{Asked, FromPlace, Told, written};
use model::{Cause, Fact, Question};
use run::{Answer, Explain};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long the recorder of this end waits for an answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks the other end.
pub struct Asking {
    answers: Receiver<Told>,
    /// Whether the other end has left a question without an answer: it is not asked again, for answers come in the order of questions.
    is_silent: bool,
}

/// Where the answers go that the other end gives.
pub struct Answers(Sender<Told>);

/// Who asks, and where answers go.
pub fn asking() -> (Asking, Answers) {
    let (send, answers) = channel();
    let asking = Asking {
        answers,
        is_silent: false,
    };
    (asking, Answers(send))
}

impl Answers {
    pub(crate) fn take(&self, told: Told) {
        // An error: nobody asks any more.
        let _ = self.0.send(told);
    }
}

/// Says a line to the other end.
pub(crate) fn say(said: &FromPlace) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", written(said)).and_then(|()| out.flush())
}

impl Asking {
    /// What the machine knows of this.
    fn ask(&mut self, asked: Asked) -> Result<Told, &'static str> {
        if self.is_silent {
            return Err("the machine does not answer");
        }
        let said = say(&FromPlace::Why(asked));
        let told = said.ok().and_then(|()| self.answers.recv_timeout(PATIENCE).ok());
        self.is_silent = told.is_none();
        told.ok_or("the machine did not answer")
    }
}

/// A guest's own flight recorder, and where nothing of the guest ran, the host: it has what held up the virtual CPU.
pub struct OverHost {
    own: Box<dyn Explain>,
    host: Asking,
}

impl OverHost {
    /// Both of them.
    pub fn new(own: Box<dyn Explain>, host: Asking) -> Self {
        Self { own, host }
    }
}

/// What a guest sees when its virtual CPU does not run.
const FROM_OUTSIDE: [Cause; 3] = [Cause::Hypervisor, Cause::InterruptsOff, Cause::Unexplained];

impl Explain for OverHost {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.own.watch(cpu, thread);
    }

    fn observe(&mut self) {
        self.own.observe();
    }

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        let mut answer = self.own.explain(question, with_flight);
        // Those in passing are too many to ask about.
        if with_flight
            && FROM_OUTSIDE.contains(&answer.explanation.cause)
            && let Ok(told) = self.host.ask(Asked::of_guest(question))
        {
            let text = format!("; on the host: {}", told.explanation.text);
            answer.explanation.text.push_str(&text);
        }
        answer
    }

    fn summary(&mut self) -> Vec<Fact> {
        self.own.summary()
    }
}

impl Explain for Asking {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.is_silent |= say(&FromPlace::Watch { cpu, thread }).is_err();
    }

    fn observe(&mut self) {}

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        match self.ask(Asked::of(question, with_flight)) {
            Ok(told) => Answer {
                explanation: told.explanation,
                flight: told.flight,
            },
            Err(why) => Answer::unknown(question, why),
        }
    }

    fn summary(&mut self) -> Vec<Fact> {
        Vec::new()
    }
}
