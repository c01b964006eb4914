//! Causes that the other end tells: a container has no right to look into the kernel, and the machine has.

use super::line::{Asked, FromPlace, Told, written};
use model::{Fact, Question};
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

impl Explain for Asking {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.is_silent |= say(&FromPlace::Watch { cpu, thread }).is_err();
    }

    fn observe(&mut self) {}

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        if self.is_silent {
            return Answer::unknown(question, "the machine does not answer");
        }
        let asked = say(&FromPlace::Why(Asked::of(question, with_flight)));
        match asked.ok().and_then(|()| self.answers.recv_timeout(PATIENCE).ok()) {
            Some(told) => Answer {
                explanation: told.explanation,
                flight: told.flight,
            },
            None => {
                self.is_silent = true;
                Answer::unknown(question, "the machine did not answer")
            }
        }
    }

    fn summary(&mut self) -> Vec<Fact> {
        Vec::new()
    }
}
